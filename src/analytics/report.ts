// A report on a strategy's performance: its equity curve and the figures of a time range. Amounts are in
// USDT, the asset that every strategy is measured in; times are market time, Unix ms.
import type { Amount, Rate } from "../money/decimal.ts";

export const REPORT_RANGES = ["24h", "7d", "30d", "all"] as const;
export type ReportRange = (typeof REPORT_RANGES)[number];

export type EquityPoint = {
  readonly at: number;
  readonly equity: Amount;
  /** Zero or negative: how far equity lies below its highest so far in the range. */
  readonly drawdown: Amount;
  /** The same as a fraction of that highest, cut after the eighth digit. */
  readonly drawdownRate: Rate;
};

/**
 * Over "all" the profit is exactly realised + unrealised − fees + funding. In a shorter range what was
 * unrealised at its beginning is part of the equity there.
 */
export type Statistics = {
  readonly startEquity: Amount;
  readonly endEquity: Amount;
  readonly profit: Amount;
  /** By the equity at the start, cut after the eighth digit; zero if that was none. */
  readonly profitRate: Rate;
  readonly realised: Amount;
  /** At the end of the range. */
  readonly unrealised: Amount;
  readonly fees: Amount;
  readonly funding: Amount;
  readonly trades: number;
  /** Those that realise something: a gain, a loss, or just nothing. */
  readonly closingTrades: number;
  readonly wins: number;
  readonly losses: number;
  /** Cut after the eighth digit; null without closing trades. */
  readonly winRate: Rate | null;
  /** Cut after the eighth digit; null without a loss. */
  readonly profitFactor: Rate | null;
  readonly maximumDrawdown: Amount;
  readonly maximumDrawdownRate: Rate;
};

export type PerformanceReport = {
  readonly range: ReportRange;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly points: readonly EquityPoint[];
  readonly statistics: Statistics;
  /** Symbols with a missing price somewhere: the last known one was used. */
  readonly unpriced: readonly string[];
  /** False if there is more history than a report reads: what is older than `from` is then missing. */
  readonly isWhole: boolean;
};

/** The newest equities of a strategy, oldest first. */
export type Sparkline = { readonly strategyId: string; readonly equity: readonly Amount[] };
