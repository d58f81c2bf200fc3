// A cause that is told where nothing else was found is told only if there was nothing else to be looked at.
import { expect, test } from "vitest";
import type { Drift } from "../../copy/scaling/drift.ts";
import type { DriftCause } from "../../domain/copying.ts";
import { decimal } from "../../money/decimal.ts";
import { presentDrift } from "./copying-drift.ts";

function drifted(cause: DriftCause): Drift {
  return {
    ...{ symbol: "BTCUSDT", asset: "BTC", lead: decimal("1"), target: decimal("0.5"), own: decimal("0.4") },
    ...{ actual: decimal("0.4"), difference: decimal("-0.1"), value: decimal("5000"), cause, entryId: null },
    scale: { by: "EQUITY", ours: 1n, theirs: 2n },
    ...{ reduction: null, increase: null, repair: null },
  };
}

test("balances that have moved apart are no cause while older lines may have another", () => {
  expect(presentDrift(drifted("PRICE_MOVED"), null)).toMatchObject({
    cause: "PRICE_MOVED",
    words: expect.stringMatching(/^The ratio of the two accounts has changed since/),
  });
  expect(presentDrift(drifted("PRICE_MOVED"), 300)).toMatchObject({
    cause: "OLDER",
    words: expect.stringMatching(/^The newest 300 lines .* The copy has 0\.1 BTC less than its target\.$/),
  });
  expect(presentDrift(drifted("SKIPPED"), 300).cause).toBe("SKIPPED");
});
