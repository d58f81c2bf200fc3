import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Quote } from "../domain/market.ts";
import type { Order } from "../domain/order.ts";
import { decimal, type Price, ZERO } from "../money/decimal.ts";
import {
  isReachedByTrades,
  type Reached,
  type Waiting,
  type WaitsFor,
  WatchList,
  waitingOf,
} from "./watch-list.ts";

const SYMBOLS = ["BTCUSDT", "ETHUSDT"] as const;

type Step =
  | { readonly step: "add"; readonly waiting: Waiting }
  | {
      readonly step: "remove";
      readonly symbol: string;
      readonly strategyId: string;
      readonly orderId: number;
    }
  | { readonly step: "quote"; readonly symbol: string; readonly quote: Quote }
  | { readonly step: "trade"; readonly symbol: string; readonly price: Price }
  | { readonly step: "traded"; readonly symbol: string; readonly lowest: Price; readonly highest: Price };

// Few prices, so that many orders share one; the symbol follows from the order, as it does in life.
const price = fc.integer({ min: 1, max: 30 }).map((units) => decimal<Price>(String(units)));
const symbol = fc.constantFrom(...SYMBOLS);
const identity = fc
  .record({ strategyId: fc.constantFrom("s1", "s2", "s11"), orderId: fc.integer({ min: 1, max: 48 }) })
  .map((who) => ({ ...who, symbol: SYMBOLS[who.orderId % 2] ?? "" }));

const add: fc.Arbitrary<Step> = fc
  .record({ identity, price })
  .map(({ identity, price }) => ({ step: "add", waiting: someoneWaiting(identity, price) }));
const remove: fc.Arbitrary<Step> = identity.map((who) => ({ step: "remove", ...who }));
const quote: fc.Arbitrary<Step> = fc
  .record({ symbol, quote: fc.record({ bid: fc.option(price), ask: fc.option(price) }) })
  .map((shown) => ({ step: "quote", ...shown }));
const trade: fc.Arbitrary<Step> = fc.record({ symbol, price }).map((made) => ({ step: "trade", ...made }));
const traded: fc.Arbitrary<Step> = fc
  .record({ symbol, prices: fc.tuple(price, price) })
  .map(({ symbol, prices: [one, other] }) =>
    one < other
      ? { step: "traded", symbol, lowest: one, highest: other }
      : { step: "traded", symbol, lowest: other, highest: one },
  );
// Mostly additions, or the heaps would stay too small to have a shape.
const walk = fc.array(
  fc.oneof(
    { weight: 24, arbitrary: add },
    { weight: 10, arbitrary: remove },
    { weight: 1, arbitrary: quote },
    { weight: 1, arbitrary: trade },
    { weight: 1, arbitrary: traded },
  ),
  { maxLength: 400, size: "max" },
);

test("the heaps agree with a plain list, step by step", () => {
  let stepsMax = 0;
  const takenWaitingFor = new Set<WaitsFor>();
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
          case "quote":
          case "trade":
          case "traded": {
            const taken = takeBy(list, step);
            expect(inOneOrder(taken)).toEqual(inOneOrder(referee.take(step)));
            expectNearestFirst(taken);
            for (const { waiting } of taken) takenWaitingFor.add(waiting.waitsFor);
          }
        }
        for (const symbol of SYMBOLS) expect(list.has(symbol)).toBe(referee.has(symbol));
        expect([...list.symbols()].sort()).toEqual(SYMBOLS.filter((symbol) => referee.has(symbol)));
      }
      // What is left comes out whole: nothing is hidden at a wrong place.
      for (const symbol of SYMBOLS) {
        const everything: Taking = {
          step: "traded",
          symbol,
          lowest: decimal("0.1"),
          highest: decimal("100"),
        };
        expect(inOneOrder(takeBy(list, everything))).toEqual(inOneOrder(referee.take(everything)));
        expect(list.has(symbol)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
  // A walk of a few steps proves nothing about a heap.
  expect(stepsMax).toBeGreaterThan(300);
  expect(takenWaitingFor.size).toBe(4);
});

const AT_ITS_PRICE = decimal<Price>("100");
const JUST_BELOW = decimal<Price>("99.99999999");
const JUST_ABOVE = decimal<Price>("100.00000001");

test.each([
  ["ASK_FALLS", { bid: null, ask: AT_ITS_PRICE }, true],
  ["ASK_FALLS", { bid: null, ask: JUST_BELOW }, true],
  ["ASK_FALLS", { bid: null, ask: JUST_ABOVE }, false],
  ["ASK_FALLS", { bid: AT_ITS_PRICE, ask: null }, false],
  ["BID_RISES", { bid: AT_ITS_PRICE, ask: null }, true],
  ["BID_RISES", { bid: JUST_ABOVE, ask: null }, true],
  ["BID_RISES", { bid: JUST_BELOW, ask: null }, false],
  ["BID_RISES", { bid: null, ask: AT_ITS_PRICE }, false],
  ["TRADE_FALLS", { bid: JUST_BELOW, ask: JUST_BELOW }, false],
  ["TRADE_RISES", { bid: JUST_ABOVE, ask: JUST_ABOVE }, false],
] as const)("one who waits for %s to 100 is reached by the quote %o: %s", (waitsFor, quote, isReached) => {
  const { list, waiting } = listOfOne(waitsFor);
  const seen = waitsFor === "ASK_FALLS" ? quote.ask : quote.bid;
  expect(list.takeAtQuote("BTCUSDT", quote)).toEqual(isReached ? [{ waiting, seen }] : []);
});

test.each([
  ["TRADE_FALLS", AT_ITS_PRICE, true],
  ["TRADE_FALLS", JUST_BELOW, true],
  ["TRADE_FALLS", JUST_ABOVE, false],
  ["TRADE_RISES", AT_ITS_PRICE, true],
  ["TRADE_RISES", JUST_ABOVE, true],
  ["TRADE_RISES", JUST_BELOW, false],
  ["ASK_FALLS", JUST_BELOW, false],
  ["BID_RISES", JUST_ABOVE, false],
] as const)("one who waits for %s to 100 is reached by a trade at %s: %s", (waitsFor, price, isReached) => {
  const { list, waiting } = listOfOne(waitsFor);
  expect(list.takeAtTrade("BTCUSDT", price)).toEqual(isReached ? [{ waiting, seen: price }] : []);
});

test.each([
  ["TRADE_FALLS", AT_ITS_PRICE, JUST_ABOVE, true],
  ["TRADE_FALLS", JUST_ABOVE, JUST_ABOVE, false],
  ["TRADE_RISES", JUST_BELOW, AT_ITS_PRICE, true],
  ["TRADE_RISES", JUST_BELOW, JUST_BELOW, false],
  ["ASK_FALLS", JUST_BELOW, JUST_ABOVE, true],
  ["ASK_FALLS", AT_ITS_PRICE, JUST_ABOVE, false],
  ["BID_RISES", JUST_BELOW, JUST_ABOVE, true],
  ["BID_RISES", JUST_BELOW, AT_ITS_PRICE, false],
] as const)("one who waits for %s to 100 was reached for certain by trades from %s to %s: %s", (...row) => {
  const [waitsFor, lowest, highest, isReached] = row;
  const { list, waiting } = listOfOne(waitsFor);
  expect(isReachedByTrades(waiting, lowest, highest)).toBe(isReached);
  const taken = list.takeTraded("BTCUSDT", lowest, highest);
  expect(taken.map((reached) => reached.waiting)).toEqual(isReached ? [waiting] : []);
  // What was seen has to convince whoever carries it out: at the order's own price, or beyond it.
  for (const { seen } of taken) {
    if (waitsFor.endsWith("FALLS")) expect(seen).toBeLessThanOrEqual(waiting.price);
    else expect(seen).toBeGreaterThanOrEqual(waiting.price);
  }
  expect(list.has("BTCUSDT")).toBe(!isReached);
});

test("nothing is taken twice, and nothing of another symbol", () => {
  const low: Quote = { bid: decimal("1"), ask: decimal("1") };
  const high: Quote = { bid: decimal("200"), ask: decimal("200") };
  for (const waitsFor of ["ASK_FALLS", "BID_RISES"] as const) {
    const { list } = listOfOne(waitsFor);
    for (const quote of [low, high]) expect(list.takeAtQuote("ETHUSDT", quote)).toEqual([]);
    expect([low, high].flatMap((quote) => list.takeAtQuote("BTCUSDT", quote))).toHaveLength(1);
    expect([low, high].flatMap((quote) => list.takeAtQuote("BTCUSDT", quote))).toEqual([]);
  }
});

test("an order that waits for something else from now on waits for that alone, and is found by its strategy", () => {
  const { list, waiting } = listOfOne("TRADE_RISES");
  const other: Waiting = { ...waiting, strategyId: "t" };
  const limit: Waiting = { ...waiting, waitsFor: "ASK_FALLS", price: decimal("90") };
  list.add(other);
  list.add(limit);
  expect([list.includes(waiting), list.includes(limit), list.includes(other)]).toEqual([false, true, true]);
  expect([list.ofStrategy("s"), list.ofStrategy("t"), list.ofStrategy("u")]).toEqual([[limit], [other], []]);
  expect([...list.strategies()].sort()).toEqual(["s", "t"]);
  expect(list.size).toBe(2);
  expect(list.takeAtTrade("BTCUSDT", decimal("200"))).toEqual([{ waiting: other, seen: decimal("200") }]);
  expect(list.takeAtQuote("BTCUSDT", { bid: null, ask: decimal("90") })).toHaveLength(1);
  expect([list.size, list.has("BTCUSDT"), [...list.strategies()]]).toEqual([0, false, []]);
});

const LIMIT_AND_STOP = { price: decimal<Price>("90"), stopPrice: decimal<Price>("95") };

test.each([
  ["a BUY", { side: "BUY", workingAt: 7 }, { waitsFor: "ASK_FALLS", price: LIMIT_AND_STOP.price, since: 7 }],
  [
    "a SELL",
    { side: "SELL", workingAt: 7 },
    { waitsFor: "BID_RISES", price: LIMIT_AND_STOP.price, since: 7 },
  ],
  [
    "a BUY's stop",
    { side: "BUY", workingAt: null },
    { waitsFor: "TRADE_RISES", price: LIMIT_AND_STOP.stopPrice, since: 5 },
  ],
  [
    "a SELL's stop",
    { side: "SELL", workingAt: null },
    { waitsFor: "TRADE_FALLS", price: LIMIT_AND_STOP.stopPrice, since: 5 },
  ],
] as const)("%s with %o waits for %o", (_who, terms, expected) => {
  const order: Order = {
    orderId: 3,
    clientOrderId: "c",
    symbol: "BTCUSDT",
    type: "STOP_LOSS_LIMIT",
    status: "NEW",
    ...LIMIT_AND_STOP,
    quantity: decimal("1"),
    quoteQuantity: ZERO,
    executedQuantity: ZERO,
    executedQuote: ZERO,
    reserved: decimal("90"),
    reservedAsset: "USDT",
    placedAt: 5,
    updatedAt: 7,
    ...terms,
  };
  expect(waitingOf("s", order)).toEqual({ strategyId: "s", orderId: 3, symbol: "BTCUSDT", ...expected });
});

type Taking = Extract<Step, { readonly step: "quote" | "trade" | "traded" }>;

function takeBy(list: WatchList, step: Taking): readonly Reached[] {
  switch (step.step) {
    case "quote":
      return list.takeAtQuote(step.symbol, step.quote);
    case "trade":
      return list.takeAtTrade(step.symbol, step.price);
    case "traded":
      return list.takeTraded(step.symbol, step.lowest, step.highest);
  }
}

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

  take(step: Taking): Reached[] {
    const reached = this.#waiting
      .filter(({ symbol }) => symbol === step.symbol)
      .flatMap((waiting) => {
        const seen = reachedAt(waiting, step);
        return seen === null ? [] : [{ waiting, seen }];
      });
    for (const { waiting } of reached) this.remove(waiting.strategyId, waiting.orderId);
    return reached;
  }
}

/** The price that reaches one who waits, or null; each case by itself, in a trader's words. */
function reachedAt({ waitsFor, price }: Waiting, step: Taking): Price | null {
  switch (waitsFor) {
    case "ASK_FALLS":
      if (step.step === "quote")
        return step.quote.ask !== null && step.quote.ask <= price ? step.quote.ask : null;
      return step.step === "traded" && step.lowest < price ? ((step.lowest + 1n) as Price) : null;
    case "BID_RISES":
      if (step.step === "quote")
        return step.quote.bid !== null && step.quote.bid >= price ? step.quote.bid : null;
      return step.step === "traded" && step.highest > price ? ((step.highest - 1n) as Price) : null;
    case "TRADE_FALLS":
      if (step.step === "trade") return step.price <= price ? step.price : null;
      return step.step === "traded" && step.lowest <= price ? step.lowest : null;
    case "TRADE_RISES":
      if (step.step === "trade") return step.price >= price ? step.price : null;
      return step.step === "traded" && step.highest >= price ? step.highest : null;
  }
}

function isOrder(waiting: Waiting, strategyId: string, orderId: number): boolean {
  return waiting.strategyId === strategyId && waiting.orderId === orderId;
}

/** What an order waits for follows from its id, so that one that is added again waits for the same. */
function someoneWaiting(who: { strategyId: string; orderId: number; symbol: string }, price: Price): Waiting {
  const kinds = ["ASK_FALLS", "BID_RISES", "TRADE_FALLS", "TRADE_RISES"] as const;
  return { ...who, waitsFor: kinds[(who.orderId >> 1) % kinds.length] ?? "ASK_FALLS", price, since: 0 };
}

function listOfOne(waitsFor: WaitsFor): { readonly list: WatchList; readonly waiting: Waiting } {
  const list = new WatchList();
  const waiting: Waiting = {
    strategyId: "s",
    orderId: 1,
    symbol: "BTCUSDT",
    waitsFor,
    price: AT_ITS_PRICE,
    since: 0,
  };
  list.add(waiting);
  return { list, waiting };
}

function inOneOrder(reached: readonly Reached[]): Reached[] {
  const name = ({ waiting }: Reached) => `${waiting.strategyId}:${String(waiting.orderId).padStart(3, "0")}`;
  return reached.toSorted((left, right) => (name(left) < name(right) ? -1 : 1));
}

/** A price that falls meets the dearest first, one that rises the cheapest. */
function expectNearestFirst(reached: readonly Reached[]): void {
  for (const kind of new Set(reached.map(({ waiting }) => waiting.waitsFor))) {
    const prices = reached.flatMap(({ waiting }) => (waiting.waitsFor === kind ? [waiting.price] : []));
    const isFirst = (left: Price, right: Price) => (kind.endsWith("FALLS") ? left > right : left < right);
    expect(prices).toEqual(prices.toSorted((left, right) => (isFirst(left, right) ? -1 : 1)));
  }
}
