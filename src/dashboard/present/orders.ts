// Orders, trades, legs and incomes as the browser gets them. Amounts are exact decimal strings, with no more digits than they need.
import { collectiveId } from "../../domain/collective-id.ts";
import type { Income } from "../../domain/income.ts";
import type { AttachedLeg, Leg } from "../../domain/leg.ts";
import { isOpen, type Order, type Trade } from "../../domain/order.ts";
import { divideDown, formatBriefly, SCALE } from "../../money/decimal.ts";
import type { IncomeShape, LegShape, OrderShape, TradeShape } from "../shapes.ts";

export function presentOrder(strategyId: string, order: Order): OrderShape {
  const { executedQuantity, executedQuote } = order;
  return {
    orderId: order.orderId,
    clientOrderId: order.clientOrderId,
    collectiveId: collectiveId(strategyId, order.orderId),
    symbol: order.symbol,
    side: order.side,
    type: order.type,
    status: order.status,
    price: unlessZero(order.price),
    stopPrice: unlessZero(order.stopPrice),
    quantity: formatBriefly(order.quantity),
    quoteQuantity: unlessZero(order.quoteQuantity),
    executedQuantity: formatBriefly(executedQuantity),
    executedQuote: formatBriefly(executedQuote),
    averagePrice:
      executedQuantity === 0n ? null : formatBriefly(divideDown(executedQuote * SCALE, executedQuantity)),
    isReduceOnly: order.reduceOnly === true,
    isOpen: isOpen(order),
    legs: (order.legs ?? []).map(presentAttached),
    placedAt: order.placedAt,
    updatedAt: order.updatedAt,
  };
}

export function presentTrade(trade: Trade): TradeShape {
  const { realizedPnl } = trade;
  return {
    tradeId: trade.tradeId,
    orderId: trade.orderId,
    symbol: trade.symbol,
    side: trade.side,
    price: formatBriefly(trade.price),
    quantity: formatBriefly(trade.quantity),
    quoteQuantity: formatBriefly(trade.quoteQuantity),
    fee: formatBriefly(trade.fee),
    feeAsset: trade.feeAsset,
    isMaker: trade.isMaker,
    at: trade.at,
    realised: realizedPnl === undefined ? null : formatBriefly(realizedPnl),
  };
}

export function presentLeg(leg: Leg): LegShape {
  return {
    ...presentAttached(leg),
    clientLegId: leg.clientLegId,
    symbol: leg.symbol,
    side: leg.side,
    status: leg.status,
    isOpen: leg.status === "PENDING" || leg.status === "NEW",
    entryId: leg.entryId ?? null,
    endReason: leg.endReason ?? null,
    placedAt: leg.placedAt,
    updatedAt: leg.updatedAt,
  };
}

function presentAttached({ legId, type, triggerPrice }: AttachedLeg): OrderShape["legs"][number] {
  const kind = type === "TAKE_PROFIT_MARKET" ? "TAKE_PROFIT" : "STOP_LOSS";
  return { legId, kind, triggerPrice: formatBriefly(triggerPrice) };
}

export function presentIncome({ amount, ...income }: Income): IncomeShape {
  const { incomeId, type, symbol, asset, at, tradeId } = income;
  return { incomeId, type, symbol, asset, amount: formatBriefly(amount), at, tradeId };
}

function unlessZero(value: bigint): string | null {
  return value === 0n ? null : formatBriefly(value);
}
