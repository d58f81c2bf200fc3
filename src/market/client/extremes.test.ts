import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Quote } from "../../domain/market.ts";
import type { Price } from "../../money/decimal.ts";
import { type Extremes, keptMs, QuoteHistory } from "./extremes.ts";

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

/** A quote, and how long after the one before it. */
const arrivals = fc.array(
  fc.record({ bid: side, ask: side, afterMs: fc.constantFrom(0, 1, 500, keptMs / 4, keptMs, keptMs + 1) }),
  { maxLength: 60, size: "max" },
) as fc.Arbitrary<(Quote & { readonly afterMs: number })[]>;

test("extremes hold every quote of the last ten seconds after the mark, and none from before it", () => {
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 3 }), (given, step) => {
      const history = new QuoteHistory();
      const at: number[] = [];
      for (const [index, quote] of given.entries()) {
        const now = (at.at(-1) ?? 0) + quote.afterMs;
        at.push(now);
        history.push((index + 1) * step, quote, now);
        const oldest = at.findIndex((then) => then >= now - keptMs);
        for (let mark = 0; mark <= at.length; mark += 1) {
          const expected = naive(given.slice(Math.max(mark, oldest), at.length));
          expect(history.since(mark * step)).toEqual(expected);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("of too many quotes the newer half stays exact, and older marks leave out rather than let in", () => {
  fc.assert(
    fc.property(quotes, fc.integer({ min: 4, max: 20 }), (given, entriesMax) => {
      const history = new QuoteHistory(entriesMax);
      for (const [index, quote] of given.entries()) {
        history.push(index + 1, quote, 0);
        const count = index + 1;
        for (let mark = 0; mark <= count; mark += 1) {
          const isExact = count <= entriesMax || count - mark <= entriesMax / 2;
          const left = Array.from({ length: isExact ? 1 : count - mark }, (_, skipped) =>
            naive(given.slice(mark + skipped, count)),
          );
          expect(left).toContainEqual(history.since(mark));
        }
        // From the very beginning nothing straddles, so nothing is left out.
        expect(history.since(0)).toEqual(naive(given.slice(0, count)));
      }
    }),
    { numRuns: 60 },
  );
});

test("a pair is as young as its younger quote", () => {
  const history = new QuoteHistory(4);
  const arrived = [0, keptMs, keptMs, keptMs, keptMs];
  for (const [index, at] of arrived.entries()) {
    history.push(index + 1, { bid: BigInt(9 - index) as Price, ask: null }, at);
  }
  history.forget(keptMs + 1);
  expect(history.since(0)).toEqual({ highestBid: 9n, lowestAsk: null });
});

test("a quiet symbol's quotes are given up", () => {
  const history = new QuoteHistory();
  history.push(1, { bid: 1n as Price, ask: 2n as Price }, 0);
  history.forget(keptMs);
  expect(history.since(0)).not.toBeNull();
  history.forget(keptMs + 1);
  expect(history.since(0)).toBeNull();
});

test("a history without quotes has no extremes", () => {
  expect(new QuoteHistory().since(0)).toBeNull();
});
