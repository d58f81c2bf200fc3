/** The public REST routes of spot (reference sections 5 and 6.1). */
import { type Interval, isInterval } from "./intervals.ts";
import { candlesOf, klineRow } from "./klines.ts";
import {
  clampedLimit,
  malformed,
  mandatory,
  type Params,
  RequestFault,
  readSymbolList,
  readTimes,
  unknownSymbol,
  wholeNumber,
} from "./request.ts";
import type { Source, Trade } from "./source.ts";
import { averagePrice, bookTicker, dayTicker, priceTicker } from "./tickers.ts";

/** Answers one GET; `at` is the present in market time. */
export type Answer<Market extends Source> = (source: Market, params: Params, at: number) => unknown;

export const spotRoutes: Readonly<Record<string, Answer<Source>>> = {
  "/api/v3/ping": () => ({}),
  "/api/v3/time": (_source, _params, at) => ({ serverTime: at }),
  "/api/v3/exchangeInfo": (source, params, at) =>
    source.exchangeInfo(at, readSelection(source, params)?.symbols),
  "/api/v3/depth": (source, params, at) => {
    const symbol = readSymbol(source, params);
    const book = source.book(symbol, at, clampedLimit(params, 100, 5_000));
    return { lastUpdateId: book?.updateId ?? 0, bids: book?.bids ?? [], asks: book?.asks ?? [] };
  },
  "/api/v3/trades": (source, params, at) => tradesOf(source, params, at, undefined),
  "/api/v3/historicalTrades": (source, params, at) =>
    tradesOf(source, params, at, wholeNumber(params, "fromId")),
  "/api/v3/aggTrades": (source, params, at) => {
    const symbol = readSymbol(source, params);
    const fromId = wholeNumber(params, "fromId");
    const { startTime, endTime } = readTimes(params);
    const limit = clampedLimit(params, 500, 1_000);
    return source.aggregateTrades(symbol, at, { fromId, startTime, endTime, limit }).map((aggregate) => ({
      a: aggregate.id,
      p: aggregate.price,
      q: aggregate.quantity,
      f: aggregate.firstTradeId,
      l: aggregate.lastTradeId,
      T: aggregate.at,
      m: aggregate.isBuyerMaker,
      M: true,
    }));
  },
  "/api/v3/klines": klines,
  "/api/v3/uiKlines": klines,
  "/api/v3/avgPrice": (source, params, at) => averagePrice(source, readSymbol(source, params), at),
  "/api/v3/ticker/24hr": (source, params, at) => {
    const type = params.get("type") ?? "FULL";
    if (type !== "FULL" && type !== "MINI") throw new RequestFault(-1139, "Invalid ticker type.");
    return perSymbol(source, params, (symbol) => dayTicker(source, symbol, at, type));
  },
  "/api/v3/ticker/price": (source, params, at) =>
    perSymbol(source, params, (symbol) => priceTicker(source, symbol, at)),
  "/api/v3/ticker/bookTicker": (source, params, at) =>
    perSymbol(source, params, (symbol) => bookTicker(source, symbol, at)),
};

/** The mandatory `symbol`, which must be listed. */
export function readSymbol(source: Source, params: Params): string {
  const symbol = mandatory(params, "symbol");
  if (!source.symbols.includes(symbol)) throw unknownSymbol();
  return symbol;
}

export function readInterval(params: Params): Interval {
  const interval = mandatory(params, "interval");
  if (!isInterval(interval)) throw new RequestFault(-1120, "Invalid interval.");
  return interval;
}

function tradesOf(source: Source, params: Params, at: number, fromId: number | undefined): unknown {
  const symbol = readSymbol(source, params);
  return source
    .trades(symbol, at, { fromId, limit: clampedLimit(params, 500, 1_000) })
    .map((trade) => ({ ...tradeRow(trade), isBestMatch: true }));
}

/** A trade as both types list it. */
export function tradeRow(trade: Trade) {
  return {
    id: trade.id,
    price: trade.price,
    qty: trade.quantity,
    quoteQty: trade.quoteQuantity,
    time: trade.at,
    isBuyerMaker: trade.isBuyerMaker,
  };
}

function klines(source: Source, params: Params, at: number): unknown {
  const symbol = readSymbol(source, params);
  const interval = readInterval(params);
  const limit = clampedLimit(params, 500, 1_000);
  const query = { ...readTimes(params), limit, zoneMs: readZoneMs(params) };
  return candlesOf(source, symbol, interval, at, query).map(klineRow);
}

// "5", "-3:30", "+05:45": hours, or hours and minutes, from -12:00 to +14:00.
function readZoneMs(params: Params): number {
  const text = params.get("timeZone");
  if (text === undefined) return 0;
  const [, sign, hours, minutes = "0"] = /^([+-]?)(\d{1,2})(?::(\d{2}))?$/.exec(text) ?? [];
  const total = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  if (!(total >= -12 * 60 && total <= 14 * 60)) throw malformed("timeZone");
  return total * 60_000;
}

function perSymbol(source: Source, params: Params, row: (symbol: string) => object): unknown {
  const selection = readSelection(source, params);
  if (!selection) return source.symbols.map(row);
  const rows = selection.symbols.map(row);
  return selection.isSingle ? rows[0] : rows;
}

function readSelection(
  source: Source,
  params: Params,
): { readonly symbols: readonly string[]; readonly isSingle: boolean } | undefined {
  if (params.has("symbol") && params.has("symbols")) {
    throw new RequestFault(-1128, "Combination of optional parameters invalid.");
  }
  const list = params.get("symbols");
  if (list !== undefined) {
    const symbols = readSymbolList(list);
    if (!symbols.every((symbol) => source.symbols.includes(symbol))) throw unknownSymbol();
    return { symbols, isSingle: false };
  }
  return params.has("symbol") ? { symbols: [readSymbol(source, params)], isSingle: true } : undefined;
}
