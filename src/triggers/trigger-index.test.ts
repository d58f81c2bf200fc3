import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Quote } from "../domain/market.ts";
import type { Order } from "../domain/order.ts";
import { CONDITIONS, type Condition } from "../engine/trigger.ts";
import { decimal, type Price, ZERO } from "../money/decimal.ts";
import { type Hit, ON_MARK_PRICES, ON_TRADES, type Trigger, triggerOfOrder } from "./trigger.ts";
import { TriggerIndex } from "./trigger-index.ts";

const SYMBOLS = ["BTCUSDT", "ETHUSDT"] as const;

type Step =
  | { readonly step: "add"; readonly trigger: Trigger }
  | {
      readonly step: "remove";
      readonly symbol: string;
      readonly strategyId: string;
      readonly id: number;
    }
  | { readonly step: "quote"; readonly symbol: string; readonly quote: Quote }
  | { readonly step: "trade"; readonly symbol: string; readonly price: Price }
  | { readonly step: "mark"; readonly symbol: string; readonly price: Price }
  | {
      readonly step: "traded" | "marked";
      readonly symbol: string;
      readonly lowest: Price;
      readonly highest: Price;
    };

// Few prices, so that many orders share one; the symbol follows from the order, as in real use.
const price = fc.integer({ min: 1, max: 30 }).map((units) => decimal<Price>(String(units)));
const symbol = fc.constantFrom(...SYMBOLS);
const identity = fc
  .record({ strategyId: fc.constantFrom("s1", "s2", "s11"), id: fc.integer({ min: 1, max: 48 }) })
  .map((subject) => ({ ...subject, symbol: SYMBOLS[subject.id % 2] ?? "" }));

const add: fc.Arbitrary<Step> = fc
  .record({ identity, price })
  .map(({ identity, price }) => ({ step: "add", trigger: triggerOf(identity, price) }));
const remove: fc.Arbitrary<Step> = identity.map((subject) => ({ step: "remove", ...subject }));
const quote: fc.Arbitrary<Step> = fc
  .record({ symbol, quote: fc.record({ bid: fc.option(price), ask: fc.option(price) }) })
  .map((shown) => ({ step: "quote", ...shown }));
const trade: fc.Arbitrary<Step> = fc
  .record({ step: fc.constantFrom("trade" as const, "mark" as const), symbol, price })
  .map((made) => made);
const traded: fc.Arbitrary<Step> = fc
  .record({
    step: fc.constantFrom("traded" as const, "marked" as const),
    symbol,
    prices: fc.tuple(price, price),
  })
  .map(({ step, symbol, prices: [one, other] }) =>
    one < other
      ? { step, symbol, lowest: one, highest: other }
      : { step, symbol, lowest: other, highest: one },
  );
// Mostly additions, so that the heaps grow large enough.
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

test("the heaps agree with a plain list, step by step", async () => {
  let stepsMax = 0;
  const takenOn = new Set<Condition>();
  await fc.assert(
    fc.property(walk, (steps) => {
      stepsMax = Math.max(stepsMax, steps.length);
      const index = new TriggerIndex();
      const oracle = new PlainList();
      for (const step of steps) {
        switch (step.step) {
          case "add":
            index.add(step.trigger);
            oracle.add(step.trigger);
            break;
          case "remove":
            index.remove(step);
            oracle.remove(step.strategyId, step.id);
            break;
          case "quote":
          case "trade":
          case "mark":
          case "marked":
          case "traded": {
            const taken = takeBy(index, step);
            expect(inOneOrder(taken)).toEqual(inOneOrder(oracle.take(step)));
            expectNearestFirst(taken);
            for (const { trigger } of taken) takenOn.add(trigger.condition);
          }
        }
        for (const symbol of SYMBOLS) expect(index.has(symbol)).toBe(oracle.has(symbol));
      }
      // The remainder comes out completely: no entry is at a wrong position.
      for (const symbol of SYMBOLS) {
        for (const step of ["traded", "marked"] as const) {
          const everything: Taking = { step, symbol, lowest: decimal("0.1"), highest: decimal("100") };
          expect(index.has(symbol, step === "traded" ? ON_TRADES : ON_MARK_PRICES)).toBe(
            oracle.has(symbol, step),
          );
          expect(inOneOrder(takeBy(index, everything))).toEqual(inOneOrder(oracle.take(everything)));
        }
        expect(index.has(symbol)).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
  // A few steps do not test a heap.
  expect(stepsMax).toBeGreaterThan(300);
  expect(takenOn.size).toBe(CONDITIONS.length);
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
] as const)("a trigger on %s to 100 is hit by the quote %o: %s", (condition, quote, isHit) => {
  const { index, trigger } = indexOfOne(condition);
  const seen = condition === "ASK_FALLS" ? quote.ask : quote.bid;
  expect(index.takeAtQuote("BTCUSDT", quote)).toEqual(isHit ? [{ trigger, seen }] : []);
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
] as const)("a trigger on %s to 100 is hit by a trade at %s: %s", (condition, price, isHit) => {
  const { index, trigger } = indexOfOne(condition);
  expect(index.takeAtTrade("BTCUSDT", price)).toEqual(isHit ? [{ trigger, seen: price }] : []);
});

test.each([
  ["MARK_FALLS", AT_ITS_PRICE, true],
  ["MARK_FALLS", JUST_BELOW, true],
  ["MARK_FALLS", JUST_ABOVE, false],
  ["MARK_RISES", AT_ITS_PRICE, true],
  ["MARK_RISES", JUST_ABOVE, true],
  ["MARK_RISES", JUST_BELOW, false],
  ["TRADE_FALLS", JUST_BELOW, false],
  ["BID_RISES", JUST_ABOVE, false],
] as const)("a trigger on %s to 100 is hit by a mark price of %s: %s", (condition, price, isHit) => {
  const { index, trigger } = indexOfOne(condition);
  expect(index.takeAtMark("BTCUSDT", price)).toEqual(isHit ? [{ trigger, seen: price }] : []);
});

test.each([
  ["MARK_FALLS", JUST_BELOW, JUST_ABOVE, true],
  ["MARK_FALLS", AT_ITS_PRICE, JUST_ABOVE, false],
  ["MARK_RISES", JUST_BELOW, JUST_ABOVE, true],
  ["MARK_RISES", JUST_BELOW, AT_ITS_PRICE, false],
  ["ASK_FALLS", JUST_BELOW, JUST_ABOVE, false],
  ["TRADE_RISES", JUST_BELOW, JUST_ABOVE, false],
] as const)("a trigger on %s to 100 is hit by mark prices from %s to %s: %s", (...row) => {
  const [condition, lowest, highest, isHit] = row;
  const { index, trigger } = indexOfOne(condition);
  expect(index.takeMarked("BTCUSDT", lowest, highest).map((hit) => hit.trigger)).toEqual(
    isHit ? [trigger] : [],
  );
});

test("triggers of one mark price come in execution order: liquidation, stop, take-profit", () => {
  for (const take of [
    (index: TriggerIndex) => index.takeAtMark("BTCUSDT", decimal("90")),
    (index: TriggerIndex) => index.takeMarked("BTCUSDT", decimal("80"), decimal("90")),
  ]) {
    const index = new TriggerIndex();
    const shared = { strategyId: "s", symbol: "BTCUSDT", since: 0 } as const;
    // The nearest price is the last in execution order.
    index.add({ ...shared, kind: "PROFIT_LEG", id: 1, condition: "MARK_FALLS", price: decimal("98") });
    index.add({ ...shared, kind: "STOP_LEG", id: 2, condition: "MARK_FALLS", price: decimal("97") });
    index.add({
      ...shared,
      kind: "LIQUIDATION",
      id: "BTCUSDT",
      openedAt: 0,
      condition: "MARK_FALLS",
      price: decimal("96"),
    });
    expect(take(index).map(({ trigger }) => trigger.id)).toEqual(["BTCUSDT", 2, 1]);
  }
});

test("a changed price or another position replaces the trigger; an equal one keeps its creation time", () => {
  const index = new TriggerIndex();
  const trigger: Trigger = {
    strategyId: "s",
    kind: "LIQUIDATION",
    id: "BTCUSDT",
    openedAt: 5,
    symbol: "BTCUSDT",
    condition: "MARK_FALLS",
    price: AT_ITS_PRICE,
    since: 5,
  };
  index.add(trigger);
  index.add({ ...trigger, since: 7 });
  expect(index.ofStrategy("s")).toEqual([trigger]);
  const reopened: Trigger = { ...trigger, openedAt: 8, since: 8 };
  index.add(reopened);
  expect(index.ofStrategy("s")).toEqual([reopened]);
  const moved: Trigger = { ...trigger, price: decimal("90"), since: 9 };
  index.add(moved);
  expect(index.ofStrategy("s")).toEqual([moved]);
  expect(index.takeAtMark("BTCUSDT", AT_ITS_PRICE)).toEqual([]);
  expect(index.takeAtMark("BTCUSDT", decimal("90"))).toHaveLength(1);
  expect(index.has("BTCUSDT")).toBe(false);
});

test("only a trigger with the given creation time is backdated", () => {
  const { index, trigger } = indexOfOne("MARK_FALLS");
  index.backdate("s", 1, { from: 3, to: -9 });
  index.backdate("s", 2, { from: 0, to: -9 });
  expect(index.ofStrategy("s")).toEqual([trigger]);
  index.backdate("s", 1, { from: 0, to: -7 });
  expect(index.ofStrategy("s")).toEqual([{ ...trigger, since: -7 }]);
  expect(index.takeAtMark("BTCUSDT", AT_ITS_PRICE)).toHaveLength(1);
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
] as const)("a trigger on %s to 100 is certainly hit by trades from %s to %s: %s", (...row) => {
  const [condition, lowest, highest, isHit] = row;
  const { index, trigger } = indexOfOne(condition);
  const taken = index.takeTraded("BTCUSDT", lowest, highest);
  expect(taken.map((hit) => hit.trigger)).toEqual(isHit ? [trigger] : []);
  // The price must satisfy the engine: at the order's own price, or beyond it.
  for (const { seen } of taken) {
    if (condition.endsWith("FALLS")) expect(seen).toBeLessThanOrEqual(trigger.price);
    else expect(seen).toBeGreaterThanOrEqual(trigger.price);
  }
  expect(index.has("BTCUSDT")).toBe(!isHit);
});

test("nothing is taken twice, and nothing of another symbol", () => {
  const low: Quote = { bid: decimal("1"), ask: decimal("1") };
  const high: Quote = { bid: decimal("200"), ask: decimal("200") };
  for (const condition of ["ASK_FALLS", "BID_RISES"] as const) {
    const { index } = indexOfOne(condition);
    for (const quote of [low, high]) expect(index.takeAtQuote("ETHUSDT", quote)).toEqual([]);
    expect([low, high].flatMap((quote) => index.takeAtQuote("BTCUSDT", quote))).toHaveLength(1);
    expect([low, high].flatMap((quote) => index.takeAtQuote("BTCUSDT", quote))).toEqual([]);
  }
});

test("a changed condition replaces the trigger of an order, which its strategy lists", () => {
  const { index, trigger } = indexOfOne("TRADE_RISES");
  const other: Trigger = { ...trigger, strategyId: "t" };
  const limit: Trigger = { ...trigger, kind: "LIMIT", id: 1, condition: "ASK_FALLS", price: decimal("90") };
  index.add(other);
  index.add(limit);
  expect([index.includes(trigger), index.includes(limit), index.includes(other)]).toEqual([
    false,
    true,
    true,
  ]);
  expect([index.ofStrategy("s"), index.ofStrategy("t"), index.ofStrategy("u")]).toEqual([
    [limit],
    [other],
    [],
  ]);
  expect([...index.strategies()].sort()).toEqual(["s", "t"]);
  expect(index.counts()).toEqual({ orders: 2, legs: 0, positions: 0 });
  expect(index.takeAtTrade("BTCUSDT", decimal("200"))).toEqual([{ trigger: other, seen: decimal("200") }]);
  expect(index.takeAtQuote("BTCUSDT", { bid: null, ask: decimal("90") })).toHaveLength(1);
  expect([index.has("BTCUSDT"), [...index.strategies()]]).toEqual([false, []]);
});

const LIMIT_AND_STOP = { price: decimal<Price>("90"), stopPrice: decimal<Price>("95") };

test.each([
  [
    "a BUY",
    { side: "BUY", workingAt: 7 },
    { kind: "LIMIT", condition: "ASK_FALLS", price: LIMIT_AND_STOP.price, since: 7 },
  ],
  [
    "a SELL",
    { side: "SELL", workingAt: 7 },
    { kind: "LIMIT", condition: "BID_RISES", price: LIMIT_AND_STOP.price, since: 7 },
  ],
  [
    "a BUY's stop",
    { side: "BUY", workingAt: null },
    { kind: "STOP", condition: "TRADE_RISES", price: LIMIT_AND_STOP.stopPrice, since: 5 },
  ],
  [
    "a SELL's stop",
    { side: "SELL", workingAt: null },
    { kind: "STOP", condition: "TRADE_FALLS", price: LIMIT_AND_STOP.stopPrice, since: 5 },
  ],
] as const)("%s with %o has the trigger %o", (_name, terms, expected) => {
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
  expect(triggerOfOrder("s", order)).toEqual({ strategyId: "s", id: 3, symbol: "BTCUSDT", ...expected });
});

type Taking = Extract<Step, { readonly step: "quote" | "trade" | "mark" | "traded" | "marked" }>;

function takeBy(index: TriggerIndex, step: Taking): readonly Hit[] {
  switch (step.step) {
    case "quote":
      return index.takeAtQuote(step.symbol, step.quote);
    case "trade":
      return index.takeAtTrade(step.symbol, step.price);
    case "mark":
      return index.takeAtMark(step.symbol, step.price);
    case "traded":
      return index.takeTraded(step.symbol, step.lowest, step.highest);
    case "marked":
      return index.takeMarked(step.symbol, step.lowest, step.highest);
  }
}

/** The oracle: a plain trigger index without optimizations. */
class PlainList {
  #triggers: Trigger[] = [];

  add(trigger: Trigger): void {
    this.remove(trigger.strategyId, trigger.id);
    this.#triggers.push(trigger);
  }

  remove(strategyId: string, id: Trigger["id"]): void {
    this.#triggers = this.#triggers.filter((other) => other.strategyId !== strategyId || other.id !== id);
  }

  has(symbol: string, step?: "traded" | "marked"): boolean {
    return this.#triggers.some(
      (other) =>
        other.symbol === symbol &&
        (step === undefined || other.condition.startsWith("MARK") === (step === "marked")),
    );
  }

  take(step: Taking): Hit[] {
    const hits = this.#triggers
      .filter(({ symbol }) => symbol === step.symbol)
      .flatMap((trigger) => {
        const seen = hitAt(trigger, step);
        return seen === null ? [] : [{ trigger, seen }];
      });
    for (const { trigger } of hits) this.remove(trigger.strategyId, trigger.id);
    return hits;
  }
}

/** The price that hits a trigger, or null; each case written out, in a trader's words. */
function hitAt({ condition, price }: Trigger, step: Taking): Price | null {
  switch (condition) {
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
    case "MARK_FALLS":
      if (step.step === "mark") return step.price <= price ? step.price : null;
      return step.step === "marked" && step.lowest < price ? ((step.lowest + 1n) as Price) : null;
    case "MARK_RISES":
      if (step.step === "mark") return step.price >= price ? step.price : null;
      return step.step === "marked" && step.highest > price ? ((step.highest - 1n) as Price) : null;
  }
}

/** An order's price follows from its id, so that adding it again adds the same trigger. */
function triggerOf(subject: { strategyId: string; id: number; symbol: string }, price: Price): Trigger {
  const condition = CONDITIONS[(subject.id >> 1) % CONDITIONS.length] ?? "ASK_FALLS";
  return { ...subject, kind: "LIMIT", condition, price, since: 0 };
}

function indexOfOne(condition: Condition): { readonly index: TriggerIndex; readonly trigger: Trigger } {
  const index = new TriggerIndex();
  const trigger: Trigger = {
    strategyId: "s",
    kind: "LIMIT",
    id: 1,
    symbol: "BTCUSDT",
    condition,
    price: AT_ITS_PRICE,
    since: 0,
  };
  index.add(trigger);
  return { index, trigger };
}

function inOneOrder(hits: readonly Hit[]): Hit[] {
  const name = ({ trigger }: Hit) => `${trigger.strategyId}:${String(trigger.id).padStart(3, "0")}`;
  return hits.toSorted((left, right) => (name(left) < name(right) ? -1 : 1));
}

/** A falling price hits the highest first, a rising one the lowest. */
function expectNearestFirst(hits: readonly Hit[]): void {
  for (const kind of new Set(hits.map(({ trigger }) => trigger.condition))) {
    const prices = hits.flatMap(({ trigger }) => (trigger.condition === kind ? [trigger.price] : []));
    const isFirst = (left: Price, right: Price) => (kind.endsWith("FALLS") ? left > right : left < right);
    expect(prices).toEqual(prices.toSorted((left, right) => (isFirst(left, right) ? -1 : 1)));
  }
}
