// The public market data of futures, passed on from upstream. Unlike on spot a limit that is too high is
// refused, and there is no `symbols`. Source: specification 4.5; reference exchange, section 9.
import {
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
import type { Route } from "../route.ts";
import { type Readers, upstreamRoutes } from "./from-upstream.ts";

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

const futures = upstreamRoutes("FUTURES");

export const FUTURES_MARKET_DATA_ROUTES: readonly Route[] = [
  futures(
    "/fapi/v1/depth",
    "The order book of a contract",
    { symbol: mandatorySymbol, limit: contractDepthLimit },
    { weight: (parameters) => futuresDepthWeight(optionalText(parameters, "limit")) },
  ),
  futures("/fapi/v1/trades", "The newest trades, oldest first", { symbol: mandatorySymbol, limit }),
  // The reference exchange requires a key; this service does not.
  futures("/fapi/v1/historicalTrades", "Trades from an id on, or the newest, oldest first", {
    symbol: mandatorySymbol,
    fromId,
    limit,
  }),
  futures("/fapi/v1/aggTrades", "Trades of one taker at one price and instant as one, oldest first", {
    symbol: mandatorySymbol,
    fromId,
    startTime,
    endTime,
    limit,
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
  futures("/fapi/v1/fundingRate", "Settled funding, oldest first", {
    symbol: optionalSymbol,
    startTime,
    endTime,
    limit: limitWithin(ROWS_MAX, FUNDING_ROWS_DEFAULT),
  }),
  futures("/fapi/v1/fundingInfo", "How often funding is settled", {}),
  ticker("The statistics of the last 24 hours", "/fapi/v1/ticker/24hr"),
  ticker("The last price", "/fapi/v2/ticker/price", "/fapi/v1/ticker/price"),
  ticker("The best bid and ask", "/fapi/v1/ticker/bookTicker"),
  futures("/fapi/v1/openInterest", "The number of open contracts", { symbol: mandatorySymbol }),
];

function candles(path: string, summary: string, readers: Readers): Route {
  return futures(path, summary, readers, {
    weight: (parameters) => futuresCandlesWeight(optionalText(parameters, "limit")),
  });
}

/** Of one symbol an object, of all a list. */
function ticker(what: string, path: keyof typeof futuresTickerWeights, ...aliases: readonly string[]): Route {
  const { ofOne, ofAll } = futuresTickerWeights[path];
  return futures(
    path,
    `${what}: an object for a symbol, else a list`,
    { symbol: optionalSymbol },
    {
      aliases,
      weight: (parameters) => (optionalText(parameters, "symbol") === null ? ofAll : ofOne),
    },
  );
}
