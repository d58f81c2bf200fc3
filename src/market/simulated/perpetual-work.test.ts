// The cost of a request: the simulated exchange runs in the process of its clients, and an expensive request
// must not delay the others. The tests count price lookups on the path of the index.
import { describe, expect, test } from "vitest";
import type { MarkKind } from "../exchange/source.ts";
import { perpetualListings, spotListings } from "./listing.ts";
import { createPath } from "./path.ts";
import { createPerpetual } from "./perpetual.ts";

const seed = "1";
const symbol = "BTCUSDT";
const dayMs = 86_400_000;
const at = Date.UTC(2026, 6, 1);

/** A perpetual, and how many prices of its index were looked up so far. */
function countedPerpetual() {
  const listing = perpetualListings.find((candidate) => candidate.symbol === symbol);
  const index = spotListings.find((candidate) => candidate.symbol === symbol);
  if (!listing || !index) throw new Error(`${symbol} is listed in both types`);
  const path = createPath(seed, index);
  let lookedUp = 0;
  const counted: typeof path = {
    prices(depth, span) {
      lookedUp += 1;
      return path.prices(depth, span);
    },
    children: path.children,
  };
  const perpetual = createPerpetual(seed, listing, { listing: index, path: counted });
  return { perpetual, lookedUp: () => lookedUp };
}

describe("settled rates", () => {
  test("cost what is read of them, however many there are", () => {
    const { perpetual, lookedUp } = countedPerpetual();
    const rows = perpetual.fundingRates(at, { limit: 1_000 });
    expect(rows).toHaveLength(1_000);
    expect(lookedUp()).toBe(0);
    expect(rows.at(-1)?.rate).toMatch(/^-?0\.[0-9]{8}$/);
    const ofOne = lookedUp();
    expect(ofOne).toBeGreaterThan(0);
    expect(ofOne).toBeLessThan(100);
  });
});

describe("candles of marks", () => {
  test.each<MarkKind>(["mark", "index", "premium"])("of %s cost their whole days once", (kind) => {
    const { perpetual, lookedUp } = countedPerpetual();
    const from = at - 365 * dayMs;
    const candle = perpetual.markStatistics(kind, from, at);
    const first = lookedUp();
    expect(perpetual.markStatistics(kind, from, at)).toEqual(candle);
    // Only the first and the last second are computed again.
    expect(lookedUp() - first).toBeLessThan(100);
    expect(first).toBeGreaterThan(365 * 24);
  });

  test("are the same whether their days are cached or not", () => {
    const [fresh, used] = [countedPerpetual().perpetual, countedPerpetual().perpetual];
    used.markStatistics("mark", at - 30 * dayMs, at);
    const stretch = ["mark", at - 20 * dayMs - 5_000, at - 3 * dayMs + 7_000] as const;
    expect(used.markStatistics(...stretch)).toEqual(fresh.markStatistics(...stretch));
  });
});
