// What a figure is: a measurement, what it is aimed at, and the ceiling that it is held against.
import type { MemoryUsed } from "./processes/processes.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export type Unit = "/s" | "ms" | "µs" | "ns" | "KB" | "%";

export type Figure = {
  readonly name: string;
  readonly unit: Unit;
  readonly value: Spread;
  /** In words; null where there is nothing to aim at but more. */
  readonly aim: string | null;
  /** Null for a ceiling itself, and for what has none. */
  readonly against: Ceiling | null;
};

export type Ceiling = { readonly name: string; readonly value: Spread; readonly ratio: Spread };

/** Figures that belong together. */
export type Section = {
  readonly title: string;
  readonly figures: readonly Figure[];
  /** Why there are none; null where there are. */
  readonly missing: string | null;
};

/**
 * A figure whose ceiling was measured beside it, but not interleaved: the ratio is as wide as both spreads.
 */
export function against(
  figure: Omit<Figure, "against" | "aim"> & { readonly aim?: string | undefined },
  ceiling: Omit<Ceiling, "ratio">,
): Figure {
  const { value } = figure;
  const ratio = {
    median: value.median / ceiling.value.median,
    min: value.min / ceiling.value.max,
    max: value.max / ceiling.value.min,
  };
  return { ...figure, aim: figure.aim ?? null, against: { name: ceiling.name, value: ceiling.value, ratio } };
}

/** A figure without a ceiling. */
export function plain(name: string, unit: Unit, value: Spread, aim: string | null = null): Figure {
  return { name, unit, value, aim, against: null };
}

/**
 * A figure of rounds. The ratio is taken round by round: both sides of it were measured in the same seconds.
 */
export function figureOf<Round>(
  rounds: readonly Round[],
  row: Pick<Figure, "name" | "unit"> & {
    readonly of: (round: Round) => number;
    readonly aim?: string | null;
    readonly ceiling?: { readonly name: string; readonly of: (round: Round) => number } | null;
  },
): Figure {
  const { name, unit, of, aim = null, ceiling = null } = row;
  const figure = plain(name, unit, spreadOf(rounds.map(of)), aim);
  if (ceiling === null) return figure;
  const value = spreadOf(rounds.map(ceiling.of));
  const ratio = spreadOf(rounds.map((round) => of(round) / ceiling.of(round)));
  return { ...figure, against: { name: ceiling.name, value, ratio } };
}

/**
 * What each of many takes, KB: the difference of a measurement with many to one with few. None where it is
 * not known.
 */
export function kilobytesEach(
  name: string,
  [few, many]: readonly [few: Memory, many: Memory],
  aim: string | null = null,
): Figure[] {
  if (few.bytes === null || many.bytes === null) return [];
  const each = (many.bytes - few.bytes) / (many.count - few.count) / 1_024;
  return [plain(name, "KB", spreadOf([each]), aim)];
}

/** Resident memory of each connection, and the heap of it, against those of a bare server. */
export function connectionMemory(
  name: string,
  { few, many }: { readonly few: number; readonly many: number },
  own: MemoryOf,
  bare: MemoryOf & { readonly name: string },
): Figure[] {
  const each = (called: string, of: MemoryOf, what: keyof MemoryUsed) =>
    kilobytesEach(called, [
      { count: few, bytes: of.few[what] },
      { count: many, bytes: of.many[what] },
    ]);
  const compared = (called: string, what: keyof MemoryUsed) => {
    const [ceiling] = each(bare.name, bare, what);
    return each(called, own, what).map((figure) =>
      ceiling === undefined ? figure : against({ ...figure, aim: undefined }, ceiling),
    );
  };
  return [
    ...compared(`resident memory per ${name}, ${countText(many - few)} of them`, "residentBytes"),
    ...compared("  of it JavaScript's heap", "heapBytes"),
  ];
}
export type MemoryOf = { readonly few: MemoryUsed; readonly many: MemoryUsed };
export type Memory = { readonly count: number; readonly bytes: number | null };

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function countText(count: number): string {
  return count.toLocaleString("en-US");
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
