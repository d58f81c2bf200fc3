// The list of trading pairs: its symbols, their fields, and how long it is cached. Source: specification 2.7
// and 4.4.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ExchangeInfoBody } from "./client/rules/listings.ts";
import { PAIRS_KEPT_MS, TIMEFRAMES, TradingPairs } from "./pairs.ts";

type Row = Readonly<Record<string, unknown>>;

const FILTERS = [
  {
    filterType: "PRICE_FILTER",
    minPrice: "0.01000000",
    maxPrice: "1000000.00000000",
    tickSize: "0.01000000",
  },
  { filterType: "LOT_SIZE", minQty: "0.00001000", maxQty: "9000.00000000", stepSize: "0.00001000" },
  { filterType: "ICEBERG_PARTS", limit: 10 },
  { filterType: "MARKET_LOT_SIZE", minQty: "0.00000000", maxQty: "120.5", stepSize: "0.00000000" },
  {
    filterType: "NOTIONAL",
    minNotional: "5.00000000",
    applyMinToMarket: true,
    maxNotional: "9000000.00000000",
  },
];
const BTC: Row = {
  symbol: "BTCUSDT",
  baseAsset: "BTC",
  quoteAsset: "USDT",
  status: "TRADING",
  isSpotTradingAllowed: true,
  orderTypes: ["LIMIT", "LIMIT_MAKER", "MARKET", "STOP_LOSS_LIMIT", "TAKE_PROFIT"],
  filters: FILTERS,
};

/** Not part of the project: where it is absent, the test that reads it is skipped. */
const RECORDED = join(
  process.env.SHARED_DIR ?? join(import.meta.dirname, "../../../shared"),
  "data/exchange-info/api-v3-exchangeInfo-2023-08-13-full.json.gz",
);

function pairsOf(rows: readonly Row[]) {
  const body = { head: {}, symbols: new Map<string, Row>(), version: 0 };
  const list = (more: readonly Row[]) => {
    for (const row of more) body.symbols.set(String(row.symbol), row);
  };
  list(rows);
  /** Upstream was asked for the whole list again, and something had changed. */
  const listAnew = (all: readonly Row[]) => {
    body.symbols = new Map();
    list(all);
  };
  const time = { now: 1_000_000 };
  const pairs = new TradingPairs({
    market: { exchangeInfo: () => body as unknown as ExchangeInfoBody },
    wallNow: () => time.now,
  });
  const shown = (): { timeframes: string[]; pairs: Record<string, unknown>[] } => JSON.parse(pairs.text());
  return { pairs, list, listAnew, time, shown, symbols: () => shown().pairs.map(({ symbol }) => symbol) };
}

test("a pair is shown with its filters as upstream wrote them", () => {
  expect(pairsOf([BTC]).shown()).toEqual({
    timeframes: [...TIMEFRAMES],
    pairs: [
      {
        symbol: "BTCUSDT",
        baseAsset: "BTC",
        quoteAsset: "USDT",
        status: "TRADING",
        isSpotTradingAllowed: true,
        orderTypes: BTC.orderTypes,
        supportedBotOrderTypes: ["MARKET", "LIMIT", "STOP_LOSS_LIMIT"],
        filters: {
          minPrice: "0.01000000",
          maxPrice: "1000000.00000000",
          tickSize: "0.01000000",
          minQty: "0.00001000",
          maxQty: "9000.00000000",
          stepSize: "0.00001000",
          marketMinQty: "0.00000000",
          marketMaxQty: "120.5",
          marketStepSize: "0.00000000",
          minNotional: "5.00000000",
          maxNotional: "9000000.00000000",
        },
      },
    ],
  });
});

test("the timeframes are those of the specification", () => {
  expect(TIMEFRAMES.join(", ")).toBe("1s, 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w, 1M");
});

test("what upstream does not publish is null, whatever it publishes instead", () => {
  const bare = { ...BTC, filters: [null, "?", { filterType: "LOT_SIZE", minQty: 5 }], orderTypes: undefined };
  for (const row of [bare, { ...bare, filters: undefined }, { ...bare, filters: {} }]) {
    const [pair] = pairsOf([row]).shown().pairs;
    expect(new Set(Object.values(pair?.filters as Row))).toEqual(new Set([null]));
    expect(Object.keys(pair?.filters as Row)).toHaveLength(11);
    expect(pair).toMatchObject({ orderTypes: [], supportedBotOrderTypes: [] });
  }
});

test("the smallest notional is that of NOTIONAL, or of MIN_NOTIONAL", () => {
  const older = { filterType: "MIN_NOTIONAL", minNotional: "10.00000000" };
  const notionalOf = (filters: readonly Row[]) => {
    const [pair] = pairsOf([{ ...BTC, filters }]).shown().pairs;
    const shown = pair?.filters as Row | undefined;
    return [shown?.minNotional, shown?.maxNotional];
  };
  expect(notionalOf([older])).toEqual(["10.00000000", null]);
  expect(notionalOf([older, ...FILTERS])).toEqual(["5.00000000", "9000000.00000000"]);
});

test("only what is trading, and on spot, is in the list", () => {
  const { symbols, pairs } = pairsOf([
    BTC,
    { ...BTC, symbol: "HALTED", status: "HALT" },
    { ...BTC, symbol: "BROKEN", status: "BREAK" },
    { ...BTC, symbol: "MARGINONLY", isSpotTradingAllowed: false },
    { ...BTC, symbol: "UNSAID", isSpotTradingAllowed: undefined },
    { ...BTC, symbol: "ETHUSDT" },
  ]);
  expect(symbols()).toEqual(["BTCUSDT", "ETHUSDT"]);
  expect(pairs.has("HALTED")).toBe(false);
});

test("a pair is found whatever its case", () => {
  const { pairs } = pairsOf([BTC]);
  expect(["BTCUSDT", "btcusdt", "BtcUsdt"].map((pair) => pairs.has(pair))).toEqual([true, true, true]);
  // The capital of the last one's long s is S.
  const none = ["BTCUSD", "BTC/USDT", "", "__proto__", "BTCU\u017fDT"];
  expect(none.filter((pair) => pairs.has(pair))).toEqual([]);
});

test("the list is kept for 30 minutes: a new pair appears after that, not before", () => {
  const { pairs, list, time, symbols } = pairsOf([BTC]);
  expect(symbols()).toEqual(["BTCUSDT"]);
  const text = pairs.text();
  list([
    { ...BTC, symbol: "ETHUSDT" },
    { ...BTC, status: "HALT" },
  ]);
  time.now += PAIRS_KEPT_MS - 1;
  expect(pairs.text()).toBe(text);
  expect(pairs.has("ETHUSDT")).toBe(false);
  time.now += 1;
  expect(symbols()).toEqual(["ETHUSDT"]);
  expect(pairs.has("ETHUSDT")).toBe(true);
  expect(PAIRS_KEPT_MS).toBe(30 * 60_000);
});

test("a newly listed pair is shown at once: the listings are half an hour old already", () => {
  const { pairs, listAnew, symbols } = pairsOf([BTC]);
  expect(symbols()).toEqual(["BTCUSDT"]);
  listAnew([BTC, { ...BTC, symbol: "ETHUSDT" }]);
  expect(symbols()).toEqual(["BTCUSDT", "ETHUSDT"]);
  expect(pairs.has("ETHUSDT")).toBe(true);
  const text = pairs.text();
  expect(pairs.text()).toBe(text);
});

test("a clock that was set back does not keep the list for longer", () => {
  const { list, time, symbols } = pairsOf([BTC]);
  symbols();
  list([{ ...BTC, symbol: "ETHUSDT" }]);
  time.now -= 1;
  expect(symbols()).toEqual(["BTCUSDT", "ETHUSDT"]);
});

test.skipIf(!existsSync(RECORDED))(
  "of a recorded exchangeInfo (SHARED_DIR) every trading pair is shown, filters as published",
  () => {
    const { symbols: rows } = JSON.parse(gunzipSync(readFileSync(RECORDED)).toString()) as { symbols: Row[] };
    const trading = rows.filter(
      ({ status, isSpotTradingAllowed }) => status === "TRADING" && isSpotTradingAllowed,
    );
    const { pairs } = pairsOf(rows).shown();
    expect(trading.length).toBeGreaterThan(1_000);
    expect(trading.length).toBeLessThan(rows.length);
    expect(pairs.map(({ symbol }) => symbol)).toEqual(trading.map(({ symbol }) => symbol));
    for (const [index, pair] of pairs.entries()) {
      const published = JSON.stringify(trading[index]?.filters);
      const values = Object.values(pair.filters as Row);
      expect(values.every((value) => typeof value === "string" && published.includes(`"${value}"`))).toBe(
        true,
      );
    }
  },
);
