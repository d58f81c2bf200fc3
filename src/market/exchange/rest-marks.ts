/**
 * The public REST routes that only futures have: mark and index prices, funding, open interest (reference
 * section 9).
 */
import { nextOpenTime } from "./intervals.ts";
import { openTimesOf } from "./klines.ts";
import { type Params, strictLimit, strictTimes } from "./request.ts";
import { perSymbol, readCandleQuery, readFuturesInterval, readPair } from "./rest-futures.ts";
import { type Answer, readSymbol } from "./rest-spot.ts";
import type { FundingRow, FuturesSource, MarkKind } from "./source.ts";

const fundingLimitUsual = 100;
const fundingLimitMax = 1_000;

export const markRoutes: Readonly<Record<string, Answer<FuturesSource>>> = {
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
        time: premium.at,
      };
    }),
  "/fapi/v1/markPriceKlines": (source, params, at) =>
    markKlines(source, "mark", readSymbol(source, params), params, at),
  "/fapi/v1/indexPriceKlines": (source, params, at) =>
    markKlines(source, "index", readPair(source, params), params, at),
  "/fapi/v1/premiumIndexKlines": (source, params, at) =>
    markKlines(source, "premium", readSymbol(source, params), params, at),
  "/fapi/v1/fundingRate": fundingRates,
  // A `symbol` is ignored here, as the reference does. Adjusted terms come first, then those that are as
  // usual.
  "/fapi/v1/fundingInfo": (source) => {
    const rows = source.symbols.map((symbol) => {
      const { intervalHours, rateCap, rateFloor, adjustedAt } = source.fundingTerms(symbol);
      return {
        symbol,
        adjustedFundingRateCap: rateCap,
        adjustedFundingRateFloor: rateFloor,
        fundingIntervalHours: intervalHours,
        disclaimer: adjustedAt === null,
        updateTime: adjustedAt,
      };
    });
    return [...rows.filter((row) => !row.disclaimer), ...rows.filter((row) => row.disclaimer)];
  },
  "/fapi/v1/openInterest": (source, params, at) => {
    const symbol = readSymbol(source, params);
    return { openInterest: source.openInterest(symbol, at), symbol, time: at };
  },
};

// Of one symbol, or of all, mixed. The oldest from `startTime` on; without it the newest.
function fundingRates(source: FuturesSource, params: Params, at: number): unknown {
  const symbols = params.has("symbol") ? [readSymbol(source, params)] : source.symbols;
  const { startTime, endTime } = strictTimes(params);
  const limit = strictLimit(params, fundingLimitUsual, fundingLimitMax);
  const rows: FundingRow[] = symbols.flatMap((symbol) => [
    ...source.fundingRates(symbol, at, { startTime, endTime, limit }),
  ]);
  rows.sort((a, b) => a.at - b.at);
  const kept = startTime === undefined ? rows.slice(-limit) : rows.slice(0, limit);
  return kept.map((row) => ({
    symbol: row.symbol,
    fundingTime: row.at,
    fundingRate: row.rate,
    markPrice: row.markPrice,
    rateType: "Regular",
  }));
}

// The twelve elements of a candle without volumes; the ninth is the number of published prices.
function markKlines(
  source: FuturesSource,
  kind: MarkKind,
  symbol: string,
  params: Params,
  at: number,
): unknown {
  const interval = readFuturesInterval(params);
  const openTimes = openTimesOf(source, symbol, interval, at, readCandleQuery(params));
  return openTimes.flatMap((openTime) => {
    const closeTime = nextOpenTime(interval, openTime) - 1;
    const told = source.markStatistics(symbol, kind, openTime, Math.min(closeTime, at) + 1);
    return told
      ? [
          [
            openTime,
            told.open,
            told.high,
            told.low,
            told.close,
            "0",
            closeTime,
            "0",
            told.count,
            "0",
            "0",
            "0",
          ],
        ]
      : [];
  });
}
