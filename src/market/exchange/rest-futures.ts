/**
 * The public REST routes of futures that spot has too: books, trades, candles, tickers (reference sections 9
 * and 10.1).
 * Deliberately missing: the key that `historicalTrades` requires, and the limited reach of trade lists.
 */
import type { Interval } from "./intervals.ts";
import { candlesOf, klineRow } from "./klines.ts";
import { mandatory, type Params, RequestFault, strictLimit, strictTimes, wholeNumber } from "./request.ts";
import { type Answer, readInterval, readSymbol, tradeRow } from "./rest-spot.ts";
import type { FuturesSource } from "./source.ts";
import { bookTicker, dayTicker, priceTicker } from "./tickers.ts";

const depthLimits = [5, 10, 20, 50, 100, 500, 1_000];
const depthLimitUsual = 500;
const tradesLimitUsual = 500;
const tradesLimitMax = 1_000;
const klinesLimitUsual = 500;
const klinesLimitMax = 1_500;
// A list of aggregate trades spans less than this.
const aggregatesSpanMs = 3_600_000;
const contractTypes = ["PERPETUAL", "CURRENT_QUARTER", "NEXT_QUARTER", "TRADIFI_PERPETUAL"];

export const futuresRoutes: Readonly<Record<string, Answer<FuturesSource>>> = {
  "/fapi/v1/ping": () => ({}),
  "/fapi/v1/time": (_source, _params, at) => ({ serverTime: at }),
  // A `symbol` is ignored here, as the reference does.
  "/fapi/v1/exchangeInfo": (source, _params, at) => source.exchangeInfo(at),
  "/fapi/v1/depth": (source, params, at) => {
    const symbol = readSymbol(source, params);
    const limit = strictLimit(params, depthLimitUsual, Math.max(...depthLimits));
    if (!depthLimits.includes(limit)) throw new RequestFault(-4021, `${limit} is not valid depth limit`);
    const book = source.book(symbol, at, limit);
    return {
      lastUpdateId: book?.updateId ?? 0,
      E: at,
      T: book?.at ?? at,
      bids: book?.bids ?? [],
      asks: book?.asks ?? [],
    };
  },
  "/fapi/v1/trades": (source, params, at) => tradesOf(source, params, at, undefined),
  "/fapi/v1/historicalTrades": (source, params, at) =>
    tradesOf(source, params, at, wholeNumber(params, "fromId")),
  "/fapi/v1/aggTrades": (source, params, at) => {
    const symbol = readSymbol(source, params);
    const fromId = wholeNumber(params, "fromId");
    const { startTime, endTime } = strictTimes(params);
    if (startTime !== undefined && endTime !== undefined && endTime - startTime >= aggregatesSpanMs) {
      throw new RequestFault(-1127, "More than 1 hours between startTime and endTime.");
    }
    const limit = strictLimit(params, tradesLimitUsual, tradesLimitMax);
    return source.aggregateTrades(symbol, at, { fromId, startTime, endTime, limit }).map((aggregate) => ({
      a: aggregate.id,
      p: aggregate.price,
      q: aggregate.quantity,
      nq: aggregate.quantity,
      f: aggregate.firstTradeId,
      l: aggregate.lastTradeId,
      T: aggregate.at,
      m: aggregate.isBuyerMaker,
    }));
  },
  "/fapi/v1/klines": (source, params, at) => klines(source, readSymbol(source, params), params, at),
  "/fapi/v1/continuousKlines": (source, params, at) => {
    const pair = readPair(source, params);
    const contractType = mandatory(params, "contractType");
    if (!contractTypes.includes(contractType)) {
      throw new RequestFault(-1130, "Data sent for parameter 'contractType' is not valid.");
    }
    const rows = klines(source, pair, params, at);
    // Pairs have no other contract here.
    return contractType === "PERPETUAL" ? rows : [];
  },
  "/fapi/v1/ticker/24hr": (source, params, at) =>
    perSymbol(source, params, (symbol) => dayTicker(source, symbol, at, "FULL")),
  "/fapi/v1/ticker/price": prices,
  "/fapi/v2/ticker/price": prices,
  "/fapi/v1/ticker/bookTicker": (source, params, at) =>
    perSymbol(source, params, (symbol) => bookTicker(source, symbol, at)),
};

/** The mandatory `pair`: the name of a perpetual, too. */
export function readPair(source: FuturesSource, params: Params): string {
  const pair = mandatory(params, "pair");
  if (!source.symbols.includes(pair)) throw new RequestFault(-4144, "Invalid pair");
  return pair;
}

/** Futures have no candles of a second. */
export function readFuturesInterval(params: Params): Interval {
  const interval = readInterval(params);
  if (interval === "1s") throw new RequestFault(-1120, "Invalid interval.");
  return interval;
}

/** The requested candles. */
export function readCandleQuery(params: Params) {
  return { ...strictTimes(params), limit: strictLimit(params, klinesLimitUsual, klinesLimitMax) };
}

/** One row for the `symbol` given, or a list of all. */
export function perSymbol(source: FuturesSource, params: Params, row: (symbol: string) => object): unknown {
  return params.has("symbol") ? row(readSymbol(source, params)) : source.symbols.map(row);
}

function tradesOf(source: FuturesSource, params: Params, at: number, fromId: number | undefined): unknown {
  const symbol = readSymbol(source, params);
  const limit = strictLimit(params, tradesLimitUsual, tradesLimitMax);
  return source
    .trades(symbol, at, { fromId, limit })
    .map((trade) => ({ ...tradeRow(trade), isRPITrade: false }));
}

function klines(source: FuturesSource, symbol: string, params: Params, at: number) {
  const interval = readFuturesInterval(params);
  return candlesOf(source, symbol, interval, at, readCandleQuery(params)).map(klineRow);
}

function prices(source: FuturesSource, params: Params, at: number): unknown {
  return perSymbol(source, params, (symbol) => priceTicker(source, symbol, at));
}
