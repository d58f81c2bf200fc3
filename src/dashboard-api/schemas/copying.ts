// Copying in JSON as traders and operators see it, and copiers choose a strategy: skips, counts, slippage,
// offers, kill switches and venues. Rates are shares of one.
import { z } from "zod";
import type { StrategyType } from "../../domain/account.ts";
import { COPY_STATUSES, type SkipReason, type SwitchKind } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { decimal, flag, list, number, page, text, word } from "./fields.ts";

const skipReason = word<SkipReason>();
const switchKind = word<SwitchKind>();

export const skipSchema = z.object({
  reason: skipReason,
  /** A plain sentence with the figures. */
  words: text,
  filter: text.nullable(),
  wanted: decimal.nullable(),
  had: decimal.nullable(),
  shortfall: decimal.nullable(),
  /** Of wanted, had and shortfall: an asset. */
  asset: text.nullable(),
});
export type SkipJson = z.input<typeof skipSchema>;

export const countsSchema = z.object({
  /** Those that the venue accepted: filled, open, or terminal without a fill. */
  placed: number,
  skipped: number,
  failed: number,
  byReason: list(z.object({ reason: skipReason, count: number })),
});
export type EntryCountsJson = z.input<typeof countsSchema>;

/** The kill switch that stops it: nothing at all is sent. */
export const haltedSchema = z.object({ kind: switchKind, reason: text, isOwn: flag }).nullable();

/** The smallest account that can copy all, 95 % and 80 % of the strategy's last orders. */
export const smallestBalancesSchema = z.object({
  /** How many of its orders were counted. */
  orders: number,
  all: decimal,
  most: decimal,
  many: decimal,
});
export type SmallestBalances = z.input<typeof smallestBalancesSchema>;

/** A strategy that may be followed. */
const offerSchema = z.object({
  strategyId: text,
  name: text,
  type: word<StrategyType>(),
  createdAt: number,
  /** Live copies of it. */
  copiers: number,
  /** Null before its first trade. */
  performance: z
    .object({
      days: number,
      returnRate: decimal,
      maxDrawdown: decimal,
      trades: number,
      winRate: decimal.nullable(),
    })
    .nullable(),
  smallestBalances: smallestBalancesSchema.nullable(),
  /** The caller's own live copy of it. */
  copyId: text.nullable(),
});
export type OfferJson = z.input<typeof offerSchema>;

/** A page, newest first, and how many there are on all pages. */
export const offersSchema = page(offerSchema).extend({ total: number });

export const offerDetailSchema = offerSchema.extend({
  equity: list(z.object({ at: number, equity: decimal })),
  symbols: list(text),
  /** What the strategy holds and a copy that starts now does not buy: assets on spot, symbols of futures. */
  holds: list(text),
});
export type OfferDetailJson = z.input<typeof offerDetailSchema>;

/**
 * Strategy against exchange: a copy's price at the venue against the strategy's, in basis points; positive is
 * worse.
 */
const gapSchema = z.object({
  /** Of copies. */
  orders: number,
  medianBps: decimal,
  worstBps: decimal,
  meanDelayMs: number,
});
const symbolGapSchema = gapSchema.extend({ symbol: text });

const orderGapSchema = symbolGapSchema.extend({
  strategyId: text,
  strategyName: text,
  collectiveId: text,
  /** Null of a leg. */
  orderId: number.nullable(),
  at: number,
  side: word<Side>(),
  /** The strategy's own size (null of a leg), and its fill price. Single copies are not shown. */
  quantity: decimal.nullable(),
  paper: decimal,
  /** Copies that executed something of it, among those that were counted. */
  copies: number,
  /** There may be more copies of it than were counted. */
  isCut: flag,
});

export const gapsSchema = z.object({
  bySymbol: list(symbolGapSchema),
  /** Of notional in the quote asset: below 10, 100, 1,000, 10,000 and above. */
  bySize: list(gapSchema.extend({ upTo: decimal.nullable() })),
  /** The strategies' newest orders that copies executed something of, each over the copies of it. */
  orders: list(orderGapSchema),
  /** The times of these orders, and the most copies that were counted of each; null if there are none. */
  range: z.object({ from: number, to: number, copiesPerOrder: number }).nullable(),
});
export type GapJson = z.input<typeof gapsSchema>;

/**
 * Why a copy of a closed strategy is not closed yet. NOT_ALLOWED: its venue, by the operator. NOBODY_AT_WORK:
 * no copier reports. UNDER_WAY: no obstacle is known.
 */
const whyUnclosed = z.enum([
  "NOT_ALLOWED",
  "HALTED",
  "NOBODY_AT_WORK",
  "KEY_REFUSED",
  "ACCOUNT_UNFIT",
  "VENUE_AWAY",
  "UNDER_WAY",
]);
export type WhyUnclosed = z.output<typeof whyUnclosed>;
const unclosedSchema = z.object({ why: whyUnclosed, count: number });
export type UnclosedJson = z.input<typeof unclosedSchema>;

const byStatus = z.record(z.enum(COPY_STATUSES), number);

export const strategyCopyingSchema = z.object({
  isOpen: flag,
  /** Whether the operator allows any venue: without one it can't be opened, and nothing is copied. */
  isOffered: flag,
  copiers: byStatus,
  /** Copies that are behind their strategy for some time. */
  behind: number,
  counts: countsSchema,
  gap: gapsSchema,
  halted: haltedSchema,
  /** While the strategy is closed for its copiers: how many are done, and what the others wait for. */
  closing: z.object({ done: number, total: number, left: list(unclosedSchema) }).nullable(),
});
export type StrategyCopyingJson = z.input<typeof strategyCopyingSchema>;

const killSwitchSchema = z.object({
  kind: switchKind,
  id: text,
  /** A person's e-mail address, a strategy's name, a venue's origin. */
  name: text,
  reason: text,
  setBy: text,
  setAt: number,
});
export type KillSwitchJson = z.input<typeof killSwitchSchema>;

const copierSchema = z.object({
  copier: text,
  reportedAt: number,
  /** Its last report is so old that it does not count as running. */
  isSilent: flag,
});

/** The health of a venue as one copier reports it. */
const venueHealthSchema = copierSchema.extend({
  family: word<StrategyType>(),
  isAnswering: flag,
  /** Why its last request had no answer; null if it had one. */
  failure: text.nullable(),
  /** Null before the first. */
  lastAnswerAt: number.nullable(),
  /** When it accepts requests again; null if it does now. */
  pausedUntil: number.nullable(),
  /** The highest used share of one of its budgets in the present minute. */
  budgetUsed: text,
});

export const operatorCopyingSchema = z.object({
  venues: list(
    z.object({
      origin: text,
      accounts: number,
      failed: number,
      isHalted: flag,
      /** Of each copier, and each type that it works with there; empty where nothing is known. */
      health: list(venueHealthSchema),
    }),
  ),
  /** The running ones; if there are none, the last ones; empty if there never was one. */
  copiers: list(copierSchema),
  copies: byStatus,
  /** Of them, those that are behind their strategy for some time. */
  behind: number,
  /** Copies of closed strategies that are not closed yet. */
  unclosed: list(unclosedSchema),
  counts: countsSchema,
  gap: gapsSchema,
  switches: list(killSwitchSchema),
});
export type OperatorCopyingJson = z.input<typeof operatorCopyingSchema>;
