// The public market data of futures, handed on from upstream. Unlike on spot a limit that is too high is refused, and there
// is no `symbols`. Source: specification 4.5; reference exchange, section 9.
import {
  fixedFuturesWeights,
  futuresCandlesWeight,
  futuresDepthWeight,
  futuresTickerWeights,
} from "../../market/client/request-weight.ts";
import { optionalText } from "../parse/fields.ts";
import {
  contractDepthLimit,
  contractInterval,
  contractType,
  limitWithin,
  mandatorySymbol,
  optionalSymbol,
  pair,
  wholeNumber,
} from "../parse/market-data.ts";
import { fixed, type PublicRoute } from "../pipeline.ts";
import { fromUpstream, type UpstreamRoute } from "./from-upstream.ts";

const ROWS_MAX = 1_000;
const CANDLES_MAX = 1_500;

const limit = limitWithin(ROWS_MAX);
const startTime = wholeNumber;
const endTime = wholeNumber;
const fromId = wholeNumber;
const span = { interval: contractInterval, startTime, endTime, limit: limitWithin(CANDLES_MAX) };
const candlesOfSymbol = { symbol: mandatorySymbol, ...span };

export const FUTURES_MARKET_DATA_ROUTES: readonly PublicRoute[] = [
  futures({
    paths: ["/fapi/v1/depth"],
    weight: (parameters) => futuresDepthWeight(optionalText(parameters, "limit")),
    readers: { symbol: mandatorySymbol, limit: contractDepthLimit },
  }),
  futures({
    paths: ["/fapi/v1/trades"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/trades"]),
    readers: { symbol: mandatorySymbol, limit },
  }),
  // The reference exchange answers it only to those who send a key, which nobody has to here.
  futures({
    paths: ["/fapi/v1/historicalTrades"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/historicalTrades"]),
    readers: { symbol: mandatorySymbol, fromId, limit },
  }),
  futures({
    paths: ["/fapi/v1/aggTrades"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/aggTrades"]),
    readers: { symbol: mandatorySymbol, fromId, startTime, endTime, limit },
  }),
  candles("/fapi/v1/klines", candlesOfSymbol),
  candles("/fapi/v1/continuousKlines", { pair, contractType, ...span }),
  candles("/fapi/v1/markPriceKlines", candlesOfSymbol),
  candles("/fapi/v1/indexPriceKlines", { pair, ...span }),
  candles("/fapi/v1/premiumIndexKlines", candlesOfSymbol),
  ticker("/fapi/v1/premiumIndex"),
  futures({
    paths: ["/fapi/v1/fundingRate"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/fundingRate"]),
    readers: { symbol: optionalSymbol, startTime, endTime, limit },
  }),
  futures({
    paths: ["/fapi/v1/fundingInfo"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/fundingInfo"]),
    readers: {},
  }),
  ticker("/fapi/v1/ticker/24hr"),
  ticker("/fapi/v2/ticker/price", "/fapi/v1/ticker/price"),
  ticker("/fapi/v1/ticker/bookTicker"),
  futures({
    paths: ["/fapi/v1/openInterest"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/openInterest"]),
    readers: { symbol: mandatorySymbol },
  }),
];

function futures(route: UpstreamRoute): PublicRoute {
  return fromUpstream("FUTURES", route);
}

function candles(path: string, readers: UpstreamRoute["readers"]): PublicRoute {
  return futures({
    paths: [path],
    weight: (parameters) => futuresCandlesWeight(optionalText(parameters, "limit")),
    readers,
  });
}

/** Of one symbol an object, of all a list. */
function ticker(path: keyof typeof futuresTickerWeights, ...aliases: readonly string[]): PublicRoute {
  const { ofOne, ofAll } = futuresTickerWeights[path];
  return futures({
    paths: [path, ...aliases],
    weight: (parameters) => (optionalText(parameters, "symbol") === null ? ofAll : ofOne),
    readers: { symbol: optionalSymbol },
  });
}
