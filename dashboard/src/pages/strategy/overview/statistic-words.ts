// The figures of a report: what each is called, what it means, and why there may be none.
import type { StatisticsJson } from "../../../../../src/dashboard-api/schemas.ts";

export type Figure = {
  readonly label: string;
  readonly means: string;
  readonly value: (statistics: StatisticsJson) => string | null;
  /** How it is written: a gain or loss, an amount, a share of one, a factor, a number of things. */
  readonly kind: "signed" | "amount" | "rate" | "factor" | "count";
  /** A second figure in small, below it. */
  readonly beside?: (
    statistics: StatisticsJson,
  ) => { readonly rate: string; readonly isSigned: boolean } | string;
  /** Why there is none. */
  readonly why?: string;
};

export const FIGURES: readonly Figure[] = [
  {
    label: "Profit",
    means: "Equity at the end of the range minus equity at its start, also as a share of the start.",
    value: ({ profit }) => profit,
    kind: "signed",
    beside: ({ profitRate }) => ({ rate: profitRate, isSigned: true }),
  },
  {
    label: "Realized",
    means: "What closing trades gained and lost, before fees. On spot against the average cost.",
    value: ({ realised }) => realised,
    kind: "signed",
  },
  {
    label: "Unrealized",
    means: "What is still held would gain or lose at the price at the end of the range.",
    value: ({ unrealised }) => unrealised,
    kind: "signed",
  },
  {
    label: "Fees",
    means: "What trades cost, in USDT.",
    value: ({ fees }) => fees,
    kind: "amount",
  },
  {
    label: "Funding",
    means: "Funding received minus funding paid. Futures only.",
    value: ({ funding }) => funding,
    kind: "signed",
  },
  {
    label: "Trades",
    means: "Fills in the range; those that close something are counted below.",
    value: ({ trades }) => String(trades),
    kind: "count",
    beside: ({ closingTrades }) => `${closingTrades} closing`,
  },
  {
    label: "Win rate",
    means: "Closing trades with a gain, as a share of all closing trades.",
    value: ({ winRate }) => winRate,
    kind: "rate",
    beside: ({ wins, losses }) => `${wins} won, ${losses} lost`,
    why: "No trade has closed anything in this range.",
  },
  {
    label: "Profit factor",
    means: "Gains of winning trades divided by losses of losing trades. Above 1 is a profit before fees.",
    value: ({ profitFactor }) => profitFactor,
    kind: "factor",
    why: "No trade has lost anything in this range.",
  },
  {
    label: "Maximum drawdown",
    means: "Largest fall of equity below its previous high in the range.",
    value: ({ maximumDrawdown }) => maximumDrawdown,
    kind: "amount",
    beside: ({ maximumDrawdownRate }) => ({ rate: maximumDrawdownRate, isSigned: false }),
  },
];
