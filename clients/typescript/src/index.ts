// All that the package offers.
export type { CandleHandlers, CandleStream } from "./candle-stream.ts";
export {
  type CancelResult,
  type CloseResult,
  LyrebirdClient,
  type LyrebirdClientOptions,
  type Tested,
} from "./client.ts";
export type { Fetch, FetchedAnswer, Timers } from "./environment.ts";
export {
  type ClientErrorCode,
  LyrebirdClosedError,
  LyrebirdError,
  LyrebirdHttpError,
  LyrebirdPendingError,
  LyrebirdStreamError,
  LyrebirdUnreachableError,
  type StreamErrorCode,
} from "./errors.ts";
export type { BookSource } from "./held-book.ts";
export type { BookLevel, Candle, CandleTopic, Levels, OrderBookTopic, Speed } from "./messages.ts";
export type {
  HeldOrderBook,
  OrderBook,
  OrderBookHandlers,
  OrderBookRequest,
  OrderBookStream,
} from "./order-book-stream.ts";
export type { PairFilters, TradingPair, TradingPairs } from "./pairs.ts";
export {
  type BotOrder,
  isSettled,
  type ListedSignal,
  type OrderType,
  type SettledSignal,
  type Signal,
  type SignalFault,
  type SpotOrder,
  type SubmittedSignal,
  type TradeType,
} from "./signal.ts";
export type { StreamState } from "./stream-connection.ts";
