// A skip with its figures, and why something was not copied as a plain sentence with them: for the mirror log
// and for the preview.
//
// What is wanted and what there is differ by the shortfall, whichever way round the rule compares them: a
// minimum is wanted and the order has less; an order wants more than the maximum, or than is available.
import { COPY_QUOTE_ASSET, type Skip, type SkipReason, skipOf } from "../../domain/copying.ts";
import {
  type Amount,
  decimal,
  divideDown,
  floorToStep,
  formatBriefly,
  magnitude,
  type Rate,
  SCALE,
  subtract,
} from "../../money/decimal.ts";

/** The venue refuses the leverage, in its own words. */
export function leverageSkip({ code, message }: NonNullable<Skip["venue"]>): Skip {
  return skipOf("LEVERAGE_UNFIT", { venue: { code, message } });
}

/**
 * By how much it fell short, in the unit of the skip; null if it has no figures. Of two prices it is how far
 * they are apart.
 */
export function shortfallOf({ reason, wanted, had }: Pick<Skip, "reason" | "wanted" | "had">): Amount | null {
  if (wanted === null || had === null) return null;
  const difference = subtract(wanted, had);
  return reason === "SLIPPAGE" ? magnitude(difference) : difference;
}

/** A count as a decimal: the figures of what is neither in base units nor in the quote asset. */
export function countAsAmount(count: number): Amount {
  return (BigInt(count) * SCALE) as Amount;
}

const HUNDREDTH: Rate = decimal("0.01");

type Figures = {
  readonly wanted: string;
  readonly had: string;
  readonly shortfall: string;
  /** The beginning of the sentence where the copier's own bound has cut the order; null where it has not. */
  readonly cut: string | null;
  /** The copier's bound as per cent and as a multiple; empty where there is none. */
  readonly percent: string;
  readonly times: string;
  /** The shortfall in per cent of what was wanted. */
  readonly apart: string;
};

/**
 * A sentence of each reason: `counted` with figures that fall short, `stale` with figures that do not
 * although the exchange refused, `listed` with the symbols that the copier permits, `plain` without any.
 */
const WORDS: {
  readonly [R in SkipReason]: {
    readonly plain: string;
    readonly counted?: (figures: Figures) => string;
    readonly stale?: (figures: Figures) => string;
    readonly listed?: (names: string) => string;
  };
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
    stale: ({ wanted, had }) =>
      `The exchange rejected it because the account's balance is too small. The balances known here were out of date: it may cost ${wanted}, and they showed ${had}.`,
  },
  INSUFFICIENT_MARGIN: {
    plain: "The account's margin is too small.",
    counted: ({ wanted, had, shortfall }) =>
      `Its margin and fee may come to ${wanted}; the copy has ${had} available, ${shortfall} too little.`,
    stale: ({ wanted, had }) =>
      `The exchange rejected it because the account's margin is too small. The balances known here were out of date: margin and fee may come to ${wanted}, and they showed ${had}.`,
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
    plain: "The exchange did not set the strategy's leverage or margin mode.",
    counted: ({ wanted, had }) => `The strategy's leverage is ${wanted}; the exchange's maximum is ${had}.`,
  },
  CREDENTIALS: { plain: "The exchange no longer accepts the account's key." },
  REFUSED: { plain: "The exchange rejected it." },
  OVERTAKEN: { plain: "The strategy's own order had ended before this one could be sent." },
  UNCONFIRMED: {
    plain:
      "The exchange did not confirm it, and it was not sent again, since it might have been executed twice. If it turns up at the exchange, it is recorded.",
  },
  STOP_FIRST: {
    plain:
      "Its request was lost on the way to the exchange. It was not sent again, because the position's stop waited for it.",
  },
  PROTECTS: {
    plain: "The strategy has left its position, and the copy has not yet: its stop stays until then.",
  },
  SYMBOL_NOT_ALLOWED: {
    plain: "The symbol is not among those that your settings permit the copy to open.",
    listed: (names) => `Your settings permit the copy to open ${names} only.`,
  },
  ABOVE_POSITION_MAX: {
    plain: "The position would be worth more than your settings permit.",
    counted: ({ wanted, had, times }) =>
      `With the whole order the position would be worth ${wanted}; your maximum for one position is ${had}${times}.`,
  },
  ABOVE_EXPOSURE_MAX: {
    plain: "All positions together would be worth more than your settings permit.",
    counted: ({ wanted, had, times }) =>
      `With the whole order all positions together would be worth ${wanted}; your maximum is ${had}${times}.`,
  },
  TOO_MANY_ORDERS: {
    plain: "The copy opened as many orders within a minute as your settings permit.",
    counted: ({ wanted, had }) =>
      `It would be opening number ${wanted} within a minute; your maximum is ${had}.`,
  },
  SLIPPAGE: {
    plain: "The exchange's price was too much worse than the strategy's.",
    counted: ({ wanted, had, apart, percent }) =>
      `The strategy's price was ${wanted}; the exchange's was ${had}, ${apart} % worse${percent}.`,
  },
  LOSS_OF_DAY: {
    plain: "The copy has lost as much today as your settings permit.",
    counted: ({ wanted, had, percent }) =>
      `The copy has lost ${wanted} since 00:00 UTC; your maximum per day is ${had}${percent}. It opens nothing until it has lost less, or the next day.`,
  },
};

/**
 * Codes of the exchange whose texts are more exact than their reason. Source: reference exchange, section
 * 16.4.
 */
const WORDS_BY_CODE: Readonly<Record<number, string>> = {
  [-4131]:
    "The exchange's order book is too thin: a market order of this size would be filled further from the mark price than the exchange allows.",
};

/**
 * Why an order was not copied. The base asset is that of the symbol; null where there is none. If the
 * exchange rejected it, its own message follows.
 */
export function skipWords(skip: Skip, baseAsset: string | null): string {
  if (skip.venue === null) return sentenceOf(skip, baseAsset);
  const sentence = WORDS_BY_CODE[skip.venue.code] ?? sentenceOf(skip, baseAsset);
  return `${sentence} The exchange said: ${skip.venue.message} (${skip.venue.code}).`;
}

function sentenceOf(skip: Skip, baseAsset: string | null): string {
  const { plain, counted, stale, listed } = WORDS[skip.reason];
  if (listed !== undefined && skip.permitted !== undefined) return listed(namesOf(skip.permitted));
  const figures = figuresOf(skip, baseAsset);
  if (figures === null) return plain;
  return (fallsShort(skip) ? counted : stale)?.(figures) ?? plain;
}

function namesOf({ count, symbols }: NonNullable<Skip["permitted"]>): string {
  const others = count - symbols.length;
  return `${symbols.join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** Whether its figures say why: figures that were out of date do not. */
export function fallsShort(skip: Pick<Skip, "reason" | "wanted" | "had">): boolean {
  const shortfall = shortfallOf(skip);
  return shortfall !== null && shortfall > 0n;
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
  const { bound } = skip;
  return {
    wanted: text(skip.wanted),
    had: text(skip.had),
    shortfall: text(shortfall),
    cut:
      bound === undefined
        ? null
        : `Your maximum per order of ${formatBriefly(bound)} ${COPY_QUOTE_ASSET} cuts it to`,
    percent: percentOf(skip),
    times: bound === undefined ? "" : `, ${formatBriefly(bound)} times the copy's equity`,
    apart: skip.wanted === 0n ? "0" : perCent(divideDown(shortfall * SCALE, skip.wanted)),
  };
}

function percentOf({ reason, bound }: Skip): string {
  if (bound === undefined) return "";
  return reason === "SLIPPAGE"
    ? `; your limit is ${perCent(bound)} %`
    : `, ${perCent(bound)} % of the equity then`;
}

/** A share of one in per cent, to two digits after the point, rounded down. */
function perCent(share: bigint): string {
  return formatBriefly(floorToStep((share * 100n) as Rate, HUNDREDTH));
}
