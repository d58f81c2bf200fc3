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

/** The newest equities of a strategy, oldest first. */
export type Sparkline = { readonly strategyId: string; readonly equity: readonly Amount[] };
