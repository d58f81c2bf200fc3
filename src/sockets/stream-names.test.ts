// Two lists of names, that of the gateway and that of the simulated exchange, must agree; docs/sockets.md has
// them for people.
import { expect, test } from "vitest";
import { intervals } from "../market/exchange/intervals.ts";
import { meaningOf } from "../market/exchange/stream-names.ts";
import { isMarketStream } from "./stream-names.ts";

const of = (channels: readonly string[]) => channels.map((channel) => `btcusdt@${channel}`);
const depths = ["depth", "depth5", "depth10", "depth20"];
const withSpeeds = (names: readonly string[], speeds: readonly string[]) =>
  names.flatMap((name) => [name, ...speeds.map((speed) => `${name}@${speed}`)]);
const tickers = ["ticker_1h", "ticker_4h", "ticker_1d"];

const SERVED = {
  SPOT: [
    ...of(["aggTrade", "trade", "bookTicker", "avgPrice", "miniTicker", "ticker", ...tickers]),
    ...of(withSpeeds(depths, ["100ms"])),
    ...of(intervals.flatMap((interval) => [`kline_${interval}`, `kline_${interval}@+08:00`])),
    ...["!miniTicker@arr", "!ticker@arr", ...tickers.map((ticker) => `!${ticker}@arr`)],
  ],
  FUTURES: [
    ...of(["aggTrade", "trade", "bookTicker", "markPrice", "markPrice@1s", "miniTicker", "ticker"]),
    ...of(withSpeeds(depths, ["500ms", "100ms"])),
    ...intervals
      .filter((interval) => interval !== "1s")
      .flatMap((interval) => [`btcusdt@kline_${interval}`, `btcusdt_perpetual@continuousKline_${interval}`]),
    ...["!miniTicker@arr", "!ticker@arr", "!bookTicker", "!markPrice@arr", "!markPrice@arr@1s"],
  ],
} as const;
const SILENT = {
  SPOT: of(["blockTrade", "referencePrice"]),
  FUTURES: [
    ...of(["forceOrder", "rpiDepth@500ms", "compositeIndex"]),
    ...["btcusdt_current_quarter@continuousKline_1m", "btcusd@assetIndex"],
    ...["!forceOrder@arr", "!contractInfo", "!assetIndex@arr", "tradingSession"],
  ],
} as const;

test.each(["SPOT", "FUTURES"] as const)("every documented stream of %s goes upstream", (type) => {
  const isListed = (symbol: string) => symbol === "BTCUSDT";
  const names = [...SERVED[type], ...SILENT[type]];
  expect(names.filter((name) => !isMarketStream(type, name, isListed))).toEqual([]);
});

test.each(["SPOT", "FUTURES"] as const)(
  "the simulated exchange sends those of %s that it can derive",
  (type) => {
    expect(SERVED[type].filter((name) => meaningOf(type, name) === undefined)).toEqual([]);
    expect(SILENT[type].filter((name) => meaningOf(type, name) !== undefined)).toEqual([]);
  },
);
