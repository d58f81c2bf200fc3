import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Quote } from "../../../domain/market.ts";
import type { Price } from "../../../money/decimal.ts";
import type { PriceExtremes } from "../../feed.ts";
import { extremesOfMark, extremesOfQuote, extremesOfTrade, keptMs, PriceHistory } from "./extremes.ts";

type Seen = Quote | { readonly trade: Price } | { readonly mark: Price };

const price = fc.bigInt({ min: 1n, max: 50n });
const side = fc.option(price, { nil: null });
const seen = fc.oneof(
  fc.record({ bid: side, ask: side }),
  fc.record({ trade: price }),
  fc.record({ mark: price }),
);
const manySeen = fc.array(seen, { maxLength: 60, size: "max" }) as fc.Arbitrary<Seen[]>;

function extremesOf(one: Seen): PriceExtremes {
  if ("trade" in one) return extremesOfTrade(one.trade);
  return "mark" in one ? extremesOfMark(one.mark) : extremesOfQuote(one);
}

function naive(all: readonly Seen[]): PriceExtremes | null {
  if (all.length === 0) return null;
  const sorted = (prices: readonly (Price | null)[]) =>
    prices.filter((each) => each !== null).sort((left, right) => (left < right ? -1 : 1));
  const bids = sorted(all.map((one) => ("bid" in one ? one.bid : null)));
  const asks = sorted(all.map((one) => ("ask" in one ? one.ask : null)));
  const trades = sorted(all.map((one) => ("trade" in one ? one.trade : null)));
  const marks = sorted(all.map((one) => ("mark" in one ? one.mark : null)));
  return {
    highestBid: bids.at(-1) ?? null,
    lowestAsk: asks[0] ?? null,
    highestTrade: trades.at(-1) ?? null,
    lowestTrade: trades[0] ?? null,
    highestMark: marks.at(-1) ?? null,
    lowestMark: marks[0] ?? null,
  };
}

/** A tick, and its delay after the one before it. */
const arrivals = fc.array(
  fc.record({ seen, afterMs: fc.constantFrom(0, 1, 500, keptMs / 4, keptMs, keptMs + 1) }),
  { maxLength: 60, size: "max" },
) as fc.Arbitrary<{ readonly seen: Seen; readonly afterMs: number }[]>;

test("extremes hold every quote, trade and mark price of the last ten seconds after the mark, and none from before it", async () => {
  await fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 3 }), (given, step) => {
      const history = new PriceHistory();
      const at: number[] = [];
      for (const [index, { seen: one, afterMs }] of given.entries()) {
        const now = (at.at(-1) ?? 0) + afterMs;
        at.push(now);
        history.push((index + 1) * step, extremesOf(one), now);
        const oldest = at.findIndex((then) => then >= now - keptMs);
        for (let mark = 0; mark <= at.length; mark += 1) {
          const expected = naive(
            given.slice(Math.max(mark, oldest), at.length).map(({ seen: each }) => each),
          );
          expect(history.since(mark * step)).toEqual(expected);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("of too many entries the newer half stays exact, and older marks leave out rather than let in", async () => {
  await fc.assert(
    fc.property(manySeen, fc.integer({ min: 4, max: 20 }), (given, entriesMax) => {
      const history = new PriceHistory(entriesMax);
      for (const [index, one] of given.entries()) {
        history.push(index + 1, extremesOf(one), 0);
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

test("a pair is as young as its younger entry", () => {
  const history = new PriceHistory(4);
  const arrived = [0, keptMs, keptMs, keptMs, keptMs];
  for (const [index, at] of arrived.entries()) {
    history.push(index + 1, extremesOfQuote({ bid: BigInt(9 - index) as Price, ask: null }), at);
  }
  history.forget(keptMs + 1);
  expect(history.since(0)).toMatchObject({ highestBid: 9n, lowestAsk: null });
});

test("a quiet symbol's entries are given up", () => {
  const history = new PriceHistory();
  history.push(1, extremesOfQuote({ bid: 1n as Price, ask: 2n as Price }), 0);
  history.forget(keptMs);
  expect(history.since(0)).not.toBeNull();
  history.forget(keptMs + 1);
  expect(history.since(0)).toBeNull();
});

test("a history without entries has no extremes", () => {
  expect(new PriceHistory().since(0)).toBeNull();
});
