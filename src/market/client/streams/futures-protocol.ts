// The futures side of the reference exchange's public protocol. Source: reference exchange, sections 9, 10
// and 17.2.
// Trades are not subscribed, except with a followed book (`live-book.ts`). REST provides the last trade where
// a quote is doubtful, and the trades of gaps.
import type { BracketTable } from "../../brackets/table.ts";
import { parseContractRules } from "../rules/contract-rules.ts";
import type { MarketProtocol } from "./protocol.ts";

const publicPath = "/public/stream";
const marketPath = "/market/stream";
/** Books and single trades; every other stream is on the other path. Source: reference sockets, section 5. */
const isPublic = /@(bookTicker|depth|rpiDepth|trade$)|^!bookTicker$/;

const hourMs = 60 * 60_000;

/** A contract without brackets in the table has no rules. */
export function futuresProtocol(brackets: BracketTable): MarketProtocol {
  return {
    type: "FUTURES",
    streamPaths: [publicPath, marketPath],
    streamPathOf: (stream) => (isPublic.test(stream) ? publicPath : marketPath),
    streams: {
      ticker: "bookTicker",
      depth: "depth20@500ms",
      trade: null,
      average: null,
      mark: "markPrice@1s",
    },
    // Named an update, it is the complete top of the book.
    depthKeys: { id: "u", bids: "b", asks: "a" },
    pricePaths: {
      quote: "/fapi/v1/ticker/bookTicker",
      lastPrice: null,
      averagePrice: null,
      markPrice: "/fapi/v1/premiumIndex",
    },
    tradePricePath: "/fapi/v1/ticker/price",
    timePath: "/fapi/v1/time",
    depthPath: null,
    bookPath: "/fapi/v1/depth",
    snapshotWeightPerMinute: 200,
    tickerSymbolsMax: 1,
    exchangeInfoPath: "/fapi/v1/exchangeInfo",
    exchangeInfoSymbolsMax: 0,
    readRules: (row) => parseContractRules(row, brackets),
    history: {
      candlesPath: "/fapi/v1/klines",
      candlesPerPage: 499,
      tradesPath: "/fapi/v1/aggTrades",
      // A day, less the time that a request may wait in the queue.
      tradesReachMs: 23 * hourMs,
      markCandlesPath: "/fapi/v1/markPriceKlines",
      settlementsPath: "/fapi/v1/fundingRate",
      // Of 2,400. Callers have 1,200, snapshots 300 with those at once, and pages at once 200: 400 are left
      // for polls of prices and rules.
      weightPerMinute: 300,
    },
  };
}
