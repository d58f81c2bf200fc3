import { describe, expect, test } from "vitest";
import type { PriceRange } from "../market/feed.ts";
import { decimal } from "../money/decimal.ts";
import type { Store } from "../store/store.ts";
import { cleanFixtures, createFixture, START, startOn } from "./testing/fixture.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Delay before a failed request is repeated. */
const RETRY = 5 * SECOND;
/** How much earlier than its gap the requested history begins. */
const UNDER_WAY = SECOND;

cleanFixtures();

describe("trades in a gap", () => {
  test.each([
    ["BUY", "90", "89.99999999", "95", "FILLED"],
    ["BUY", "90", "90", "95", "NEW"],
    ["SELL", "110", "105", "110.00000001", "FILLED"],
    ["SELL", "110", "105", "110", "NEW"],
  ] as const)("%s at %s, with trades from %s to %s, leaves a limit order %s", async (...row) => {
    const [side, limit, lowest, highest, status] = row;
    const { time, market, place, settled, statusOf, fillsOf } = await createFixture();
    await place("one", side, limit);
    market.answer([span(10, 20, lowest, highest)]);
    time.advance(MINUTE);
    market.miss("BTCUSDT", START + 10, START + MINUTE);
    await settled();
    expect(market.asked).toEqual([{ symbol: "BTCUSDT", from: START + 10 - UNDER_WAY, to: START + MINUTE }]);
    expect(await statusOf("one", 2)).toBe(status);
    const fills = status === "FILLED" ? [[`${limit}.00000000`, "0.10000000", true]] : [];
    expect(await fillsOf("one", 2)).toEqual(fills);
  });

  test.each([
    ["BUY", "110", "100", "110", "FILLED"],
    ["BUY", "110", "100", "109.99999999", "NEW"],
    ["SELL", "90", "90", "100", "FILLED"],
    ["SELL", "90", "90.00000001", "100", "NEW"],
  ] as const)("%s at %s, with trades from %s to %s, leaves a stop %s", async (...row) => {
    const [side, stop, lowest, highest, status] = row;
    const { market, place, settled, statusOf } = await createFixture();
    await place("one", side, null, { stop });
    market.answer([span(10, 20, lowest, highest)]);
    market.miss("BTCUSDT", START + 10, START + 20);
    await settled();
    expect(await statusOf("one", 2)).toBe(status);
  });

  test("is gone through in the order of time", async () => {
    const { market, place, settled, store } = await createFixture();
    await place("one", "BUY", null, { stop: "115" });
    await place("one", "SELL", null, { stop: "85" });
    await place("one", "BUY", "90");
    await place("one", "BUY", null, { stop: "110" });
    market.answer([
      span(10, 20, "88", "100"),
      span(30, 40, "100", "110"),
      span(50, 60, "100", "115"),
      span(70, 80, "85", "100"),
    ]);
    market.miss("BTCUSDT", START + 10, START + 80);
    await settled();
    expect(await keysOf(store, "one")).toEqual(["fill:4", "trigger:5", "trigger:2", "trigger:3"]);
  });

  test("is read trade by trade through the minute in which the youngest order was placed", async () => {
    const { time, market, place, settled, statusOf } = await createFixture({ strategies: ["early", "late"] });
    await place("early", "BUY", "90");
    time.advance(MINUTE + 10 * SECOND);
    await place("late", "BUY", "90");
    // What the exchange says: the minute as a whole, or the trades in it.
    market.tradedBetween = async (_symbol, _from, _to, singlyUntil = 0) => {
      const isSingle = singlyUntil === START + MINUTE + 10 * SECOND;
      const from = isSingle ? MINUTE + 20 * SECOND : MINUTE;
      return [span(from, isSingle ? from : 2 * MINUTE - 1, "80", "120")];
    };
    time.advance(4 * MINUTE);
    market.miss("BTCUSDT", START, START + 5 * MINUTE);
    await settled();
    expect([await statusOf("early", 2), await statusOf("late", 2)]).toEqual(["FILLED", "FILLED"]);
  });

  test("concerns only orders that had waited since before it", async () => {
    const { time, market, place, settled, statusOf } = await createFixture({ strategies: ["early", "late"] });
    await place("early", "BUY", "90");
    time.advance(SECOND);
    await place("late", "BUY", "90");
    await place("late", "BUY", null, { stop: "110" });
    // The late orders were placed within this span: its trades may all have been before them.
    market.answer([span(0, 2 * SECOND, "80", "120")]);
    market.miss("BTCUSDT", START, START + 2 * SECOND);
    await settled();
    expect([await statusOf("early", 2), await statusOf("late", 2), await statusOf("late", 3)]).toEqual([
      "FILLED",
      "NEW",
      "NEW",
    ]);
    // They stay open for later spans and for live prices.
    market.answer([span(SECOND + 1, 2 * SECOND, "80", "100")]);
    market.miss("BTCUSDT", START, START + 2 * SECOND);
    market.trade("BTCUSDT", "110");
    await settled();
    expect([await statusOf("late", 2), await statusOf("late", 3)]).toEqual(["FILLED", "FILLED"]);
  });

  test("are not requested without triggers", async () => {
    const { market, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    market.show("BTCUSDT", "89", "90");
    market.miss("BTCUSDT", START, START + SECOND);
    await settled();
    expect(market.asked).toEqual([]);
  });

  test("ignores a gap without length", async () => {
    const { market, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    market.miss("BTCUSDT", START, START);
    await settled();
    expect(market.asked).toEqual([]);
  });
});

describe("while a gap is being filled", () => {
  test("live prices hit orders placed after it", async () => {
    const { time, market, place, settled, storage, statusOf } = await createFixture({
      strategies: ["early", "late"],
    });
    await place("early", "BUY", "90");
    time.advance(SECOND);
    await place("late", "BUY", "90");
    market.answer([span(10, 20, "80", "100")]);
    const hold = storage.hold();
    market.miss("BTCUSDT", START + 10, START + 20);
    await hold.reached;
    market.show("BTCUSDT", "89", "90");
    market.show("BTCUSDT", "99", "100");
    hold.release();
    await settled();
    expect([await statusOf("early", 2), await statusOf("late", 2)]).toEqual(["FILLED", "FILLED"]);
  });

  test("an order that came after it and is canceled is forgotten", async () => {
    const { desk, time, market, place, settled, storage } = await createFixture({
      strategies: ["early", "late"],
    });
    await place("early", "BUY", "90");
    time.advance(SECOND);
    await place("late", "BUY", "90");
    market.answer([span(10, 20, "80", "100")]);
    const hold = storage.hold();
    market.miss("BTCUSDT", START + 10, START + 20);
    await hold.reached;
    const canceling = desk.execute("late", { type: "CancelOrder", orderId: 2 });
    hold.release();
    await canceling;
    await settled();
    expect(market.subscribed()).toEqual([]);
  });
});

describe("a stop with a limit that a gap triggers", () => {
  const SHE_BUYS = { limit: "105", stop: "110" };

  test.each([
    [
      "is filled by a later stretch that goes through its limit",
      [
        ["100", "110"],
        ["104", "110"],
      ],
      "FILLED",
    ],
    ["is not filled by the stretch that triggered it", [["100", "110"]], "NEW"],
    [
      "is not filled by an earlier one",
      [
        ["100", "109"],
        ["106", "110"],
      ],
      "NEW",
    ],
    [
      "is not filled by a later one that only touches its limit",
      [
        ["106", "110"],
        ["105", "110"],
      ],
      "NEW",
    ],
  ] as const)("%s", async (_case, prices, status) => {
    const { market, place, settled, store, fillsOf } = await createFixture();
    await place("one", "BUY", SHE_BUYS.limit, { stop: SHE_BUYS.stop });
    market.show("BTCUSDT", "109", "110");
    market.answer(
      prices.map(([lowest, highest], index) => span(10 + 10 * index, 19 + 10 * index, lowest, highest)),
    );
    market.miss("BTCUSDT", START + 10, START + 50);
    await settled();
    const order = await store.findOrder("one", { orderId: 2 });
    expect(order?.status).toBe(status);
    expect(order?.workingAt).not.toBeNull();
    expect(await fillsOf("one", 2)).toEqual(
      status === "FILLED" ? [["105.00000000", "0.10000000", true]] : [],
    );
  });

  test("stays open at its limit if no span fills it", async () => {
    const { market, place, settled, statusOf, fillsOf } = await createFixture();
    await place("one", "BUY", SHE_BUYS.limit, { stop: SHE_BUYS.stop });
    market.show("BTCUSDT", "109", "110");
    market.answer([span(10, 20, "109", "110"), span(30, 40, "109", "110")]);
    market.miss("BTCUSDT", START + 10, START + 40);
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    market.show("BTCUSDT", "104", "105");
    await settled();
    expect(await fillsOf("one", 2)).toEqual([["105.00000000", "0.10000000", true]]);
  });
});

test("a stop that a gap hits while its market has no quote is executed at the next", async () => {
  const { market, place, settled, statusOf, fillsOf } = await createFixture();
  await place("one", "BUY", null, { stop: "110" });
  market.silence("BTCUSDT");
  market.answer([span(10, 20, "100", "110")]);
  market.miss("BTCUSDT", START + 10, START + 20);
  await settled();
  expect(await statusOf("one", 2)).toBe("NEW");
  market.show("BTCUSDT", "100", "101");
  await settled();
  expect(await fillsOf("one", 2)).toEqual([["101.00000000", "0.10000000", false]]);
});

describe("a question that cannot be answered now", () => {
  test("is asked again after a while, until it is answered", async () => {
    const { time, market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", "90");
    market.answer(null);
    market.answer(null);
    market.answer([span(10, 20, "80", "100")]);
    market.miss("BTCUSDT", START + 10, START + 20);
    await settled();
    const question = { symbol: "BTCUSDT", from: START + 10 - UNDER_WAY, to: START + 20 };
    time.advance(RETRY - 1);
    expect(market.asked).toEqual([question]);
    time.advance(1);
    await settled();
    expect(market.asked).toEqual([question, question]);
    expect(await statusOf("one", 2)).toBe("NEW");
    time.advance(RETRY);
    await settled();
    expect(market.asked).toHaveLength(3);
    expect(await statusOf("one", 2)).toBe("FILLED");
    time.advance(MINUTE);
    await settled();
    expect(market.asked).toHaveLength(3);
  });

  test("delays later gaps of its symbol, and not those of others", async () => {
    const { time, market, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    await place("one", "BUY", "45", { symbol: "ETHUSDT" });
    market.answer(null);
    market.miss("BTCUSDT", START + 10, START + 20);
    market.miss("BTCUSDT", START + 30, START + 40);
    market.miss("ETHUSDT", START + 10, START + 20);
    await settled();
    expect(market.asked.map(({ symbol, from }) => [symbol, from + UNDER_WAY - START])).toEqual([
      ["BTCUSDT", 10],
      ["ETHUSDT", 10],
    ]);
    time.advance(RETRY);
    await settled();
    expect(market.asked.slice(2).map(({ symbol, from }) => [symbol, from + UNDER_WAY - START])).toEqual([
      ["BTCUSDT", 10],
      ["BTCUSDT", 30],
    ]);
  });

  test("is asked no more by a closed engine", async () => {
    const { time, market, triggers, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    market.answer(null);
    market.miss("BTCUSDT", START + 10, START + 20);
    await settled();
    await triggers.close();
    expect(time.pending()).toBe(0);
    expect(market.asked).toHaveLength(1);
  });
});

describe("a process that starts", () => {
  test("requests market data since the stored watermarks, when its symbols have messages again", async () => {
    const before = await createFixture();
    await before.place("one", "BUY", "90");
    await before.triggers.close();
    const heardAt = START + MINUTE;
    await before.store.noteHeard([{ type: "SPOT", symbol: "BTCUSDT", at: heardAt }]);
    before.time.advance(10 * MINUTE);

    const { market, triggers, settled, statusOf } = startOn(before.store, before.time);
    await triggers.open();
    await settled();
    expect(market.asked).toEqual([]);
    market.answer([span(2 * MINUTE, 3 * MINUTE, "80", "100")]);
    market.show("BTCUSDT", "99", "100");
    market.show("BTCUSDT", "98", "99");
    await settled();
    expect(market.asked).toEqual([{ symbol: "BTCUSDT", from: heardAt - UNDER_WAY, to: START + 10 * MINUTE }]);
    expect(await statusOf("one", 2)).toBe("FILLED");
  });

  test.each([
    ["nothing was noted", null],
    ["what was noted is older", START - MINUTE],
  ])("looks back to the first order that waits if %s", async (_case, noted) => {
    const before = await createFixture();
    before.storage.failsToNote = true;
    before.time.advance(MINUTE);
    await before.place("one", "BUY", "90");
    before.time.advance(MINUTE);
    await before.place("one", "BUY", null, { stop: "110" });
    if (noted !== null) await before.store.noteHeard([{ type: "SPOT", symbol: "BTCUSDT", at: noted }]);
    before.time.advance(MINUTE);
    await before.triggers.close();

    const { market, triggers, settled } = startOn(before.store, before.time);
    await triggers.open();
    market.trade("BTCUSDT", "100");
    await settled();
    expect(market.asked).toEqual([
      { symbol: "BTCUSDT", from: START + MINUTE - UNDER_WAY, to: START + 3 * MINUTE },
    ]);
  });

  test("looks back beyond the gap of its own market, in order of time", async () => {
    const before = await createFixture();
    await before.place("one", "BUY", "90");
    await before.triggers.close();
    await before.store.noteHeard([{ type: "SPOT", symbol: "BTCUSDT", at: START + MINUTE }]);
    before.time.advance(5 * MINUTE);

    const { market, triggers, settled } = startOn(before.store, before.time);
    await triggers.open();
    market.miss("BTCUSDT", START + 4 * MINUTE, START + 5 * MINUTE);
    market.show("BTCUSDT", "99", "100");
    await settled();
    expect(market.asked.map(({ from, to }) => [from + UNDER_WAY - START, to - START])).toEqual([
      [MINUTE, 5 * MINUTE],
      [4 * MINUTE, 5 * MINUTE],
    ]);
  });

  test("requests nothing without triggers", async () => {
    const before = await createFixture();
    await before.store.noteHeard([{ type: "SPOT", symbol: "BTCUSDT", at: START }]);
    before.time.advance(MINUTE);
    const { market, triggers, place, settled } = startOn(before.store, before.time);
    await triggers.open();
    market.show("BTCUSDT", "99", "100");
    await place("one", "BUY", "90");
    market.show("BTCUSDT", "98", "99");
    await settled();
    expect(market.asked).toEqual([]);
  });
});

/** Trades between two times, in ms after the start, at prices between two. */
function span(from: number, to: number, lowest: string, highest: string): PriceRange {
  return { from: START + from, to: START + to, lowest: decimal(lowest), highest: decimal(highest) };
}

/** The keys of what the market brought about, in order. */
async function keysOf(store: Store, strategyId: string): Promise<string[]> {
  return (await store.listEntries(strategyId)).flatMap(({ key }) => (key === null ? [] : [key]));
}
