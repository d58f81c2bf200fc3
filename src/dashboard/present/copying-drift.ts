// How a copy stands beside its strategy, as the browser gets it, with the cause in words.
import { type Drift, driftWords, offWords } from "../../copy/sizing/drift.ts";
import type { DriftCause } from "../../domain/copying.ts";
import { formatBriefly } from "../../money/decimal.ts";
import type { DriftRowShape } from "../shapes.ts";

/**
 * `linesLookedAt`: of its log so many were looked at for causes, and there are older ones; null if all were. Where none of them
 * explains it, an older one may.
 */
export function presentDrift(drift: Drift, linesLookedAt: number | null): DriftRowShape {
  const { symbol, asset, lead, target, own, actual, difference, value, entryId, repair } = drift;
  const shown = (cause: DriftCause) => (cause === "PRICE_MOVED" && linesLookedAt !== null ? "OLDER" : cause);
  return {
    symbol,
    asset,
    lead: formatBriefly(lead),
    target: formatBriefly(target),
    own: formatBriefly(own),
    actual: formatBriefly(actual),
    difference: formatBriefly(difference),
    value: value === null ? null : formatBriefly(value),
    cause: shown(drift.cause),
    words: wordsOf(drift, linesLookedAt),
    entryId,
    parts: drift.parts.map((part) => ({
      ...{ cause: shown(part.cause), quantity: formatBriefly(part.quantity), entryId: part.entryId },
    })),
    repair:
      repair === null
        ? null
        : { side: repair.side, quantity: formatBriefly(repair.quantity), increases: repair.increases },
  };
}

function wordsOf(drift: Drift, linesLookedAt: number | null): string {
  if (drift.cause !== "PRICE_MOVED" || linesLookedAt === null) return driftWords(drift);
  return `The newest ${linesLookedAt} lines of the log do not explain it: the cause is older, or the ratio of the two accounts has changed since. ${offWords(drift)}`;
}
