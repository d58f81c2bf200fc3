import { describe, expect, test } from "vitest";
import { decimal } from "../money/decimal.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";

cleanFixtures();

describe("a stop", () => {
  test.each([
    ["BUY", "110", "110", "100.00000000"],
    ["BUY", "110", "125", "100.00000000"],
    ["SELL", "90", "90", "99.00000000"],
    ["SELL", "90", "75", "99.00000000"],
  ] as const)("%s at %s that a trade at %s reaches is filled by the market, at %s", async (...row) => {
    const [side, stop, price, paid] = row;
    const { market, place, settled, statusOf, fillsOf } = await createFixture();
    expect((await place("one", side, null, { stop })).status).toBe("NEW");
    market.trade("BTCUSDT", price);
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
    expect(await fillsOf("one", 2)).toEqual([[paid, "0.10000000", false]]);
    expect(market.subscribed()).toEqual([]);
  });

  test("is hit by no quote, and by no trade before its stop price or on another symbol", async () => {
    const { market, place, settled, store } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    await place("one", "SELL", null, { stop: "90" });
    for (const [bid, ask] of [
      ["120", "121"],
      ["80", "81"],
    ] as const) {
      market.show("BTCUSDT", bid, ask);
    }
    for (const price of ["109.99999999", "90.00000001"]) market.trade("BTCUSDT", price);
    for (const price of ["200", "1"]) market.trade("ETHUSDT", price);
    await settled();
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
  });

  test("is triggered once, however many trades reach it", async () => {
    const { market, place, settled, store, fillsOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    for (const price of ["110", "111", "100", "112"]) market.trade("BTCUSDT", price);
    await settled();
    market.trade("BTCUSDT", "113");
    await settled();
    expect(await fillsOf("one", 2)).toHaveLength(1);
    const triggers = (await store.listEntries("one")).flatMap(({ key, events }) =>
      events.some(({ type }) => type === "OrderTriggered") ? [key] : [],
    );
    expect(triggers).toEqual(["trigger:2"]);
  });

  test("that was canceled is not triggered", async () => {
    const { desk, market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    await desk.execute("one", { type: "CancelOrder", orderId: 2 });
    market.trade("BTCUSDT", "110");
    await settled();
    expect(await statusOf("one", 2)).toBe("CANCELED");
    expect(market.subscribed()).toEqual([]);
  });

  test("that expires at its trigger waits for nothing more", async () => {
    const { market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    market.show("BTCUSDT", "99", null);
    market.trade("BTCUSDT", "110");
    await settled();
    expect(await statusOf("one", 2)).toBe("EXPIRED");
    expect(market.subscribed()).toEqual([]);
  });
});

describe("a stop with a limit", () => {
  test.each([
    ["BUY", "110", "105", { bid: "109", ask: "110" }, { bid: "104", ask: "105" }],
    ["SELL", "90", "95", { bid: "90", ask: "91" }, { bid: "95", ask: "96" }],
  ] as const)("%s at %s rests at %s once triggered, and fills there as maker", async (...row) => {
    const [side, stop, limit, away, met] = row;
    const { market, place, settled, store, statusOf, fillsOf } = await createFixture();
    await place("one", side, limit, { stop });
    market.show("BTCUSDT", away.bid, away.ask);
    market.trade("BTCUSDT", stop);
    await settled();
    const resting = await store.findOrder("one", { orderId: 2 });
    expect(resting).toMatchObject({ status: "NEW", executedQuantity: 0n });
    expect(resting?.workingAt).not.toBeNull();
    // Its stop price was hit: trades do not concern it any more.
    market.trade("BTCUSDT", stop);
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    market.show("BTCUSDT", met.bid, met.ask);
    await settled();
    expect(await fillsOf("one", 2)).toEqual([[`${limit}.00000000`, "0.10000000", true]]);
    expect(market.subscribed()).toEqual([]);
  });

  test("is filled at once, as taker, where the market already meets its limit", async () => {
    const { market, place, settled, fillsOf } = await createFixture();
    await place("one", "BUY", "112", { stop: "110" });
    market.show("BTCUSDT", "110", "111");
    market.trade("BTCUSDT", "110");
    await settled();
    expect(await fillsOf("one", 2)).toEqual([["111.00000000", "0.10000000", false]]);
  });

  test("that a quote crosses between its trigger and its placement is filled, although the quote is gone", async () => {
    const { market, place, settled, storage, fillsOf } = await createFixture();
    await place("one", "BUY", "105", { stop: "110" });
    market.show("BTCUSDT", "109", "110");
    const hold = storage.hold();
    market.trade("BTCUSDT", "110");
    await hold.reached;
    market.show("BTCUSDT", "104", "105");
    market.show("BTCUSDT", "109", "110");
    hold.release();
    await settled();
    expect(await fillsOf("one", 2)).toEqual([["105.00000000", "0.10000000", true]]);
  });
});

describe("a trade between a stop's decision and its trigger", () => {
  test.each([
    ["BUY", "110"],
    ["SELL", "90"],
  ] as const)("triggers a %s at %s, although no later trade reaches it", async (side, stop) => {
    const { market, place, settled, storage, statusOf } = await createFixture();
    const hold = storage.hold();
    const placing = place("one", side, null, { stop });
    await hold.reached;
    for (const price of [stop, "99"]) market.trade("BTCUSDT", price);
    hold.release();
    expect((await placing).status).toBe("NEW");
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
  });

  test("concerns that stop alone: one that was there before is judged by the trades it saw", async () => {
    const { market, place, settled, store } = await createFixture({ strategies: ["early", "late"] });
    await place("early", "BUY", null, { stop: "109" });
    market.remember("BTCUSDT", { highestTrade: decimal("110"), lowestTrade: decimal("99") });
    await place("late", "BUY", null, { stop: "110" });
    await settled();
    expect((await store.listExposedAccounts("SPOT")).map(({ strategyId }) => strategyId)).toEqual(["early"]);
  });

  test("is none if only quotes moved, or if it came before the decision", async () => {
    const { market, place, settled, storage, statusOf } = await createFixture();
    market.trade("BTCUSDT", "111");
    market.trade("BTCUSDT", "99");
    const hold = storage.hold();
    const placing = place("one", "BUY", null, { stop: "110" });
    await hold.reached;
    market.show("BTCUSDT", "119", "120");
    market.show("BTCUSDT", "99", "100");
    hold.release();
    await placing;
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
  });
});

test("a stop that a trade hits while our rules still call its symbol halted is executed when they do not", async () => {
  const { market, place, settled, statusOf } = await createFixture();
  await place("one", "BUY", null, { stop: "110" });
  market.halted.add("BTCUSDT");
  market.trade("BTCUSDT", "110");
  await settled();
  market.show("BTCUSDT", "99", "100");
  await settled();
  expect(await statusOf("one", 2)).toBe("NEW");
  market.halted.clear();
  market.show("BTCUSDT", "98", "99");
  await settled();
  expect(await statusOf("one", 2)).toBe("FILLED");
});

describe("a stop that is hit while its symbol has no quote", () => {
  test("is executed at the next quote, although the price has moved back", async () => {
    const { market, place, settled, statusOf, fillsOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    market.silence("BTCUSDT");
    market.trade("BTCUSDT", "110");
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    market.trade("BTCUSDT", "100");
    market.show("BTCUSDT", "100", "101");
    await settled();
    expect(await fillsOf("one", 2)).toEqual([["101.00000000", "0.10000000", false]]);
  });

  test("is triggered once, and executed once, however many trades have hit it since", async () => {
    const { desk, market, place, settled, store, fillsOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    market.silence("BTCUSDT");
    for (const price of ["110", "111", "112"]) {
      market.trade("BTCUSDT", price);
      await settled();
    }
    const tried: string[] = [];
    const execute = desk.execute.bind(desk);
    desk.execute = (strategyId, command, options) => {
      tried.push(command.type);
      return execute(strategyId, command, options);
    };
    for (const ask of ["101", "102"]) {
      market.show("BTCUSDT", "100", ask);
      await settled();
    }
    expect(await fillsOf("one", 2)).toEqual([["101.00000000", "0.10000000", false]]);
    expect(await store.listEntries("one")).toHaveLength(4);
    expect(tried).toEqual(["TriggerStop"]);
  });

  test("is not triggered if it is canceled before the market is back", async () => {
    const { desk, market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    // Another order keeps the symbol subscribed.
    await place("one", "BUY", "50");
    market.silence("BTCUSDT");
    market.trade("BTCUSDT", "110");
    await settled();
    await desk.execute("one", { type: "CancelOrder", orderId: 2 });
    market.show("BTCUSDT", "100", "101");
    await settled();
    expect(await statusOf("one", 2)).toBe("CANCELED");
    expect(await statusOf("one", 3)).toBe("NEW");
  });

  test("waits for the first quote of a market that trades again, if it is halted when it is back", async () => {
    const { market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", null, { stop: "110" });
    market.silence("BTCUSDT");
    market.trade("BTCUSDT", "110");
    await settled();
    market.halted.add("BTCUSDT");
    market.show("BTCUSDT", "100", "101");
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    market.halted.clear();
    market.show("BTCUSDT", "100", "101");
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
  });
});

describe("at the start", () => {
  test("stops wait for trades, and triggered ones for quotes", async () => {
    const before = await createFixture({ strategies: ["one", "two"] });
    await before.place("one", "BUY", null, { stop: "110" });
    await before.place("two", "BUY", "95", { stop: "105" });
    before.market.show("BTCUSDT", "104", "105");
    before.market.trade("BTCUSDT", "105");
    await before.settled();
    await before.triggers.close();

    const { market, triggers, settled, statusOf } = startOn(before.store, before.time);
    expect(await triggers.open()).toEqual({ orders: 2, legs: 0, positions: 0 });
    market.trade("BTCUSDT", "94");
    market.show("BTCUSDT", "110", "111");
    await settled();
    expect([await statusOf("one", 2), await statusOf("two", 2)]).toEqual(["NEW", "NEW"]);
    market.trade("BTCUSDT", "110");
    market.show("BTCUSDT", "94", "95");
    await settled();
    expect([await statusOf("one", 2), await statusOf("two", 2)]).toEqual(["FILLED", "FILLED"]);
  });
});
