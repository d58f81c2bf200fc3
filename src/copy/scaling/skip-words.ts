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
    plain: "Scaled to this account, the order is below the exchange's minimum quantity.",
    counted: ({ wanted, had, shortfall, cut }) =>
      `${cut ?? "Scaled to this account, the order is for"} ${had}; the exchange's minimum is ${wanted}, ${shortfall} more.`,
  },
  BELOW_MIN_NOTIONAL: {
    plain: "Scaled to this account, the order is below the exchange's minimum value.",
    counted: ({ wanted, had, shortfall, cut }) =>
      `${cut ?? "Scaled to this account, the order is worth"} ${had}; the exchange's minimum is ${wanted}, ${shortfall} more.`,
  },
  ABOVE_MAXIMUM: {
    plain: "It is more than the exchange accepts from one account.",
    counted: ({ wanted, had, shortfall }) =>
      `It would come to ${wanted}; the exchange accepts at most ${had}, ${shortfall} less.`,
  },
  ORDER_CAP: {
    plain: "The maximum number of orders that the exchange accepts for the symbol is open.",
    counted: ({ wanted, had }) =>
      `It would be open order number ${wanted} for the symbol; the exchange accepts ${had}.`,
  },
  PRICE_UNFIT: {
    plain:
      "The exchange does not accept its price, or no price is known for the symbol or for something else that the strategy holds.",
    counted: ({ shortfall }) => `Its price is ${shortfall} outside the range that the exchange accepts.`,
  },
  INSUFFICIENT_BALANCE: {
    plain: "The account's balance is too small.",
    counted: ({ wanted, had, shortfall }) =>
      `It may cost ${wanted}; the copy has ${had} available, ${shortfall} too little.`,
  },
  INSUFFICIENT_MARGIN: {
    plain: "The account's margin is too small.",
    counted: ({ wanted, had, shortfall }) =>
      `Its margin and fee may come to ${wanted}; the copy has ${had} available, ${shortfall} too little.`,
  },
  NOTHING_HELD: { plain: "The copy holds nothing that it could sell or close." },
  NOT_MIRRORED: { plain: "The order that it refers to was not copied, or is older than the copy." },
  ALREADY_OVER: { plain: "The order that it refers to had already ended at the exchange." },
  PAUSED: { plain: "The copy was paused and opened nothing." },
  HALTED: { plain: "A kill switch was set, so nothing was sent." },
  TOO_LATE: { plain: "It could not be sent in time. Late entries are skipped." },
  NOT_LISTED: { plain: "The exchange does not list the symbol, or does not accept this order type for it." },
  OTHER_QUOTE_ASSET: { plain: `Only pairs against ${COPY_QUOTE_ASSET} are copied.` },
  LEVERAGE_UNFIT: {
    plain: "The exchange does not accept the strategy's leverage or margin mode.",
    counted: ({ wanted, had }) => `The strategy's leverage is ${wanted}; the exchange's maximum is ${had}.`,
  },
  CREDENTIALS: { plain: "The exchange no longer accepts the account's key." },
  REFUSED: { plain: "The exchange rejected it." },
  OVERTAKEN: { plain: "The strategy's own order had ended before this one could be sent." },
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
      : `Your maximum per order of ${formatBriefly(skip.bound)} ${COPY_QUOTE_ASSET} cuts it to`;
  return { wanted: text(skip.wanted), had: text(skip.had), shortfall: text(shortfall), cut };
}
