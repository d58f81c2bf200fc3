import { describe, expect, test } from "vitest";
import type { OfferJson } from "../../../src/dashboard-api/schemas.ts";
import { listedWords, type OfferSort, sortedOffers, sortOf } from "./sort-offers.ts";

function offer(strategyId: string, parts: Partial<OfferJson>): OfferJson {
  return {
    strategyId,
    name: strategyId,
    type: "SPOT",
    createdAt: 1,
    copiers: 0,
    performance: null,
    smallestBalances: null,
    copyId: null,
    ...parts,
  };
}
const PERFORMANCE = { days: 9, trades: 9, winRate: null };
const OFFERS = [
  offer("new", { createdAt: 300 }),
  offer("calm", {
    createdAt: 200,
    copiers: 12,
    performance: { ...PERFORMANCE, returnRate: "0.05", maxDrawdown: "-0.01" },
    smallestBalances: { orders: 9, all: "1000", most: "900", many: "500" },
  }),
  offer("wild", {
    createdAt: 100,
    copiers: 3,
    performance: { ...PERFORMANCE, returnRate: "0.125", maxDrawdown: "-0.4" },
    smallestBalances: { orders: 9, all: "98.5", most: "90", many: "50" },
  }),
];

describe("the best first, and what is not known last", () => {
  test.each<[OfferSort, string, string]>([
    ["return", "wild calm new", "calm wild new"],
    ["drawdown", "calm wild new", "wild calm new"],
    ["age", "wild calm new", "new calm wild"],
    ["copiers", "calm wild new", "new wild calm"],
    ["smallest", "wild calm new", "calm wild new"],
  ])("by %s", (sort, best, worst) => {
    const names = (isReversed: boolean) =>
      sortedOffers(OFFERS, sort, isReversed)
        .map(({ name }) => name)
        .join(" ");
    expect(names(false)).toBe(best);
    expect(names(true)).toBe(worst);
  });
});

test("an address that names no order means the return", () => {
  expect(sortOf(undefined)).toBe("return");
  expect(sortOf("name")).toBe("return");
  expect(sortOf("age")).toBe("age");
});

test("a page says how many strategies there are, and that its order is its own if it is a part of them", () => {
  expect(listedWords({ shown: 1, total: 1 })).toBe("1 strategy.");
  expect(listedWords({ shown: 100, total: 100 })).toBe("100 strategies.");
  expect(listedWords({ shown: 100, total: 1_201 })).toMatch(
    /^100 of 1,201 strategies on this page, newest first\. Sorting orders this page only/,
  );
});
