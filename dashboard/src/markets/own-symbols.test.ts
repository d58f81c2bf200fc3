import { expect, test } from "vitest";
import { matching, ownSymbolsOf } from "./own-symbols.ts";

test("symbols are named once, those of earlier lists first", () => {
  const lists = [[{ symbol: "ETHUSDT" }], [{ symbol: "BTCUSDT" }, { symbol: "ETHUSDT" }], []];
  expect(ownSymbolsOf(lists)).toEqual(["ETHUSDT", "BTCUSDT"]);
});

test("a search finds own symbols first, then what begins with it, then the rest", () => {
  const all = ["ADABTC", "BTCUSDT", "ETHBTC", "BTCEUR", "SOLUSDT"];
  const found = matching("btc", { own: ["ETHBTC", "GONEBTC"], all, limit: 10 });
  expect(found.map(({ symbol }) => symbol)).toEqual(["ETHBTC", "BTCUSDT", "BTCEUR", "ADABTC"]);
  expect(found.map(({ isOwn }) => isOwn)).toEqual([true, false, false, false]);
});

test("a pair is found as it is spoken of, and no more than the limit", () => {
  const all = ["BTCUSDT", "BTCUSDC"];
  expect(matching("btc/usdt", { own: [], all, limit: 10 })).toEqual([{ symbol: "BTCUSDT", isOwn: false }]);
  expect(matching("", { own: [], all, limit: 1 })).toHaveLength(1);
});
