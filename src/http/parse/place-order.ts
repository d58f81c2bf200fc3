// The parameters of a spot placement. Checked in this order: what the order is (symbol, side, type), what its
// type asks for and forbids, then the numbers. Source: specification 4.1; reference exchange, sections 7.2
// and 16.5.
import type { PlaceOrder } from "../../domain/command.ts";
import type { FillProfileName } from "../../domain/fill-profile.ts";
import { type ClientOrderType, type OrderSize, type Side, SPOT_ORDER_TYPES } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Amount, Price } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { conditional, type Descriptions, IGNORED, mandatory, optional, SYMBOL } from "./descriptions.ts";
import { allOf, amount, optionalClientId, optionalText, text } from "./fields.ts";
import {
  anyOf,
  type ByProfile,
  byProfile,
  limitTerms,
  nestedLegs,
  otherSelfTradePrevention,
  type Placement,
  quantitySize,
  SELF_TRADE_PREVENTION,
  SIDE,
  sideOf,
  timeInForceOf,
} from "./terms.ts";

/**
 * The parameters of a placement. The last ones, which some clients send, are ignored.
 * Source: specification 4.1; reference exchange, section 7.2.
 */
export const ORDER_PARAMETERS = {
  symbol: SYMBOL,
  side: SIDE,
  type: mandatory("text", "Under the fill profile `strict` also `LIMIT_MAKER`.", {
    values: SPOT_ORDER_TYPES,
    example: "MARKET",
  }),
  timeInForce: conditional("text", "by some types", "Under the fill profile `strict` also `IOC` and `FOK`.", {
    values: ["GTC"],
    example: "GTC",
  }),
  quantity: conditional(
    "decimal",
    "by some types",
    "At most 8 decimals; the filters LOT_SIZE and MARKET_LOT_SIZE apply.",
  ),
  quoteOrderQty: conditional(
    "decimal",
    "by some types",
    "In place of `quantity` for a MARKET order that buys. At most 8 decimals; the filter NOTIONAL applies, also to what the amount buys.",
  ),
  price: conditional("decimal", "by some types", "At most 8 decimals; the filter PRICE_FILTER applies."),
  stopPrice: conditional(
    "decimal",
    "by some types",
    "At most 8 decimals; the filter PRICE_FILTER applies. The last price must not have reached it.",
  ),
  newClientOrderId: optional("text", "1 to 36 of letters, digits, `-` and `_`.", { default: "a fresh one" }),
  selfTradePreventionMode: SELF_TRADE_PREVENTION,
  newOrderRespType: IGNORED,
  strategyId: IGNORED,
  strategyType: IGNORED,
  trailingDelta: IGNORED,
  icebergQty: IGNORED,
} satisfies Descriptions;

type OrderParameters = Parameters<keyof typeof ORDER_PARAMETERS>;

export function parsePlaceOrder(parameters: OrderParameters): Placement | ByProfile<Placement> | Refusal {
  return byProfile(
    (profile) => placementOf(parameters, profile),
    otherSelfTradePrevention(parameters, "SPOT"),
  );
}

function placementOf(parameters: OrderParameters, profile: FillProfileName): Placement | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const side = sideOf(parameters);
  if (isRefusal(side)) return side;
  const orderType = text(parameters, "type");
  if (isRefusal(orderType)) return orderType;
  if (!isOrderType(orderType, profile)) return { refusal: "ORDER_TYPE_INVALID" };
  const extra = nestedLegs(parameters);
  if (extra !== null) return extra;

  const terms = TERMS[orderType](parameters, side, profile);
  if (isRefusal(terms)) return terms;
  const clientOrderId = optionalClientId(parameters, "newClientOrderId", "SPOT");
  if (isRefusal(clientOrderId)) return clientOrderId;
  return { type: "PlaceOrder", symbol, side, orderType, ...terms, clientOrderId };
}

type Terms = Pick<PlaceOrder, "size" | "price" | "stopPrice" | "timeInForce">;

const TERMS: {
  readonly [T in ClientOrderType]: (
    parameters: OrderParameters,
    side: Side,
    profile: FillProfileName,
  ) => Terms | Refusal;
} = {
  MARKET(parameters, side) {
    const extra = anyOf(parameters, ["timeInForce", "price", "stopPrice"]);
    if (extra !== null) return extra;
    return allOf({ size: marketSize(parameters, side), price: null, stopPrice: null });
  },

  LIMIT(parameters, _side, profile) {
    const timeInForce = timeInForceOf(parameters, "SPOT", profile);
    if (isRefusal(timeInForce)) return timeInForce;
    const extra = anyOf(parameters, ["quoteOrderQty", "stopPrice"]);
    if (extra !== null) return extra;
    const terms = limitTerms(parameters, "SPOT");
    return isRefusal(terms) ? terms : { ...terms, ...timeInForce, stopPrice: null };
  },

  LIMIT_MAKER(parameters) {
    const extra = anyOf(parameters, ["timeInForce", "quoteOrderQty", "stopPrice"]);
    if (extra !== null) return extra;
    const terms = limitTerms(parameters, "SPOT");
    return isRefusal(terms) ? terms : { ...terms, stopPrice: null };
  },

  STOP_LOSS(parameters) {
    const extra = anyOf(parameters, ["timeInForce", "price", "quoteOrderQty"]);
    if (extra !== null) return extra;
    const stopPrice = amount<Price, "stopPrice">(parameters, "stopPrice", "SPOT");
    return allOf({ size: quantitySize(parameters, "SPOT"), price: null, stopPrice });
  },

  STOP_LOSS_LIMIT(parameters, _side, profile) {
    const timeInForce = timeInForceOf(parameters, "SPOT", profile);
    if (isRefusal(timeInForce)) return timeInForce;
    const extra = anyOf(parameters, ["quoteOrderQty"]);
    if (extra !== null) return extra;
    const terms = limitTerms(parameters, "SPOT");
    if (isRefusal(terms)) return terms;
    const stopPrice = amount<Price, "stopPrice">(parameters, "stopPrice", "SPOT");
    return isRefusal(stopPrice) ? stopPrice : { ...terms, ...timeInForce, stopPrice };
  },
};

function marketSize(parameters: OrderParameters, side: Side): OrderSize | Refusal {
  const byQuote = optionalText(parameters, "quoteOrderQty") !== null;
  const byBase = optionalText(parameters, "quantity") !== null;
  if (byQuote && byBase) return { refusal: "PARAMETERS_EXCLUSIVE" };
  if (!byQuote && !byBase)
    return { refusal: "PARAMETERS_MISSING", parameters: ["quantity", "quoteOrderQty"] };
  if (byQuote) {
    if (side === "SELL") return { refusal: "PARAMETER_NOT_REQUIRED", parameter: "quoteOrderQty" };
    return allOf({ quoteQuantity: amount<Amount, "quoteOrderQty">(parameters, "quoteOrderQty", "SPOT") });
  }
  return quantitySize(parameters, "SPOT");
}

function isOrderType(value: string, profile: FillProfileName): value is ClientOrderType {
  return (
    (SPOT_ORDER_TYPES as readonly string[]).includes(value) ||
    (value === "LIMIT_MAKER" && profile === "strict")
  );
}
