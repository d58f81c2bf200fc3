// Keys, strategies, their performance and their signals in JSON.
import { z } from "zod";
import { REPORT_RANGES, type ReportRange } from "../../analytics/report.ts";
import type { StrategyStatus, StrategyType } from "../../domain/account.ts";
import type { FeeDiscount, FeeTier, FillProfileName, QueueModel } from "../../domain/fill-profile.ts";
import { decimal, flag, list, number, text, word } from "./fields.ts";

export type { FeeDiscount, FeeTier, QueueModel, StrategyStatus, StrategyType };

export const strategyNameSchema = z.object({
  strategyId: text,
  name: text,
  type: word<StrategyType>(),
  status: word<StrategyStatus>(),
});
export type StrategyNameJson = z.input<typeof strategyNameSchema>;

export const keySchema = z.object({
  keyId: text,
  apiKey: text,
  label: text,
  createdAt: number,
  revokedAt: number.nullable(),
  strategy: strategyNameSchema.nullable(),
  lastUse: z.object({ at: number, address: text, route: text }).nullable(),
});
export type KeyJson = z.input<typeof keySchema>;

/** The secret is shown only once. */
export const createdKeySchema = z.object({ key: keySchema, apiSecret: text });
export type CreatedKeyJson = z.input<typeof createdKeySchema>;

/** How orders are filled, and what trading costs: shares of one. */
const fillProfileSchema = z.object({
  name: word<FillProfileName>(),
  version: number,
  makerFee: decimal,
  takerFee: decimal,
  /** The terms of `strict`; null under `standard`. */
  strict: z
    .object({
      /** Constant, or quantiles of a distribution; ms. */
      latency: z.union([number, z.object({ p50: number, p90: number, p99: number })]),
      queue: word<QueueModel>(),
      refreshMs: number,
      feeTier: word<FeeTier>(),
      feeDiscount: word<FeeDiscount>(),
    })
    .nullable(),
});
export type FillProfileJson = z.input<typeof fillProfileSchema>;

/** A fee tier whose rates are known; shares of one. */
export const feeTierSchema = z.object({
  type: word<StrategyType>(),
  tier: word<FeeTier>(),
  maker: decimal,
  taker: decimal,
});

export const strategySchema = strategyNameSchema.extend({
  createdAt: number,
  fillProfile: fillProfileSchema,
  key: keySchema.pick({ keyId: true, apiKey: true, label: true, lastUse: true }).nullable(),
  /** In USDT, at the last known prices. */
  equity: decimal,
  seed: decimal,
  /** Equity less the seed. */
  profit: decimal,
  openOrders: number,
  openPositions: number,
  /** The oldest of the last prices of its assets; null if it holds nothing but its quote asset. */
  pricedAt: number.nullable(),
});
export type StrategyJson = z.input<typeof strategySchema>;

/** The newest equity curves of a list of strategies, for its small pictures. */
export const sparklineSchema = z.object({ strategyId: text, equity: list(decimal) });

const statisticsSchema = z.object({
  startEquity: decimal,
  endEquity: decimal,
  profit: decimal,
  /** Profit as a fraction of the equity at the start. */
  profitRate: decimal,
  realised: decimal,
  unrealised: decimal,
  /** Paid fees, in USDT: positive. */
  fees: decimal,
  /** Received less paid; "0" on spot. */
  funding: decimal,
  trades: number,
  closingTrades: number,
  wins: number,
  losses: number,
  /** Wins among the closing trades, as a fraction; null without any. */
  winRate: decimal.nullable(),
  /** Gains of the winning trades divided by losses of the losing ones; null without a loss. */
  profitFactor: decimal.nullable(),
  /** Positive. */
  maximumDrawdown: decimal,
  maximumDrawdownRate: decimal,
});
export type StatisticsJson = z.input<typeof statisticsSchema>;

const equityPointSchema = z.object({
  at: number,
  equity: decimal,
  /**
   * Zero or negative: how far equity lies below its highest so far in the range, in USDT, and as a fraction
   * of that.
   */
  drawdown: decimal,
  drawdownRate: decimal,
});
export type EquityPointJson = z.input<typeof equityPointSchema>;

export type Range = ReportRange;
export const performanceSchema = z.object({
  range: z.enum(REPORT_RANGES),
  from: number,
  to: number,
  /** How far apart the points are, ms. */
  stepMs: number,
  points: list(equityPointSchema),
  statistics: statisticsSchema,
  /** Symbols without a price at some point: the last known one was taken. */
  unpriced: list(text),
  /** False if there was more history than a report covers: what is older than `from` is then missing. */
  isWhole: flag,
});
export type PerformanceJson = z.input<typeof performanceSchema>;

export const signalSchema = z.object({
  signalId: text,
  idempotencyKey: text,
  status: z.enum(["RECEIVED", "EXECUTED", "REJECTED", "FAILED"]),
  /** Why it was rejected or has failed so far; null otherwise. */
  reason: text.nullable(),
  /** Requested order. */
  order: z.record(text, z.unknown()).readonly(),
  orderId: number.nullable(),
  collectiveId: text.nullable(),
  attempts: number,
  /** How often its key was sent again since this server has started. */
  replays: number,
  receivedAt: number,
  processedAt: number.nullable(),
  /** From receipt to its terminal state, ms; null while pending. */
  latencyMs: number.nullable(),
});
export type SignalJson = z.input<typeof signalSchema>;
