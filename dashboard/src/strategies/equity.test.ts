import { expect, test } from "vitest";
import { TOPICS_MAX } from "../../../src/dashboard-api/live/limits.ts";
import type { PositionJson, PriceJson } from "../../../src/dashboard-api/schemas.ts";
import { equityAt, FOLLOWED_MAX, holdingsPolledEveryMs, symbolsOf } from "./equity.ts";

const spot = {
  type: "SPOT",
  balances: [
    { asset: "USDT", free: "100.5", locked: "10", value: "110.5" },
    { asset: "BTC", free: "0.001", locked: "0.0005", value: "90" },
    { asset: "OLD", free: "7", locked: "0", value: null },
  ],
  positions: [],
} as const;

const short: PositionJson = {
  symbol: "BTCUSDT",
  quantity: "-0.002",
  entryPrice: "60000",
  markPrice: "61000",
  breakEvenPrice: "59950",
  unrealised: "-2",
  isolatedMargin: "6",
  maintenance: null,
  leverage: 20,
  notional: "122",
  liquidationPrice: "62700",
  liquidationDistance: "0.027",
  nextFundingAt: null,
  legs: [],
  pricedAt: 1,
};
const futures = {
  type: "FUTURES",
  balances: [{ asset: "USDT", free: "990", locked: "6", value: "996" }],
  positions: [short],
} as const;

function price(parts: Partial<PriceJson>): ReadonlyMap<string, PriceJson> {
  const heard = {
    family: "SPOT",
    symbol: "BTCUSDT",
    bid: null,
    ask: null,
    last: null,
    mark: null,
    at: 1,
  } as const;
  return new Map([["BTCUSDT", { ...heard, ...parts }]]);
}

test("without newer prices it is what the server said, and what has no price is left out", () => {
  expect(equityAt(spot, new Map())).toBe("200.50");
  expect(equityAt(futures, new Map())).toBe("994.00");
});

test("spot: what is owned, locked as well, at what was last paid for it", () => {
  expect(equityAt(spot, price({ bid: "60990", ask: "61001", last: "61000.5" }))).toBe("202.00075");
});

test("each coin's worth is cut as the server cuts it", () => {
  const dust = [
    { asset: "BTC", free: "0.00000003", locked: "0", value: null },
    { asset: "ETH", free: "0.00000003", locked: "0", value: null },
  ];
  const heard = price({ last: "0.5" }).get("BTCUSDT") as PriceJson;
  const both = new Map([
    ["BTCUSDT", heard],
    ["ETHUSDT", heard],
  ]);
  expect(equityAt({ type: "SPOT", balances: dust, positions: [] }, both)).toBe("0.00000002");
});

test("where nothing was traded yet the bid counts, and an empty book not at all", () => {
  expect(equityAt(spot, price({ bid: "62000", ask: "62100" }))).toBe("203.50");
  expect(equityAt(spot, price({ ask: "62100" }))).toBe("200.50");
});

test("futures: a short loses as the mark rises", () => {
  expect(equityAt(futures, price({ family: "FUTURES", mark: "61500" }))).toBe("993.00");
});

test("what is followed: priced assets of a spot strategy, positions of a futures one", () => {
  expect(symbolsOf(spot)).toEqual(["BTCUSDT"]);
  expect(symbolsOf(futures)).toEqual(["BTCUSDT"]);
});

test("a page follows many prices, and loads holdings again where there are more", () => {
  expect(FOLLOWED_MAX).toBeLessThan(TOPICS_MAX);
  expect(holdingsPolledEveryMs(FOLLOWED_MAX)).toBe(false);
  expect(holdingsPolledEveryMs(FOLLOWED_MAX + 1)).toBe(5_000);
});
