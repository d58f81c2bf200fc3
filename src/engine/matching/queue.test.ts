// Queues: the worked examples that need no account (W9, W10, W14, W17), and what must always hold.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QUEUE_MODELS, type QueueModel } from "../../domain/fill-profile.ts";
import { decimal, formatBriefly, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { aheadAfterChange, ExchangeOrder, matchTrade } from "./queue.ts";

const RUNS = 500;
const quantity = (text: string) => decimal<Quantity>(text);
const LIMIT = decimal<Price>("59999.99");

describe("cancellations in front", () => {
  test.each([
    ["trades", "0.5"],
    ["power-1", "0.3"],
    ["power-2", "0.42"],
    ["power-3", "0.492"],
  ] as const)("W9: 0.5 of 1 vanish while 0.6 is ahead: %s leaves %s", (model, ahead) => {
    const change = { before: quantity("1"), after: quantity("0.5"), traded: ZERO };
    expect(formatBriefly(aheadAfterChange(model, quantity("0.6"), change))).toBe(ahead);
  });

  test("what was traded is not canceled", () => {
    const change = { before: quantity("1"), after: quantity("0.5"), traded: quantity("0.5") };
    expect(aheadAfterChange("power-1", quantity("0.1"), change)).toBe(quantity("0.1"));
  });
});

describe("the order of events", () => {
  /** A change of the level's quantity. */
  type Change = { readonly time: number; readonly after: Quantity };

  /** The queue of one order at one level, as the trigger index keeps it. */
  class Level {
    ahead: Quantity;
    filled: Quantity = ZERO;
    readonly #order = new ExchangeOrder<Change>();
    #shown: Quantity;
    #traded: Quantity = ZERO;

    constructor(shown: Quantity) {
      this.#shown = shown;
      this.ahead = shown;
    }

    change(change: Change): void {
      this.#apply(this.#order.change(change));
    }

    trade(time: number, traded: Quantity): void {
      this.#apply(this.#order.trade(time));
      const order = { price: LIMIT, remaining: quantity("1"), ahead: this.ahead };
      const matched = matchTrade({ price: LIMIT }, traded, order, ZERO);
      if (matched === null) return;
      this.ahead = matched.ahead;
      this.filled = (this.filled + matched.fill) as Quantity;
      this.#traded = (this.#traded + traded) as Quantity;
    }

    #apply(changes: readonly Change[]): void {
      for (const { after } of changes) {
        const change = { before: this.#shown, after, traded: this.#traded };
        this.ahead = aheadAfterChange("trades", this.ahead, change);
        this.#shown = after;
        this.#traded = ZERO;
      }
    }
  }

  test("W10: a trade that a change contains comes first, whenever it arrives", () => {
    const level = new Level(quantity("0.001"));
    level.change({ time: 1_000, after: quantity("0.0004") });
    level.trade(970, quantity("0.0006"));
    expect([level.ahead, level.filled]).toEqual([quantity("0.0004"), ZERO]);
    level.trade(1_300, quantity("0.0005"));
    expect([level.ahead, level.filled]).toEqual([ZERO, quantity("0.0001")]);
  });

  test("a trade at the time of a change is in the change", () => {
    const order = new ExchangeOrder<{ time: number }>();
    order.change({ time: 1_000 });
    expect(order.trade(1_000)).toEqual([]);
    expect(order.trade(1_001)).toEqual([{ time: 1_000 }]);
  });

  test("without a trade a change counts once another one is more than a second younger", () => {
    const order = new ExchangeOrder<{ time: number }>();
    expect(order.change({ time: 1_000 })).toEqual([]);
    expect(order.change({ time: 2_000 })).toEqual([]);
    expect(order.change({ time: 2_001 })).toEqual([{ time: 1_000 }]);
    expect(order.trade(5_000)).toEqual([{ time: 2_000 }, { time: 2_001 }]);
  });
});

const amount = fc.bigInt({ min: 0n, max: 10n ** 12n }) as fc.Arbitrary<bigint> as fc.Arbitrary<Quantity>;
const change = fc.record({ before: amount, after: amount, traded: amount });
const model = fc.constantFrom(...QUEUE_MODELS);

describe("always", () => {
  test("a change of the level never raises what is ahead, and leaves no more than is displayed", async () => {
    await fc.assert(
      fc.property(model, amount, change, (of, ahead, changed) => {
        const after = aheadAfterChange(of, ahead, changed);
        expect(after >= 0n && after <= ahead && after <= changed.after).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test("a trade never raises what is ahead, and fills at most what is left of it and of the order", async () => {
    const order = fc.record({
      price: fc.constantFrom(LIMIT, (LIMIT + 1n) as Price),
      remaining: amount,
      ahead: fc.option(amount),
    });
    const step = fc.constantFrom(ZERO, 1n as Quantity, 1_000n as Quantity);
    await fc.assert(
      fc.property(amount, order, step, (left, waiting, onStep) => {
        const matched = matchTrade({ price: LIMIT }, left, waiting, onStep);
        if (matched === null) {
          expect([waiting.ahead, waiting.price]).toEqual([null, LIMIT]);
          return;
        }
        expect(matched.fill <= left && matched.fill <= waiting.remaining).toBe(true);
        expect(matched.ahead >= 0n && matched.ahead <= (waiting.ahead ?? matched.ahead)).toBe(true);
        // What is in front is served first.
        if (matched.cause === "TRADE_AT_PRICE" && matched.fill > 0n) expect(matched.ahead).toBe(ZERO);
      }),
      { numRuns: RUNS },
    );
  });

  /** Changes and trades of one level, in the exchange's order. */
  const events = fc.array(fc.oneof(fc.record({ shown: amount }), fc.record({ traded: amount })), {
    maxLength: 20,
  });

  function filledBy(of: QueueModel, shownAtFirst: Quantity, all: readonly Event[]): readonly bigint[] {
    let shown = shownAtFirst;
    let ahead = shownAtFirst;
    let traded: Quantity = ZERO;
    let filled = 0n;
    return all.map((event) => {
      if ("shown" in event) {
        ahead = aheadAfterChange(of, ahead, { before: shown, after: event.shown, traded });
        shown = event.shown;
        traded = ZERO;
        return filled;
      }
      const order = { price: LIMIT, remaining: (10n ** 15n) as Quantity, ahead };
      const matched = matchTrade({ price: LIMIT }, event.traded, order, ZERO);
      if (matched === null) throw new Error("the queue is known");
      ahead = matched.ahead;
      traded = (traded + event.traded) as Quantity;
      filled += matched.fill;
      return filled;
    });
  }
  type Event = { readonly shown: Quantity } | { readonly traded: Quantity };

  test("with `trades` an order is never filled earlier than with any power", async () => {
    await fc.assert(
      fc.property(model, amount, events, (of, shown, all) => {
        const cautious = filledBy("trades", shown, all);
        const other = filledBy(of, shown, all);
        for (const [index, filled] of cautious.entries()) expect(filled <= (other[index] ?? 0n)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test("in the order of the exchange every change comes once, and none after a trade that is later than it", async () => {
    const arriving = fc.array(fc.record({ isTrade: fc.boolean(), time: fc.nat(5_000) }), { maxLength: 40 });
    await fc.assert(
      fc.property(arriving, (arrivals) => {
        const order = new ExchangeOrder<{ time: number }>();
        const changes = arrivals.filter(({ isTrade }) => !isTrade).map(({ time }) => time);
        const ascending = changes.sort((one, other) => one - other);
        const released: number[] = [];
        let next = 0;
        for (const { isTrade, time } of arrivals) {
          const out = isTrade ? order.trade(time) : order.change({ time: ascending[next++] ?? 0 });
          if (isTrade) for (const each of out) expect(each.time).toBeLessThan(time);
          released.push(...out.map((each) => each.time));
        }
        released.push(...order.trade(Number.POSITIVE_INFINITY).map((each) => each.time));
        expect(released).toEqual(ascending);
      }),
      { numRuns: RUNS },
    );
  });
});
