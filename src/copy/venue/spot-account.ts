// One account's spot trading at a venue: requests and answers in our terms. Source: reference exchange,
// section 7.
import { COPY_QUOTE_ASSET } from "../../domain/copying.ts";
import { type Amount, add, type Quantity, sum, ZERO } from "../../money/decimal.ts";
import {
  amountOf,
  type Body,
  BodyFault,
  idOf,
  mapped,
  objectOf,
  rowsOf,
  textOf,
  timeOf,
  valueFor,
} from "./answers.ts";
import { askForRestrictions, checkAccount } from "./key-rights.ts";
import { WEIGHTS } from "./limits.ts";
import {
  type AccountRest,
  askForFills,
  askForFillsSince,
  FIND,
  feesOf,
  findOrder,
  LISTS_OF_POLL,
  listFills,
  listOpen,
  NOT_FOUND_CODES,
  NOT_OPEN_CODES,
  type OpenRoute,
  type OrderAsked,
  orderOf,
  otherAssetsOf,
  placementCost,
  placementOf,
  URGENT,
  weightOfOpen,
} from "./orders.ts";
import type {
  VenueAnswer,
  VenueBalances,
  VenueClient,
  VenueFills,
  VenueOrder,
  VenueOrderState,
  VenueRefusal,
  VenueTrade,
} from "./venue.ts";

const { SPOT } = WEIGHTS;
const ORDER = "/api/v3/order";
const FILLS = { path: "/api/v3/myTrades", weight: SPOT.fills, priority: "POLL" } as const;
const FILLS_SINCE = { ...FILLS, weight: SPOT.fillsSince } as const;
// The outcome of an order, for which exits wait, may depend on these.
const TRADES = { path: FILLS.path, weight: SPOT.fillsSince, ...URGENT } as const;
const PLACE = { method: "POST", path: ORDER, weight: SPOT.place } as const;
const FIND_ORDER = { method: "GET", path: ORDER, weight: SPOT.find, ...FIND } as const;
const CANCEL = { method: "DELETE", path: ORDER, weight: SPOT.cancel, ...URGENT } as const;
const ACCOUNT = {
  method: "GET",
  path: "/api/v3/account",
  weight: SPOT.account,
  parameters: { omitZeroBalances: true },
  ...URGENT,
} as const;
const OPEN_ORDERS: OpenRoute = {
  path: "/api/v3/openOrders",
  weight: SPOT.openOrders,
  idKey: "clientOrderId",
};
const QUOTE_KEY = "cummulativeQuoteQty";

export function createSpotClient(rest: AccountRest): VenueClient {
  const orderIn =
    (asked: OrderAsked) =>
    (value: unknown): VenueOrderState =>
      orderOf(objectOf(value), asked, QUOTE_KEY);

  return {
    check: () => checkAccount(rest, ACCOUNT, balancesOf, async () => ({ kind: "OK", value: null })),

    keyRights: (type) => askForRestrictions(rest, type),

    async balances() {
      return mapped(await rest.ask(ACCOUNT), (value) => balancesOf(objectOf(value)));
    },

    async place(order) {
      const parameters = { ...placementOf(order), newOrderRespType: "FULL" };
      const { askedAt } = order;
      const answer = await rest.ask({ ...PLACE, parameters, askedAt, ...placementCost(order) });
      const placed = mapped(answer, orderIn(order));
      if (placed.kind !== "OK" || answer.kind !== "OK") return placed;
      const fills = await fillsOf(rest, order, placed.value, objectOf(answer.value));
      return fills === null ? placed : { kind: "OK", value: { ...placed.value, fills } };
    },

    placeLeg: async () => NO_LEGS,

    find: (symbol, clientOrderId) => findOrder(rest, FIND_ORDER, { symbol, clientOrderId }, QUOTE_KEY),

    findLeg: async () => ({ kind: "OK", value: null }),

    async cancel(symbol, clientOrderId) {
      const parameters = { symbol, origClientOrderId: clientOrderId };
      const answer = await rest.ask({ ...CANCEL, parameters });
      return valueFor(NOT_OPEN_CODES, mapped(answer, orderIn({ symbol, clientOrderId })), null);
    },

    cancelLeg: async () => ({ kind: "OK", value: null }),

    async openOrders(of) {
      return mapped(await listOpen(rest, OPEN_ORDERS, of?.orders), (open) => new Map(open));
    },

    pollWeight: ({ orders }) => ACCOUNT.weight + LISTS_OF_POLL * weightOfOpen(OPEN_ORDERS, orders),

    fills: (of) => askForFills(rest, FILLS, of),

    fillsSince: (of) => askForFillsSince(rest, FILLS_SINCE, of),

    trades: (symbol, of) => askForTrades(rest, symbol, of),

    clearance: async () => ({ kind: "OK", value: ZERO }),

    setLeverage: async () => NO_LEVERAGE,

    listen: rest.listen,
  };
}

/** "Order type not supported" and "Invalid leverage", in the words of the exchange; nothing was sent. */
const NO_LEGS: VenueRefusal = { kind: "REFUSED", code: -1116, message: "Invalid orderType." };
const NO_LEVERAGE: VenueRefusal = { kind: "REFUSED", code: -4028, message: "Invalid leverage" };

function balancesOf(body: Body): VenueBalances {
  let wallet = ZERO as Amount;
  let available = ZERO as Amount;
  const held = new Map<string, Quantity>();
  const locked = new Map<string, Quantity>();
  for (const row of rowsOf(body.balances)) {
    const asset = textOf(row, "asset");
    const free = amountOf<Amount>(row, "free");
    const inSales = amountOf<Quantity>(row, "locked");
    const owned = add(free, inSales as bigint as Amount);
    if (asset === COPY_QUOTE_ASSET) {
      wallet = owned;
      available = free;
    } else {
      if (owned !== 0n) held.set(asset, owned as bigint as Quantity);
      if (inSales !== 0n) locked.set(asset, inSales);
    }
  }
  return { wallet, available, held, locked };
}

/** See `VenueClient.trades`. A list of fills does not have the client ids of their orders. */
async function askForTrades(
  rest: AccountRest,
  symbol: string,
  { since, known }: { readonly since: number; readonly known: ReadonlySet<string> },
): Promise<VenueAnswer<readonly VenueTrade[] | null>> {
  // The venue's clock differs from ours.
  const startTime = since + rest.venueNow() - rest.wallNow();
  const listed = await listFills(rest, TRADES, { symbol, startTime });
  // Were they not all, what came last would be missing.
  const read = mapped(listed, ({ rows, isWhole }) =>
    isWhole ? rows.map((row) => tradeOf(row, known)) : null,
  );
  return valueFor(NOT_FOUND_CODES, read, null);
}

function tradeOf(row: Body, known: ReadonlySet<string>): VenueTrade {
  const venueOrderId = idOf(row, "orderId");
  const quantity = amountOf<Quantity>(row, "qty");
  const quote = amountOf<Amount>(row, "quoteQty");
  if (quantity <= 0n || quote < 0n) throw new BodyFault("a trade of nothing");
  if (typeof row.isBuyer !== "boolean") throw new BodyFault("a trade without a side");
  return {
    venueOrderId,
    by: known.has(venueOrderId) ? "KNOWN" : "OTHER",
    clientOrderId: null,
    side: row.isBuyer ? "BUY" : "SELL",
    quantity,
    quote,
    at: timeOf(row, "time"),
  };
}

/**
 * The cost of an ended order, if the answer to its placement has all its fills; null if not, or for fees in a
 * third asset.
 */
async function fillsOf(
  rest: AccountRest,
  { symbol }: VenueOrder,
  { status, executedQuantity }: VenueOrderState,
  body: Body,
): Promise<VenueFills | null> {
  if (status === "RESTING" || !Array.isArray(body.fills)) return null;
  const rules = await rest.rules.of(symbol);
  if (rules.kind !== "OK" || rules.value === null) return null;
  try {
    const rows = rowsOf(body.fills);
    const filled = sum(rows.map((row) => amountOf<Quantity>(row, "qty")));
    if (filled !== executedQuantity || otherAssetsOf(rows, rules.value).length > 0) return null;
    return feesOf(rows, rules.value, () => null);
  } catch (error) {
    // They are requested when they are needed.
    if (!(error instanceof BodyFault)) throw error;
    return null;
  }
}
