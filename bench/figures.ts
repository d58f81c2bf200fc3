// A figure: a measurement, its aim, and the ceiling that it is compared with.
import type { Spread } from "./statistics.ts";

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
  figure: Omit<Figure, "against" | "aim"> & { readonly aim?: string },
  ceiling: Omit<Ceiling, "ratio">,
): Figure {
  const { value } = figure;
  const ratio = {
    median: value.median / ceiling.value.median,
    min: value.min / ceiling.value.max,
    max: value.max / ceiling.value.min,
  };
  return { aim: null, ...figure, against: { ...ceiling, ratio } };
}
