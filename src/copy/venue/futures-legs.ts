// Legs at a venue: conditional orders that close a whole position, in the exchange's algo order API. A fired
// leg became an ordinary order, which says what was executed and under which id its fills are. Source:
// reference exchange, section 13.
import { type Amount, formatBriefly, type Quantity, ZERO } from "../../money/decimal.ts";
import { type AccountRest, FIND, LEG_PLACEMENT, URGENT } from "./account-rest.ts";
import { type Body, BodyFault, idOf, mapped, objectOf, rowsOf, textOf, timeOf, valueFor } from "./answers.ts";
import { WEIGHTS } from "./limits.ts";
import { demandSame, NOT_FOUND_CODES, NOT_OPEN_CODES, type OpenRoute, orderOf } from "./orders.ts";
import type { VenueAnswer, VenueLeg, VenueOrderState, VenueOrderStatus } from "./venue.ts";

const { FUTURES } = WEIGHTS;
const LEG = "/fapi/v1/algoOrder";
const PLACE = { method: "POST", path: LEG, weight: FUTURES.place, ...LEG_PLACEMENT } as const;
const FIND_LEG = { method: "GET", path: LEG, weight: FUTURES.find, ...FIND } as const;
const CANCEL = { method: "DELETE", path: LEG, weight: FUTURES.cancel, ...URGENT } as const;
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
  const answer = await rest.ask({ ...PLACE, parameters, askedAt: leg.askedAt });
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
  const answer = await rest.ask({ ...CANCEL, parameters });
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
