/** Payloads of the streams as JSON text (reference sections 17.1 and 17.2). `at` is the event time `E`. */
import type { StrategyType } from "../../domain/account.ts";
import type { Interval } from "./intervals.ts";
import type { Candle } from "./klines.ts";
import type { AggregateTrade, Book, BookChange, Premium, Touch, Trade } from "./source.ts";
import type { AveragePrice, RollingTicker } from "./tickers.ts";

/** Spot's carries neither an event name nor a time. */
export function bookTickerPayload(type: StrategyType, symbol: string, touch: Touch, at: number): string {
  const sides = { b: touch.bid[0], B: touch.bid[1], a: touch.ask[0], A: touch.ask[1] };
  return JSON.stringify(
    type === "SPOT"
      ? { u: touch.updateId, s: symbol, ...sides }
      : { e: "bookTicker", u: touch.updateId, E: at, T: touch.at, s: symbol, ps: symbol, ...sides, st: 1 },
  );
}

/** Spot's carries neither symbol nor time. Futures name the complete top of the book a `depthUpdate`. */
export function depthPayload(input: {
  readonly type: StrategyType;
  readonly symbol: string;
  readonly book: Book;
  readonly at: number;
  readonly previousUpdateId: number;
}): string {
  const { type, symbol, book, at, previousUpdateId } = input;
  return JSON.stringify(
    type === "SPOT"
      ? { lastUpdateId: book.updateId, bids: book.bids, asks: book.asks }
      : {
          e: "depthUpdate",
          E: at,
          T: book.at,
          s: symbol,
          U: previousUpdateId + 1,
          u: book.updateId,
          pu: previousUpdateId,
          b: book.bids,
          a: book.asks,
          ps: symbol,
          st: 1,
        },
  );
}

/** Futures have the time of the change and the id before it as well. */
export function depthUpdatePayload(
  type: StrategyType,
  symbol: string,
  change: BookChange,
  at: number,
): string {
  const { previousUpdateId, updateId: u, at: T, bids: b, asks: a } = change;
  const U = previousUpdateId + 1;
  const e = "depthUpdate";
  return JSON.stringify(
    type === "SPOT"
      ? { e, E: at, s: symbol, U, u, b, a }
      : { e, E: at, T, s: symbol, U, u, pu: previousUpdateId, b, a, ps: symbol, st: 1 },
  );
}

/** A trade of futures carries its kind, and spot's a flag without a meaning. */
export function tradePayload(type: StrategyType, symbol: string, trade: Trade, at: number): string {
  if (type === "FUTURES") {
    return JSON.stringify({
      e: "trade",
      E: at,
      T: trade.at,
      s: symbol,
      t: trade.id,
      p: trade.price,
      q: trade.quantity,
      X: "MARKET",
      m: trade.isBuyerMaker,
    });
  }
  return JSON.stringify({
    e: "trade",
    E: at,
    s: symbol,
    t: trade.id,
    p: trade.price,
    q: trade.quantity,
    T: trade.at,
    m: trade.isBuyerMaker,
    M: true,
  });
}

export function aggregatePayload(
  type: StrategyType,
  symbol: string,
  aggregate: AggregateTrade,
  at: number,
): string {
  const { quantity } = aggregate;
  return JSON.stringify({
    e: "aggTrade",
    E: at,
    s: symbol,
    a: aggregate.id,
    p: aggregate.price,
    q: quantity,
    ...(type === "FUTURES" ? { nq: quantity } : {}),
    f: aggregate.firstTradeId,
    l: aggregate.lastTradeId,
    T: aggregate.at,
    m: aggregate.isBuyerMaker,
    ...(type === "FUTURES" ? { st: 1 } : { M: true }),
  });
}

export function averagePricePayload(symbol: string, average: AveragePrice, at: number): string {
  const { mins, price, closeTime } = average;
  return JSON.stringify({ e: "avgPrice", E: at, s: symbol, i: `${mins}m`, w: price, T: closeTime });
}

/** Futures name the pair and the kind of the contract as well. */
export function miniTickerUpdate(type: StrategyType, ticker: RollingTicker, at: number): object {
  return {
    e: "24hrMiniTicker",
    E: at,
    s: ticker.symbol,
    c: ticker.lastPrice,
    o: ticker.openPrice,
    h: ticker.highPrice,
    l: ticker.lowPrice,
    v: ticker.volume,
    q: ticker.quoteVolume,
    ...contractKeys(type, ticker.symbol),
  };
}

/** Spot's has the price before the window and the best prices, which futures' has not. */
export function dayTickerUpdate(type: StrategyType, ticker: RollingTicker, at: number): object {
  const isSpot = type === "SPOT";
  const [b, B] = ticker.bid;
  const [a, A] = ticker.ask;
  return {
    e: "24hrTicker",
    E: at,
    s: ticker.symbol,
    p: ticker.priceChange,
    P: ticker.priceChangePercent,
    w: ticker.weightedAvgPrice,
    ...(isSpot ? { x: ticker.prevClosePrice } : {}),
    c: ticker.lastPrice,
    Q: ticker.lastQty,
    ...(isSpot ? { b, B, a, A } : {}),
    ...windowKeys(ticker),
    ...contractKeys(type, ticker.symbol),
  };
}

/** A ticker of a shorter window, such as `1h`; of spot only. */
export function windowTickerUpdate(window: string, ticker: RollingTicker, at: number): object {
  return {
    e: `${window}Ticker`,
    E: at,
    s: ticker.symbol,
    p: ticker.priceChange,
    P: ticker.priceChangePercent,
    w: ticker.weightedAvgPrice,
    c: ticker.lastPrice,
    ...windowKeys(ticker),
  };
}

function windowKeys(ticker: RollingTicker): object {
  return {
    o: ticker.openPrice,
    h: ticker.highPrice,
    l: ticker.lowPrice,
    v: ticker.volume,
    q: ticker.quoteVolume,
    O: ticker.openTime,
    C: ticker.closeTime,
    F: ticker.firstId,
    L: ticker.lastId,
    n: ticker.count,
  };
}

function contractKeys(type: StrategyType, symbol: string): object {
  return type === "FUTURES" ? { ps: symbol, st: 1 } : {};
}

type KlineInput = {
  readonly symbol: string;
  readonly interval: Interval;
  readonly candle: Candle;
  readonly isFinal: boolean;
  readonly at: number;
};

export function klinePayload(input: KlineInput): string {
  const { symbol, at } = input;
  return JSON.stringify({ e: "kline", E: at, s: symbol, k: klineBody(input, { s: symbol }) });
}

/** Names the pair and its contract where `kline` names the symbol. */
export function continuousKlinePayload(input: KlineInput): string {
  const { symbol, at } = input;
  return JSON.stringify({ e: "continuous_kline", E: at, ps: symbol, ct: "PERPETUAL", k: klineBody(input) });
}

function klineBody({ interval, candle, isFinal }: KlineInput, named: { readonly s?: string } = {}): object {
  return {
    t: candle.openTime,
    T: candle.closeTime,
    ...named,
    i: interval,
    f: candle.firstTradeId,
    L: candle.lastTradeId,
    o: candle.open,
    c: candle.close,
    h: candle.high,
    l: candle.low,
    v: candle.volume,
    n: candle.tradeCount,
    x: isFinal,
    q: candle.quoteVolume,
    V: candle.takerBuyVolume,
    Q: candle.takerBuyQuoteVolume,
    B: "0",
  };
}

export function markPricePayload(symbol: string, premium: Premium, at: number): string {
  return JSON.stringify(markPriceUpdate(symbol, premium, at));
}

/** The updates of many symbols in one message. */
export function markPricesPayload(premiums: ReadonlyMap<string, Premium>, at: number): string {
  return JSON.stringify([...premiums].map(([symbol, premium]) => markPriceUpdate(symbol, premium, at)));
}

function markPriceUpdate(symbol: string, premium: Premium, at: number): object {
  return {
    e: "markPriceUpdate",
    E: at,
    s: symbol,
    p: premium.markPrice,
    ap: premium.markPrice,
    i: premium.indexPrice,
    P: premium.estimatedSettlePrice,
    r: premium.fundingRate,
    T: premium.nextFundingAt,
    st: 1,
  };
}
