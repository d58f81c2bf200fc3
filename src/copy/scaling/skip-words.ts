// Why something was not copied, as a plain sentence with its figures: for the mirror log and for the preview.
import { COPY_QUOTE_ASSET, type Skip, type SkipReason } from "../../domain/copying.ts";
import { formatBriefly } from "../../money/decimal.ts";
import { shortfallOf } from "./skip.ts";

type Figures = {
  readonly wanted: string;
  readonly had: string;
  readonly shortfall: string;
  /** The beginning of the sentence where the copier's own bound has cut the order; null where it has not. */
  readonly cut: string | null;
};

/** A sentence of each reason: with figures, and for when there are none. */
const WORDS: {
  readonly [R in SkipReason]: { readonly plain: string; readonly counted?: (figures: Figures) => string };
} = {
  BELOW_MIN_QUANTITY: {
    plain: "Scaled to this account the order is smaller than the exchange's smallest.",
    counted: ({ wanted, had, shortfall, cut }) =>
      `${cut ?? "Scaled to this account the order is for"} ${had}; the exchange takes no less than ${wanted}, ${shortfall} more.`,
  },
  BELOW_MIN_NOTIONAL: {
    plain: "Scaled to this account the order is worth less than the exchange's minimum.",
    counted: ({ wanted, had, shortfall, cut }) =>
      `${cut ?? "Scaled to this account the order is worth"} ${had}; the exchange takes no less than ${wanted}, ${shortfall} more.`,
  },
  ABOVE_MAXIMUM: {
    plain: "It is more than the exchange takes of one account.",
    counted: ({ wanted, had, shortfall }) =>
      `It would come to ${wanted}; the exchange takes no more than ${had}, ${shortfall} less.`,
  },
  ORDER_CAP: {
    plain: "As many orders rest on the symbol as the exchange takes.",
    counted: ({ wanted, had }) =>
      `It would be number ${wanted} of the orders that rest on the symbol; the exchange takes ${had}.`,
  },
  PRICE_UNFIT: {
    plain:
      "Its price is not one that the exchange takes, or no price is known of the symbol, or of something else that the strategy holds.",
    counted: ({ shortfall }) => `Its price lies ${shortfall} outside of what the exchange takes.`,
  },
  INSUFFICIENT_BALANCE: {
    plain: "The account has not enough for it.",
    counted: ({ wanted, had, shortfall }) =>
      `It may cost ${wanted}; the copy has ${had} left to use, ${shortfall} too little.`,
  },
  INSUFFICIENT_MARGIN: {
    plain: "The account has not enough margin for it.",
    counted: ({ wanted, had, shortfall }) =>
      `Its margin and fee may come to ${wanted}; the copy has ${had} left to use, ${shortfall} too little.`,
  },
  NOTHING_HELD: { plain: "The copy holds nothing that it could sell or close." },
  NOT_MIRRORED: { plain: "What it is about was not copied, or is older than the copy." },
  ALREADY_OVER: { plain: "What it is about was over at the exchange already." },
  PAUSED: { plain: "The copy was paused: nothing new is opened." },
  HALTED: { plain: "A kill switch was set: nothing is sent." },
  TOO_LATE: { plain: "It could not be sent in time, and a late entry would not be the strategy's." },
  NOT_LISTED: { plain: "The exchange does not trade the symbol, or takes no orders of this type for it." },
  OTHER_QUOTE_ASSET: { plain: `Only pairs against ${COPY_QUOTE_ASSET} are copied.` },
  LEVERAGE_UNFIT: {
    plain: "The exchange does not take the strategy's leverage or its margin mode.",
    counted: ({ wanted, had }) => `The strategy's leverage is ${wanted}; the exchange's highest is ${had}.`,
  },
  CREDENTIALS: { plain: "The exchange does not accept the account's key any more." },
  REFUSED: { plain: "The exchange refused it." },
  OVERTAKEN: { plain: "The strategy's own order was over before this one could be carried out." },
};

/**
 * Why it was not copied. The base asset is that of the symbol; null where there is none. Where the exchange was the one who refused,
 * its own words follow.
 */
export function skipWords(skip: Skip, baseAsset: string | null): string {
  const { plain, counted } = WORDS[skip.reason];
  const figures = figuresOf(skip, baseAsset);
  const sentence = counted === undefined || figures === null ? plain : counted(figures);
  if (skip.venue === null) return sentence;
  return `${sentence} The exchange said: ${skip.venue.message} (${skip.venue.code}).`;
}

/** The asset that a skip's figures are in; null for a count, or if it has no figures. */
export function assetOf({ unit }: Pick<Skip, "unit">, baseAsset: string | null): string | null {
  if (unit === null) return null;
  return unit === "BASE" ? baseAsset : COPY_QUOTE_ASSET;
}

function figuresOf(skip: Skip, baseAsset: string | null): Figures | null {
  const shortfall = shortfallOf(skip);
  if (skip.wanted === null || skip.had === null || shortfall === null) return null;
  const asset = assetOf(skip, baseAsset);
  const text = (value: bigint) =>
    asset === null ? formatBriefly(value) : `${formatBriefly(value)} ${asset}`;
  const cut =
    skip.bound === undefined
      ? null
      : `Your most per order of ${formatBriefly(skip.bound)} ${COPY_QUOTE_ASSET} cuts it to`;
  return { wanted: text(skip.wanted), had: text(skip.had), shortfall: text(shortfall), cut };
}
