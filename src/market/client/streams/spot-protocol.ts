// The spot side of the reference exchange's public protocol. Source: reference exchange, sections 5, 6 and
// 17.1.

import { parseSymbolRules } from "../rules/symbol-rules.ts";
import type { MarketProtocol } from "./protocol.ts";

const streamPath = "/stream";

export const spotProtocol: MarketProtocol = {
  type: "SPOT",
  streamPaths: [streamPath],
  streamPathOf: () => streamPath,
  streams: { ticker: "bookTicker", depth: "depth20", trade: "trade", average: "avgPrice", mark: null },
  depthKeys: { id: "lastUpdateId", bids: "bids", asks: "asks" },
  pricePaths: {
    quote: "/api/v3/ticker/bookTicker",
    lastPrice: "/api/v3/ticker/price",
    averagePrice: "/api/v3/avgPrice",
    markPrice: null,
  },
  tradePricePath: null,
  timePath: "/api/v3/time",
  depthPath: "/api/v3/depth",
  bookPath: "/api/v3/depth",
  snapshotWeightPerMinute: 1_000,
  // To ask for all costs the same as to name more.
  tickerSymbolsMax: 100,
  exchangeInfoPath: "/api/v3/exchangeInfo",
  exchangeInfoSymbolsMax: 100,
  readRules: parseSymbolRules,
  history: {
    candlesPath: "/api/v3/klines",
    candlesPerPage: 1_000,
    tradesPath: "/api/v3/aggTrades",
    tradesReachMs: Number.POSITIVE_INFINITY,
    markCandlesPath: null,
    settlementsPath: null,
    // Of 6,000. Callers have 3,000, snapshots 1,250 with those at once, and pages at once 200: 550 are left
    // for polls of prices, books and rules.
    weightPerMinute: 1_000,
  },
};
