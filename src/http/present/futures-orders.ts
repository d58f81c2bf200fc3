// Futures orders, legs and trades as the wire has them. Amounts, prices and rates are strings, ids and times
// integers, flags booleans. A body has the keys of all versions of the API: the newest and those that were
// removed.
// Source: reference exchange, sections 11.9, 12 and 13.
import type { Leg } from "../../domain/leg.ts";
import { isStrict, type Order, type Trade } from "../../domain/order.ts";
import { formatBriefly, formatDecimal, quotientHalfUp, ZERO } from "../../money/decimal.ts";
import { type Digits, withDigits } from "./digits.ts";
import { selfTradePreventionOf } from "./strict.ts";

/** An order or a leg with the digits of its contract. */
export type ShownOrder = { readonly order: Order; readonly digits: Digits };
export type ShownLeg = { readonly leg: Leg; readonly digits: Digits };

/** An order: the answer to placing, canceling and querying it. One that was placed with legs names them. */
export function presentOrder({ order, digits }: ShownOrder) {
  const quantity = (value: bigint) => withDigits(value, digits.quantity);
  const price = (value: bigint) => withDigits(value, digits.price);
  return {
    orderId: order.orderId,
    symbol: order.symbol,
    status: order.status,
    clientOrderId: order.clientOrderId,
    price: price(order.price),
    avgPrice: price(averagePriceOf(order, digits)),
    origQty: quantity(order.quantity),
    executedQty: quantity(order.executedQuantity),
    cumQty: quantity(order.executedQuantity),
    cumQuote: formatBriefly(order.executedQuote),
    timeInForce: order.timeInForce ?? "GTC",
    type: order.type,
    origType: order.type,
    reduceOnly: order.reduceOnly === true,
    closePosition: order.closesPosition === true,
    side: order.side,
    positionSide: "BOTH",
    stopPrice: price(ZERO),
    workingType: "CONTRACT_PRICE",
    priceProtect: false,
    priceMatch: "NONE",
    selfTradePreventionMode: selfTradePreventionOf(order),
    goodTillDate: 0,
    time: order.placedAt,
    updateTime: order.updatedAt,
    ...(isStrict(order) && order.expiryReason && { expiryReason: order.expiryReason }),
    ...(order.legs && {
      attachedLegs: order.legs.map((leg) => ({
        algoId: leg.legId,
        clientAlgoId: leg.clientLegId,
        orderType: leg.type,
        triggerPrice: price(leg.triggerPrice),
      })),
    }),
  };
}

/**
 * A leg: the answer to placing and querying it. Legs that close a whole position have no quantity of their
 * own.
 */
export function presentLeg({ leg, digits }: ShownLeg) {
  const price = (value: bigint) => withDigits(value, digits.price);
  const quantity = (value: bigint) => withDigits(value, digits.quantity);
  const { fired } = leg;
  return {
    algoId: leg.legId,
    clientAlgoId: leg.clientLegId,
    algoType: "CONDITIONAL",
    orderType: leg.type,
    symbol: leg.symbol,
    side: leg.side,
    positionSide: "BOTH",
    timeInForce: "GTC",
    quantity: quantity(ZERO),
    // The exchange has no state of its own for a leg whose entry is an open order.
    algoStatus: leg.status === "PENDING" ? "NEW" : leg.status,
    actualOrderId: fired === null ? "" : String(fired.orderId),
    actualPrice: price(fired?.price ?? ZERO),
    actualType: fired === null ? "" : "MARKET",
    actualQty: quantity(fired?.quantity ?? ZERO),
    triggerPrice: price(leg.triggerPrice),
    stopPrice: price(leg.triggerPrice),
    price: price(ZERO),
    icebergQuantity: null,
    tpTriggerPrice: price(ZERO),
    tpPrice: price(ZERO),
    slTriggerPrice: price(ZERO),
    slPrice: price(ZERO),
    tpOrderType: "",
    selfTradePreventionMode: "NONE",
    workingType: leg.workingType ?? "MARK_PRICE",
    priceMatch: "NONE",
    closePosition: true,
    priceProtect: leg.priceProtect === true,
    reduceOnly: true,
    activatePrice: "",
    callbackRate: "",
    createTime: leg.placedAt,
    updateTime: leg.updatedAt,
    triggerTime: fired?.at ?? 0,
    goodTillDate: 0,
    entryOrderId: leg.entryId ?? null,
    waitsForEntry: leg.status === "PENDING",
    endReason: leg.endReason ?? "",
  };
}

/** A canceled leg. The code is a text here, but a number where all legs of a symbol are canceled. */
export function presentCanceledLeg({ legId, clientLegId }: Leg) {
  return { algoId: legId, clientAlgoId: clientLegId, code: "200", msg: "success" };
}

/** A fill. What makes clients take a trade for one of spot (`isMaker`, `orderListId`) is not in it. */
export function presentTrade(trade: Trade, digits: Digits) {
  return {
    symbol: trade.symbol,
    id: trade.tradeId,
    orderId: trade.orderId,
    side: trade.side,
    positionSide: "BOTH",
    price: withDigits(trade.price, digits.price),
    qty: withDigits(trade.quantity, digits.quantity),
    quoteQty: formatBriefly(trade.quoteQuantity),
    realizedPnl: formatDecimal(trade.realizedPnl ?? ZERO),
    commission: formatDecimal(trade.fee),
    commissionAsset: trade.feeAsset,
    time: trade.at,
    buyer: trade.side === "BUY",
    maker: trade.isMaker,
  };
}

/** The answer to canceling all orders, or legs, of a symbol, also if there was none. */
export function presentAllCanceled() {
  return { code: 200, msg: "The operation of cancel all open order is done." };
}

/** Zero for an order without a fill; half up at two digits more than the contract's prices. */
function averagePriceOf(order: Order, digits: Digits): bigint {
  const { executedQuote, executedQuantity } = order;
  if (executedQuantity === 0n) return ZERO;
  return quotientHalfUp(executedQuote, executedQuantity, digits.average);
}
