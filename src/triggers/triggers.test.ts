import { describe, expect, test } from "vitest";
import { decimal } from "../money/decimal.ts";
import { cleanFixtures, createFixture, startOn } from "./testing/fixture.ts";

cleanFixtures();

describe("an open order", () => {
  test.each([
    ["BUY", "90", { bid: "89", ask: "90" }],
    ["BUY", "90", { bid: "70", ask: "71" }],
    ["SELL", "110", { bid: "110", ask: "111" }],
    ["SELL", "110", { bid: "130", ask: "131" }],
  ] as const)("%s at %s that %o reaches fills at its limit, as maker", async (side, limit, { bid, ask }) => {
    const { market, place, settled, statusOf, fillsOf } = await createFixture();
    await place("one", side, limit);
    market.show("BTCUSDT", bid, ask);
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
    expect(await fillsOf("one", 2)).toEqual([[`${limit}.00000000`, "0.10000000", true]]);
  });

  test("that no quote hits stays open", async () => {
    const { market, store, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    await place("one", "SELL", "110");
    for (const [bid, ask] of [
      ["89", "90.00000001"],
      ["109.99999999", "120"],
    ] as const) {
      market.show("BTCUSDT", bid, ask);
    }
    market.show("ETHUSDT", "50", "51");
    await settled();
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
  });

  test("is filled once, however many quotes reach it", async () => {
    const { market, place, settled, fillsOf } = await createFixture();
    await place("one", "BUY", "90");
    for (const ask of ["89", "88", "87", "95", "80"]) market.show("BTCUSDT", "70", ask);
    await settled();
    market.show("BTCUSDT", "70", "71");
    await settled();
    expect(await fillsOf("one", 2)).toHaveLength(1);
  });

  test("that was canceled is not filled", async () => {
    const { desk, market, place, settled, statusOf, fillsOf } = await createFixture();
    await place("one", "BUY", "90");
    await desk.execute("one", { type: "CancelOrder", orderId: 2 });
    market.show("BTCUSDT", "70", "71");
    await settled();
    expect(await statusOf("one", 2)).toBe("CANCELED");
    expect(await fillsOf("one", 2)).toEqual([]);
  });

  test("that is being canceled when the market reaches it ends one way only", async () => {
    const { desk, market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", "90");
    const canceling = desk.execute("one", { type: "CancelOrder", orderId: 2 });
    market.show("BTCUSDT", "70", "71");
    await canceling;
    await settled();
    expect(await statusOf("one", 2)).toBe("CANCELED");
    expect(market.subscribed()).toEqual([]);
  });

  test("of each of many strategies is filled by one quote", async () => {
    const strategies = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const { market, store, place, settled } = await createFixture({ strategies });
    await Promise.all(strategies.map((id) => place(id, "BUY", "90")));
    market.show("BTCUSDT", "89", "90");
    await settled();
    expect(await store.listExposedAccounts("SPOT")).toEqual([]);
    expect(market.subscribed()).toEqual([]);
  });
});

describe("a hit between the decision of an order and its trigger", () => {
  test.each([
    ["BUY", "90", "89", "90"],
    ["SELL", "110", "110", "111"],
  ] as const)("fills a %s at %s, although no later quote reaches it", async (side, limit, bid, ask) => {
    const { market, storage, place, settled, fillsOf } = await createFixture();
    const hold = storage.hold();
    const placing = place("one", side, limit);
    await hold.reached;
    market.show("BTCUSDT", bid, ask);
    market.show("BTCUSDT", "99", "100");
    hold.release();
    expect((await placing).status).toBe("NEW");
    await settled();
    expect(await fillsOf("one", 2)).toEqual([[`${limit}.00000000`, "0.10000000", true]]);
  });

  test("is found in the exchange's history if the commit takes longer than the market remembers", async () => {
    const { time, market, storage, place, settled, fillsOf } = await createFixture();
    market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    const hold = storage.hold();
    const placing = place("one", "BUY", "90");
    await hold.reached;
    market.show("BTCUSDT", "88", "89");
    market.show("BTCUSDT", "99", "100");
    time.advance(20_000);
    market.forget();
    market.answer([
      { from: time.now() - 15_000, to: time.now() - 15_000, lowest: decimal("89"), highest: decimal("89") },
    ]);
    hold.release();
    await placing;
    market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await settled();
    expect(await fillsOf("one", 2)).toEqual([["90.00000000", "0.10000000", true]]);
  });

  test("concerns that order alone: one that was there before is judged by the quotes it saw", async () => {
    const { market, store, place, settled } = await createFixture({ strategies: ["early", "late"] });
    await place("early", "BUY", "91");
    // What the market has had since the checkpoint of the late order, and never showed to the early one.
    market.remember("BTCUSDT", { highestBid: decimal("89"), lowestAsk: decimal("90") });
    await place("late", "BUY", "90");
    await settled();
    const resting = await store.listExposedAccounts("SPOT");
    expect(resting.map(({ strategyId }) => strategyId)).toEqual(["early"]);
  });

  test("is none if it came before the decision", async () => {
    const { market, storage, store, place, settled } = await createFixture();
    market.show("BTCUSDT", "89", "90");
    market.show("BTCUSDT", "99", "100");
    const hold = storage.hold();
    const placing = place("one", "BUY", "90");
    await hold.reached;
    market.show("BTCUSDT", "98", "99");
    hold.release();
    await placing;
    await settled();
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
  });

  test("is none if it was on another symbol", async () => {
    const { market, storage, store, place, settled } = await createFixture();
    const hold = storage.hold();
    const placing = place("one", "BUY", "90");
    await hold.reached;
    market.show("ETHUSDT", "49", "50");
    hold.release();
    await placing;
    await settled();
    expect(await store.listOpenOrders("one", null)).toHaveLength(1);
  });
});

describe("a crossing that cannot be executed", () => {
  test("because the symbol is halted leaves the order open: its quotes fill nothing until it trades", async () => {
    const { market, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", "90");
    market.halted.add("BTCUSDT");
    for (const ask of ["90", "89"]) market.show("BTCUSDT", "80", ask);
    market.show("BTCUSDT", "99", "100");
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    market.halted.clear();
    market.show("BTCUSDT", "98", "99");
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    market.show("BTCUSDT", "88", "89");
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
  });

  test("because the symbol is halted before the decision leaves the order open too", async () => {
    const { market, storage, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", "90");
    const hold = storage.hold();
    const before = place("one", "BUY", "1");
    await hold.reached;
    // The fill waits for the strategy's turn, and is decided when the symbol is halted.
    market.show("BTCUSDT", "89", "90");
    market.halted.add("BTCUSDT");
    hold.release();
    await before;
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    market.halted.clear();
    market.show("BTCUSDT", "88", "89");
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
  });

  test("because the desk is full is not lost when the market moves away", async () => {
    const { desk, market, storage, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", "90");
    const hold = storage.hold();
    // One command is held at its commit, and behind it the queue fills up.
    const crowd: Promise<unknown>[] = [place("one", "BUY", "1")];
    await hold.reached;
    for (let each = 0; each < 1_000; each += 1) {
      crowd.push(desk.execute("one", { type: "CancelOrder", orderId: 1_000_000 }));
    }
    expect(await crowd.at(-1)).toEqual({ refusal: "BUSY" });
    market.show("BTCUSDT", "89", "90");
    market.show("BTCUSDT", "99", "100");
    hold.release();
    await Promise.all(crowd);
    await settled();
    expect(await statusOf("one", 2)).toBe("FILLED");
  });
});

describe("at the start", () => {
  test("every open order in the store has a trigger, and only those", async () => {
    const { desk, time, store, place, statusOf } = await createFixture({ strategies: ["one", "two"] });
    await place("one", "BUY", "90");
    await place("one", "BUY", "91");
    await place("two", "SELL", "110");
    await desk.execute("one", { type: "CancelOrder", orderId: 2 });

    const { market, triggers, settled } = startOn(store, time);
    expect(market.subscribed()).toEqual([]);
    expect(await triggers.open()).toEqual({ orders: 2, legs: 0, positions: 0 });
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    market.show("BTCUSDT", "89", "90");
    await settled();
    expect(await statusOf("one", 3)).toBe("FILLED");
    expect(await statusOf("one", 2)).toBe("CANCELED");
    expect((await store.listExposedAccounts("SPOT")).map(({ strategyId }) => strategyId)).toEqual(["two"]);
    market.show("BTCUSDT", "110", "111");
    await settled();
    expect(await store.listExposedAccounts("SPOT")).toEqual([]);
  });

  test("without open orders no symbol is subscribed", async () => {
    const { market, triggers } = await createFixture();
    expect(await triggers.open()).toEqual({ orders: 0, legs: 0, positions: 0 });
    expect(market.subscribed()).toEqual([]);
  });
});

describe("a symbol", () => {
  test("is subscribed once, as long as it has triggers", async () => {
    const { desk, market, place } = await createFixture({ strategies: ["one", "two"] });
    expect(market.subscribed()).toEqual([]);
    await place("one", "BUY", "90");
    await place("two", "SELL", "110");
    await place("two", "BUY", "45", { symbol: "ETHUSDT" });
    expect(market.subscribed()).toEqual(["BTCUSDT", "ETHUSDT"]);
    await desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(market.subscribed()).toEqual(["BTCUSDT", "ETHUSDT"]);
    await desk.execute("two", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    expect(market.subscribed()).toEqual(["ETHUSDT"]);
    await desk.execute("two", { type: "CancelOpenOrders", symbol: "ETHUSDT" });
    expect(market.subscribed()).toEqual([]);
  });

  test("is unsubscribed when its last order has been filled, and subscribed again for the next", async () => {
    const { market, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    market.show("BTCUSDT", "89", "90");
    await settled();
    expect(market.subscribed()).toEqual([]);
    await place("one", "BUY", "80");
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
  });

  test("is not subscribed for orders that fill at once", async () => {
    const { market, place } = await createFixture();
    expect((await place("one", "BUY", "100")).status).toBe("FILLED");
    expect(market.subscribed()).toEqual([]);
  });
});

describe("a closed engine", () => {
  test("has released every symbol and fills nothing more", async () => {
    const { market, triggers, store, place, settled } = await createFixture();
    await place("one", "BUY", "90");
    await triggers.close();
    expect(market.subscribed()).toEqual([]);
    await place("one", "BUY", "91");
    market.show("BTCUSDT", "70", "71");
    await settled();
    expect(await store.listOpenOrders("one", null)).toHaveLength(2);
    expect(market.subscribed()).toEqual([]);
  });

  test("subscribes to nothing again for a fill that was in flight and refused", async () => {
    const { market, storage, triggers, place, settled, statusOf } = await createFixture();
    await place("one", "BUY", "90");
    const hold = storage.hold();
    const before = place("one", "BUY", "1");
    await hold.reached;
    market.show("BTCUSDT", "70", "71");
    market.halted.add("BTCUSDT");
    const closed = triggers.close();
    hold.release();
    await Promise.all([before, closed]);
    await settled();
    expect(await statusOf("one", 2)).toBe("NEW");
    expect(market.subscribed()).toEqual([]);
  });
});
