import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { decimal, formatDecimal } from "../../../money/decimal.ts";
import { symbolRow } from "../testing/upstream.ts";
import { parseSymbolRules } from "./symbol-rules.ts";

const fullFilters = [
  { filterType: "PRICE_FILTER", minPrice: "0.01000000", maxPrice: "100000.00000000", tickSize: "0.01000000" },
  { filterType: "LOT_SIZE", minQty: "0.00100000", maxQty: "922327.00000000", stepSize: "0.00100000" },
  { filterType: "ICEBERG_PARTS", limit: 100 },
  { filterType: "MARKET_LOT_SIZE", minQty: "0.00000000", maxQty: "585.20788284", stepSize: "0.00000000" },
  {
    filterType: "NOTIONAL",
    minNotional: "5.00000000",
    applyMinToMarket: true,
    maxNotional: "9000000.00000000",
    applyMaxToMarket: false,
    avgPriceMins: 5,
  },
  {
    filterType: "PERCENT_PRICE_BY_SIDE",
    bidMultiplierUp: "1.1",
    bidMultiplierDown: "0.8",
    askMultiplierUp: "1.2",
    askMultiplierDown: "0.9",
    avgPriceMins: 5,
  },
  { filterType: "MAX_POSITION", maxPosition: "1000.00000000" },
  { filterType: "MAX_NUM_ORDERS", maxNumOrders: 200 },
  { filterType: "MAX_NUM_ALGO_ORDERS", maxNumAlgoOrders: 5 },
];

test("a row with all filters is read in full", () => {
  expect(parseSymbolRules(symbolRow("TSLAUSDT", { filters: fullFilters }))).toEqual({
    rules: {
      symbol: "TSLAUSDT",
      status: "TRADING",
      baseAsset: "TSLA",
      quoteAsset: "USDT",
      orderTypes: ["LIMIT", "MARKET"],
      isSpotTradingAllowed: true,
      priceFilter: { minPrice: decimal("0.01"), maxPrice: decimal("100000"), tickSize: decimal("0.01") },
      lotSize: { minQuantity: decimal("0.001"), maxQuantity: decimal("922327"), stepSize: decimal("0.001") },
      marketLotSize: { minQuantity: 0n, maxQuantity: decimal("585.20788284"), stepSize: 0n },
      notional: {
        minNotional: decimal("5"),
        maxNotional: decimal("9000000"),
        appliesMinToMarket: true,
        appliesMaxToMarket: false,
        reference: "AVERAGE",
      },
      percentPrice: null,
      percentPriceBySide: {
        buy: { up: decimal("1.1"), down: decimal("0.8") },
        sell: { up: decimal("1.2"), down: decimal("0.9") },
        reference: "AVERAGE",
      },
      maxPosition: decimal("1000"),
      maxNumOrders: 200,
      maxNumAlgoOrders: 5,
      contract: null,
    },
  });
});

test("a filter that is not published is null", () => {
  expect(parseSymbolRules(symbolRow("AUSDT", { filters: [] }))).toMatchObject({
    rules: {
      priceFilter: null,
      lotSize: null,
      marketLotSize: null,
      percentPrice: null,
      percentPriceBySide: null,
      notional: null,
      maxPosition: null,
      maxNumOrders: null,
      maxNumAlgoOrders: null,
    },
  });
});

test("PERCENT_PRICE asks the same of both sides", () => {
  const filters = [
    { filterType: "PERCENT_PRICE", multiplierUp: "5", multiplierDown: "0.2", avgPriceMins: 5 },
  ];
  const side = { up: decimal("5"), down: decimal("0.2") };
  expect(parseSymbolRules(symbolRow("AUSDT", { filters }))).toMatchObject({
    rules: { percentPrice: { buy: side, sell: side, reference: "AVERAGE" }, percentPriceBySide: null },
  });
});

test("an average over no minutes is the last price, in any filter", () => {
  const bySide = {
    filterType: "PERCENT_PRICE_BY_SIDE",
    bidMultiplierUp: "5",
    bidMultiplierDown: "0.2",
    askMultiplierUp: "5",
    askMultiplierDown: "0.2",
  };
  const both = { filterType: "PERCENT_PRICE", multiplierUp: "5", multiplierDown: "0.2" };
  const notional = {
    filterType: "NOTIONAL",
    minNotional: "5",
    applyMinToMarket: true,
    maxNotional: "0",
    applyMaxToMarket: false,
  };
  for (const [avgPriceMins, reference] of [
    [0, "LAST"],
    [1, "AVERAGE"],
    [undefined, "AVERAGE"],
  ] as const) {
    const filters = [bySide, both, notional].map((filter) => ({ ...filter, avgPriceMins }));
    expect(parseSymbolRules(symbolRow("AUSDT", { filters }))).toMatchObject({
      rules: {
        percentPrice: { reference },
        percentPriceBySide: { reference },
        notional: { reference },
      },
    });
  }
});

test("a count of zero is a count", () => {
  const filters = [
    { filterType: "MAX_NUM_ORDERS", maxNumOrders: 0 },
    { filterType: "MAX_NUM_ALGO_ORDERS", maxNumAlgoOrders: 0 },
  ];
  expect(parseSymbolRules(symbolRow("AUSDT", { filters }))).toMatchObject({
    rules: { maxNumOrders: 0, maxNumAlgoOrders: 0 },
  });
});

test("the old MIN_NOTIONAL has no maximum", () => {
  const filters = [{ filterType: "MIN_NOTIONAL", minNotional: "10", applyToMarket: true, avgPriceMins: 5 }];
  expect(parseSymbolRules(symbolRow("AUSDT", { filters }))).toMatchObject({
    rules: {
      notional: {
        minNotional: decimal("10"),
        maxNotional: 0n,
        appliesMinToMarket: true,
        appliesMaxToMarket: false,
        reference: "AVERAGE",
      },
    },
  });
});

test("zeros beyond the eighth decimal are harmless, other digits there are a fault", () => {
  const filters = (tickSize: string) => [
    { filterType: "PRICE_FILTER", minPrice: "0", maxPrice: "0", tickSize },
  ];
  expect(parseSymbolRules(symbolRow("AUSDT", { filters: filters("0.010000000000") }))).toHaveProperty(
    "rules",
  );
  expect(parseSymbolRules(symbolRow("AUSDT", { filters: filters("0.000000001") }))).toEqual({
    fault: 'tickSize is TOO_PRECISE: "0.000000001"',
  });
});

test.each([
  null,
  [],
  "BTCUSDT",
  symbolRow("AUSDT", { symbol: "" }),
  symbolRow("AUSDT", { status: 1 }),
  symbolRow("AUSDT", { orderTypes: "LIMIT" }),
  symbolRow("AUSDT", { orderTypes: [1] }),
  symbolRow("AUSDT", { isSpotTradingAllowed: "true" }),
  symbolRow("AUSDT", { filters: {} }),
  symbolRow("AUSDT", { filters: [null] }),
  symbolRow("AUSDT", { filters: [{ filterType: "LOT_SIZE", minQty: 1, maxQty: "1", stepSize: "1" }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "LOT_SIZE", minQty: "-1", maxQty: "1", stepSize: "1" }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "NOTIONAL", minNotional: "1", maxNotional: "1" }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "PERCENT_PRICE", multiplierUp: "5" }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "PERCENT_PRICE", multiplierUp: 5, multiplierDown: "0.2" }] }),
  symbolRow("AUSDT", {
    filters: [{ filterType: "PERCENT_PRICE_BY_SIDE", bidMultiplierUp: "5", bidMultiplierDown: "0.2" }],
  }),
  symbolRow("AUSDT", {
    filters: [
      {
        filterType: "PERCENT_PRICE_BY_SIDE",
        bidMultiplierUp: "5",
        bidMultiplierDown: "0.2",
        askMultiplierUp: "5",
        askMultiplierDown: "-0.2",
      },
    ],
  }),
  symbolRow("AUSDT", { filters: [{ filterType: "MAX_POSITION", maxPosition: 1_000 }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "MAX_NUM_ORDERS", limit: 200 }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "MAX_NUM_ORDERS", maxNumOrders: "200" }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "MAX_NUM_ORDERS", maxNumOrders: -1 }] }),
  symbolRow("AUSDT", { filters: [{ filterType: "MAX_NUM_ALGO_ORDERS", maxNumAlgoOrders: 5.5 }] }),
])("a row that makes no sense is a fault: %j", (row) => {
  expect(parseSymbolRules(row)).toHaveProperty("fault");
});

const recorded = resolve(
  process.env.SHARED_DIR ?? resolve(import.meta.dirname, "../../../../shared"),
  "data/exchange-info",
);
const bodies = existsSync(recorded)
  ? readdirSync(recorded).filter((name) => /^api-v3-exchangeInfo.*\.json\.gz$/.test(name))
  : [];

test.skipIf(bodies.length === 0)(
  "every row of the recorded bodies (SHARED_DIR) is read, to the digit",
  () => {
    for (const name of bodies) {
      const body = JSON.parse(gunzipSync(readFileSync(resolve(recorded, name))).toString()) as {
        symbols: { filters: Record<string, string>[] }[];
      };
      expect(body.symbols.length).toBeGreaterThan(0);
      for (const row of body.symbols) {
        const parsed = parseSymbolRules(row);
        if (!("rules" in parsed))
          throw new Error(`${name}: ${JSON.stringify(row)}: ${JSON.stringify(parsed)}`);
        const lot = row.filters.find(({ filterType }) => filterType === "LOT_SIZE");
        const price = row.filters.find(({ filterType }) => filterType === "PRICE_FILTER");
        expect(formatDecimal(parsed.rules.lotSize?.stepSize ?? -1n)).toBe(withEightDecimals(lot?.stepSize));
        expect(formatDecimal(parsed.rules.priceFilter?.maxPrice ?? -1n)).toBe(
          withEightDecimals(price?.maxPrice),
        );
        expect(parsed.rules.notional).not.toBeNull();
        const percent = row.filters.find(({ filterType }) => filterType === "PERCENT_PRICE_BY_SIDE");
        expect(formatDecimal(parsed.rules.percentPriceBySide?.sell.down ?? -1n)).toBe(
          withEightDecimals(percent?.askMultiplierDown),
        );
        expect(parsed.rules.maxNumOrders).toBe(200);
        expect(parsed.rules.maxNumAlgoOrders).toBe(5);
      }
    }
  },
);

function withEightDecimals(text = ""): string {
  const [whole, fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(8, "0")}`;
}
