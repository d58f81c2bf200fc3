/** The public REST routes of futures that the gateway needs (reference sections 9 and 10.1). */
import { candlesOf, klineRow } from "./klines.ts";
import { type Params, RequestFault, strictLimit } from "./request.ts";
import { type Answer, readInterval, readSymbol, readTimes } from "./rest-spot.ts";
import type { FuturesSource } from "./source.ts";
import { bookTicker, dayTicker, priceTicker } from "./tickers.ts";

const depthLimits = [5, 10, 20, 50, 100, 500, 1_000];

export const futuresRoutes: Readonly<Record<string, Answer<FuturesSource>>> = {
  "/fapi/v1/ping": () => ({}),
  "/fapi/v1/time": (_source, _params, at) => ({ serverTime: at }),
  // A `symbol` is ignored here, as the reference does.
  "/fapi/v1/exchangeInfo": (source, _params, at) => source.exchangeInfo(at),
  "/fapi/v1/depth": (source, params, at) => {
    const symbol = readSymbol(source, params);
    const limit = strictLimit(params, 500, 1_000);
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
  "/fapi/v1/klines": (source, params, at) => {
    const symbol = readSymbol(source, params);
    const interval = readInterval(params);
    if (interval === "1s") throw new RequestFault(-1120, "Invalid interval.");
    const query = { ...readTimes(params), limit: strictLimit(params, 500, 1_500) };
    return candlesOf(source, symbol, interval, at, query).map(klineRow);
  },
  "/fapi/v1/premiumIndex": (source, params, at) =>
    perSymbol(source, params, (symbol) => {
      const premium = source.premium(symbol, at);
      return {
        symbol,
        markPrice: premium.markPrice,
        indexPrice: premium.indexPrice,
        estimatedSettlePrice: premium.estimatedSettlePrice,
        lastFundingRate: premium.fundingRate,
        interestRate: premium.interestRate,
        nextFundingTime: premium.nextFundingAt,
        time: at,
      };
    }),
  "/fapi/v1/fundingRate": (source, params, at) => {
    const symbols = params.has("symbol") ? [readSymbol(source, params)] : source.symbols;
    const { startTime, endTime } = readTimes(params);
    const limit = strictLimit(params, 100, 1_000);
    const rows = symbols.flatMap((symbol) => source.fundingRates(symbol, at, { startTime, endTime, limit }));
    const ascending = rows.toSorted((a, b) => a.at - b.at);
    const kept = startTime === undefined ? ascending.slice(-limit) : ascending.slice(0, limit);
    return kept.map((row) => ({
      symbol: row.symbol,
      fundingTime: row.at,
      fundingRate: row.rate,
      markPrice: row.markPrice,
      rateType: "Regular",
    }));
  },
  "/fapi/v1/ticker/24hr": (source, params, at) =>
    perSymbol(source, params, (symbol) => dayTicker(source, symbol, at, "FULL")),
  "/fapi/v1/ticker/price": prices,
  "/fapi/v2/ticker/price": prices,
  "/fapi/v1/ticker/bookTicker": (source, params, at) =>
    perSymbol(source, params, (symbol) => bookTicker(source, symbol, at)),
};

function prices(source: FuturesSource, params: Params, at: number): unknown {
  return perSymbol(source, params, (symbol) => priceTicker(source, symbol, at));
}

function perSymbol(source: FuturesSource, params: Params, row: (symbol: string) => object): unknown {
  return params.has("symbol") ? row(readSymbol(source, params)) : source.symbols.map(row);
}
