// How an order was scaled, and how its price compares, in words.
import type { MirrorEntryJson } from "../../../../../src/dashboard-api/schemas.ts";
import { SKIP_NAMES } from "../../../copying/words.ts";
import { compare, grouped, magnitude, signOf, trimZeros } from "../../../ui/figures/decimals.ts";

type Scale = NonNullable<MirrorEntryJson["scale"]>;

/** The two sides of a ratio: numerator and denominator. */
const SCALES: Readonly<
  Record<Scale["by"], { readonly ours: string; readonly theirs: string; readonly decimals: number }>
> = {
  EQUITY: { ours: "your equity", theirs: "the strategy’s equity", decimals: 2 },
  COLLATERAL: { ours: "your collateral", theirs: "the strategy’s collateral", decimals: 2 },
  HOLDING: { ours: "what your copy holds", theirs: "what the strategy holds", decimals: 0 },
  POSITION: { ours: "your position", theirs: "the strategy’s position", decimals: 0 },
  UNPROMISED: {
    ours: "what your copy holds without its open exits",
    theirs: "what the strategy holds without its open exits",
    decimals: 0,
  },
  FIXED_RATIO: { ours: "your fixed ratio", theirs: "once", decimals: 0 },
  FIXED_AMOUNT: { ours: "your fixed amount in coins", theirs: "the strategy’s quantity", decimals: 0 },
};

type Sent = Pick<MirrorEntryJson, "status" | "sentAt" | "quantity">;
type Scaled = Sent & Pick<MirrorEntryJson, "leadQuantity" | "scale" | "scaledQuantity" | "skip">;

/**
 * The quantity that was sent to the exchange; null if nothing was. A line that is skipped, or not sent yet,
 * has a quantity that was computed only.
 */
export function sentQuantityOf({ status, sentAt, quantity }: Sent): string | null {
  const isUnsent = sentAt === null && (status === "NEW" || status === "SKIPPED" || status === "FAILED");
  return isUnsent ? null : quantity;
}

/** Empty for what was not scaled. */
export function scaleInWords(entry: Scaled): readonly string[] {
  const { leadQuantity, scale, scaledQuantity, quantity, status, skip } = entry;
  if (leadQuantity === null || scale === null || scaledQuantity === null) return [];
  const { ours, theirs, decimals } = SCALES[scale.by];
  const figure = (value: string) => grouped(trimZeros(value, decimals));
  const ratio = `× ${figure(scale.ours)} (${ours}) ÷ ${figure(scale.theirs)} (${theirs})`;
  const lines = ratioLines(scale.part, { lead: plain(leadQuantity), scaled: plain(scaledQuantity), ratio });
  if (quantity === null) return lines;
  const isWhole = compare(quantity, scaledQuantity) === 0;
  const isSent = sentQuantityOf(entry) !== null;
  if (isSent || status === "NEW") {
    const sends = `${plain(quantity)} ${isSent ? "was" : "will be"} sent`;
    return [
      ...lines,
      isWhole
        ? `${sends}: it fits the exchange’s step size.`
        : `${sends}: rounded down to the exchange’s step size and to your limits, never up.`,
    ];
  }
  const why = skip === null ? "" : `: ${SKIP_NAMES[skip.reason].replace(/^[A-Z](?=[a-z])/, lowered)}`;
  return [
    ...lines,
    signOf(quantity) === 0
      ? "Rounded down to the exchange’s step size, nothing is left of it."
      : `${plain(quantity)} would have been sent${isWhole ? "" : ", rounded down to the exchange’s step size and to your limits"}.`,
    `Nothing was sent${why}.`,
  ];
}

function ratioLines(
  part: Scale["part"],
  { lead, scaled, ratio }: { readonly lead: string; readonly scaled: string; readonly ratio: string },
): readonly string[] {
  switch (part) {
    case null:
      return [`${lead} ${ratio} = ${scaled}`];
    case "OPENING":
      return [
        `The strategy’s order of ${lead} goes through zero: it closes a position and opens one on the other side. The two parts are scaled by different ratios.`,
        `The part that opens: its size ${ratio}.`,
        `The part that closes: its size × your position ÷ the strategy’s position. Both parts together: ${scaled}`,
      ];
    case "CLOSING":
      return [
        `The strategy’s order of ${lead} is for more than its position. The part that closes the position is scaled: its size ${ratio}.`,
        `The whole order scales to ${scaled}.`,
      ];
  }
}

function lowered(letter: string): string {
  return letter.toLowerCase();
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
