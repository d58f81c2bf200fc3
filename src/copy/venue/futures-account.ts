// One account's trading of perpetual contracts at a venue: requests and answers in our terms. The newest
// answers to placing and canceling do not say what was paid; then the order is queried. A fired leg is the
// order that it became. Margin is isolated. The owner may change margin and leverage at any time, so a
// setting is trusted for `SETTINGS_AGE_MAX_MS` alone, no longer than the interval between polls: a burst of
// orders sets it once. Source: reference exchange, sections 11, 12 and 13.
import { type Amount, formatBriefly, type Quantity, ZERO } from "../../money/decimal.ts";
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
import { askForClearance, FuturesTrades } from "./futures-trades.ts";
import { askForRestrictions, checkAccount, hasNoSuchRoute } from "./key-rights.ts";
import { WEIGHTS } from "./limits.ts";
import {
  type AccountRest,
  askForFills,
  askForFillsSince,
  demandSame,
  FIND,
  findOrder,
  LEG_PLACEMENT,
  LISTS_OF_POLL,
  listOpen,
  NOT_FOUND_CODES,
  NOT_OPEN_CODES,
  type OpenRoute,
  type OrderAsked,
  orderOf,
  placementCost,
  placementOf,
  URGENT,
  unpaidOrderOf,
  weightOfOpen,
} from "./orders.ts";
import type {
  VenueAnswer,
  VenueBalances,
  VenueClient,
  VenueLeg,
  VenueOrderState,
  VenueOrderStatus,
} from "./venue.ts";

const { FUTURES } = WEIGHTS;
const ORDER = "/fapi/v1/order";
const PLACE = { method: "POST", path: ORDER, weight: FUTURES.place } as const;
const FIND_ORDER = { method: "GET", path: ORDER, weight: FUTURES.find, ...FIND } as const;
const CANCEL = { method: "DELETE", path: ORDER, weight: FUTURES.cancel, ...URGENT } as const;
const ACCOUNT = { method: "GET", path: "/fapi/v3/account", weight: FUTURES.account, ...URGENT } as const;
/** The newer version does not say whether the account may trade. */
const CHECKED = { ...ACCOUNT, path: "/fapi/v2/account" } as const;
const POSITION_MODE = {
  method: "GET",
  path: "/fapi/v1/positionSide/dual",
  weight: FUTURES.positionMode,
  ...URGENT,
  isKeyCheck: true,
} as const;
const OPEN_ORDERS: OpenRoute = {
  path: "/fapi/v1/openOrders",
  weight: FUTURES.openOrders,
  idKey: "clientOrderId",
};
const FILLS = { path: "/fapi/v1/userTrades", weight: FUTURES.fills, priority: "FEES" } as const;
const QUOTE_KEY = "cumQuote";
const MARGIN_ASSET = "USDT";
/** "No need to change margin type." */
const MARGIN_TYPE_UNCHANGED: ReadonlySet<number> = new Set([-4046]);
export const SETTINGS_AGE_MAX_MS = 15_000;

type Setting = { readonly leverage: number; readonly at: number };

export function createFuturesClient(rest: AccountRest): VenueClient {
  const settings = new Map<string, Setting>();
  const trades = new FuturesTrades(rest);

  return {
    check: () => checkAccount(rest, CHECKED, balancesOf, () => askForMode(rest)),

    keyRights: (type) => askForRestrictions(rest, type),

    async balances() {
      return mapped(await rest.ask(ACCOUNT), (value) => balancesOf(objectOf(value)));
    },

    async place(order) {
      const { symbol, clientOrderId, reduceOnly } = order;
      const parameters = {
        ...placementOf(order),
        reduceOnly: reduceOnly ? true : undefined,
        newOrderRespType: "RESULT",
      };
      const { askedAt } = order;
      const answer = await rest.ask({ ...PLACE, parameters, askedAt, ...placementCost(order) });
      return await withQuote(rest, { symbol, clientOrderId }, answer);
    },

    placeLeg: (leg) => placeLeg(rest, leg),

    find: (symbol, clientOrderId) => findOrder(rest, FIND_ORDER, { symbol, clientOrderId }, QUOTE_KEY),

    findLeg: (symbol, clientOrderId) => findLeg(rest, symbol, clientOrderId),

    async cancel(symbol, clientOrderId) {
      const parameters = { symbol, origClientOrderId: clientOrderId };
      const answer = await rest.ask({ ...CANCEL, parameters });
      const canceled = await withQuote(rest, { symbol, clientOrderId }, answer);
      return valueFor<VenueOrderState | null>(NOT_OPEN_CODES, canceled, null);
    },

    cancelLeg: (symbol, clientOrderId) => cancelLeg(rest, symbol, clientOrderId),

    async openOrders(of) {
      const orders = await listOpen(rest, OPEN_ORDERS, of?.orders);
      if (orders.kind !== "OK") return orders;
      const legs = await listOpen(rest, OPEN_LEGS, of?.legs);
      return mapped(legs, (open) => new Map([...orders.value, ...open]));
    },

    pollWeight: ({ orders, legs }) =>
      ACCOUNT.weight + LISTS_OF_POLL * (weightOfOpen(OPEN_ORDERS, orders) + weightOfOpen(OPEN_LEGS, legs)),

    fills: (of) => askForFills(rest, FILLS, of),

    fillsSince: (of) => askForFillsSince(rest, FILLS, of),

    trades: (symbol, of) => trades.since(symbol, of),

    clearance: (symbol, between) => askForClearance(rest, symbol, between),

    async setLeverage(symbol, leverage, priority = "REDUCE") {
      const known = settings.get(symbol);
      const isSet = known?.leverage === leverage && rest.wallNow() - known.at < SETTINGS_AGE_MAX_MS;
      if (isSet) return { kind: "OK", value: null };
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

/**
 * The order in the answer to a placement or a cancel; if it does not say what was paid, the queried order.
 */
async function withQuote(
  rest: AccountRest,
  asked: OrderAsked,
  answer: VenueAnswer<unknown>,
): Promise<VenueAnswer<VenueOrderState>> {
  const order = mapped(answer, (value) => {
    const body = objectOf(value);
    const isTold = body.cumQuote !== undefined;
    const state = isTold ? orderOf(body, asked, QUOTE_KEY) : unpaidOrderOf(body, asked);
    return { state, isKnown: isTold || state.executedQuantity === 0n };
  });
  if (order.kind !== "OK") return order;
  if (order.value.isKnown) return { kind: "OK", value: order.value.state };
  const found = await findOrder(rest, FIND_ORDER, asked, QUOTE_KEY);
  if (found.kind === "OK" && found.value !== null) return { kind: "OK", value: found.value };
  return unknown("what was paid for it is not known yet");
}

/** Null where the venue does not say. */
async function askForMode(rest: AccountRest): Promise<VenueAnswer<boolean | null>> {
  const answer = await rest.ask(POSITION_MODE);
  if (hasNoSuchRoute(answer)) return { kind: "OK", value: null };
  return mapped(answer, (value) => flagOf(objectOf(value), "dualSidePosition"));
}

function balancesOf(body: Body): VenueBalances {
  const row = rowsOf(body.assets).find(({ asset }) => asset === MARGIN_ASSET);
  const amount = (key: string): Amount => (row === undefined ? ZERO : amountOf<Amount>(row, key));
  const positions = rowsOf(body.positions).map(
    (position) => [textOf(position, "symbol"), amountOf<Quantity>(position, "positionAmt")] as const,
  );
  const held = new Map(positions.filter(([, quantity]) => quantity !== 0n));
  return { wallet: amount("walletBalance"), available: amount("availableBalance"), held, locked: new Map() };
}

const LEG = "/fapi/v1/algoOrder";
const PLACE_LEG = { method: "POST", path: LEG, weight: FUTURES.place, ...LEG_PLACEMENT } as const;
const FIND_LEG = { method: "GET", path: LEG, weight: FUTURES.find, ...FIND } as const;
const { deadlineMs } = LEG_PLACEMENT;
/** The leg that takes its place waits for it. */
const CANCEL_LEG = { method: "DELETE", path: LEG, weight: FUTURES.cancel, ...URGENT, deadlineMs } as const;
// Legs at a venue: conditional orders that close a whole position, in the exchange's algo order API. A fired
// leg became an ordinary order, which says what was executed and under which id its fills are. Source:
// reference exchange, section 13.

const FIND_FIRED = { method: "GET", path: "/fapi/v1/order", weight: FUTURES.find, ...URGENT } as const;
export const OPEN_LEGS: OpenRoute = {
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

export async function placeLeg(rest: AccountRest, leg: VenueLeg): Promise<VenueAnswer<VenueOrderState>> {
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
 * the open ones.
 */
export async function findLeg(
  rest: AccountRest,
  symbol: string,
  clientAlgoId: string,
): Promise<VenueAnswer<VenueOrderState | null>> {
  const parameters = { symbol, clientAlgoId };
  const asked = { symbol, clientOrderId: clientAlgoId };
  const answer = await rest.ask({ ...FIND_LEG, parameters });
  const found = mapped(answer, (value) => legOf(objectOf(value), asked));
  const sought = valueFor<Sought | null>(NOT_FOUND_CODES, found, null);
  if (sought.kind !== "OK") return sought;
  if (sought.value === null) return await findAmongOpen(rest, symbol, clientAlgoId);
  const { state, orderId } = sought.value;
  return orderId === null ? { kind: "OK", value: state } : await findFired(rest, symbol, state, orderId);
}

export async function cancelLeg(
  rest: AccountRest,
  symbol: string,
  clientAlgoId: string,
): Promise<VenueAnswer<VenueOrderState | null>> {
  const parameters = { symbol, clientAlgoId };
  const answer = await rest.ask({ ...CANCEL_LEG, parameters });
  const canceled = mapped(answer, (value) => {
    const body = objectOf(value);
    demandLeg(body, { symbol, clientOrderId: clientAlgoId });
    return {
      ...NOTHING_EXECUTED,
      clientOrderId: clientAlgoId,
      venueOrderId: idOf(body, "algoId"),
      status: "CANCELED" as const,
      updatedAt: rest.venueNow(),
    };
  });
  return valueFor<VenueOrderState | null>(NOT_OPEN_CODES, canceled, null);
}

async function findAmongOpen(
  rest: AccountRest,
  symbol: string,
  clientAlgoId: string,
): Promise<VenueAnswer<VenueOrderState | null>> {
  const call = { method: "GET", path: OPEN_LEGS.path, weight: OPEN_LEGS.weight.ofOne, ...URGENT } as const;
  const answer = await rest.ask({ ...call, parameters: { symbol } });
  const found = mapped(answer, (value) => {
    const row = rowsOf(value).find((each) => each.clientAlgoId === clientAlgoId);
    return row === undefined ? null : legOf(row, { symbol, clientOrderId: clientAlgoId }).state;
  });
  return valueFor<VenueOrderState | null>(NOT_FOUND_CODES, found, null);
}

/**
 * The order that a leg became when it fired, under the leg's client id; the order may have a client id of its
 * own.
 */
async function findFired(
  rest: AccountRest,
  symbol: string,
  leg: VenueOrderState,
  orderId: string,
): Promise<VenueAnswer<VenueOrderState>> {
  const answer = await rest.ask({ ...FIND_FIRED, parameters: { symbol, orderId } });
  const asked = { symbol, clientOrderId: leg.clientOrderId, venueOrderId: orderId };
  return mapped(answer, (value) => ({
    ...orderOf(objectOf(value), asked, "cumQuote"),
    quantity: leg.quantity,
  }));
}

const NOTHING_EXECUTED = {
  quantity: ZERO as Quantity,
  executedQuantity: ZERO as Quantity,
  executedQuote: ZERO as Amount,
};

type LegAsked = Pick<VenueLeg, "symbol" | "clientOrderId">;

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
