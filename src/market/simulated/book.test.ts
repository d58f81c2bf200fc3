import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import type { Book, Level } from "../exchange/source.ts";
import { perpetualListings, spotListings } from "./listing.ts";
import { createSimulatedSources } from "./source.ts";

const sources = createSimulatedSources("1");
const anyMarket = fc.constantFrom(
  ...spotListings.map((listing) => ({ source: sources.SPOT, listing })),
  ...perpetualListings.map((listing) => ({ source: sources.FUTURES, listing })),
);
const anyTime = fc.integer({ min: Date.UTC(2023, 3, 1), max: Date.UTC(2030, 0, 1) });
const runs = { numRuns: 150, verbose: true };

function pricesOf(levels: readonly Level[]): readonly bigint[] {
  return levels.map(([price]) => decimal(price));
}

function expectSound(book: Book, listing: { tickDecimals: number; stepDecimals: number }): void {
  const bids = pricesOf(book.bids);
  const asks = pricesOf(book.asks);
  const tick = 10n ** BigInt(8 - listing.tickDecimals);
  const step = 10n ** BigInt(8 - listing.stepDecimals);
  expect(bids[0] ?? 0n).toBeLessThan(asks[0] ?? 0n);
  expect(bids.every((price, index) => price < (bids[index - 1] ?? price + 1n))).toBe(true);
  expect(asks.every((price, index) => price > (asks[index - 1] ?? 0n))).toBe(true);
  expect([...bids, ...asks].every((price) => price > 0n && price % tick === 0n)).toBe(true);
  const quantities = [...book.bids, ...book.asks].map(([, quantity]) => decimal(quantity));
  expect(quantities.every((quantity) => quantity > 0n && quantity % step === 0n)).toBe(true);
}

describe("the books of the simulated market", () => {
  test("have 20 levels a side on tick and step, in order, never crossed, with the touch on top", () => {
    fc.assert(
      fc.property(anyMarket, anyTime, ({ source, listing }, at) => {
        const book = source.book(listing.symbol, at, 20);
        const touch = source.touch(listing.symbol, at);
        expect(book?.bids.length).toBe(20);
        expect(book?.asks.length).toBe(20);
        if (book) expectSound(book, listing);
        expect([book?.bids[0], book?.asks[0]]).toEqual([touch?.bid, touch?.ask]);
      }),
      runs,
    );
  });

  test("have the last trade's price on the side that it took from", () => {
    fc.assert(
      fc.property(anyMarket, anyTime, ({ source, listing }, at) => {
        const trade = source.lastTrade(listing.symbol, at);
        const touch = source.touch(listing.symbol, at);
        const side = trade?.isBuyerMaker ? touch?.bid : touch?.ask;
        expect(side?.[0]).toBe(trade?.price);
      }),
      runs,
    );
  });

  test("update ids never go back, grow whenever the book changes and stay below 2^53", () => {
    fc.assert(
      fc.property(
        anyMarket,
        anyTime,
        fc.integer({ min: 1, max: 90 }),
        ({ source, listing }, at, strideMs) => {
          let before = source.book(listing.symbol, at, 20);
          for (let step = 1; step <= 20; step += 1) {
            const book = source.book(listing.symbol, at + step * strideMs, 20);
            const isSame =
              JSON.stringify([book?.bids, book?.asks]) === JSON.stringify([before?.bids, before?.asks]);
            expect(book?.updateId).toBeGreaterThanOrEqual((before?.updateId ?? 0) + (isSame ? 0 : 1));
            expect(Number.isSafeInteger(book?.updateId)).toBe(true);
            before = book;
          }
        },
      ),
      { ...runs, numRuns: 40 },
    );
  });

  test("a touch is published for each trade, with ids that ascend and agree with the book", () => {
    fc.assert(
      fc.property(anyMarket, anyTime, ({ source, listing }, at) => {
        const feed = source.feed(listing.symbol, at, at + 3_000, new Set(["touch"]));
        const touches = feed.flatMap((event) => (event.kind === "touch" ? [event.touch] : []));
        expect(touches.length).toBeGreaterThanOrEqual(8);
        expect(touches.every((touch, index) => touch.updateId > (touches[index - 1]?.updateId ?? 0))).toBe(
          true,
        );
        const last = touches.at(-1);
        const book = last && source.book(listing.symbol, last.at, 1);
        expect([book?.bids[0], book?.asks[0]]).toEqual([last?.bid, last?.ask]);
      }),
      { ...runs, numRuns: 40 },
    );
  });
});
