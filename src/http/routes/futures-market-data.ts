// The public market data of futures, passed on from upstream. Unlike on spot a limit that is too high is
// refused, and there is no `symbols`. Source: specification 4.5; reference exchange, section 9.
import {
  fixedFuturesWeights,
  futuresCandlesWeight,
  futuresDepthWeight,
  futuresTickerWeights,
} from "../../market/client/rest/request-weight.ts";
import { optionalText } from "../parse/fields.ts";
import {
  contractDepthLimit,
  contractInterval,
  contractType,
  endTime,
  fromId,
  limitWithin,
  mandatorySymbol,
  optionalSymbol,
  pair,
  startTime,
} from "../parse/market-data.ts";
import { fixed, type Route } from "../route.ts";
import { fromUpstream, type UpstreamRoute } from "./from-upstream.ts";

const ROWS_DEFAULT = 500;
const FUNDING_ROWS_DEFAULT = 100;
const ROWS_MAX = 1_000;
const CANDLES_MAX = 1_500;

const limit = limitWithin(ROWS_MAX, ROWS_DEFAULT);
const span = {
  interval: contractInterval,
  startTime,
  endTime,
  limit: limitWithin(CANDLES_MAX, ROWS_DEFAULT),
};
const candlesOfSymbol = { symbol: mandatorySymbol, ...span };

export const FUTURES_MARKET_DATA_ROUTES: readonly Route[] = [
  futures({
    paths: ["/fapi/v1/depth"],
    summary: "The order book of a contract",
    weight: (parameters) => futuresDepthWeight(optionalText(parameters, "limit")),
    readers: { symbol: mandatorySymbol, limit: contractDepthLimit },
  }),
  futures({
    paths: ["/fapi/v1/trades"],
    summary: "The newest trades, oldest first",
    weight: fixed(fixedFuturesWeights["/fapi/v1/trades"]),
    readers: { symbol: mandatorySymbol, limit },
  }),
  // The reference exchange requires a key; this service does not.
  futures({
    paths: ["/fapi/v1/historicalTrades"],
    summary: "Trades from an id on, or the newest, oldest first",
    weight: fixed(fixedFuturesWeights["/fapi/v1/historicalTrades"]),
    readers: { symbol: mandatorySymbol, fromId, limit },
  }),
  futures({
    paths: ["/fapi/v1/aggTrades"],
    summary: "Trades of one taker at one price and instant as one, oldest first",
    weight: fixed(fixedFuturesWeights["/fapi/v1/aggTrades"]),
    readers: { symbol: mandatorySymbol, fromId, startTime, endTime, limit },
  }),
  candles("/fapi/v1/klines", "Candles of a contract, oldest first", candlesOfSymbol),
  candles("/fapi/v1/continuousKlines", "Candles of a contract of a pair, oldest first", {
    pair,
    contractType,
    ...span,
  }),
  candles("/fapi/v1/markPriceKlines", "Candles of the mark price, oldest first", candlesOfSymbol),
  candles("/fapi/v1/indexPriceKlines", "Candles of the index price, oldest first", { pair, ...span }),
  candles("/fapi/v1/premiumIndexKlines", "Candles of the premium index, oldest first", candlesOfSymbol),
  ticker("Mark price, index price and the next funding", "/fapi/v1/premiumIndex"),
  futures({
    paths: ["/fapi/v1/fundingRate"],
    summary: "Settled funding, oldest first",
    weight: fixed(fixedFuturesWeights["/fapi/v1/fundingRate"]),
    readers: {
      symbol: optionalSymbol,
      startTime,
      endTime,
      limit: limitWithin(ROWS_MAX, FUNDING_ROWS_DEFAULT),
    },
  }),
  futures({
    paths: ["/fapi/v1/fundingInfo"],
    summary: "How often funding is settled",
    weight: fixed(fixedFuturesWeights["/fapi/v1/fundingInfo"]),
    readers: {},
  }),
  ticker("The statistics of the last 24 hours", "/fapi/v1/ticker/24hr"),
  ticker("The last price", "/fapi/v2/ticker/price", "/fapi/v1/ticker/price"),
  ticker("The best bid and ask", "/fapi/v1/ticker/bookTicker"),
  futures({
    paths: ["/fapi/v1/openInterest"],
    summary: "The number of open contracts",
    weight: fixed(fixedFuturesWeights["/fapi/v1/openInterest"]),
    readers: { symbol: mandatorySymbol },
  }),
];

function futures(route: UpstreamRoute): Route {
  return fromUpstream("FUTURES", route);
}

function candles(path: string, summary: string, readers: UpstreamRoute["readers"]): Route {
  return futures({
    paths: [path],
    summary,
    weight: (parameters) => futuresCandlesWeight(optionalText(parameters, "limit")),
    readers,
  });
}

/** Of one symbol an object, of all a list. */
function ticker(
  summary: string,
  path: keyof typeof futuresTickerWeights,
  ...aliases: readonly string[]
): Route {
  const { ofOne, ofAll } = futuresTickerWeights[path];
  return futures({
    paths: [path, ...aliases],
    summary: `${summary}: an object for a symbol, else a list`,
    weight: (parameters) => (optionalText(parameters, "symbol") === null ? ofAll : ofOne),
    readers: { symbol: optionalSymbol },
  });
}
