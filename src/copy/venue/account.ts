// One account at a venue: requests and answers in our terms; `TYPES` says how the types differ. The newest
// answers to placing and canceling on a contract do not say what was paid; then the order is queried. A fired
// leg is the order that it became. Margin is isolated. The owner may change margin and leverage at any time,
// so a setting is trusted for `SETTINGS_AGE_MAX_MS` alone, no longer than the interval between polls: a burst
// of orders sets it once. Source: reference exchange, sections 7, 11, 12 and 13.
import { COPY_QUOTE_ASSET } from "../../domain/copying.ts";
import { type Amount, add, formatBriefly, type Quantity, sum, ZERO } from "../../money/decimal.ts";
import {
  amountOf,
  type Body,
  BodyFault,
  flagOf,
  idOf,
  mapped,
  objectOf,
  rowsOf,
  textOf,
  timeOf,
  unknown,
  valueFor,
} from "./answers.ts";
import { askForRestrictions, checkAccount, hasNoSuchRoute } from "./key-rights.ts";
import { WEIGHTS } from "./limits.ts";
import {
  type AccountRest,
  askForFills,
  askForFillsSince,
  demandSame,
  FIND,
  feesOf,
  findOrder,
  LEG_PLACEMENT,
  LISTS_OF_POLL,
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
  unpaidOrderOf,
  weightOfOpen,
} from "./orders.ts";
import { askForClearance, Trades } from "./trades.ts";
import type {
  VenueAnswer,
  VenueBalances,
  VenueClient,
  VenueFills,
  VenueLeg,
  VenueOrder,
  VenueOrderState,
  VenueOrderStatus,
  VenueRefusal,
} from "./venue.ts";

const { SPOT, FUTURES } = WEIGHTS;
/** `response`: what an answer to a placement is to say. `quoteKey`: under what a body has what was paid. */
const TYPES = {
  SPOT: {
    order: "/api/v3/order",
    account: { path: "/api/v3/account", parameters: { omitZeroBalances: true } },
    checked: "/api/v3/account",
    openOrders: { path: "/api/v3/openOrders", weight: SPOT.openOrders, idKey: "clientOrderId" },
    fills: { path: "/api/v3/myTrades", weight: SPOT.fills, priority: "POLL" },
    fillsSince: { path: "/api/v3/myTrades", weight: SPOT.fillsSince, priority: "POLL" },
    response: "FULL",
    quoteKey: "cummulativeQuoteQty",
    balancesOf: balancesOfPairs,
  },
  FUTURES: {
    order: "/fapi/v1/order",
    account: { path: "/fapi/v3/account" },
    // The newer version does not say whether the account may trade.
    checked: "/fapi/v2/account",
    openOrders: { path: "/fapi/v1/openOrders", weight: FUTURES.openOrders, idKey: "clientOrderId" },
    fills: { path: "/fapi/v1/userTrades", weight: FUTURES.fills, priority: "FEES" },
    fillsSince: { path: "/fapi/v1/userTrades", weight: FUTURES.fills, priority: "FEES" },
    response: "RESULT",
    quoteKey: "cumQuote",
    balancesOf: balancesOfContracts,
  },
} as const;
const MODE = { method: "GET", path: "/fapi/v1/positionSide/dual", ...URGENT, isKeyCheck: true } as const;
/** "No need to change margin type." */
const MARGIN_TYPE_UNCHANGED: ReadonlySet<number> = new Set([-4046]);
export const SETTINGS_AGE_MAX_MS = 15_000;
/** "Order type not supported" and "Invalid leverage", in the words of the exchange; nothing was sent. */
const NO_LEGS: VenueRefusal = { kind: "REFUSED", code: -1116, message: "Invalid orderType." };
const NO_LEVERAGE: VenueRefusal = { kind: "REFUSED", code: -4028, message: "Invalid leverage" };
const NONE = { kind: "OK", value: null } as const;

type Setting = { readonly leverage: number; readonly at: number };
type Placed = VenueAnswer<VenueOrderState>;
type Found = VenueAnswer<VenueOrderState | null>;

/** The client of one account, on spot or of contracts. */
export function createClient(rest: AccountRest): VenueClient {
  const of = TYPES[rest.type];
  const weights = WEIGHTS[rest.type];
  const isSpot = rest.type === "SPOT";
  const account = { method: "GET", weight: weights.account, ...of.account, ...URGENT } as const;
  const settings = new Map<string, Setting>();
  const trades = new Trades(rest);

  const find = (asked: OrderAsked): Promise<Found> => {
    const call = { method: "GET", path: of.order, weight: weights.find, ...FIND } as const;
    return findOrder(rest, call, asked, of.quoteKey);
  };

  /** The order in the answer to a placement or a cancel; the queried one if it does not say what was paid. */
  async function orderIn(asked: OrderAsked, answer: VenueAnswer<unknown>): Promise<Placed> {
    const order = mapped(answer, (value) => {
      const body = objectOf(value);
      const isTold = isSpot || body[of.quoteKey] !== undefined;
      const state = isTold ? orderOf(body, asked, of.quoteKey) : unpaidOrderOf(body, asked);
      return { state, isKnown: isTold || state.executedQuantity === 0n };
    });
    if (order.kind !== "OK") return order;
    if (order.value.isKnown) return { kind: "OK", value: order.value.state };
    const found = await find(asked);
    if (found.kind === "OK" && found.value !== null) return { kind: "OK", value: found.value };
    return unknown("what was paid for it is not known yet");
  }

  return {
    check: () => checkAccount(rest, { ...account, path: of.checked }, of.balancesOf, () => askForMode(rest)),

    keyRights: (type) => askForRestrictions(rest, type),

    async balances() {
      return mapped(await rest.ask(account), (value) => of.balancesOf(objectOf(value)));
    },

    async place(order) {
      const { askedAt } = order;
      const parameters = {
        ...placementOf(order),
        reduceOnly: !isSpot && order.reduceOnly ? true : undefined,
        newOrderRespType: of.response,
      };
      const call = { method: "POST", path: of.order, weight: weights.place } as const;
      const answer = await rest.ask({ ...call, parameters, askedAt, ...placementCost(order) });
      const placed = await orderIn(order, answer);
      if (!isSpot || placed.kind !== "OK" || answer.kind !== "OK") return placed;
      const fills = await fillsOf(rest, order, placed.value, objectOf(answer.value));
      return fills === null ? placed : { kind: "OK", value: { ...placed.value, fills } };
    },

    placeLeg: async (leg) => (isSpot ? NO_LEGS : await placeLeg(rest, leg)),

    find: (symbol, clientOrderId) => find({ symbol, clientOrderId }),

    findLeg: async (symbol, id) => (isSpot ? NONE : await findLeg(rest, { symbol, clientOrderId: id })),

    async cancel(symbol, clientOrderId) {
      const call = { method: "DELETE", path: of.order, weight: weights.cancel, ...URGENT } as const;
      const answer = await rest.ask({ ...call, parameters: { symbol, origClientOrderId: clientOrderId } });
      const canceled = await orderIn({ symbol, clientOrderId }, answer);
      return valueFor<VenueOrderState | null>(NOT_OPEN_CODES, canceled, null);
    },

    cancelLeg: async (symbol, id) => (isSpot ? NONE : await cancelLeg(rest, { symbol, clientOrderId: id })),

    async openOrders(symbols) {
      const orders = await listOpen(rest, of.openOrders, symbols?.orders);
      if (isSpot || orders.kind !== "OK") return mapped(orders, (open) => new Map(open));
      const legs = await listOpen(rest, OPEN_LEGS, symbols?.legs);
      return mapped(legs, (open) => new Map([...orders.value, ...open]));
    },

    pollWeight({ orders, legs }) {
      const ofLegs = isSpot ? 0 : weightOfOpen(OPEN_LEGS, legs);
      return weights.account + LISTS_OF_POLL * (weightOfOpen(of.openOrders, orders) + ofLegs);
    },

    fills: (asked) => askForFills(rest, of.fills, asked),

    fillsSince: (asked) => askForFillsSince(rest, of.fillsSince, asked),

    trades: (symbol, asked) => trades.since(symbol, asked),

    clearance: async (symbol, between) =>
      isSpot ? { kind: "OK", value: ZERO } : await askForClearance(rest, symbol, between),

    async setLeverage(symbol, leverage, priority = "REDUCE") {
      if (isSpot) return NO_LEVERAGE;
      const known = settings.get(symbol);
      const isSet = known?.leverage === leverage && rest.wallNow() - known.at < SETTINGS_AGE_MAX_MS;
      if (isSet) return NONE;
      settings.delete(symbol);
      const askedAt = rest.wallNow();
      // An order waits for both, so they are requested in parallel.
      const [isolated, changed] = await Promise.all([
        setting(rest, priority, "marginType", { symbol, marginType: "ISOLATED" }),
        setting(rest, priority, "leverage", { symbol, leverage }),
      ]);
      const taken = valueFor(MARGIN_TYPE_UNCHANGED, isolated, null);
      if (taken.kind !== "OK") return taken;
      if (changed.kind === "OK") settings.set(symbol, { leverage, at: askedAt });
      return changed;
    },

    listen: rest.listen,
  };
}

async function setting(
  rest: AccountRest,
  priority: "OPEN" | "REDUCE",
  name: "marginType" | "leverage",
  parameters: Readonly<Record<string, string | number>>,
): Promise<VenueAnswer<null>> {
  const call = { method: "POST", path: `/fapi/v1/${name}`, weight: FUTURES.setting, ...URGENT } as const;
  return mapped(await rest.ask({ ...call, priority, parameters }), () => null);
}

/** Null on spot, and where the venue does not say. */
async function askForMode(rest: AccountRest): Promise<VenueAnswer<boolean | null>> {
  if (rest.type === "SPOT") return NONE;
  const answer = await rest.ask({ ...MODE, weight: FUTURES.positionMode });
  if (hasNoSuchRoute(answer)) return NONE;
  return mapped(answer, (value) => flagOf(objectOf(value), "dualSidePosition"));
}

function balancesOfPairs(body: Body): VenueBalances {
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

function balancesOfContracts(body: Body): VenueBalances {
  const row = rowsOf(body.assets).find(({ asset }) => asset === COPY_QUOTE_ASSET);
  const amount = (key: string): Amount => (row === undefined ? ZERO : amountOf<Amount>(row, key));
  const positions = rowsOf(body.positions).map(
    (position) => [textOf(position, "symbol"), amountOf<Quantity>(position, "positionAmt")] as const,
  );
  const held = new Map(positions.filter(([, quantity]) => quantity !== 0n));
  return { wallet: amount("walletBalance"), available: amount("availableBalance"), held, locked: new Map() };
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

// Legs at a venue: conditional orders that close a whole position, in the exchange's algo order API. A fired
// leg became an ordinary order, which says what was executed and under which id its fills are. Source:
// reference exchange, section 13.

const LEG = "/fapi/v1/algoOrder";
const PLACE_LEG = { method: "POST", path: LEG, weight: FUTURES.place, ...LEG_PLACEMENT } as const;
const FIND_LEG = { method: "GET", path: LEG, weight: FUTURES.find, ...FIND } as const;
const { deadlineMs } = LEG_PLACEMENT;
/** The leg that takes its place waits for it. */
const CANCEL_LEG = { method: "DELETE", path: LEG, weight: FUTURES.cancel, ...URGENT, deadlineMs } as const;
const FIND_FIRED = { method: "GET", path: TYPES.FUTURES.order, weight: FUTURES.find, ...URGENT } as const;
const OPEN_LEGS: OpenRoute = {
  path: "/fapi/v1/openAlgoOrders",
  weight: FUTURES.openLegs,
  idKey: "clientAlgoId",
};

/** Triggered is not yet executed: it can neither be cancelled nor is it over. */
const STATUSES: ReadonlyMap<string, VenueOrderStatus> = new Map([
  ["NEW", "RESTING"],
  ["TRIGGERING", "RESTING"],
  ["TRIGGERED", "RESTING"],
  ["FINISHED", "FILLED"],
  ["CANCELED", "CANCELED"],
  ["EXPIRED", "EXPIRED"],
  ["REJECTED", "REJECTED"],
]);

type Sought = { readonly state: VenueOrderState; readonly orderId: string | null };
type LegAsked = Pick<VenueLeg, "symbol" | "clientOrderId">;

async function placeLeg(rest: AccountRest, leg: VenueLeg): Promise<Placed> {
  const parameters = {
    algoType: "CONDITIONAL",
    symbol: leg.symbol,
    side: leg.side,
    type: leg.type,
    triggerPrice: formatBriefly(leg.triggerPrice),
    workingType: "MARK_PRICE",
    closePosition: true,
    clientAlgoId: leg.clientOrderId,
  };
  const answer = await rest.ask({ ...PLACE_LEG, parameters, askedAt: leg.askedAt });
  return mapped(answer, (value) => legOf(objectOf(value), leg).state);
}

/**
 * The exchange has been seen not to find a leg by its id that it lists: what is not found is looked for among
 * the open ones. One that has fired is the order that it became, under the id of the leg; the order may have
 * a client id of its own.
 */
async function findLeg(rest: AccountRest, asked: LegAsked): Promise<Found> {
  const { symbol, clientOrderId } = asked;
  const answer = await rest.ask({ ...FIND_LEG, parameters: { symbol, clientAlgoId: clientOrderId } });
  const found = mapped(answer, (value) => legOf(objectOf(value), asked));
  const sought = valueFor<Sought | null>(NOT_FOUND_CODES, found, null);
  if (sought.kind !== "OK") return sought;
  if (sought.value === null) return await findAmongOpen(rest, asked);
  const { state, orderId } = sought.value;
  if (orderId === null) return { kind: "OK", value: state };
  const fired = await rest.ask({ ...FIND_FIRED, parameters: { symbol, orderId } });
  return mapped(fired, (value) => ({
    ...orderOf(objectOf(value), { ...asked, venueOrderId: orderId }, "cumQuote"),
    quantity: state.quantity,
  }));
}

async function findAmongOpen(rest: AccountRest, asked: LegAsked): Promise<Found> {
  const call = { method: "GET", path: OPEN_LEGS.path, weight: OPEN_LEGS.weight.ofOne, ...URGENT } as const;
  const answer = await rest.ask({ ...call, parameters: { symbol: asked.symbol } });
  const found = mapped(answer, (value) => {
    const row = rowsOf(value).find(({ clientAlgoId }) => clientAlgoId === asked.clientOrderId);
    return row === undefined ? null : legOf(row, asked).state;
  });
  return valueFor<VenueOrderState | null>(NOT_FOUND_CODES, found, null);
}

async function cancelLeg(rest: AccountRest, asked: LegAsked): Promise<Found> {
  const { symbol, clientOrderId } = asked;
  const answer = await rest.ask({ ...CANCEL_LEG, parameters: { symbol, clientAlgoId: clientOrderId } });
  const canceled = mapped(answer, (value): VenueOrderState => {
    const body = objectOf(value);
    demandLeg(body, asked);
    const of = { clientOrderId, venueOrderId: idOf(body, "algoId"), updatedAt: rest.venueNow() };
    return { ...NOTHING_EXECUTED, ...of, status: "CANCELED" };
  });
  return valueFor<VenueOrderState | null>(NOT_OPEN_CODES, canceled, null);
}

const NOTHING_EXECUTED = {
  quantity: ZERO as Quantity,
  executedQuantity: ZERO as Quantity,
  executedQuote: ZERO as Amount,
};

/** Throws a BodyFault if the body names another leg. */
function demandLeg(body: Body, { symbol, clientOrderId }: LegAsked): void {
  demandSame(body, "symbol", symbol);
  demandSame(body, "clientAlgoId", clientOrderId);
}

/** Throws a BodyFault if the body makes no sense or names another leg. */
function legOf(body: Body, asked: LegAsked): Sought {
  demandLeg(body, asked);
  const text = textOf(body, "algoStatus");
  const status = STATUSES.get(text);
  if (status === undefined) throw new BodyFault(`algoStatus ${text}`);
  const orderId = body.actualOrderId;
  const state = {
    ...NOTHING_EXECUTED,
    clientOrderId: textOf(body, "clientAlgoId"),
    venueOrderId: idOf(body, "algoId"),
    status,
    updatedAt: timeOf(body, "updateTime"),
  };
  const hasFired = text === "FINISHED" && typeof orderId === "string" && orderId !== "";
  return { state, orderId: hasFired ? orderId : null };
}
