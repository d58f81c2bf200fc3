// The parameters of a spot placement. Checked in this order: what the order is (symbol, side, type), what its type asks
// for and forbids, then the numbers. Source: specification 4.1; reference exchange, sections 7.2 and 16.5.
import type { PlaceOrder } from "../../domain/command.ts";
import { type OrderSize, type OrderType, SIDES, type Side, SPOT_ORDER_TYPES } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Amount, Price, Quantity } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { amount, optionalClientId, optionalText, text } from "./fields.ts";

/** Reads a placement; an order without a client id gets a fresh one. */
export function parsePlaceOrder(
  parameters: Parameters,
  newClientOrderId: () => string,
): PlaceOrder | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const side = text(parameters, "side");
  if (isRefusal(side)) return side;
  if (!isSide(side)) return { refusal: "SIDE_INVALID" };
  const orderType = text(parameters, "type");
  if (isRefusal(orderType)) return orderType;
  if (!isOrderType(orderType)) return { refusal: "ORDER_TYPE_INVALID" };

  const terms = TERMS[orderType](parameters, side);
  if (isRefusal(terms)) return terms;
  const clientOrderId = optionalClientId(parameters, "newClientOrderId");
  if (isRefusal(clientOrderId)) return clientOrderId;
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType,
    ...terms,
    clientOrderId: clientOrderId ?? newClientOrderId(),
  };
}

type Terms = Pick<PlaceOrder, "size" | "price" | "stopPrice">;

const TERMS: { readonly [T in OrderType]: (parameters: Parameters, side: Side) => Terms | Refusal } = {
  MARKET(parameters, side) {
    const extra = anyOf(parameters, ["timeInForce", "price", "stopPrice"]);
    if (extra !== null) return extra;
    const size = marketSize(parameters, side);
    return isRefusal(size) ? size : { size, price: null, stopPrice: null };
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
    const quantity = amount<Quantity>(parameters, "quantity");
    if (isRefusal(quantity)) return quantity;
    const stopPrice = amount<Price>(parameters, "stopPrice");
    return isRefusal(stopPrice) ? stopPrice : { size: { quantity }, price: null, stopPrice };
  },

  STOP_LOSS_LIMIT(parameters) {
    const unfit = notGoodTillCancelled(parameters) ?? anyOf(parameters, ["quoteOrderQty"]);
    if (unfit !== null) return unfit;
    const terms = limitTerms(parameters);
    if (isRefusal(terms)) return terms;
    const stopPrice = amount<Price>(parameters, "stopPrice");
    return isRefusal(stopPrice) ? stopPrice : { ...terms, stopPrice };
  },
};

function notGoodTillCancelled(parameters: Parameters): Refusal | null {
  const timeInForce = text(parameters, "timeInForce");
  if (isRefusal(timeInForce)) return timeInForce;
  return timeInForce === "GTC" ? null : { refusal: "TIME_IN_FORCE_INVALID" };
}

/** The refusal of the first of these parameters that was sent although the type does not take it. */
function anyOf(parameters: Parameters, names: readonly string[]): Refusal | null {
  const extra = names.find((name) => optionalText(parameters, name) !== null);
  return extra === undefined ? null : { refusal: "PARAMETER_NOT_REQUIRED", parameter: extra };
}

function limitTerms(parameters: Parameters): Pick<PlaceOrder, "size" | "price"> | Refusal {
  const quantity = amount<Quantity>(parameters, "quantity");
  if (isRefusal(quantity)) return quantity;
  const price = amount<Price>(parameters, "price");
  return isRefusal(price) ? price : { size: { quantity }, price };
}

function marketSize(parameters: Parameters, side: Side): OrderSize | Refusal {
  const byQuote = optionalText(parameters, "quoteOrderQty") !== null;
  const byBase = optionalText(parameters, "quantity") !== null;
  if (byQuote && byBase) return { refusal: "PARAMETERS_EXCLUSIVE" };
  if (!byQuote && !byBase)
    return { refusal: "PARAMETERS_MISSING", parameters: ["quantity", "quoteOrderQty"] };
  if (byQuote) {
    if (side === "SELL") return { refusal: "PARAMETER_NOT_REQUIRED", parameter: "quoteOrderQty" };
    const quoteQuantity = amount<Amount>(parameters, "quoteOrderQty");
    return isRefusal(quoteQuantity) ? quoteQuantity : { quoteQuantity };
  }
  const quantity = amount<Quantity>(parameters, "quantity");
  return isRefusal(quantity) ? quantity : { quantity };
}

function isSide(value: string): value is Side {
  return (SIDES as readonly string[]).includes(value);
}

function isOrderType(value: string): value is OrderType {
  return (SPOT_ORDER_TYPES as readonly string[]).includes(value);
}
