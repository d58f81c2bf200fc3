// The figures of a range, out of what its trades and incomes came to and of how the curve went.
import { type Amount, add, magnitude, type Rate, SCALE, subtract, ZERO } from "../money/decimal.ts";
import type { EquityPoint } from "./report.ts";

/** The result of one trade. */
export type Outcome = { readonly isClosing: boolean; readonly realised: Amount };

/** The totals of a range, in USDT. */
export type Totals = Record<"realised" | "unrealised" | "fees" | "funding", Amount> & {
  readonly outcomes: readonly Outcome[];
};

/** The curve through equities, each with how far it lies below the highest before it. */
export function curveOf(
  equities: readonly { readonly at: number; readonly equity: Amount }[],
): EquityPoint[] {
  let highest: Amount | null = null;
  return equities.map(({ at, equity }) => {
    if (highest === null || equity > highest) highest = equity;
    const drawdown = subtract(equity, highest);
    return { at, equity, drawdown, drawdownRate: fractionOf(drawdown, highest) };
  });
}

/**
 * Over "all" the profit is exactly realised + unrealised − fees + funding. In a shorter range what was
 * unrealised at its beginning is part of the equity there.
 */
export function statisticsOf(
  points: readonly EquityPoint[],
  { outcomes, realised, unrealised, fees, funding }: Totals,
) {
  const startEquity = points[0]?.equity ?? ZERO;
  const endEquity = points.at(-1)?.equity ?? ZERO;
  const profit = subtract(endEquity, startEquity);
  const closing = outcomes.filter(({ isClosing }) => isClosing);
  const wins = closing.filter((outcome) => outcome.realised > 0n);
  const losses = closing.filter((outcome) => outcome.realised < 0n);
  const lost = realisedBy(losses);
  return {
    startEquity,
    endEquity,
    profit,
    /** By the equity at the start, cut after the eighth digit; zero if that was none. */
    profitRate: fractionOf(profit, startEquity),
    realised,
    /** At the end of the range. */
    unrealised,
    fees,
    funding,
    trades: outcomes.length,
    /** Those that realise something: a gain, a loss, or just nothing. */
    closingTrades: closing.length,
    wins: wins.length,
    losses: losses.length,
    /** Cut after the eighth digit; null without closing trades. */
    winRate: closing.length === 0 ? null : fractionOf(BigInt(wins.length), BigInt(closing.length)),
    /** Cut after the eighth digit; null without a loss. */
    profitFactor: losses.length === 0 ? null : fractionOf(realisedBy(wins), magnitude(lost)),
    maximumDrawdown: greatestOf(points.map(({ drawdown }) => drawdown)),
    maximumDrawdownRate: greatestOf(points.map(({ drawdownRate }) => drawdownRate)),
  };
}

function realisedBy(outcomes: readonly Outcome[]): Amount {
  return outcomes.reduce((sum, { realised }) => add(sum, realised), ZERO as Amount);
}

/** The greatest magnitude of what is zero or negative. */
function greatestOf<D extends Amount | Rate>(drawdowns: readonly D[]): D {
  return drawdowns.reduce(
    (greatest, each) => (-each > (greatest as bigint) ? magnitude(each) : greatest),
    ZERO as D,
  );
}

/** Cut after the eighth digit, towards zero; zero of what is nothing or less. */
function fractionOf(part: bigint, whole: bigint): Rate {
  return (whole <= 0n ? 0n : (part * SCALE) / whole) as Rate;
}
