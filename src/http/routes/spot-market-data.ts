// The public market data of spot, passed on from upstream. Source: specification 4.5; reference exchange,
// section 5.
import { dayTickerWeight, depthWeight, tickerWeight } from "../../market/client/rest/request-weight.ts";
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
import type { Route } from "../route.ts";
import { upstreamRoutes } from "./from-upstream.ts";

const DEPTH_LEVELS_DEFAULT = 100;
const DEPTH_LEVELS_MAX = 5_000;
const ROWS_DEFAULT = 500;
const ROWS_MAX = 1_000;

const limit = limitUpTo(ROWS_MAX, ROWS_DEFAULT);
const candles = { symbol: mandatorySymbol, interval, startTime, endTime, timeZone, limit };

const spot = upstreamRoutes("SPOT");
const oneOrAll = { weight: weightOfTicker, takesStatus: true };

export const SPOT_MARKET_DATA_ROUTES: readonly Route[] = [
  spot(
    "/api/v3/depth",
    "The order book: the best bids and asks",
    { symbol: mandatorySymbol, limit: limitUpTo(DEPTH_LEVELS_MAX, DEPTH_LEVELS_DEFAULT) },
    { weight: (parameters) => depthWeight(optionalText(parameters, "limit")), takesStatus: true },
  ),
  spot("/api/v3/trades", "The newest trades, oldest first", { symbol: mandatorySymbol, limit }),
  spot("/api/v3/historicalTrades", "Trades from an id on, or the newest, oldest first", {
    symbol: mandatorySymbol,
    fromId,
    limit,
  }),
  spot("/api/v3/aggTrades", "Trades of one taker at one price and instant as one, oldest first", {
    symbol: mandatorySymbol,
    fromId,
    startTime,
    endTime,
    limit,
  }),
  spot("/api/v3/klines", "Candles, oldest first; the last one may still be open", candles),
  // The same rows: one upstream path, so that one cached answer serves both.
  spot("/api/v3/uiKlines", "The same candles as klines", candles, { upstreamPath: "/api/v3/klines" }),
  spot("/api/v3/avgPrice", "The average price of the last five minutes", { symbol: mandatorySymbol }),
  spot(
    "/api/v3/ticker/24hr",
    "The statistics of the last 24 hours: an object for a symbol, else a list",
    { symbol, symbols, type: tickerType },
    { weight: (parameters) => dayTickerWeight(symbolCountOf(parameters)), takesStatus: true },
  ),
  spot(
    "/api/v3/ticker/price",
    "The last price: an object for a symbol, else a list",
    { symbol, symbols },
    oneOrAll,
  ),
  spot(
    "/api/v3/ticker/bookTicker",
    "The best bid and ask: an object for a symbol, else a list",
    { symbol, symbols },
    oneOrAll,
  ),
];

function weightOfTicker(parameters: Parameters): number {
  return tickerWeight(optionalText(parameters, "symbol") !== null);
}

function symbolCountOf(parameters: Parameters): number | null {
  if (optionalText(parameters, "symbol") !== null) return 1;
  const list = optionalText(parameters, "symbols");
  return list === null ? null : (textList(list)?.length ?? null);
}
