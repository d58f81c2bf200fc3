// Counts as parts of their sum, in words.
import type { EntryCountsShape } from "../../../src/dashboard/shapes.ts";
import { percentOf } from "../ui/decimals.ts";

type Counted = Pick<EntryCountsShape, "copied" | "skipped" | "failed">;

/** "97.5 %" of each; empty where nothing was counted. What is not all is never "100.0 %", as it is cut. */
export function ratesOf({ copied, skipped, failed }: Counted): {
  readonly [Name in keyof Counted]: string;
} {
  const total = String(copied + skipped + failed);
  const rate = (count: number) => {
    const percent = percentOf(String(count), total, 1);
    return percent === null ? "" : `${percent} %`;
  };
  return { copied: rate(copied), skipped: rate(skipped), failed: rate(failed) };
}
