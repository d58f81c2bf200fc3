// The parameters of a futures placement. Checked in this order: what the order is (symbol, side, type), what
// its type asks for and forbids, then what an entry may ask for besides, then the client's id.
// Source: specification 4.2; reference exchange, sections 12.1 and 16.5.
import type { EntryOptions, PlaceOrder } from "../../domain/command.ts";
import type { FillProfileName } from "../../domain/fill-profile.ts";
import { type AttachedLegs, FUTURES_ORDER_TYPES } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Price } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { conditional, type Descriptions, IGNORED, mandatory, optional, SYMBOL } from "./descriptions.ts";
import {
  allOf,
  amount,
  optionalClientId,
  optionalFlag,
  optionalLongInteger,
  optionalText,
  text,
} from "./fields.ts";
import {
  anyOf,
  type ByProfile,
  byProfile,
  limitTerms,
  nestedLegs,
  otherPositionSide,
  otherSelfTradePrevention,
  type Placement,
  POSITION_SIDE,
  quantitySize,
  SELF_TRADE_PREVENTION,
  SIDE,
  sideOf,
  timeInForceOf,
} from "./terms.ts";

/**
 * The parameters of a placement. The last ones, which some clients send, are ignored.
 * Source: specification 4.2; reference exchange, section 12.1.
 */
export const FUTURES_ORDER_PARAMETERS = {
  symbol: SYMBOL,
  side: SIDE,
  type: mandatory("text", "The conditional types are refused with -4120: place a leg instead.", {
    values: FUTURES_ORDER_TYPES,
    example: "MARKET",
  }),
  positionSide: POSITION_SIDE,
  timeInForce: conditional(
    "text",
    "for LIMIT",
    "Not with MARKET (-1106). Under the fill profile `strict` also `IOC`, `FOK` and `GTX`.",
    { values: ["GTC"], example: "GTC" },
  ),
  quantity: mandatory(
    "decimal",
    "With the digits of the contract; the filters LOT_SIZE and MARKET_LOT_SIZE apply.",
    { example: "0.01" },
  ),
  price: conditional(
    "decimal",
    "for LIMIT",
    "With the digits of the contract; the filters PRICE_FILTER and PERCENT_PRICE apply. Not with MARKET (-1106).",
  ),
  priceMatch: optional("text", "The price cannot be left to the exchange.", {
    values: ["NONE"],
    default: "NONE",
  }),
  stopPrice: optional("decimal", "Refused (-1106): orders have no trigger. Place a leg instead."),
  reduceOnly: optional(
    "flag",
    "With `true` the order is cut to what there is to reduce, and refused (-2022) where there is nothing. The filter MIN_NOTIONAL does not apply to it.",
    { default: "false" },
  ),
  closePosition: optional("flag", "`true` is refused (-1106): only legs close the whole position.", {
    default: "false",
  }),
  takeProfitPrice: optional(
    "decimal",
    "The trigger of a take-profit leg. Not with an order that only reduces (-1106).",
    { default: "none" },
  ),
  stopLossPrice: optional(
    "decimal",
    "The trigger of a stop-loss leg. Not with an order that only reduces (-1106).",
    { default: "none" },
  ),
  leverage: optional(
    "count",
    "Becomes the leverage of the symbol, unless a position is open; also of entries that rest, whatever they were sent with.",
    { default: "as it is", min: 1 },
  ),
  newClientOrderId: optional(
    "text",
    "1 to 36 of letters, digits and `.` `:` `/` `_` `-`. Not beginning with `stopLoss/` or `takeProfit/`, and not that of an open leg (-4116).",
    { default: "a fresh one" },
  ),
  selfTradePreventionMode: SELF_TRADE_PREVENTION,
  newOrderRespType: IGNORED,
  goodTillDate: IGNORED,
  workingType: IGNORED,
  priceProtect: IGNORED,
  activationPrice: IGNORED,
  activatePrice: IGNORED,
  callbackRate: IGNORED,
} satisfies Descriptions;

type FuturesOrderParameters = Parameters<keyof typeof FUTURES_ORDER_PARAMETERS>;

export function parsePlaceFuturesOrder(
  parameters: FuturesOrderParameters,
): Placement | ByProfile<Placement> | Refusal {
  return byProfile(
    (profile) => placementOf(parameters, profile),
    otherSelfTradePrevention(parameters, "FUTURES"),
  );
}

function placementOf(parameters: FuturesOrderParameters, profile: FillProfileName): Placement | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const side = sideOf(parameters);
  if (isRefusal(side)) return side;
  const orderType = orderTypeOf(parameters);
  if (isRefusal(orderType)) return orderType;
  const misplaced = otherPositionSide(parameters);
  if (misplaced !== null) return misplaced;

  const extra =
    anyOf(parameters, ["stopPrice"]) ??
    closesPosition(parameters) ??
    matchesPrice(parameters) ??
    nestedLegs(parameters);
  if (extra !== null) return extra;
  const terms = TERMS[orderType](parameters, profile);
  if (isRefusal(terms)) return terms;
  const entry = entryOf(parameters);
  if (isRefusal(entry)) return entry;
  const clientOrderId = optionalClientId(parameters, "newClientOrderId", "FUTURES");
  if (isRefusal(clientOrderId)) return clientOrderId;
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType,
    ...terms,
    stopPrice: null,
    clientOrderId,
    entry,
  };
}

type FuturesOrderType = (typeof FUTURES_ORDER_TYPES)[number];
type Terms = Pick<PlaceOrder, "size" | "price" | "timeInForce">;

/** The types that the exchange takes as algo orders only. */
const CONDITIONAL_TYPES: ReadonlySet<string> = new Set([
  "STOP",
  "STOP_MARKET",
  "TAKE_PROFIT",
  "TAKE_PROFIT_MARKET",
  "TRAILING_STOP_MARKET",
]);

const TERMS: {
  readonly [T in FuturesOrderType]: (
    parameters: FuturesOrderParameters,
    profile: FillProfileName,
  ) => Terms | Refusal;
} = {
  MARKET(parameters) {
    const extra = anyOf(parameters, ["timeInForce", "price"]);
    if (extra !== null) return extra;
    return allOf({ size: quantitySize(parameters, "FUTURES"), price: null });
  },

  LIMIT(parameters, profile) {
    const timeInForce = timeInForceOf(parameters, "FUTURES", profile);
    if (isRefusal(timeInForce)) return timeInForce;
    const terms = limitTerms(parameters, "FUTURES");
    return isRefusal(terms) ? terms : { ...terms, ...timeInForce };
  },
};

function orderTypeOf(parameters: FuturesOrderParameters): FuturesOrderType | Refusal {
  const orderType = text(parameters, "type");
  if (isRefusal(orderType)) return orderType;
  if (CONDITIONAL_TYPES.has(orderType)) return { refusal: "ORDER_TYPE_CONDITIONAL" };
  return isOrderType(orderType) ? orderType : { refusal: "ORDER_TYPE_INVALID" };
}

/** Only legs close the whole position. Clients send `false` of their own accord. */
function closesPosition(parameters: FuturesOrderParameters): Refusal | null {
  const closes = optionalFlag(parameters, "closePosition");
  if (isRefusal(closes)) return closes;
  return closes === true ? { refusal: "PARAMETER_NOT_REQUIRED", parameter: "closePosition" } : null;
}

/** A price that the exchange would choose is not served. */
function matchesPrice(parameters: FuturesOrderParameters): Refusal | null {
  const isServed = (optionalText(parameters, "priceMatch") ?? "NONE") === "NONE";
  return isServed ? null : { refusal: "PARAMETER_NOT_REQUIRED", parameter: "priceMatch" };
}

const ATTACHED = ["takeProfitPrice", "stopLossPrice"] as const;

function entryOf(parameters: FuturesOrderParameters): EntryOptions | Refusal {
  const reduceOnly = optionalFlag(parameters, "reduceOnly");
  if (isRefusal(reduceOnly)) return reduceOnly;
  // A reduce-only order opens no position that a leg could close.
  const parameter = ATTACHED.find((name) => optionalText(parameters, name) !== null);
  if (reduceOnly === true && parameter !== undefined) return { refusal: "LEG_OF_REDUCTION", parameter };
  const attached = attachedOf(parameters);
  if (isRefusal(attached)) return attached;
  const leverage = optionalLeverage(parameters);
  if (isRefusal(leverage)) return leverage;
  return { reduceOnly: reduceOnly === true, attached, leverage };
}

function attachedOf(parameters: FuturesOrderParameters): AttachedLegs | null | Refusal {
  const attached = allOf({
    takeProfitPrice: optionalPrice(parameters, "takeProfitPrice"),
    stopLossPrice: optionalPrice(parameters, "stopLossPrice"),
  });
  const isNone = !isRefusal(attached) && attached.takeProfitPrice === null && attached.stopLossPrice === null;
  return isNone ? null : attached;
}

function optionalPrice(
  parameters: FuturesOrderParameters,
  name: (typeof ATTACHED)[number],
): Price | null | Refusal {
  return optionalText(parameters, name) === null
    ? null
    : amount<Price, typeof name>(parameters, name, "FUTURES");
}

/**
 * A whole number from 1 on; what is above the contract's highest is that one. ILLEGAL_CHARACTERS,
 * LEVERAGE_INVALID.
 */
export function optionalLeverage(parameters: Parameters<"leverage">): number | null | Refusal {
  const leverage = optionalLongInteger(parameters, "leverage") ?? null;
  return leverage === 0 ? { refusal: "LEVERAGE_INVALID", leverage } : leverage;
}

function isOrderType(value: string): value is FuturesOrderType {
  return (FUTURES_ORDER_TYPES as readonly string[]).includes(value);
}
