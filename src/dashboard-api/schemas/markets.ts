// Market data in JSON: symbols, candles, books and prices.
import { z } from "zod";
import type { StrategyType } from "../../domain/account.ts";
import { decimal, flag, list, number, text, word } from "./fields.ts";

export const candleSchema = z.object({
  openTime: number,
  open: text,
  high: text,
  low: text,
  close: text,
  volume: text,
  isFinal: flag,
});
export type CandleJson = z.input<typeof candleSchema>;

const level = z.tuple([text, text]).readonly();
export const bookSchema = z.object({
  family: word<StrategyType>(),
  symbol: text,
  lastUpdateId: number,
  /** Levels of a price and a quantity. */
  bids: list(level),
  asks: list(level),
});
export type BookJson = z.input<typeof bookSchema>;

export const priceSchema = z.object({
  family: word<StrategyType>(),
  symbol: text,
  bid: text.nullable(),
  ask: text.nullable(),
  /** Of the last trade: what coins are valued at, or at the bid where there is none. */
  last: text.nullable(),
  /** Of contracts: what positions are valued at. */
  mark: text.nullable(),
  at: number,
});
export type PriceJson = z.input<typeof priceSchema>;

export const symbolSchema = z.object({
  symbol: text,
  baseAsset: text,
  quoteAsset: text,
  tickSize: decimal,
  stepSize: decimal,
});
export type SymbolJson = z.input<typeof symbolSchema>;
