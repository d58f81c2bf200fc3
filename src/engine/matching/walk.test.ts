// The walk over a book and own consumption, over random books: what must always hold.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ConsumedLot, withLot } from "../../domain/consumed.ts";
import type { BookView } from "../../domain/market.ts";
import type { Side } from "../../domain/order.ts";
import { type Amount, costUp, type Price, type Quantity, sum, ZERO } from "../../money/decimal.ts";
import { consumedAt, takenSide, walkFor, walkForAmount } from "./walk.ts";

const RUNS = 500;
const STEP = 1_000n as Quantity;

/** Levels by price; asks ascend and bids descend. */
function bookOf(levels: ReadonlyMap<Price, Quantity>): BookView {
  return {
    lastUpdateId: 1,
    eventTime: 0,
    receivedAt: 0,
    tickerUpdateId: null,
    lastTradeId: null,
    *displayed(side) {
      const prices = [...levels.keys()].sort((one, other) => (one < other === (side === "ASK") ? -1 : 1));
      for (const price of prices) {
        yield { price, displayed: levels.get(price) ?? ZERO, fromTicker: false, newerTrades: ZERO };
      }
    },
    displayedAt: (_, price) => levels.get(price) ?? ZERO,
  };
}

const price = fc.bigInt({ min: 1n, max: 12n }).map((tick) => (tick * 10n ** 8n) as Price);
const quantity = fc.bigInt({ min: 0n, max: 50_000n }) as fc.Arbitrary<bigint> as fc.Arbitrary<Quantity>;
const book = fc.array(fc.tuple(price, quantity), { maxLength: 8 }).map((levels) => new Map(levels));
const side = fc.constantFrom<Side>("BUY", "SELL");

describe("one walk", () => {
  const terms = fc.record({ side, limit: fc.option(price), wanted: quantity });

  test("takes in the order of price, within the limit, no more than is available and than is wanted", async () => {
    await fc.assert(
      fc.property(book, terms, (levels, { side: taker, limit, wanted }) => {
        const taking = { side: taker, limit, lots: [], refreshMs: 5_000, at: 0, step: STEP };
        const { takes, left } = walkFor(wanted, bookOf(levels), taking);
        expect(sum(takes.map((take) => take.quantity)) + left).toBe(wanted);
        for (const [index, take] of takes.entries()) {
          const before = takes[index - 1];
          if (before !== undefined) expect(take.price > before.price).toBe(taker === "BUY");
          if (limit !== null) expect(taker === "BUY" ? take.price <= limit : take.price >= limit).toBe(true);
          expect(take.quantity <= (levels.get(take.price) ?? 0n)).toBe(true);
          // The last one may be cut to what was wanted.
          if (index < takes.length - 1) expect(take.quantity).toBe(take.level.available);
        }
        // What is left was not there: every level within the limit is used up to its step.
        if (left === 0n) return;
        for (const [at, displayed] of levels) {
          const isWithin = limit === null || (taker === "BUY" ? at <= limit : at >= limit);
          const taken = takes.find((take) => take.price === at)?.quantity ?? 0n;
          if (isWithin) expect(displayed - taken < STEP).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("an amount of quote is never exceeded, and is spent unless the book ends", async () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 6n }) as fc.Arbitrary<bigint> as fc.Arbitrary<Amount>;
    const onLot = (of: Quantity) => (of - (of % STEP)) as Quantity;
    await fc.assert(
      fc.property(book, amount, (levels, money) => {
        const taking = { side: "BUY", limit: null, lots: [], refreshMs: 0, at: 0, step: STEP } as const;
        const { takes, isSpent } = walkForAmount(money, bookOf(levels), taking, onLot);
        const spent = sum(takes.map((take) => costUp(take.price, take.quantity)));
        expect(spent <= money).toBe(true);
        const all = walkFor((10n ** 12n) as Quantity, bookOf(levels), taking);
        const bought = sum(takes.map((take) => take.quantity));
        if (!isSpent) expect(bought).toBe(sum(all.takes.map((take) => take.quantity)));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("own consumption", () => {
  const orders = fc.array(fc.record({ side, wanted: quantity, wait: fc.nat(2_000) }), { maxLength: 30 });

  test("what was taken of a level within the time to refresh is never more than was displayed and has come back", async () => {
    await fc.assert(
      fc.property(book, orders, fc.constantFrom(0, 1, 700, 5_000), (levels, all, refreshMs) => {
        let lots: readonly ConsumedLot[] = [];
        let at = 0;
        const taken: ConsumedLot[] = [];
        for (const { side: taker, wanted, wait } of all) {
          at += wait;
          const taking = { side: taker, limit: null, lots, refreshMs, at, step: STEP };
          for (const take of walkFor(wanted, bookOf(levels), taking).takes) {
            const lot = { side: takenSide(taker), price: take.price, quantity: take.quantity, at };
            taken.push(lot);
            lots = withLot(lots, lot, refreshMs);
            // At any time: what is still out, each lot by its age, fits into the display.
            const out = consumedAt(lot.side, lot.price, { lots: taken, refreshMs, at, step: ZERO });
            expect(out <= (levels.get(lot.price) ?? 0n)).toBe(true);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("merging lots never makes more available", async () => {
    const some = fc.array(fc.record({ price, quantity, wait: fc.nat(20), isBid: fc.boolean() }), {
      minLength: 60,
      maxLength: 200,
    });
    await fc.assert(
      fc.property(some, (given) => {
        let at = 0;
        let kept: readonly ConsumedLot[] = [];
        const all: ConsumedLot[] = [];
        for (const { isBid, wait, ...lot } of given) {
          at += wait;
          const next = { ...lot, side: isBid ? ("BID" as const) : ("ASK" as const), at };
          all.push(next);
          kept = withLot(kept, next, 1_000);
        }
        expect(kept.length).toBeLessThanOrEqual(64);
        for (const { side: of, price: level } of all) {
          const terms = { refreshMs: 1_000, at, step: ZERO };
          // To the last digit, and not rounded lot by lot.
          const exact = all
            .filter((lot) => lot.side === of && lot.price === level && at - lot.at < 1_000)
            .reduce((total, lot) => total + lot.quantity * BigInt(1_000 - (at - lot.at)), 0n);
          expect(consumedAt(of, level, { ...terms, lots: kept }) * 1_000n >= exact).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});
