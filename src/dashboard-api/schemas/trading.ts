// What a strategy holds, its orders, legs, trades and incomes, and what closing it would do, in JSON.
import { z } from "zod";
import { collectiveId } from "../../domain/collective-id.ts";
import {
  ALTERNATIVES,
  type Alternative,
  type CounterfactualRow,
  type CounterfactualSums,
} from "../../domain/counterfactual.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import type { AttachedLeg, Leg } from "../../domain/leg.ts";
import { isOpen, type Order, type OrderStatus, type Side, type Trade } from "../../domain/order.ts";
import type { FillCause, Receipt } from "../../domain/receipt.ts";
import { averagePriceOf, rateOf, type ShownCounterfactual } from "../../http/present/strict.ts";
import { divideDown, SCALE, ZERO } from "../../money/decimal.ts";
import { decimal, decimalUnlessZero, flag, list, number, text, word } from "./fields.ts";

const side = word<Side>();

export const balanceSchema = z.object({
  asset: text,
  free: decimal,
  locked: decimal,
  /** In USDT at the last known price; null where there is none. */
  value: decimal.nullable(),
});
export type BalanceJson = z.input<typeof balanceSchema>;

const attachedLegSchema = z.object({
  legId: number,
  kind: z.enum(["TAKE_PROFIT", "STOP_LOSS"]),
  triggerPrice: decimal,
});

/** A take profit or stop loss of a futures position, or of an order that would open one. */
export const legSchema = attachedLegSchema.extend({
  clientLegId: text,
  symbol: text,
  side,
  /** PENDING while the order that it was placed with is open. */
  status: text,
  isOpen: flag,
  /** The order that it was placed with; null if it was placed by itself. */
  entryId: number.nullable(),
  /** Which price triggers it. */
  triggeredBy: z.enum(["MARK", "LAST"]),
  /** Why it ended without being triggered; null otherwise, and if that was not recorded. */
  endReason: text.nullable(),
  placedAt: number,
  updatedAt: number,
});
export type LegJson = z.input<typeof legSchema>;

export const orderSchema = z.object({
  orderId: number,
  clientOrderId: text,
  collectiveId: text,
  symbol: text,
  side,
  type: text,
  status: text,
  /** Null for an order that takes the market's price. */
  price: decimalUnlessZero,
  stopPrice: decimalUnlessZero,
  quantity: decimal,
  quoteQuantity: decimalUnlessZero,
  executedQuantity: decimal,
  executedQuote: decimal,
  /** Null before the first fill. */
  averagePrice: decimal.nullable(),
  isReduceOnly: flag,
  isOpen: flag,
  /** The take profit and the stop loss that it was placed with. */
  legs: list(attachedLegSchema),
  placedAt: number,
  updatedAt: number,
});
export type OrderJson = z.input<typeof orderSchema>;

export const tradeSchema = z.object({
  tradeId: number,
  orderId: number,
  symbol: text,
  side,
  price: decimal,
  quantity: decimal,
  quoteQuantity: decimal,
  fee: decimal,
  feeAsset: text,
  isMaker: flag,
  at: number,
  /** Of a trade that closes something; null otherwise. */
  realised: decimal.nullable(),
  /** Under `strict`. */
  hasReceipt: flag,
});
export type TradeJson = z.input<typeof tradeSchema>;

const bookStampSchema = z.object({
  lastUpdateId: number,
  eventTime: number,
  tickerUpdateId: number.nullable(),
});

/** The evidence of a fill under `strict`. */
const receiptSchema = z.object({
  cause: word<FillCause>(),
  /** What could be filled of the order before this fill. */
  remaining: decimal,
  /** Null for an order that takes the market's price. */
  limit: decimalUnlessZero,
  /** Null of orders from before it was recorded. */
  arrival: z.object({ latencyMs: number, arrivedAt: number }).nullable(),
  /** Null where no book decided. */
  book: bookStampSchema.nullable(),
  /** The levels that the order took from at once, best first: one a trade. */
  walk: list(
    z.object({
      tradeId: number,
      /** Its place in the book; the best level has 0. */
      index: number,
      price: decimal,
      displayed: decimal,
      fromTicker: flag,
      newerTrades: decimal,
      ownConsumed: decimal,
      available: decimal,
      taken: decimal,
    }),
  ),
  /** Of an open order that a trade of the market filled. */
  queue: z
    .object({
      model: text,
      aheadAtPlacement: decimal.nullable(),
      tradedAtPrice: decimal,
      canceledAhead: decimal,
      aheadBefore: decimal.nullable(),
      ahead: decimal,
      /** How the queue moved, this fill included; null where it was not recorded. */
      history: list(
        z.object({
          /** The exchange's time. */
          time: number,
          ahead: decimal.nullable(),
          tradedAtPrice: decimal,
          canceledAhead: decimal,
        }),
      ).nullable(),
    })
    .nullable(),
  marketTrade: z
    .object({ aggregateId: number, price: decimal, quantity: decimal, time: number, available: decimal })
    .nullable(),
  feeRate: decimal,
  feeTier: text,
  refreshMs: number,
});
export type ReceiptJson = z.input<typeof receiptSchema>;

export const tradeDetailSchema = z.object({
  trade: tradeSchema,
  /** Null under `standard`. */
  receipt: receiptSchema.nullable(),
});
export type TradeDetailJson = z.input<typeof tradeDetailSchema>;

/** What an order did on some terms. */
const alternativeSchema = z.object({
  profile: word<CounterfactualRow["profile"]>(),
  latencyMs: number,
  status: word<OrderStatus>(),
  executedQuantity: decimal,
  executedQuote: decimal,
  /** Null if nothing was executed. */
  averagePrice: decimalUnlessZero,
  fee: decimal,
  feeAsset: text,
  firstFillAt: number.nullable(),
  lastFillAt: number.nullable(),
  /** What it cost more than the order itself; null where one of them executed nothing. */
  difference: decimal.nullable(),
});
export type AlternativeJson = z.input<typeof alternativeSchema>;

/** An order under `strict` on other terms. */
export const counterfactualSchema = z.object({
  state: word<ShownCounterfactual["state"]>(),
  quoteAsset: text.nullable(),
  /** None unless the state is COMPLETE; the last one is the order itself. */
  rows: list(alternativeSchema),
});
export type CounterfactualJson = z.input<typeof counterfactualSchema>;

/** The sums of what orders under `strict` would have cost more on other terms. */
export const counterfactualSumsSchema = z.object({
  /** Orders that were complete since then, market time. */
  since: number,
  assets: list(
    z.object({
      quoteAsset: text,
      orderCount: number,
      alternatives: list(
        z.object({
          profile: word<Alternative["profile"]>(),
          latencyMs: number,
          /** The orders that could be compared. */
          orderCount: number,
          difference: decimal,
        }),
      ),
    }),
  ),
});
export type CounterfactualSumsJson = z.input<typeof counterfactualSumsSchema>;

export const orderDetailSchema = z.object({
  order: orderSchema,
  trades: list(tradeSchema),
  /** The take profit and the stop loss that it was placed with, in their present states. */
  legs: list(legSchema),
  /** The signal that placed it, if one did. */
  signalId: text.nullable(),
  /** Its history, oldest first, in plain sentences. */
  history: list(z.object({ at: number, says: text })),
});
export type OrderDetailJson = z.input<typeof orderDetailSchema>;

export const positionSchema = z.object({
  symbol: text,
  /** Negative for a short. */
  quantity: decimal,
  entryPrice: decimal,
  markPrice: decimal.nullable(),
  breakEvenPrice: decimal,
  unrealised: decimal.nullable(),
  isolatedMargin: decimal,
  leverage: number,
  notional: decimal.nullable(),
  liquidationPrice: decimalUnlessZero,
  /** How far the mark has to move to it, as a fraction of the mark; null where there is none. */
  liquidationDistance: decimal.nullable(),
  /**
   * The maintenance margin at the mark price, and its bracket's rate; null without a mark price, or for a
   * delisted contract.
   */
  maintenance: z.object({ margin: decimal, rate: decimal }).nullable(),
  nextFundingAt: number.nullable(),
  legs: list(legSchema),
  /** When its last mark price was received; null if never. */
  pricedAt: number.nullable(),
});
export type PositionJson = z.input<typeof positionSchema>;

export const incomeSchema = z.object({
  incomeId: number,
  type: text,
  symbol: text.nullable(),
  asset: text,
  amount: decimal,
  at: number,
  tradeId: number.nullable(),
});

export const closePreviewSchema = z.object({
  /** The text that confirms it. */
  confirmation: text,
  cancelled: list(orderSchema),
  legs: list(legSchema),
  sold: list(
    z.object({
      symbol: text,
      side,
      quantity: decimal,
      /** About what it brings, in USDT, less the fee; null for a part that closing waits for. */
      brings: decimal.nullable(),
    }),
  ),
  /** Quantities that are too small to be sold, and stay. */
  dust: list(z.object({ asset: text, quantity: decimal, value: decimal.nullable() })),
  /** Symbols that closing waits for: without prices now, or, under `strict`, with too thin a book. */
  waitingFor: list(text),
});
export type ClosePreviewJson = z.input<typeof closePreviewSchema>;

export function orderAnswer(strategyId: string, order: Order): z.output<typeof orderSchema> {
  const { orderId, executedQuantity, executedQuote } = order;
  return {
    ...order,
    collectiveId: collectiveId(strategyId, orderId),
    averagePrice: executedQuantity === 0n ? null : divideDown(executedQuote * SCALE, executedQuantity),
    isReduceOnly: order.reduceOnly === true,
    isOpen: isOpen(order),
    legs: (order.legs ?? []).map(attachedLegAnswer),
  };
}

export function tradeAnswer(trade: Trade): z.output<typeof tradeSchema> {
  return { ...trade, realised: trade.realizedPnl ?? null, hasReceipt: trade.receipt !== undefined };
}

/**
 * A fill with its evidence. `order` is the order that it was of, and `trades` are that order's, for the
 * levels that it took from at once.
 */
export function tradeDetailAnswer(
  trade: Trade,
  { order, trades, profile }: { order: Order; trades: readonly Trade[]; profile: FillProfile },
): z.output<typeof tradeDetailSchema> {
  const { receipt } = trade;
  const { strict } = profile;
  if (receipt === undefined || strict === null) return { trade: tradeAnswer(trade), receipt: null };
  const { cause, arrival, level, queue } = receipt;
  const walk = level === null ? [] : trades.filter((other) => isOfSameWalk(trade, other));
  return {
    trade: tradeAnswer(trade),
    receipt: {
      ...receipt,
      limit: order.price,
      arrival,
      walk: walk.flatMap(({ tradeId, quantity: taken, receipt: { level: each } = {} as Receipt }) =>
        each === null ? [] : [{ ...each, tradeId, taken }],
      ),
      queue: queue && { ...queue, history: queue.history ?? null, model: strict.queue },
      feeRate: rateOf(trade, { cause }, profile),
      feeTier: strict.feeTier,
      refreshMs: strict.refreshMs,
    },
  };
}

function isOfSameWalk(trade: Trade, other: Trade): boolean {
  const { receipt: one, at } = trade;
  const { receipt: another } = other;
  if (other.at !== at || another?.level == null) return false;
  return one?.cause === another.cause && one.book?.lastUpdateId === another.book?.lastUpdateId;
}

export function counterfactualAnswer({
  state,
  counterfactual,
}: ShownCounterfactual): z.output<typeof counterfactualSchema> {
  const { quoteAsset = null, rows = [] } = counterfactual ?? {};
  return { state, quoteAsset, rows: rows.map((row) => ({ ...row, averagePrice: averagePriceOf(row) })) };
}

export function counterfactualSumsAnswer(
  since: number,
  sums: readonly CounterfactualSums[],
): z.output<typeof counterfactualSumsSchema> {
  const assets = sums.map(({ alternatives, ...asset }) => ({
    ...asset,
    alternatives: ALTERNATIVES.map((terms, index) => ({
      ...terms,
      ...(alternatives[index] ?? { orderCount: 0, difference: ZERO }),
    })),
  }));
  return { since, assets };
}

export function legAnswer(leg: Leg): z.output<typeof legSchema> {
  return {
    ...leg,
    ...attachedLegAnswer(leg),
    isOpen: leg.status === "PENDING" || leg.status === "NEW",
    entryId: leg.entryId ?? null,
    triggeredBy: leg.workingType === "CONTRACT_PRICE" ? "LAST" : "MARK",
    endReason: leg.endReason ?? null,
  };
}

function attachedLegAnswer({ legId, type, triggerPrice }: AttachedLeg): z.output<typeof attachedLegSchema> {
  return { legId, kind: type === "TAKE_PROFIT_MARKET" ? "TAKE_PROFIT" : "STOP_LOSS", triggerPrice };
}
