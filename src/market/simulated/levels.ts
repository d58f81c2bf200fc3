/**
 * How simulated time divides: a day into spans of four hours, those into hours, and so on down to the second.
 *
 * A span is named by its depth (0 is the day) and its number since the Unix epoch (day 19 000, hour 456 000
 * …). The steps are small so that a thousand candles of any interval need few divisions.
 */

type SpanLevel = {
  readonly name: LevelName;
  readonly lengthMs: number;
  /** How many spans of the next level it holds. */
  readonly children: number;
};

export type LevelName = "day" | "fourHours" | "hour" | "quarter" | "minute" | "second";

const levels: readonly SpanLevel[] = [
  { name: "day", lengthMs: 86_400_000, children: 6 },
  { name: "fourHours", lengthMs: 14_400_000, children: 4 },
  { name: "hour", lengthMs: 3_600_000, children: 4 },
  { name: "quarter", lengthMs: 900_000, children: 15 },
  { name: "minute", lengthMs: 60_000, children: 60 },
  { name: "second", lengthMs: 1_000, children: 0 },
];

export const secondDepth = depthOf("second");

/** Depths that hold children. */
export const depthsAbove: readonly number[] = levels.slice(0, secondDepth).map((_, depth) => depth);

export function depthOf(name: LevelName): number {
  return levels.findIndex((level) => level.name === name);
}

export function levelAt(depth: number): SpanLevel {
  const level = levels[depth];
  if (!level) throw new Error(`simulated time has no level of depth ${depth}`);
  return level;
}

/**
 * The spans that make up an interval, `from <= time < until` in Unix ms, in time order: the longest that lie
 * wholly in it, none longer than those of `coarsest`, and the seconds that lie partly in it.
 */
export function cover(
  stretch: { readonly from: number; readonly until: number; readonly coarsest: number },
  visit: (depth: number, index: number, isWhole: boolean) => void,
): void {
  const { from, until, coarsest } = stretch;
  const { lengthMs } = levelAt(coarsest);
  for (let index = Math.floor(from / lengthMs); index * lengthMs < until; index += 1) enter(coarsest, index);

  function enter(depth: number, index: number): void {
    const { lengthMs: spanMs, children } = levelAt(depth);
    const isWhole = from <= index * spanMs && (index + 1) * spanMs <= until;
    if (isWhole || depth === secondDepth) {
      visit(depth, index, isWhole);
      return;
    }
    const childMs = spanMs / children;
    const first = Math.max(index * children, Math.floor(from / childMs));
    const end = Math.min((index + 1) * children, Math.ceil(until / childMs));
    for (let child = first; child < end; child += 1) enter(depth + 1, child);
  }
}
