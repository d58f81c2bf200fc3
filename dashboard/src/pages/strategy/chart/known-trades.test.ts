import { expect, test } from "vitest";
import type { TradeJson } from "../../../../../src/dashboard-api/schemas.ts";
import { withNewest } from "./known-trades.ts";

function page(ids: readonly number[], next: string | null) {
  return { rows: ids.map((tradeId) => ({ tradeId }) as TradeJson), next };
}

test("a newer page that overlaps adds to what is known, and the place where older ones begin stays", () => {
  const first = withNewest(null, page([5, 4, 3], "3"));
  const then = withNewest(first, page([7, 6, 5], "5"));
  expect(then.rows.map(({ tradeId }) => tradeId)).toEqual([7, 6, 5, 4, 3]);
  expect(then.older).toBe("3");
});

test("a page that leaves a gap replaces the known trades", () => {
  const first = withNewest(null, page([5, 4, 3], "3"));
  const then = withNewest(first, page([9, 8, 7], "7"));
  expect(then).toEqual({ rows: page([9, 8, 7], "7").rows, older: "7" });
});

test("the same page again changes nothing", () => {
  const first = withNewest(null, page([2, 1], null));
  expect(withNewest(first, page([2, 1], null))).toEqual(first);
});
