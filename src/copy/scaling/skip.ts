// A skip with its figures. What is wanted and what there is differ by the shortfall, whichever way round the rule compares
// them: a minimum is wanted and the order has less; an order wants more than the maximum, or than is available.
import type { Skip, SkipReason } from "../../domain/copying.ts";
import { type Amount, magnitude, SCALE, subtract } from "../../money/decimal.ts";

/** A skip; what is not given is null. */
export function skipOf(reason: SkipReason, details: Partial<Omit<Skip, "reason">> = {}): Skip {
  return { reason, filter: null, wanted: null, had: null, unit: null, venue: null, ...details };
}

/** By how much it fell short, in the unit of the skip; null if it has no figures. Of two prices it is how far they are apart. */
export function shortfallOf({ reason, wanted, had }: Pick<Skip, "reason" | "wanted" | "had">): Amount | null {
  if (wanted === null || had === null) return null;
  const difference = subtract(wanted, had);
  return reason === "SLIPPAGE" ? magnitude(difference) : difference;
}

/** A count as a decimal: the figures of what is neither in base units nor in the quote asset. */
export function countAsAmount(count: number): Amount {
  return (BigInt(count) * SCALE) as Amount;
}

const TOO_SMALL: ReadonlySet<SkipReason> = new Set(["BELOW_MIN_QUANTITY", "BELOW_MIN_NOTIONAL"]);

/** The skip of a size that was cut to the copier's most per order; with that, if the whole size is not too small. */
export function tellingBound(
  skip: Skip | null,
  bound: Amount | null,
  skipOfWhole: () => Skip | null,
): Skip | null {
  if (skip === null || bound === null || !TOO_SMALL.has(skip.reason)) return skip;
  const whole = skipOfWhole();
  return whole !== null && TOO_SMALL.has(whole.reason) ? skip : { ...skip, bound };
}
