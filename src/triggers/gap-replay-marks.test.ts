// Gaps in which mark prices decide.
import { describe, expect, test } from "vitest";
import type { PriceRange } from "../market/feed.ts";
import { cleanFixtures, createFixture, START, startOn, type Terms } from "./testing/fixture.ts";
import {
  FUTURES,
  fundingOf,
  MINUTE,
  minute,
  minuteAt,
  settlementAt,
  standingOf,
} from "./testing/futures-fixture.ts";

/** A position of 1 BTC; a long is liquidated at 95.43. */
const ONE: Terms = { quantity: "1" };
const RETRY = 5_000;
/** How often uncovered intervals are requested, ms. */
const STORE_INTERVAL = 5_000;
/** The end of every gap of these tests. */
const GAP_END = minuteAt(10);

cleanFixtures();

describe("the mark prices of a gap", () => {
  test.each([
    ["97", "100", { holds: "1.00000000", stop: "NEW" }],
    ["96.99999999", "100", { holds: "0", stop: "FINISHED" }],
    ["98", "103", { holds: "1.00000000", profit: "NEW" }],
    ["98", "103.00000001", { holds: "0", profit: "FINISHED" }],
    ["96", "104", { holds: "0", stop: "FINISHED", profit: "CANCELED", closedBy: ["MARKET"] }],
    ["90", "104", { holds: "0", stop: "CANCELED", profit: "CANCELED", closedBy: ["LIQUIDATION"] }],
  ] as const)(
    "between %s and %s leave a position with legs at 97 and 103 as %o",
    async (lowest, highest, standing) => {
      const { place, store, gap } = await fixtureWithGap();
      await place("one", "BUY", null, { ...ONE, stopLoss: "97", takeProfit: "103" });
      await gap({ marked: [minute(3, lowest, highest)] });
      expect(await standingOf(store, "one")).toMatchObject(standing);
    },
  );

  test("concern only a position that had stood since before them", async () => {
    const { time, place, store, gap } = await fixtureWithGap();
    time.advance(minuteAt(4) + 1 - time.now());
    await place("one", "BUY", null, ONE);
    await gap({ marked: [minute(3, "80", "100"), minute(4, "80", "100")] });
    expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000" });
    await gap({ marked: [minute(5, "80", "100")] });
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("are not requested together with trades without triggers on those", async () => {
    const { place, market, gap } = await fixtureWithGap();
    await place("one", "BUY", null, ONE);
    await gap({});
    expect(market.asked).toEqual([]);
  });

  test("are requested again until they are available", async () => {
    const { time, place, market, store, settled, gap } = await fixtureWithGap();
    await place("one", "BUY", null, ONE);
    await gap({ marked: null });
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: [] });
    market.answerMarks([minute(3, "80", "100")]);
    time.advance(RETRY);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });
});

describe("triggers created within a gap", () => {
  /** Bought at 95, a long is liquidated at 90.68. */
  const BOUGHT = minute(3, "94", "100");

  test.each([
    ["an earlier minute", minute(2, "80", "100"), []],
    ["the same minute", minute(3, "80", "100"), []],
    ["a later minute", minute(5, "80", "100"), ["LIQUIDATION"]],
    ["a later minute that does not reach it", minute(5, "91", "100"), []],
  ] as const)(
    "is held against mark prices: a position is bought, and those of %s come",
    async (_when, marked, closedBy) => {
      const { place, store, gap } = await fixtureWithGap();
      await place("one", "BUY", "95", ONE);
      await gap({ traded: [BOUGHT], marked: [marked] });
      expect(await standingOf(store, "one")).toMatchObject({
        holds: closedBy.length > 0 ? "0" : "1.00000000",
        closedBy,
      });
    },
  );

  test("comes with legs that later minutes reach", async () => {
    const { place, store, gap } = await fixtureWithGap();
    await place("one", "BUY", "95", { ...ONE, stopLoss: "92", takeProfit: "103" });
    await gap({
      traded: [BOUGHT],
      marked: [minute(2, "91", "104"), minute(4, "93", "102"), minute(6, "91.5", "102")],
    });
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "FINISHED" });
  });

  test("is hit by the present mark price only after the gap: a take-profit comes before the fall to a stop", async () => {
    const { place, market, store, gap } = await fixtureWithGap();
    await place("one", "BUY", "95", { ...ONE, stopLoss: "92", takeProfit: "103" });
    market.showMark("BTCUSDT", "91");
    await gap({ traded: [BOUGHT], marked: [minute(4, "94", "104"), minute(6, "91", "100")] });
    expect(await standingOf(store, "one")).toMatchObject({
      holds: "0",
      stop: "CANCELED",
      profit: "FINISHED",
    });
  });

  test("is paid for as it was then, whatever the mark price is now: what was bought is liquidated, and does not expire", async () => {
    const { place, market, store, gap, statusOf } = await fixtureWithGap();
    const { orderId } = await place("one", "BUY", "95", { quantity: "30" });
    market.showMark("BTCUSDT", "60");
    await gap({ traded: [BOUGHT] });
    expect(await statusOf("one", orderId)).toBe("FILLED");
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("is not undone by what comes after it: a liquidated position's order is not filled", async () => {
    const { place, store, gap } = await fixtureWithGap();
    await place("one", "BUY", null, ONE);
    await place("one", "BUY", "92", ONE);
    await gap({ marked: [minute(3, "80", "100")], traded: [minute(3, "80", "100"), minute(4, "80", "100")] });
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", closedBy: ["LIQUIDATION"] });
    expect(await store.listOpenOrders("one", null)).toEqual([]);
  });
});

describe("triggers of an order under `strict` that a trade of the gap has filled", () => {
  test.each([
    [
      "later minutes reach",
      [minute(1, "91", "104"), minute(5, "91.5", "100")],
      "100",
      "FINISHED",
      "CANCELED",
    ],
    ["only earlier minutes reach", [minute(1, "91", "104"), minute(5, "93", "100")], "100", "NEW", "NEW"],
    [
      "the present mark price reaches after another one of the gap",
      [minute(4, "94", "104")],
      "91",
      "CANCELED",
      "FINISHED",
    ],
  ] as const)("are hit as %s", async (_which, marked, present, stop, profit) => {
    const { place, time, store, market, settled, gap } = await fixtureWithGap({ strict: {} });
    market.openBook("BTCUSDT", { bids: "99x10", asks: "100x10" });
    await place("one", "BUY", "95", { ...ONE, stopLoss: "92", takeProfit: "103" });
    market.unheard("BTCUSDT", "seller", "20", "94", minuteAt(2) + 5);
    market.showMark("BTCUSDT", present);
    await gap({ marked });
    expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW" });
    time.advance(STORE_INTERVAL);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ stop, profit });
  });

  test("are hit by its prices before the present one, if the gap is still replayed then", async () => {
    const { place, time, desk, store, market, settled, gap } = await fixtureWithGap({
      strict: {},
      strategies: ["one", "two"],
    });
    market.openBook("BTCUSDT", { bids: "99x10", asks: "100x10" });
    await place("one", "BUY", "95", { ...ONE, stopLoss: "92", takeProfit: "103" });
    await place("two", "BUY", null, { ...ONE, stopLoss: "97" });
    // The last minute of the gap is not applied before the fill is committed.
    const filled = Promise.withResolvers<null>();
    desk.onCommitted(({ strategyId }) => {
      if (strategyId === "one") filled.resolve(null);
    });
    const execute = desk.execute.bind(desk);
    desk.execute = async (strategyId, ...rest) => {
      if (strategyId === "two") await filled.promise;
      return await execute(strategyId, ...rest);
    };
    market.unheard("BTCUSDT", "seller", "20", "94", minuteAt(2) + 5);
    market.marked = [minute(4, "98", "104"), minute(9, "96", "100")];
    await gap({});
    expect(await standingOf(store, "two")).toMatchObject({ stop: "FINISHED" });
    market.showMark("BTCUSDT", "91");
    await settled();
    time.advance(STORE_INTERVAL);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ stop: "CANCELED", profit: "FINISHED" });
  });

  test("are hit by its prices before the present one, if another gap comes at once", async () => {
    const { place, time, store, market, settled, gap } = await fixtureWithGap({ strict: {} });
    market.openBook("BTCUSDT", { bids: "99x10", asks: "100x10" });
    await place("one", "BUY", "95", { ...ONE, stopLoss: "92", takeProfit: "103" });
    market.unheard("BTCUSDT", "seller", "20", "94", minuteAt(2) + 5);
    market.showMark("BTCUSDT", "91");
    market.marked = [minute(4, "94", "104")];
    await gap({});
    market.miss("BTCUSDT", time.now() - 1, time.now());
    await settled();
    time.advance(STORE_INTERVAL);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ stop: "CANCELED", profit: "FINISHED" });
  });

  test("are hit by a price of the time without a process", async () => {
    const before = await createFixture({ ...FUTURES, strict: {} });
    before.market.openBook("BTCUSDT", { bids: "99x10", asks: "100x10" });
    await before.place("one", "BUY", "95", { ...ONE, stopLoss: "92" });
    await before.triggers.close();
    const { store, time } = before;
    time.advance(GAP_END - time.now());
    const { market, triggers, settled } = startOn(store, time, "FUTURES");
    market.openBook("BTCUSDT", { bids: "99x10", asks: "100x10" });
    market.unheard("BTCUSDT", "seller", "20", "94", minuteAt(2) + 5);
    market.answerMarks([minute(1, "91", "100"), minute(5, "91", "100")]);
    await triggers.open();
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW" });
    market.show("BTCUSDT", "99", "100");
    market.showMark("BTCUSDT", "100");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "FINISHED" });
  });
});

describe("a settlement in a gap", () => {
  /** Takes 2 of the wallet: the long is liquidated at 97.44 from then on. */
  const SETTLED = settlementAt(minuteAt(4) + 5, "0.02");

  test.each([
    ["before it", minute(2, "97", "100"), []],
    ["in its minute", minute(4, "97", "100"), ["LIQUIDATION"]],
    ["after it", minute(6, "97", "100"), ["LIQUIDATION"]],
    ["after it, but not so low", minute(6, "97.5", "100"), []],
  ] as const)(
    "moves the price of liquidation for the mark prices that come after it: here %s",
    async (_when, marked, closedBy) => {
      const { place, store, market, gap } = await fixtureWithGap();
      await place("one", "BUY", null, ONE);
      market.settlements = [SETTLED];
      await gap({ marked: [marked] });
      expect(await fundingOf(store, "one")).toEqual(["-2.00000000"]);
      expect(await standingOf(store, "one")).toMatchObject({ closedBy });
    },
  );

  /** A settlement on the hour, in a gap that ends an hour later. */
  const HOUR = 60 * MINUTE;
  const ON_THE_HOUR = Math.ceil(minuteAt(10) / HOUR) * HOUR;
  const [BEFORE, AFTER] = [ON_THE_HOUR - 5 * MINUTE, ON_THE_HOUR + 5 * MINUTE];
  const at = (from: number, lowest: string): PriceRange => ({
    ...minute(0, lowest, "100"),
    from,
    to: from + MINUTE - 1,
  });

  test.each([
    ["was liquidated before it", { marked: [at(BEFORE, "80")] }, [], ["LIQUIDATION"]],
    ["is liquidated after it", { marked: [at(AFTER, "80")] }, ["-2.00000000"], ["LIQUIDATION"]],
  ] as const)("is paid by who held then: here a position that %s", async (_when, past, paid, closedBy) => {
    const { time, place, store, market, startGap, settled } = await fixtureWithGap();
    await place("one", "BUY", null, ONE);
    time.advance(ON_THE_HOUR + HOUR - time.now());
    market.settlements = [settlementAt(ON_THE_HOUR + 5, "0.02")];
    startGap(past);
    await settled();
    expect(await fundingOf(store, "one")).toEqual(paid);
    expect(await standingOf(store, "one")).toMatchObject({ closedBy });
  });

  test("that was due shortly before the gap and is not applied yet comes before those in it", async () => {
    const { time, place, store, market, settled } = await fixtureWithGap();
    await place("one", "BUY", null, ONE);
    time.advance(ON_THE_HOUR + HOUR + MINUTE - time.now());
    market.settlements = [
      settlementAt(ON_THE_HOUR + 5, "0.001"),
      settlementAt(ON_THE_HOUR + HOUR + 5, "0.002"),
    ];
    market.miss("BTCUSDT", ON_THE_HOUR + 4_000, time.now());
    await settled();
    expect(await fundingOf(store, "one")).toEqual(["-0.10000000", "-0.20000000"]);
  });

  test.each([
    ["bought before it", { traded: [at(BEFORE, "94")] }, ["-2.00000000"]],
    ["bought after it", { traded: [at(AFTER, "94")] }, []],
  ] as const)(
    "is paid by the holder of that time: here a position that the gap itself has %s",
    async (_when, past, paid) => {
      const { time, place, store, market, startGap, settled } = await fixtureWithGap();
      await place("one", "BUY", "95", ONE);
      time.advance(ON_THE_HOUR + HOUR - time.now());
      market.settlements = [settlementAt(ON_THE_HOUR + 5, "0.02")];
      startGap(past);
      await settled();
      expect(await fundingOf(store, "one")).toEqual(paid);
    },
  );
});

describe("a trigger while a gap is being filled", () => {
  test("comes after the gap: a take-profit is not hit by a stopped position", async () => {
    const before = await createFixture(FUTURES);
    await before.place("one", "BUY", null, { ...ONE, stopLoss: "97", takeProfit: "103" });
    await before.triggers.close();
    const { store, time } = before;
    time.advance(GAP_END - time.now());
    const { market, triggers, settled } = startOn(store, time, "FUTURES");
    await triggers.open();
    market.answerMarks([minute(3, "96", "100")]);
    market.showMark("BTCUSDT", "104");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ stop: "FINISHED", profit: "CANCELED" });
  });

  test.each([
    ["the gap reached nobody", [] as readonly PriceRange[]],
    ["the past cannot be told", null],
  ])("is carried out then, although it was there for a moment only, if %s", async (_why, marked) => {
    const { place, market, store, settled, startGap } = await fixtureWithGap();
    await place("one", "BUY", null, { ...ONE, stopLoss: "97", takeProfit: "103" });
    startGap({ marked });
    market.showMark("BTCUSDT", "104");
    market.showMark("BTCUSDT", "100");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ profit: "FINISHED" });
  });

  test("does not wait for history that takes long to arrive", async () => {
    const { time, place, market, store, settled, startGap } = await fixtureWithGap();
    await place("one", "BUY", null, { ...ONE, stopLoss: "97", takeProfit: "103" });
    const told = Promise.withResolvers<readonly PriceRange[]>();
    market.markedBetween = () => told.promise;
    startGap({});
    market.showMark("BTCUSDT", "104");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ profit: "NEW" });
    time.advance(10_000);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ profit: "FINISHED" });
    told.resolve([]);
    await settled();
  });
});

/** A fixture whose market misses everything from its start until now, with the given history. */
async function fixtureWithGap(options: Parameters<typeof createFixture>[0] = {}) {
  const fixture = await createFixture({ ...FUTURES, ...options });
  const { time, market, settled } = fixture;
  const startGap = ({ marked, traded = [] }: Past) => {
    time.advance(Math.max(0, GAP_END - time.now()));
    if (marked !== undefined) market.answerMarks(marked);
    market.answer(traded);
    market.miss("BTCUSDT", START, time.now());
  };
  return {
    ...fixture,
    startGap,
    async gap(past: Past): Promise<void> {
      startGap(past);
      await settled();
      expect(time.now()).toBeLessThan(GAP_END + MINUTE);
    },
  };
}

type Past = { readonly marked?: readonly PriceRange[] | null; readonly traded?: readonly PriceRange[] };
