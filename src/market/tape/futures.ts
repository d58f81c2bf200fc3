/**
 * The futures half of a tape: what spot has too, and mark prices and settled funding. Mark prices are
 * published at whole seconds, each at the first one after its arrival, only the last one of a second. A
 * second without one publishes none, so a tape may hold as few as it likes. Before the first one all prices
 * are zero. Settled funding is known from when its line was received, not from when it was due.
 * Deliberately missing is what the messages do not contain: there are no candles of the premium, the interest
 * rate and the bounds of the funding rate are the exchange's usual ones, and the open interest is zero.
 */
import type { StrategyType } from "../../domain/account.ts";
import { decimal } from "../../money/decimal.ts";
import type {
  FundingRow,
  FundingTerms,
  FuturesSource,
  MarkKind,
  MarkStatistics,
  Premium,
} from "../exchange/source.ts";
import type { TapeLine } from "./line.ts";
import type { Recording } from "./recording.ts";
import type { TapeRules } from "./rules.ts";
import { createTapeSource } from "./source.ts";
import { countUntil, lastUntil } from "./trades.ts";

/** `publishedAt` is when the row was first received, market time. */
type Settled = FundingRow & { readonly publishedAt: number };

const type: StrategyType = "FUTURES";
const secondMs = 1_000;
const hourMs = 3_600_000;
const interestRate = "0.00010000";
const usualTerms: FundingTerms = {
  intervalHours: 8,
  rateCap: "0.00300",
  rateFloor: "-0.00300",
  adjustedAt: null,
};
const zero = "0.00000000";
const unknownPremium: Premium = {
  at: 0,
  markPrice: zero,
  indexPrice: zero,
  estimatedSettlePrice: zero,
  fundingRate: zero,
  interestRate,
  nextFundingAt: 0,
};

export function createTapeFutures(recording: Recording, exchangeInfo: TapeRules): FuturesSource {
  const premiums = premiumsOf(recording.lines);
  const settled = settledOf(recording.lines);
  const terms = termsOf(settled);

  return {
    ...createTapeSource(recording, type, exchangeInfo),
    premium: (_symbol, at) => lastUntil(premiums, at) ?? unknownPremium,
    markStatistics(_symbol, kind, from, until) {
      return statisticsOf(
        premiums.slice(countUntil(premiums, from - 1), countUntil(premiums, until - 1)),
        kind,
      );
    },
    fundingTerms: () => terms,
    fundingRates(_symbol, at, { startTime, endTime = at, limit }) {
      const wanted = settled.filter(
        (row) => row.publishedAt <= at && row.at >= (startTime ?? 0) && row.at <= endTime,
      );
      return startTime === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
    },
    openInterest: () => "0",
  };
}

function premiumsOf(lines: readonly TapeLine[]): readonly Premium[] {
  const premiums: Premium[] = [];
  for (const line of lines) {
    if (line.kind !== "mark") continue;
    const at = Math.ceil(line.at / secondMs) * secondMs;
    if (premiums.at(-1)?.at === at) premiums.pop();
    premiums.push({ ...line.mark, at, interestRate });
  }
  return premiums;
}

// A row may have been received more than once; the first time counts.
function settledOf(lines: readonly TapeLine[]): readonly Settled[] {
  const settled = new Map<number, Settled>();
  for (const line of lines) {
    if (line.kind !== "funding") continue;
    for (const row of line.rows) {
      if (!settled.has(row.at)) settled.set(row.at, { ...row, publishedAt: line.at });
    }
  }
  return [...settled.values()].toSorted((one, other) => one.at - other.at);
}

function termsOf(settled: readonly Settled[]): FundingTerms {
  const [first, second] = settled;
  if (!first || !second) return usualTerms;
  return { ...usualTerms, intervalHours: Math.round((second.at - first.at) / hourMs) };
}

function statisticsOf(told: readonly Premium[], kind: MarkKind): MarkStatistics | undefined {
  if (kind === "premium") return undefined;
  const prices = told.map(({ markPrice, indexPrice }) => (kind === "mark" ? markPrice : indexPrice));
  const [open] = prices;
  const close = prices.at(-1);
  if (open === undefined || close === undefined) return undefined;
  return {
    open,
    high: prices.reduce((one, other) => (decimal(one) >= decimal(other) ? one : other)),
    low: prices.reduce((one, other) => (decimal(one) <= decimal(other) ? one : other)),
    close,
    count: prices.length,
  };
}
