// Counts as parts of their sum, in words.
import type { EntryCountsJson } from "../../../src/dashboard-api/schemas.ts";
import { percentOf } from "../ui/figures/decimals.ts";

type Counted = Pick<EntryCountsJson, "placed" | "skipped" | "failed">;

/** "97.5 %" of each; empty where nothing was counted. What is not all is never "100.0 %", as it is cut. */
export function ratesOf({ placed, skipped, failed }: Counted): {
  readonly [Name in keyof Counted]: string;
} {
  const total = String(placed + skipped + failed);
  const rate = (count: number) => {
    const percent = percentOf(String(count), total, 1);
    return percent === null ? "" : `${percent} %`;
  };
  return { placed: rate(placed), skipped: rate(skipped), failed: rate(failed) };
}
