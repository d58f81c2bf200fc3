import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Bracket } from "../../../domain/symbol.ts";
import { decimal, formatBriefly } from "../../../money/decimal.ts";
import { bundledBrackets } from "../../brackets/bundled.ts";
import { contractRow } from "../testing/upstream.ts";
import { parseContractRules } from "./contract-rules.ts";

const brackets = bundledBrackets.get("BTCUSDT") as readonly Bracket[];

const fullFilters = [
  { filterType: "PRICE_FILTER", minPrice: "556.80", maxPrice: "4529764", tickSize: "0.10" },
  { filterType: "LOT_SIZE", minQty: "0.001", maxQty: "1000", stepSize: "0.001" },
  { filterType: "MARKET_LOT_SIZE", minQty: "0.001", maxQty: "120", stepSize: "0.001" },
  { filterType: "MAX_NUM_ORDERS", limit: 200 },
  { filterType: "MAX_NUM_ALGO_ORDERS", limit: 100 },
  { filterType: "MIN_NOTIONAL", notional: "50" },
  { filterType: "PERCENT_PRICE", multiplierUp: "1.0500", multiplierDown: "0.9500", multiplierDecimal: "4" },
  { filterType: "POSITION_RISK_CONTROL", positionControlSide: "NONE" },
];
const parse = (overrides: Readonly<Record<string, unknown>>, symbol = "BTCUSDT") =>
  parseContractRules(contractRow(symbol, overrides), bundledBrackets);

test("a row with all filters is read in full, with the brackets of its symbol", () => {
  expect(parse({ filters: fullFilters })).toEqual({
    rules: {
      symbol: "BTCUSDT",
      status: "TRADING",
      baseAsset: "BTC",
      quoteAsset: "USDT",
      orderTypes: ["LIMIT", "MARKET"],
      isSpotTradingAllowed: false,
      priceFilter: { minPrice: decimal("556.8"), maxPrice: decimal("4529764"), tickSize: decimal("0.1") },
      lotSize: { minQuantity: decimal("0.001"), maxQuantity: decimal("1000"), stepSize: decimal("0.001") },
      marketLotSize: {
        minQuantity: decimal("0.001"),
        maxQuantity: decimal("120"),
        stepSize: decimal("0.001"),
      },
      notional: {
        minNotional: decimal("50"),
        maxNotional: 0n,
        appliesMinToMarket: true,
        appliesMaxToMarket: false,
        reference: "MARK",
      },
      percentPrice: {
        buy: { up: decimal("1.05"), down: 0n },
        sell: { up: 0n, down: decimal("0.95") },
        reference: "MARK",
      },
      percentPriceBySide: null,
      maxPosition: null,
      maxNumOrders: 200,
      maxNumAlgoOrders: 100,
      contract: {
        marginAsset: "USDT",
        pricePrecision: 2,
        quantityPrecision: 3,
        liquidationFee: decimal("0.0125"),
        marketTakeBound: decimal("0.05"),
        triggerProtect: decimal("0.05"),
        brackets,
      },
    },
  });
});

test("a filter that is not published is null, but for the number of legs, which is ours", () => {
  expect(parse({ filters: [] })).toMatchObject({
    rules: {
      priceFilter: null,
      lotSize: null,
      notional: null,
      percentPrice: null,
      maxNumOrders: null,
      maxNumAlgoOrders: 10,
    },
  });
});

test.each([
  [{ contractType: "CURRENT_QUARTER" }],
  [{ contractType: "" }],
  [{ quoteAsset: "USDC", marginAsset: "USDC" }],
  [{ marginAsset: "BTC" }],
])("a contract that is not ours is left out, and not a fault: %j", (overrides) => {
  expect(parse({ ...overrides, filters: "none" })).toEqual({ leftOut: "OTHER_MARKET" });
});

test("a perpetual on something else than a coin is ours as well, one without brackets is left out", () => {
  expect(parse({ contractType: "TRADIFI_PERPETUAL" })).toHaveProperty("rules");
  expect(parse({}, "NEWUSDT")).toEqual({ leftOut: "NO_BRACKETS" });
});

test.each<[Readonly<Record<string, unknown>>]>([
  [{ status: 1 }],
  [{ orderTypes: "LIMIT" }],
  [{ filters: {} }],
  [{ filters: [{ filterType: "MIN_NOTIONAL", minNotional: "5" }] }],
  [{ filters: [{ filterType: "MAX_NUM_ORDERS", maxNumOrders: 200 }] }],
  [{ filters: [{ filterType: "PERCENT_PRICE", multiplierUp: "1.05" }] }],
  [{ pricePrecision: "2" }],
  [{ quantityPrecision: -1 }],
  [{ liquidationFee: 0.0125 }],
  [{ marketTakeBound: "5%" }],
  [{ triggerProtect: "5%" }],
])("a row that makes no sense is a fault: %j", (overrides) => {
  expect(parse(overrides)).toHaveProperty("fault");
});

test.each([null, [], "BTCUSDT"])("%j is no row", (row) => {
  expect(parseContractRules(row, bundledBrackets)).toHaveProperty("fault");
});

const recorded = resolve(
  process.env.SHARED_DIR ?? resolve(import.meta.dirname, "../../../../shared"),
  "data/exchange-info",
);
const bodies = existsSync(recorded)
  ? readdirSync(recorded).filter((name) => /^fapi-v1-exchangeInfo.*\.json\.gz$/.test(name))
  : [];

test.skipIf(bodies.length === 0)(
  "every row of the recorded bodies (SHARED_DIR) is read, to the digit",
  () => {
    for (const name of bodies) {
      const body = JSON.parse(gunzipSync(readFileSync(resolve(recorded, name))).toString()) as {
        symbols: { symbol: string; liquidationFee: string; filters: Record<string, string>[] }[];
      };
      const table = new Map(body.symbols.map(({ symbol }) => [symbol, brackets]));
      let ours = 0;
      for (const row of body.symbols) {
        const parsed = parseContractRules(row, table);
        if ("leftOut" in parsed) continue;
        if ("fault" in parsed) throw new Error(`${name}: ${JSON.stringify(row)}: ${parsed.fault}`);
        ours += 1;
        const { rules } = parsed;
        const filter = (type: string) => row.filters.find(({ filterType }) => filterType === type) ?? {};
        expect(formatBriefly(rules.lotSize?.stepSize ?? -1n)).toBe(briefly(filter("LOT_SIZE").stepSize));
        expect(formatBriefly(rules.priceFilter?.tickSize ?? -1n)).toBe(
          briefly(filter("PRICE_FILTER").tickSize),
        );
        expect(formatBriefly(rules.marketLotSize?.maxQuantity ?? -1n)).toBe(
          briefly(filter("MARKET_LOT_SIZE").maxQty),
        );
        expect(formatBriefly(rules.notional?.minNotional ?? -1n)).toBe(
          briefly(filter("MIN_NOTIONAL").notional),
        );
        expect(formatBriefly(rules.percentPrice?.sell.down ?? -1n)).toBe(
          briefly(filter("PERCENT_PRICE").multiplierDown),
        );
        expect(formatBriefly(rules.contract?.liquidationFee ?? -1n)).toBe(briefly(row.liquidationFee));
        expect(rules.maxNumOrders).toBe(200);
        expect(rules.maxNumAlgoOrders).toBe(10);
      }
      // 315 and 772 perpetuals in USDT.
      expect(ours).toBeGreaterThan(300);
    }
  },
);

/** Without the zeros at its end. */
function briefly(text = ""): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
