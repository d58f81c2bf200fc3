// The public market data of spot, passed on from upstream. Source: specification 4.5; reference exchange,
// section 5.
import {
  dayTickerWeight,
  depthWeight,
  fixedWeights,
  tickerWeight,
} from "../../market/client/rest/request-weight.ts";
import type { Parameters } from "../parameters.ts";
import { optionalText } from "../parse/fields.ts";
import {
  endTime,
  fromId,
  interval,
  limitUpTo,
  mandatorySymbol,
  startTime,
  symbol,
  symbols,
  textList,
  tickerType,
  timeZone,
} from "../parse/market-data.ts";
import { fixed, type Route } from "../route.ts";
import { fromUpstream, type UpstreamRoute } from "./from-upstream.ts";

const DEPTH_LEVELS_DEFAULT = 100;
const DEPTH_LEVELS_MAX = 5_000;
const ROWS_DEFAULT = 500;
const ROWS_MAX = 1_000;

const limit = limitUpTo(ROWS_MAX, ROWS_DEFAULT);
const candles = { symbol: mandatorySymbol, interval, startTime, endTime, timeZone, limit };

export const SPOT_MARKET_DATA_ROUTES: readonly Route[] = [
  spot({
    paths: ["/api/v3/depth"],
    summary: "The order book: the best bids and asks",
    weight: (parameters) => depthWeight(optionalText(parameters, "limit")),
    readers: { symbol: mandatorySymbol, limit: limitUpTo(DEPTH_LEVELS_MAX, DEPTH_LEVELS_DEFAULT) },
    takesStatus: true,
  }),
  spot({
    paths: ["/api/v3/trades"],
    summary: "The newest trades, oldest first",
    weight: fixed(fixedWeights["/api/v3/trades"]),
    readers: { symbol: mandatorySymbol, limit },
  }),
  spot({
    paths: ["/api/v3/historicalTrades"],
    summary: "Trades from an id on, or the newest, oldest first",
    weight: fixed(fixedWeights["/api/v3/historicalTrades"]),
    readers: { symbol: mandatorySymbol, fromId, limit },
  }),
  spot({
    paths: ["/api/v3/aggTrades"],
    summary: "Trades of one taker at one price and instant as one, oldest first",
    weight: fixed(fixedWeights["/api/v3/aggTrades"]),
    readers: { symbol: mandatorySymbol, fromId, startTime, endTime, limit },
  }),
  spot({
    paths: ["/api/v3/klines"],
    summary: "Candles, oldest first; the last one may still be open",
    weight: fixed(fixedWeights["/api/v3/klines"]),
    readers: candles,
  }),
  // The same rows: one upstream path, so that one cached answer serves both.
  spot({
    paths: ["/api/v3/uiKlines"],
    summary: "The same candles as klines",
    upstreamPath: "/api/v3/klines",
    weight: fixed(fixedWeights["/api/v3/uiKlines"]),
    readers: candles,
  }),
  spot({
    paths: ["/api/v3/avgPrice"],
    summary: "The average price of the last five minutes",
    weight: fixed(fixedWeights["/api/v3/avgPrice"]),
    readers: { symbol: mandatorySymbol },
  }),
  spot({
    paths: ["/api/v3/ticker/24hr"],
    summary: "The statistics of the last 24 hours: an object for a symbol, else a list",
    weight: (parameters) => dayTickerWeight(symbolCountOf(parameters)),
    readers: { symbol, symbols, type: tickerType },
    takesStatus: true,
  }),
  spot({
    paths: ["/api/v3/ticker/price"],
    summary: "The last price: an object for a symbol, else a list",
    weight: weightOfTicker,
    readers: { symbol, symbols },
    takesStatus: true,
  }),
  spot({
    paths: ["/api/v3/ticker/bookTicker"],
    summary: "The best bid and ask: an object for a symbol, else a list",
    weight: weightOfTicker,
    readers: { symbol, symbols },
    takesStatus: true,
  }),
];

function spot(route: UpstreamRoute): Route {
  return fromUpstream("SPOT", route);
}

function weightOfTicker(parameters: Parameters): number {
  return tickerWeight(optionalText(parameters, "symbol") !== null);
}

function symbolCountOf(parameters: Parameters): number | null {
  if (optionalText(parameters, "symbol") !== null) return 1;
  const list = optionalText(parameters, "symbols");
  return list === null ? null : (textList(list)?.length ?? null);
}
