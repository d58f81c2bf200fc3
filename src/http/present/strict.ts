// What only strategies under the fill profile `strict` show: their terms, the self-trade prevention of their
// orders, the receipts of their fills, and their orders on other terms. Source: strict fills, sections 1 and
// 10 to 12.
import type { StrategyType } from "../../domain/account.ts";
import type { Counterfactual, CounterfactualRow } from "../../domain/counterfactual.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import { isStrict, type Order, type Trade } from "../../domain/order.ts";
import type { Receipt } from "../../domain/receipt.ts";
import { FRACTION_DIGITS, formatDecimal, quotientHalfUp, ZERO } from "../../money/decimal.ts";

/** A trade under `strict`, and the profile that it was filled by. */
export type ShownReceipt = {
  readonly market: StrategyType;
  readonly trade: Trade;
  readonly receipt: Receipt;
  readonly profile: FillProfile;
};

/** An order on other terms; `counterfactual` is there where the state is `COMPLETE`. */
export type ShownCounterfactual = {
  readonly symbol: string;
  readonly orderId: number;
  /** `NONE`: the order is not compared. `WINDOW_GONE`: it was to be, but its shadow ended early. */
  readonly state: "COMPLETE" | "RUNNING" | "WINDOW_GONE" | "NONE";
  readonly counterfactual: Counterfactual | null;
};

/** The profile's part of an account body; nothing under `standard`. */
export function presentProfile({ name, version, strict }: FillProfile) {
  if (strict === null) return {};
  const { latency, queue, refreshMs, feeTier, feeDiscount } = strict;
  return {
    fillProfile: { name, version, latencyMs: latency, queue, refreshMs, fees: feeTier, feeDiscount },
  };
}

/** Own orders never trade with each other under `strict`: the one that waits expires. */
export function selfTradePreventionOf(order: Order): "EXPIRE_MAKER" | "NONE" {
  return isStrict(order) ? "EXPIRE_MAKER" : "NONE";
}

/** The evidence of a fill, from which it can be computed again. */
export function presentReceipt({ market, trade, receipt, profile }: ShownReceipt) {
  const { arrival, book, level, queue, marketTrade } = receipt;
  const terms = profile.strict;
  if (terms === null) throw new Error(`only strict fills have receipts: trade ${trade.tradeId}`);
  return {
    tradeId: trade.tradeId,
    orderId: trade.orderId,
    symbol: trade.symbol,
    market,
    profile: profile.name,
    profileVersion: receipt.version,
    cause: receipt.cause,
    admittedAt: arrival?.admittedAt ?? null,
    latencyMs: arrival?.latencyMs ?? null,
    arrivedAt: arrival?.arrivedAt ?? null,
    at: trade.at,
    side: trade.side,
    price: formatDecimal(trade.price),
    quantity: formatDecimal(trade.quantity),
    remaining: formatDecimal(receipt.remaining),
    book,
    levels:
      level === null
        ? []
        : [
            {
              index: level.index,
              price: formatDecimal(level.price),
              displayed: formatDecimal(level.displayed),
              fromTicker: level.fromTicker,
              newerTrades: formatDecimal(level.newerTrades),
              ownConsumed: formatDecimal(level.ownConsumed),
              available: formatDecimal(level.available),
              taken: formatDecimal(trade.quantity),
              step: formatDecimal(level.step),
            },
          ],
    queue: queue && {
      model: terms.queue,
      aheadAtPlacement: formatOrNull(queue.aheadAtPlacement),
      bookAtPlacement: queue.bookAtPlacement,
      tradedAtPrice: formatDecimal(queue.tradedAtPrice),
      canceledAhead: formatDecimal(queue.canceledAhead),
      aheadBefore: formatOrNull(queue.aheadBefore),
      ahead: formatDecimal(queue.ahead),
      history:
        queue.history?.map(({ time, ahead, tradedAtPrice, canceledAhead }) => ({
          time,
          ahead: formatOrNull(ahead),
          tradedAtPrice: formatDecimal(tradedAtPrice),
          canceledAhead: formatDecimal(canceledAhead),
        })) ?? null,
    },
    marketTrade: marketTrade && {
      aggregateId: marketTrade.aggregateId,
      price: formatDecimal(marketTrade.price),
      quantity: formatDecimal(marketTrade.quantity),
      time: marketTrade.time,
      available: formatDecimal(marketTrade.available),
      step: formatDecimal(marketTrade.step),
    },
    fee: {
      rate: formatDecimal(rateOf(trade, receipt, profile)),
      tier: terms.feeTier,
      isMaker: trade.isMaker,
      amount: formatDecimal(trade.fee),
      asset: trade.feeAsset,
    },
    terms: { queue: terms.queue, refreshMs: terms.refreshMs },
  };
}

export function presentCounterfactual({ symbol, orderId, state, counterfactual }: ShownCounterfactual) {
  return { symbol, orderId, state, rows: counterfactual?.rows.map(presentAlternative) ?? [] };
}

function presentAlternative(row: CounterfactualRow) {
  const { executedQuantity, executedQuote, difference } = row;
  return {
    profile: row.profile,
    latencyMs: row.latencyMs,
    status: row.status,
    executedQty: formatDecimal(executedQuantity),
    quote: formatDecimal(executedQuote),
    avgPrice: formatDecimal(averagePriceOf(row)),
    fee: formatDecimal(row.fee),
    feeAsset: row.feeAsset,
    firstFillAt: row.firstFillAt,
    lastFillAt: row.lastFillAt,
    difference: formatOrNull(difference),
  };
}

/** Zero if nothing was executed. */
export function averagePriceOf({
  executedQuantity,
  executedQuote,
}: Pick<CounterfactualRow, "executedQuantity" | "executedQuote">): bigint {
  if (executedQuantity === 0n) return ZERO;
  return quotientHalfUp(executedQuote, executedQuantity, FRACTION_DIGITS);
}

/** The rate of a fill's fee; a liquidation pays no commission. */
export function rateOf(
  { isMaker }: Trade,
  { cause }: Pick<Receipt, "cause">,
  { makerFee, takerFee }: FillProfile,
): bigint {
  if (cause === "LIQUIDATION" || cause === "TAKEOVER") return ZERO;
  return isMaker ? makerFee : takerFee;
}

function formatOrNull(value: bigint | null): string | null {
  return value === null ? null : formatDecimal(value);
}
