// The parameters of a spot placement. Checked in this order: what the order is (symbol, side, type), what its
// type asks for and forbids, then the numbers. Source: specification 4.1; reference exchange, sections 7.2
// and 16.5.
import type { PlaceOrder } from "../../domain/command.ts";
import { type OrderSize, type Side, SPOT_ORDER_TYPES } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Amount, Price } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { conditional, type Descriptions, IGNORED, mandatory, optional, SYMBOL } from "./descriptions.ts";
import { allOf, amount, optionalClientId, optionalText, text } from "./fields.ts";
import {
  anyOf,
  limitTerms,
  nestedLegs,
  notGoodTillCancelled,
  type Placement,
  quantitySize,
  SIDE,
  sideOf,
  TIME_IN_FORCE,
} from "./terms.ts";

/**
 * The parameters of a placement. Some clients send the last four without being asked: they are ignored.
 * Source: specification 4.1; reference exchange, section 7.2.
 */
export const ORDER_PARAMETERS = {
  symbol: SYMBOL,
  side: SIDE,
  type: mandatory("text", "", { values: SPOT_ORDER_TYPES, example: "MARKET" }),
  timeInForce: conditional("text", "by some types", "", TIME_IN_FORCE),
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
  newOrderRespType: IGNORED,
  selfTradePreventionMode: IGNORED,
  strategyId: IGNORED,
  strategyType: IGNORED,
} satisfies Descriptions;

type OrderParameters = Parameters<keyof typeof ORDER_PARAMETERS>;

export function parsePlaceOrder(parameters: OrderParameters): Placement | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const side = sideOf(parameters);
  if (isRefusal(side)) return side;
  const orderType = text(parameters, "type");
  if (isRefusal(orderType)) return orderType;
  if (!isOrderType(orderType)) return { refusal: "ORDER_TYPE_INVALID" };
  const extra = nestedLegs(parameters);
  if (extra !== null) return extra;

  const terms = TERMS[orderType](parameters, side);
  if (isRefusal(terms)) return terms;
  const clientOrderId = optionalClientId(parameters, "newClientOrderId", "SPOT");
  if (isRefusal(clientOrderId)) return clientOrderId;
  return { type: "PlaceOrder", symbol, side, orderType, ...terms, clientOrderId };
}

type StandardOrderType = (typeof SPOT_ORDER_TYPES)[number];
type Terms = Pick<PlaceOrder, "size" | "price" | "stopPrice">;

const TERMS: {
  readonly [T in StandardOrderType]: (parameters: OrderParameters, side: Side) => Terms | Refusal;
} = {
  MARKET(parameters, side) {
    const extra = anyOf(parameters, ["timeInForce", "price", "stopPrice"]);
    if (extra !== null) return extra;
    return allOf({ size: marketSize(parameters, side), price: null, stopPrice: null });
  },

  LIMIT(parameters) {
    const unfit = notGoodTillCancelled(parameters) ?? anyOf(parameters, ["quoteOrderQty", "stopPrice"]);
    if (unfit !== null) return unfit;
    const terms = limitTerms(parameters);
    return isRefusal(terms) ? terms : { ...terms, stopPrice: null };
  },

  STOP_LOSS(parameters) {
    const extra = anyOf(parameters, ["timeInForce", "price", "quoteOrderQty"]);
    if (extra !== null) return extra;
    const stopPrice = amount<Price, "stopPrice">(parameters, "stopPrice");
    return allOf({ size: quantitySize(parameters), price: null, stopPrice });
  },

  STOP_LOSS_LIMIT(parameters) {
    const unfit = notGoodTillCancelled(parameters) ?? anyOf(parameters, ["quoteOrderQty"]);
    if (unfit !== null) return unfit;
    const terms = limitTerms(parameters);
    if (isRefusal(terms)) return terms;
    const stopPrice = amount<Price, "stopPrice">(parameters, "stopPrice");
    return isRefusal(stopPrice) ? stopPrice : { ...terms, stopPrice };
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
    return allOf({ quoteQuantity: amount<Amount, "quoteOrderQty">(parameters, "quoteOrderQty") });
  }
  return quantitySize(parameters);
}

function isOrderType(value: string): value is StandardOrderType {
  return (SPOT_ORDER_TYPES as readonly string[]).includes(value);
}
