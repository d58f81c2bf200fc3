// How an order was scaled, and how its price compares, in words.
import type { MirrorEntryShape } from "../../../../../src/dashboard/shapes.ts";
import { compare, grouped, magnitude, signOf, trimZeros } from "../../../ui/decimals.ts";

type Scale = NonNullable<MirrorEntryShape["scale"]>;

/** What stands above and below the line. */
const SCALES: Readonly<
  Record<Scale["by"], { readonly ours: string; readonly theirs: string; readonly decimals: number }>
> = {
  EQUITY: { ours: "your equity", theirs: "the strategy’s equity", decimals: 2 },
  COLLATERAL: { ours: "your collateral", theirs: "the strategy’s collateral", decimals: 2 },
  HOLDING: { ours: "what your copy holds", theirs: "what the strategy holds", decimals: 0 },
  POSITION: { ours: "your position", theirs: "the strategy’s position", decimals: 0 },
};

type Scaled = Pick<MirrorEntryShape, "leadQuantity" | "scale" | "scaledQuantity" | "quantity">;

/** Empty for what was not scaled. */
export function scaleInWords({ leadQuantity, scale, scaledQuantity, quantity }: Scaled): readonly string[] {
  if (leadQuantity === null || scale === null || scaledQuantity === null) return [];
  const { ours, theirs, decimals } = SCALES[scale.by];
  const figure = (value: string) => grouped(trimZeros(value, decimals));
  const lines = [
    `${plain(leadQuantity)} × ${figure(scale.ours)} (${ours}) ÷ ${figure(scale.theirs)} (${theirs}) = ${plain(scaledQuantity)}`,
  ];
  if (quantity === null) return lines;
  return [
    ...lines,
    compare(quantity, scaledQuantity) === 0
      ? `${plain(quantity)} was sent: it fits the exchange’s step.`
      : `${plain(quantity)} was sent: cut down to the exchange’s step and to your bounds, never raised.`,
  ];
}

/** "3.20 basis points worse than the strategy’s 60,000.00". */
export function slippageInWords(bps: string, leadPrice: string | null): string {
  const than = leadPrice === null ? "the strategy’s price" : `the strategy’s ${plain(leadPrice, 2)}`;
  const sign = signOf(bps);
  if (sign === 0) return `the same as ${than}`;
  return `${magnitude(bps)} basis points ${sign > 0 ? "worse" : "better"} than ${than}`;
}

function plain(value: string, decimals = 0): string {
  return grouped(trimZeros(value, decimals));
}
