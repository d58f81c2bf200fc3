// How a copy stands beside its strategy, as the browser gets it, with the cause in words.
import type { Drift } from "../../copy/scaling/drift.ts";
import { driftWords } from "../../copy/scaling/drift-words.ts";
import { formatBriefly } from "../../money/decimal.ts";
import type { DriftRowShape } from "../shapes.ts";

export function presentDrift(drift: Drift): DriftRowShape {
  const { symbol, asset, lead, target, own, actual, difference, value, cause, entryId, repair } = drift;
  return {
    symbol,
    asset,
    lead: formatBriefly(lead),
    target: formatBriefly(target),
    own: formatBriefly(own),
    actual: formatBriefly(actual),
    difference: formatBriefly(difference),
    value: value === null ? null : formatBriefly(value),
    cause,
    words: driftWords(drift),
    entryId,
    repair:
      repair === null
        ? null
        : { side: repair.side, quantity: formatBriefly(repair.quantity), increases: repair.increases },
  };
}
