// The time ranges of an overview. The address holds the chosen one.
import type { Range } from "../../../../../src/dashboard-api/schemas.ts";

export const RANGE_CHOICES: readonly {
  readonly range: Range;
  readonly label: string;
  readonly words: string;
}[] = [
  { range: "24h", label: "24 h", words: "the last 24 hours" },
  { range: "7d", label: "7 d", words: "the last 7 days" },
  { range: "30d", label: "30 d", words: "the last 30 days" },
  { range: "all", label: "All", words: "all of its time" },
];

/** What an address says; 24 hours where it says nothing that is a range. */
export function rangeOf(text: string | undefined): Range {
  return RANGE_CHOICES.find(({ range }) => range === text)?.range ?? "24h";
}

export function rangeInWords(range: Range): string {
  return RANGE_CHOICES.find((choice) => choice.range === range)?.words ?? range;
}
