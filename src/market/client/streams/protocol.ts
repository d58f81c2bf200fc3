// The differences between the two types of the reference exchange's public protocol, as a value:
// `spot-protocol.ts` and `futures-protocol.ts`. Everything else in this folder is the same for both.

import type { StrategyType } from "../../../domain/account.ts";
import type { ParsedRules } from "../rules/rules-row.ts";
import type { DepthKeys } from "../symbols/book.ts";

/** The kinds of a symbol's price. Null below means that a type does not publish it. */
export type PriceKind = "quote" | "lastPrice" | "averagePrice" | "markPrice";

/** The streams of a symbol: what comes behind `<symbol>@`. */
export type StreamKind = "ticker" | "depth" | "trade" | "average" | "mark";

export type MarketProtocol = {
  readonly type: StrategyType;
  /** The paths of combined streams; each needs connections of its own. */
  readonly streamPaths: readonly [string, ...string[]];
  /** Which of these paths carries a stream. */
  readonly streamPathOf: (stream: string) => string;
  readonly streams: Readonly<Record<StreamKind, string | null>>;
  readonly depthKeys: DepthKeys;
  /** REST paths of present prices. */
  readonly pricePaths: Readonly<Record<PriceKind, string | null>>;
  /** REST path of the last trade's price, where trades are not streamed. */
  readonly tradePricePath: string | null;
  /** REST path of the exchange's time. */
  readonly timePath: string;
  /** REST path of the book with its update id, where the streamed book carries no time. */
  readonly depthPath: string | null;
  /** REST path of the book, for snapshots. */
  readonly bookPath: string;
  /** The upstream budget of followed books' snapshots, weight a minute. */
  readonly snapshotWeightPerMinute: number;
  /** Maximum of symbols in a price request; larger requests ask for all. */
  readonly tickerSymbolsMax: number;
  readonly exchangeInfoPath: string;
  /** Maximum of symbols in a rules request; with none, every request is for all. */
  readonly exchangeInfoSymbolsMax: number;
  readonly readRules: (row: unknown) => ParsedRules;
  readonly history: HistoryProtocol;
};

/** Historical data, and its routes. */
export type HistoryProtocol = {
  readonly candlesPath: string;
  /** The cheapest number of rows per request for many. */
  readonly candlesPerPage: number;
  readonly tradesPath: string;
  /** How far back there are single trades, ms. */
  readonly tradesReachMs: number;
  readonly markCandlesPath: string | null;
  readonly settlementsPath: string | null;
  /** The upstream budget of history requests, weight a minute. */
  readonly weightPerMinute: number;
};
