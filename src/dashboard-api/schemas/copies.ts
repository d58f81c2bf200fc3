// A copier's accounts at venues, previews, copies, mirror logs and drift in JSON. Rates are shares of one.
import { z } from "zod";
import type { StrategyStatus, StrategyType } from "../../domain/account.ts";
import type {
  CopyReason,
  CopyRequestKind,
  CopyStatus,
  DriftCause,
  MirrorKind,
  MirrorStatus,
  Scale,
  VenueAccountStatus,
} from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { countsSchema, haltedSchema, skipSchema } from "./copying.ts";
import { decimal, decimalUnlessZero, flag, list, number, text, word } from "./fields.ts";

const side = word<Side>();
const driftCause = word<DriftCause | "OLDER">();
const pending = list(word<CopyRequestKind>());

export const accountSchema = z.object({
  accountId: text,
  family: word<StrategyType>(),
  venue: text,
  label: text,
  keyHint: text,
  status: word<VenueAccountStatus>(),
  failure: text.nullable(),
  createdAt: number,
  checkedAt: number,
  /** The live copy that uses it. */
  copyId: text.nullable(),
});
export type VenueAccountJson = z.input<typeof accountSchema>;

/** The result of a check, beside the account. */
export const accountCheckSchema = z.object({
  account: accountSchema,
  wallet: decimal,
  available: decimal,
  asset: text,
  /** True and false are good and bad; null where the venue does not say. */
  checks: list(
    z.object({
      name: z.enum(["KEY", "BALANCE", "TRADING", "WITHDRAWAL", "POSITION_MODE"]),
      isGood: flag.nullable(),
      words: text,
    }),
  ),
});
export type AccountCheckJson = z.input<typeof accountCheckSchema>;

/** Null sets no bound. */
export const settingsSchema = z.object({
  /** Above 0, at most 1. */
  share: decimal,
  maxPerOrder: decimal.nullable(),
  /** Shares of the equity that the copy began with. */
  stopLoss: decimal.nullable(),
  takeProfit: decimal.nullable(),
  size: z.discriminatedUnion("by", [
    z.object({ by: z.literal("RATIO") }),
    z.object({ by: z.literal("FIXED_RATIO"), ratio: decimal }),
    z.object({ by: z.literal("FIXED_AMOUNT"), amount: decimal }),
  ]),
  budget: decimal.nullable(),
  leverageMax: number.nullable(),
  /** Multiples of the copy's equity. */
  positionMax: decimal.nullable(),
  exposureMax: decimal.nullable(),
  ordersPerMinuteMax: number.nullable(),
  /** A share of the equity at 00:00 UTC. */
  lossPerDayMax: decimal.nullable(),
  symbols: list(text).nullable(),
  /** Shares of the strategy's price, for BTC and ETH and for all others. */
  slippageMax: z.object({ major: decimal, other: decimal }).nullable(),
  copyExisting: flag,
  closeAfterSeconds: number.nullable(),
});
export type CopySettingsJson = z.input<typeof settingsSchema>;

/** One of the strategy's last orders, scaled to an account. */
const previewRowSchema = z.object({
  collectiveId: text,
  at: number,
  symbol: text,
  side,
  orderType: text,
  /** Null where sizes are rounded. */
  leadQuantity: decimal.nullable(),
  scaledQuantity: decimal.nullable(),
  /** Null if it is skipped. */
  quantity: decimal.nullable(),
  notional: decimal.nullable(),
  /** Whether it only sells, reduces or closes: then it is copied only up to what the copy holds. */
  isExit: flag,
  skip: skipSchema.nullable(),
});
export const previewSchema = z.object({
  /**
   * Whether the sizes of orders are rounded down to their first digits, for a person without a live copy of
   * the strategy: exact ones would be its own times a known ratio.
   */
  isRounded: flag,
  rows: list(previewRowSchema),
  copied: number,
  skipped: number,
  /**
   * The account's balance, the holdings of a copy that it serves already, and the part of both that the copy
   * would use.
   */
  wallet: decimal,
  held: decimal,
  used: decimal,
  asset: text,
  /** What the strategy holds now, and what of it the copy would open with `copyExisting`, by symbol. */
  holds: list(
    z.object({
      symbol: text,
      side,
      /** Null where nothing is opened: too little, not permitted by the settings, or held already. */
      quantity: decimal.nullable(),
      notional: decimal.nullable(),
    }),
  ),
  /** The worst that the settings permit. */
  worst: z.object({
    /**
     * Of the contract that is liquidated first; null on spot, or where no contract is known. `move` is a
     * share of the price.
     */
    liquidation: z.object({ symbol: text, leverage: number, move: decimal, loss: decimal }).nullable(),
    /**
     * The highest value of all positions, as a multiple of what the copy uses; null where it is not known.
     */
    exposure: z.object({ multiple: decimal, value: decimal }).nullable(),
    /** The same in plain sentences. */
    words: list(text),
  }),
});
export type PreviewRowJson = z.input<typeof previewRowSchema>;
export type PreviewJson = z.input<typeof previewSchema>;

export const copySchema = z.object({
  copyId: text,
  strategyId: text,
  strategyName: text,
  strategyStatus: word<StrategyStatus>(),
  family: word<StrategyType>(),
  account: accountSchema.pick({ accountId: true, label: true, venue: true, keyHint: true, status: true }),
  status: word<CopyStatus>(),
  reason: word<CopyReason>().nullable(),
  halted: haltedSchema,
  settings: settingsSchema,
  startedAt: number,
  endedAt: number.nullable(),
  asset: text,
  /** Null until the venue has been asked. */
  equity: decimal.nullable(),
  startEquity: decimal.nullable(),
  resultRate: decimal.nullable(),
  /** The equity that the stop loss counts from, and at which it acts; null if it does not. */
  stopsFrom: decimal.nullable(),
  stopsAt: decimal.nullable(),
  /** The equity at which the take profit acts; null if it does not. */
  takesAt: decimal.nullable(),
  realized: decimal,
  fees: decimal,
  seenAt: number.nullable(),
  counts: countsSchema,
  restingOrders: number,
  /**
   * The strategy's actions that are not executed yet, and since when; null if it keeps up, or is behind only
   * for moments.
   */
  behind: z.object({ actions: number, since: number }).nullable(),
  pending,
});
export type CopyJson = z.input<typeof copySchema>;

/** A line of the mirror log. */
export const entrySchema = z.object({
  entryId: number,
  collectiveId: text.nullable(),
  kind: word<MirrorKind>(),
  symbol: text.nullable(),
  status: word<MirrorStatus>(),
  skip: skipSchema.nullable(),
  side: side.nullable(),
  orderType: text.nullable(),
  leadQuantity: decimal.nullable(),
  leadPrice: decimal.nullable(),
  scale: z
    .object({
      by: word<Scale["by"]>(),
      ours: decimal,
      theirs: decimal,
      /**
       * Of an order of more than the strategy's position: the part that the ratio is of. Null if it is of the
       * whole order.
       */
      part: z.enum(["OPENING", "CLOSING"]).nullable(),
    })
    .nullable(),
  scaledQuantity: decimal.nullable(),
  quantity: decimal.nullable(),
  price: decimalUnlessZero,
  stopPrice: decimalUnlessZero,
  clientOrderId: text.nullable(),
  venueOrderId: text.nullable(),
  executedQuantity: decimal,
  /** The average of what was executed. */
  executedPrice: decimal.nullable(),
  /** Null while it is not known yet. */
  fee: decimal.nullable(),
  /** Basis points against the strategy's own price: positive is worse for the copier. */
  slippageBps: decimal.nullable(),
  leadAt: number,
  sentAt: number.nullable(),
  acknowledgedAt: number.nullable(),
  /** From the strategy's commit to the venue's acknowledgement. */
  delayMs: number.nullable(),
  sends: number,
  queries: number,
});
export type MirrorEntryJson = z.input<typeof entrySchema>;

/** The settlements, newest first, and their total. Computed; nobody is charged. */
export const profitSharesSchema = z.object({
  /** A part of one, of profit above the mark. */
  rate: decimal,
  asset: text,
  total: decimal,
  /** The profit since the copy began, the highest of the settlements before, and the share. */
  rows: list(z.object({ at: number, profit: decimal, mark: decimal, share: decimal })),
});

const driftRowSchema = z.object({
  symbol: text,
  asset: text,
  /** The strategy's holding, what it scales to, the copy's holding by its own orders, and the account's. */
  lead: decimal,
  target: decimal,
  own: decimal,
  actual: decimal,
  /** own − target */
  difference: decimal,
  /** In the quote asset; null without a price. */
  value: decimal.nullable(),
  /** OLDER: the lines that were searched do not say why, and there are older ones. */
  cause: driftCause,
  words: text,
  /** The entry that explains it best. */
  entryId: number.nullable(),
  /**
   * The difference by causes: sizes without a sign that add up to it, and the entry that explains most of
   * each.
   */
  parts: list(z.object({ cause: driftCause, quantity: decimal, entryId: number.nullable() })),
  /** The order that a repair would send; null if none. */
  repair: z.object({ side, quantity: decimal, increases: flag }).nullable(),
});
export type DriftRowJson = z.input<typeof driftRowSchema>;

export const driftSchema = z.object({
  rows: list(driftRowSchema),
  /** Why no rows are shown, in plain sentences: the copy has ended. Null while they are. */
  hiddenBecause: text.nullable(),
  seenAt: number.nullable(),
  /** Repairs and account polls that are pending. */
  pending,
});
