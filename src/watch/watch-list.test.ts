import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Quote } from "../domain/market.ts";
import { decimal, type Price } from "../money/decimal.ts";
import { type Crossed, type Waiting, WatchList } from "./watch-list.ts";

const SYMBOLS = ["BTCUSDT", "ETHUSDT"] as const;

type Step =
  | { readonly step: "add"; readonly waiting: Waiting }
  | {
      readonly step: "remove";
      readonly symbol: string;
      readonly strategyId: string;
      readonly orderId: number;
    }
  | { readonly step: "take"; readonly symbol: string; readonly quote: Quote };

// Few prices, so that many orders share one; symbol and side follow from the order, as they do in life.
const price = fc.integer({ min: 1, max: 30 }).map((units) => decimal<Price>(String(units)));
const identity = fc
  .record({
    strategyId: fc.constantFrom("s1", "s2", "s11"),
    orderId: fc.integer({ min: 1, max: 48 }),
  })
  .map(({ strategyId, orderId }) => ({ strategyId, orderId, symbol: SYMBOLS[orderId % 2] ?? "" }));

const add: fc.Arbitrary<Step> = fc
  .record({ identity, price })
  .map(({ identity, price }) => ({ step: "add", waiting: waitingOf(identity, price) }));
const remove: fc.Arbitrary<Step> = identity.map((who) => ({ step: "remove", ...who }));
const take: fc.Arbitrary<Step> = fc
  .record({
    symbol: fc.constantFrom(...SYMBOLS),
    quote: fc.record({ bid: fc.option(price), ask: fc.option(price) }),
  })
  .map(({ symbol, quote }) => ({ step: "take", symbol, quote }));
// Mostly additions, or the heaps would stay too small to have a shape.
const walk = fc.array(
  fc.oneof({ weight: 12, arbitrary: add }, { weight: 5, arbitrary: remove }, { weight: 1, arbitrary: take }),
  { maxLength: 400, size: "max" },
);

test("the heaps agree with a plain list, step by step", () => {
  let stepsMax = 0;
  fc.assert(
    fc.property(walk, (steps) => {
      stepsMax = Math.max(stepsMax, steps.length);
      const list = new WatchList();
      const referee = new PlainList();
      for (const step of steps) {
        switch (step.step) {
          case "add":
            list.add(step.waiting);
            referee.add(step.waiting);
            break;
          case "remove":
            list.remove(step.symbol, step.strategyId, step.orderId);
            referee.remove(step.strategyId, step.orderId);
            break;
          case "take": {
            const taken = list.take(step.symbol, step.quote);
            expect(inOneOrder(taken)).toEqual(inOneOrder(referee.take(step.symbol, step.quote)));
            expectBestFirst(taken);
          }
        }
        for (const symbol of SYMBOLS) expect(list.has(symbol)).toBe(referee.has(symbol));
      }
      // What is left comes out whole.
      for (const symbol of SYMBOLS) {
        const everything: Quote = { bid: decimal("1000"), ask: decimal("0.00000001") };
        expect(inOneOrder(list.take(symbol, everything))).toEqual(
          inOneOrder(referee.take(symbol, everything)),
        );
        expect(list.has(symbol)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
  // A walk of a few steps proves nothing about a heap.
  expect(stepsMax).toBeGreaterThan(300);
});

test.each([
  ["BUY", "100", { bid: null, ask: "100" }, true],
  ["BUY", "100", { bid: null, ask: "99.99999999" }, true],
  ["BUY", "100", { bid: null, ask: "100.00000001" }, false],
  ["BUY", "100", { bid: "100", ask: null }, false],
  ["SELL", "100", { bid: "100", ask: null }, true],
  ["SELL", "100", { bid: "100.00000001", ask: null }, true],
  ["SELL", "100", { bid: "99.99999999", ask: null }, false],
  ["SELL", "100", { bid: null, ask: "100" }, false],
] as const)("a %s at %s is reached by %o: %s", (side, limit, { bid, ask }, isReached) => {
  const list = new WatchList();
  const waiting: Waiting = { strategyId: "s", orderId: 1, symbol: "BTCUSDT", side, price: decimal(limit) };
  list.add(waiting);
  const quote = { bid: bid && decimal<Price>(bid), ask: ask && decimal<Price>(ask) };
  expect(list.take("BTCUSDT", quote)).toEqual(
    isReached ? [{ waiting, seen: side === "BUY" ? quote.ask : quote.bid }] : [],
  );
});

test("a quote takes nothing twice, and nothing of another symbol", () => {
  const list = new WatchList();
  list.add(waitingOf({ strategyId: "s", orderId: 1, symbol: "BTCUSDT" }, decimal("100")));
  const low: Quote = { bid: decimal("1"), ask: decimal("1") };
  const high: Quote = { bid: decimal("200"), ask: decimal("200") };
  for (const quote of [low, high]) expect(list.take("ETHUSDT", quote)).toEqual([]);
  expect([low, high].flatMap((quote) => list.take("BTCUSDT", quote))).toHaveLength(1);
  expect([low, high].flatMap((quote) => list.take("BTCUSDT", quote))).toEqual([]);
});

/** The referee: what a watch list is, without a thought for speed. */
class PlainList {
  #waiting: Waiting[] = [];

  add(waiting: Waiting): void {
    const { strategyId, orderId } = waiting;
    if (!this.#waiting.some((other) => isOrder(other, strategyId, orderId))) this.#waiting.push(waiting);
  }

  remove(strategyId: string, orderId: number): void {
    this.#waiting = this.#waiting.filter((other) => !isOrder(other, strategyId, orderId));
  }

  has(symbol: string): boolean {
    return this.#waiting.some((other) => other.symbol === symbol);
  }

  take(symbol: string, { bid, ask }: Quote): Crossed[] {
    const crossed: Crossed[] = [];
    for (const waiting of this.#waiting.filter((other) => other.symbol === symbol)) {
      const seen = waiting.side === "BUY" ? ask : bid;
      if (seen === null) continue;
      if (waiting.side === "BUY" ? seen <= waiting.price : seen >= waiting.price) {
        crossed.push({ waiting, seen });
      }
    }
    for (const { waiting } of crossed) this.remove(waiting.strategyId, waiting.orderId);
    return crossed;
  }
}

function isOrder(waiting: Waiting, strategyId: string, orderId: number): boolean {
  return waiting.strategyId === strategyId && waiting.orderId === orderId;
}

function waitingOf(
  { strategyId, orderId, symbol }: { strategyId: string; orderId: number; symbol: string },
  price: Price,
): Waiting {
  return { strategyId, orderId, symbol, side: orderId % 3 === 0 ? "SELL" : "BUY", price };
}

function inOneOrder(crossed: readonly Crossed[]): Crossed[] {
  const name = ({ waiting }: Crossed) => `${waiting.strategyId}:${String(waiting.orderId).padStart(3, "0")}`;
  return crossed.toSorted((left, right) => (name(left) < name(right) ? -1 : 1));
}

function expectBestFirst(crossed: readonly Crossed[]): void {
  const prices = (side: "BUY" | "SELL") =>
    crossed.filter(({ waiting }) => waiting.side === side).map(({ waiting }) => waiting.price);
  expect(prices("BUY")).toEqual(prices("BUY").toSorted((left, right) => (left > right ? -1 : 1)));
  expect(prices("SELL")).toEqual(prices("SELL").toSorted((left, right) => (left < right ? -1 : 1)));
}
