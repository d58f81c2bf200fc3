// What a strategy's books say over HTTP, and whether they are in order: complete, exact to the last digit, and in keeping
// with all that was acknowledged.
import { decimalText, units } from "../support/exact.ts";
import type { Credentials } from "../support/gateway.ts";
import { signed } from "../support/signed-client.ts";
import type { Fault } from "./faults.ts";
import { patiently } from "./patience.ts";
import { isBody, type OrderBody, SYMBOL, type Trader } from "./trader.ts";

type TradeBody = {
  readonly id: number;
  readonly orderId: number;
  readonly price: string;
  readonly qty: string;
  readonly quoteQty: string;
  readonly commission: string;
  readonly commissionAsset: string;
  readonly isBuyer: boolean;
  readonly isMaker: boolean;
};

type Balance = { readonly asset: string; readonly free: string; readonly locked: string };

export type Books = {
  readonly orders: readonly OrderBody[];
  readonly trades: readonly TradeBody[];
  readonly balances: readonly Balance[];
};

const PAGE = 1_000;
const READINGS_MAX = 20;

/** All orders, all trades and the balances of one moment. */
export async function readBooks(url: string, credentials: Credentials): Promise<Books> {
  const account = () => ask(url, credentials, "/api/v3/account", {});
  let before = await account();
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const orders: OrderBody[] = await pages(
      url,
      credentials,
      "/api/v3/allOrders",
      "orderId",
      (last) => last.orderId,
    );
    const trades: TradeBody[] = await pages(
      url,
      credentials,
      "/api/v3/myTrades",
      "fromId",
      (last) => last.id,
    );
    const after = await account();
    // A resting order may have been filled while the lists were read.
    if (JSON.stringify(after) === JSON.stringify(before)) return { orders, trades, balances: after.balances };
    before = after;
  }
  throw new Error(`the books did not stand still for one of ${READINGS_MAX} readings`);
}

export async function openOrders(url: string, credentials: Credentials): Promise<readonly OrderBody[]> {
  return (await ask(url, credentials, "/api/v3/openOrders", { symbol: SYMBOL })) as OrderBody[];
}

/** Everything that is wrong with the books of a trader. */
export function faultsOf(trader: Trader, books: Books): Fault[] {
  return [
    ...numberingFaults(books),
    ...acknowledgementFaults(trader, books),
    ...tradeFaults(trader, books),
    ...balanceFaults(books),
  ].map(({ kind, what }) => ({ kind, what: `${trader.name}: ${what}` }));
}

/** Ids count from one without a gap: nothing was lost and nothing undone. Ids and client ids occur once. */
function numberingFaults({ orders, trades }: Books): Fault[] {
  return [
    ...sequenceFaults(
      "order",
      orders.map(({ orderId }) => orderId),
    ),
    ...sequenceFaults(
      "trade",
      trades.map(({ id }) => id),
    ),
    ...repeated(orders.map(({ clientOrderId }) => clientOrderId)).map(
      (clientOrderId): Fault => ({ kind: "DOUBLED", what: `${clientOrderId} is there more than once` }),
    ),
  ];
}

function sequenceFaults(what: "order" | "trade", ids: readonly number[]): Fault[] {
  const present = new Set(ids);
  const missing = Array.from({ length: Math.max(0, ...ids) }, (_, index) => index + 1).filter(
    (id) => !present.has(id),
  );
  return [
    ...missing.map((id): Fault => ({ kind: "LOST", what: `${what} ${id} is missing in the list` })),
    ...repeated(ids).map((id): Fault => ({ kind: "DOUBLED", what: `${what} ${id} is listed again` })),
  ];
}

function repeated<Value>(values: readonly Value[]): Value[] {
  const seen = new Set<Value>();
  return values.filter((value) => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated;
  });
}

function acknowledgementFaults(trader: Trader, { orders }: Books): Fault[] {
  const faults: Fault[] = [];
  const byClientId = new Map(orders.map((order) => [order.clientOrderId, order]));
  for (const { clientOrderId } of orders) {
    if (!trader.placements.has(clientOrderId)) {
      faults.push({ kind: "UNASKED", what: `${clientOrderId} is there but was never sent` });
    }
  }
  for (const [clientOrderId, { heard, mayBeCanceled }] of trader.placements) {
    const stored = byClientId.get(clientOrderId);
    if (heard === "refused") {
      if (stored === undefined) continue;
      const what = `${clientOrderId} was refused and is there: ${JSON.stringify(stored)}`;
      faults.push({ kind: "UNASKED", what });
    } else if (isBody(heard)) {
      const was = JSON.stringify(heard);
      if (stored === undefined) {
        faults.push({ kind: "LOST", what: `${clientOrderId} was acknowledged and is gone: ${was}` });
      } else if (!mayFollow(heard, stored, mayBeCanceled)) {
        faults.push({
          kind: "CHANGED",
          what: `${clientOrderId} went from ${was} to ${JSON.stringify(stored)}`,
        });
      }
    }
  }
  return faults;
}

/** Whether an order that was acknowledged as `heard` may now stand as `stored`. */
function mayFollow(heard: OrderBody, stored: OrderBody, mayBeCanceled: boolean): boolean {
  if (FIXED.some((field) => heard[field] !== stored[field])) return false;
  if (stored.status === heard.status) return MOVING.every((field) => heard[field] === stored[field]);
  if (heard.status !== "NEW") return false;
  if (stored.status === "CANCELED") return mayBeCanceled && units(stored.executedQty) === 0n;
  return stored.status === "FILLED" && stored.executedQty === stored.origQty;
}

const FIXED = ["orderId", "side", "type", "price", "origQty", "time"] as const;
const MOVING = ["executedQty", "cummulativeQuoteQty", "updateTime"] as const;

/** An order's trades add up to what it says of itself; one that rested was filled at its limit, as maker. */
function tradeFaults(trader: Trader, { orders, trades }: Books): Fault[] {
  const faults: string[] = [];
  const ids = new Set(orders.map(({ orderId }) => orderId));
  for (const { id, orderId } of trades) {
    if (!ids.has(orderId)) faults.push(`trade ${id} belongs to no order: ${orderId}`);
  }
  for (const order of orders) {
    const own = trades.filter(({ orderId }) => orderId === order.orderId);
    const quantity = sum(own.map(({ qty }) => units(qty)));
    const quote = sum(own.map(({ quoteQty }) => units(quoteQty)));
    if (quantity !== units(order.executedQty) || quote !== units(order.cummulativeQuoteQty)) {
      faults.push(
        `the trades of ${order.clientOrderId} add up to ${decimalText(quantity)} for ${decimalText(quote)}, not to ${JSON.stringify(order)}`,
      );
    }
    const hasRested = trader.placements.get(order.clientOrderId)?.hasRested === true;
    if (hasRested && own.some(({ isMaker, price }) => !isMaker || price !== order.price)) {
      faults.push(
        `${order.clientOrderId} rested and did not fill at its limit as maker: ${JSON.stringify(own)}`,
      );
    }
  }
  return faults.map((what) => ({ kind: "UNBALANCED", what }));
}

/** The balances, recomputed from the seed of 200 USDT, the trades and the open orders. */
function balanceFaults({ orders, trades, balances }: Books): Fault[] {
  const owned = { USDT: units("200"), DOGE: 0n };
  for (const { isBuyer, qty, quoteQty, commission, commissionAsset } of trades) {
    const direction = isBuyer ? 1n : -1n;
    owned.DOGE += direction * units(qty);
    owned.USDT -= direction * units(quoteQty);
    if (commissionAsset !== (isBuyer ? "DOGE" : "USDT")) {
      return [{ kind: "UNBALANCED", what: `a fee was paid in ${commissionAsset}` }];
    }
    owned[commissionAsset] -= units(commission);
  }
  const open = orders.filter(({ status }) => status === "NEW");
  const locked = {
    USDT: sum(
      open
        .filter(({ side }) => side === "BUY")
        .map(({ price, origQty }) => (units(price) * units(origQty) + 99_999_999n) / 100_000_000n),
    ),
    DOGE: sum(open.filter(({ side }) => side === "SELL").map(({ origQty }) => units(origQty))),
  };
  return (["USDT", "DOGE"] as const).flatMap((asset) => {
    const expected = { free: decimalText(owned[asset] - locked[asset]), locked: decimalText(locked[asset]) };
    const { free, locked: held } = balances.find((balance) => balance.asset === asset) ?? NOTHING;
    if (free === expected.free && held === expected.locked) return [];
    const what = `${asset} is ${free} free and ${held} locked, not ${expected.free} and ${expected.locked}`;
    return [{ kind: "UNBALANCED", what }];
  });
}

const NOTHING = { free: decimalText(0n), locked: decimalText(0n) };

async function pages<Row>(
  url: string,
  credentials: Credentials,
  path: string,
  from: string,
  idOf: (row: Row) => number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let next = 1; ; ) {
    const page: Row[] = await ask(url, credentials, path, { symbol: SYMBOL, [from]: next, limit: PAGE });
    rows.push(...page);
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return rows;
    next = idOf(last) + 1;
  }
}

async function ask(
  url: string,
  credentials: Credentials,
  path: string,
  parameters: Readonly<Record<string, string | number>>,
) {
  const { status, body } = await patiently(() => signed(url, credentials, "GET", path, parameters));
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
