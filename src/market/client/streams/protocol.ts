// What differs between the two families of the reference exchange's public protocol, as a value: `spot-protocol.ts` and
// `futures-protocol.ts`. Everything else in this folder is the same for both.

import type { Family } from "../rest/hosts.ts";
import type { ParsedRules } from "../rules/rules-row.ts";
import type { DepthKeys } from "../symbols/book.ts";

/** What is known of a symbol's price. Null below stands for what a family does not tell. */
export type PriceKind = "quote" | "lastPrice" | "averagePrice" | "markPrice";

/** The streams of a symbol: what comes behind `<symbol>@`. */
export type StreamKind = "ticker" | "depth" | "trade" | "average" | "mark";

export type FamilyProtocol = {
  readonly family: Family;
  /** The paths of combined streams, each of which needs connections of its own. */
  readonly streamPaths: readonly [string, ...string[]];
  /** Which of these paths carries a stream. */
  readonly streamPathOf: (stream: string) => string;
  readonly streams: Readonly<Record<StreamKind, string | null>>;
  readonly depthKeys: DepthKeys;
  /** Where REST tells the present price. */
  readonly pricePaths: Readonly<Record<PriceKind, string | null>>;
  /** Where REST tells the price of the last trade, where trades are not streamed. */
  readonly tradePricePath: string | null;
  /** Where REST tells the exchange's time. */
  readonly timePath: string;
  /** Where REST tells the book with its update id, where the streamed book carries no time. */
  readonly depthPath: string | null;
  /** A question about prices may name so many symbols; one about more asks about all. */
  readonly tickerSymbolsMax: number;
  readonly exchangeInfoPath: string;
  /** A question about rules may name so many symbols; with none, every question is about all. */
  readonly exchangeInfoSymbolsMax: number;
  readonly readRules: (row: unknown) => ParsedRules;
  readonly history: HistoryProtocol;
};

/** What was, and what may be asked about it. */
export type HistoryProtocol = {
  readonly candlesPath: string;
  /** So many rows are the cheapest way to ask for many. */
  readonly candlesPerPage: number;
  readonly tradesPath: string;
  /** How far back there are single trades, ms. */
  readonly tradesReachMs: number;
  readonly markCandlesPath: string | null;
  readonly settlementsPath: string | null;
  /** What the questions about the past may use up of the upstream budget, weight a minute. */
  readonly weightPerMinute: number;
};
