// Whether the books of a strategy are in order: complete, exact to the last digit, and in keeping with all
// that was acknowledged.
import { decimalText, signedUnits, sum, units } from "../../support/exact.ts";
import type { Fault } from "../harness/faults.ts";
import { isLeg, type OrderBody } from "./bodies.ts";
import type { Books } from "./books.ts";
import { isBody, type Placement, type Trader } from "./trader.ts";

/** Everything that is wrong with the books of a trader. */
export function faultsOf(trader: Trader, books: Books): Fault[] {
  return [
    ...numberingFaults(books),
    ...acknowledgementFaults(trader, books),
    ...tradeFaults(trader, books),
    ...(trader.family === "SPOT" ? balanceFaults(books) : holdingFaults(books)),
  ].map(({ kind, what }) => ({ kind, what: `${trader.name}: ${what}` }));
}

/**
 * Ids count from one without a gap: nothing was lost and nothing undone. Legs have theirs from the same
 * numbers. Ids and client ids occur once, but that the order of a leg that fired has the leg's.
 */
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
    ...repeated(ownOrders(orders).map(({ clientOrderId }) => clientOrderId)).map(
      (clientOrderId): Fault => ({ kind: "DOUBLED", what: `${clientOrderId} is there more than once` }),
    ),
  ];
}

/** Those that the trader has sent, without what the service did for it. */
export function ownOrders(orders: readonly OrderBody[]): readonly OrderBody[] {
  const fired = new Set(
    orders.flatMap((order) =>
      isLeg(order) && order.status === "FINISHED" ? [`${order.clientOrderId} ${order.updateTime}`] : [],
    ),
  );
  return orders.filter((order) => {
    const { clientOrderId, time, type } = order;
    const isOfLeg = type === "MARKET" && fired.has(`${clientOrderId} ${time}`);
    const isOfService = clientOrderId.includes("#") || /^(stopLoss|takeProfit)\//.test(clientOrderId);
    return !isOfLeg && !isOfService;
  });
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
  const own = ownOrders(orders);
  const byClientId = new Map(own.map((order) => [order.clientOrderId, order]));
  const ended = endsOfPositions(orders);
  for (const { clientOrderId } of own) {
    if (!trader.placements.has(clientOrderId)) {
      faults.push({ kind: "UNASKED", what: `${clientOrderId} is there but was never sent` });
    }
  }
  for (const [clientOrderId, placement] of trader.placements) {
    const { heard } = placement;
    const stored = byClientId.get(clientOrderId);
    if (heard === "refused") {
      if (stored === undefined) continue;
      const what = `${clientOrderId} was refused and is there: ${JSON.stringify(stored)}`;
      faults.push({ kind: "UNASKED", what });
    } else if (isBody(heard)) {
      const was = JSON.stringify(heard);
      if (stored === undefined) {
        faults.push({ kind: "LOST", what: `${clientOrderId} was acknowledged and is gone: ${was}` });
      } else if (!mayFollow(heard, stored, placement, ended)) {
        faults.push({
          kind: "CHANGED",
          what: `${clientOrderId} went from ${was} to ${JSON.stringify(stored)}`,
        });
      }
    }
  }
  return faults;
}

/**
 * When positions ended by themselves, which takes orders and legs with them: by a liquidation, or by a leg
 * that fired.
 */
function endsOfPositions(orders: readonly OrderBody[]): ReadonlySet<number> {
  return new Set(
    orders.flatMap((order) => {
      const isEnd = order.type === "LIQUIDATION" || (isLeg(order) && order.status === "FINISHED");
      return isEnd ? [order.updateTime] : [];
    }),
  );
}

/** Whether an order or leg that was acknowledged as `heard` may now be `stored`. */
function mayFollow(
  heard: OrderBody,
  stored: OrderBody,
  { mayBeCanceled, isCanceled }: Pick<Placement, "mayBeCanceled" | "isCanceled">,
  ended: ReadonlySet<number>,
): boolean {
  if (FIXED.some((field) => heard[field] !== stored[field])) return false;
  if (isCanceled) return stored.status === "CANCELED";
  if (stored.status === heard.status) return MOVING.every((field) => heard[field] === stored[field]);
  if (heard.status !== "NEW") return false;
  switch (stored.status) {
    case "CANCELED":
      return units(stored.executedQty) === 0n && (mayBeCanceled || ended.has(stored.updateTime));
    case "FILLED":
      return stored.executedQty === stored.origQty;
    case "FINISHED":
      return isLeg(stored);
    // A leg whose position is gone; an order that only reduced one, or that could not be paid for any more.
    case "EXPIRED":
      return isLeg(stored) || units(stored.executedQty) < units(stored.origQty);
    default:
      return false;
  }
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
  const sent = new Set(ownOrders(orders));
  for (const order of orders) {
    const own = trades.filter(({ orderId }) => orderId === order.orderId);
    const quantity = sum(own.map(({ qty }) => units(qty)));
    const quote = sum(own.map(({ quoteQty }) => units(quoteQty)));
    if (quantity !== units(order.executedQty) || quote !== units(order.cummulativeQuoteQty)) {
      faults.push(
        `the trades of ${order.clientOrderId} add up to ${decimalText(quantity)} for ${decimalText(quote)}, not to ${JSON.stringify(order)}`,
      );
    }
    const hasRested = sent.has(order) && trader.placements.get(order.clientOrderId)?.hasRested === true;
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

/** What is held is what was bought less what was sold; the wallet is recomputed from the database. */
function holdingFaults({ trades, held }: Books): Fault[] {
  const bought = sum(trades.map(({ isBuyer, qty }) => (isBuyer ? units(qty) : -units(qty))));
  if (held !== null && signedUnits(held) === bought) return [];
  return [{ kind: "UNBALANCED", what: `${held} is held, and trades add up to ${bought} units` }];
}

const NOTHING = { free: decimalText(0n), locked: decimalText(0n) };
