import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Quote } from "../../domain/market.ts";
import type { Price } from "../../money/decimal.ts";
import { type Extremes, QuoteHistory } from "./extremes.ts";

const side = fc.option(fc.bigInt({ min: 1n, max: 50n }), { nil: null });
const quotes = fc.array(fc.record({ bid: side, ask: side }), { maxLength: 60, size: "max" }) as fc.Arbitrary<
  Quote[]
>;

function naive(seen: readonly Quote[]): Extremes | null {
  if (seen.length === 0) return null;
  const sorted = (prices: readonly (Price | null)[]) =>
    prices.filter((price) => price !== null).sort((left, right) => (left < right ? -1 : 1));
  return {
    highestBid: sorted(seen.map(({ bid }) => bid)).at(-1) ?? null,
    lowestAsk: sorted(seen.map(({ ask }) => ask))[0] ?? null,
  };
}

test("extremes are exact for the newest quotes, and for older marks they are those of everything before", () => {
  fc.assert(
    fc.property(
      quotes,
      fc.integer({ min: 2, max: 20 }),
      fc.integer({ min: 1, max: 3 }),
      (given, entriesMax, step) => {
        const history = new QuoteHistory(entriesMax);
        for (const [index, quote] of given.entries()) {
          history.push((index + 1) * step, quote);
          const count = index + 1;
          for (let known = 0; known <= count; known += 1) {
            const isExact = count - known < entriesMax || count <= entriesMax;
            expect(history.since(known * step)).toEqual(naive(given.slice(isExact ? known : 0, count)));
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a history without quotes has no extremes", () => {
  expect(new QuoteHistory().since(0)).toBeNull();
});
