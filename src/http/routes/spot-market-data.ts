// The public market data of spot, handed on from upstream. Source: specification 4.5; reference exchange, section 5.
import {
  dayTickerWeight,
  depthWeight,
  fixedWeights,
  tickerWeight,
} from "../../market/client/request-weight.ts";
import type { Parameters } from "../parameters.ts";
import { optionalText } from "../parse/fields.ts";
import {
  interval,
  limitUpTo,
  mandatorySymbol,
  symbol,
  symbols,
  textList,
  tickerType,
  timeZone,
  wholeNumber,
} from "../parse/market-data.ts";
import { fixed, type PublicRoute } from "../pipeline.ts";
import { fromUpstream, type UpstreamRoute } from "./from-upstream.ts";

const DEPTH_LEVELS_MAX = 5_000;
const ROWS_MAX = 1_000;

const limit = limitUpTo(ROWS_MAX);
const startTime = wholeNumber;
const endTime = wholeNumber;
const fromId = wholeNumber;
const candles = { symbol: mandatorySymbol, interval, startTime, endTime, timeZone, limit };

export const SPOT_MARKET_DATA_ROUTES: readonly PublicRoute[] = [
  spot({
    paths: ["/api/v3/depth"],
    weight: (parameters) => depthWeight(optionalText(parameters, "limit")),
    readers: { symbol: mandatorySymbol, limit: limitUpTo(DEPTH_LEVELS_MAX) },
    takesStatus: true,
  }),
  spot({
    paths: ["/api/v3/trades"],
    weight: fixed(fixedWeights["/api/v3/trades"]),
    readers: { symbol: mandatorySymbol, limit },
  }),
  spot({
    paths: ["/api/v3/historicalTrades"],
    weight: fixed(fixedWeights["/api/v3/historicalTrades"]),
    readers: { symbol: mandatorySymbol, fromId, limit },
  }),
  spot({
    paths: ["/api/v3/aggTrades"],
    weight: fixed(fixedWeights["/api/v3/aggTrades"]),
    readers: { symbol: mandatorySymbol, fromId, startTime, endTime, limit },
  }),
  spot({ paths: ["/api/v3/klines"], weight: fixed(fixedWeights["/api/v3/klines"]), readers: candles }),
  // Answered with the same rows: asked under one name, so that one answer serves both.
  spot({
    paths: ["/api/v3/uiKlines"],
    upstreamPath: "/api/v3/klines",
    weight: fixed(fixedWeights["/api/v3/uiKlines"]),
    readers: candles,
  }),
  spot({
    paths: ["/api/v3/avgPrice"],
    weight: fixed(fixedWeights["/api/v3/avgPrice"]),
    readers: { symbol: mandatorySymbol },
  }),
  spot({
    paths: ["/api/v3/ticker/24hr"],
    weight: (parameters) => dayTickerWeight(symbolCountOf(parameters)),
    readers: { symbol, symbols, type: tickerType },
    takesStatus: true,
  }),
  spot({
    paths: ["/api/v3/ticker/price"],
    weight: weightOfTicker,
    readers: { symbol, symbols },
    takesStatus: true,
  }),
  spot({
    paths: ["/api/v3/ticker/bookTicker"],
    weight: weightOfTicker,
    readers: { symbol, symbols },
    takesStatus: true,
  }),
];

function spot(route: UpstreamRoute): PublicRoute {
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
