// Triggers of legs and positions, on the mark price.
import { describe, expect, test } from "vitest";
import { decimal, type Price } from "../money/decimal.ts";
import { cleanFixtures, createFixture, startOn, type Terms } from "./testing/fixture.ts";
import { FUTURES, fundingOf, settlementAt, standingOf } from "./testing/futures-fixture.ts";
import { contractTerms } from "./testing/stub-market.ts";
import { twoServers } from "./testing/two-servers.ts";

/** A position of 1 BTC. */
const ONE: Terms = { quantity: "1" };
/** How often brackets are checked. */
const INTERVAL = 5_000;

cleanFixtures();

describe("a leg", () => {
  test.each([
    ["BUY", { stopLoss: "97" }, "97", "stop"],
    ["BUY", { stopLoss: "97" }, "96.5", "stop"],
    ["BUY", { takeProfit: "103" }, "103", "profit"],
    ["SELL", { stopLoss: "102" }, "102", "stop"],
    ["SELL", { takeProfit: "97" }, "97", "profit"],
  ] as const)("of a %s with %o fires at a mark price of %s", async (side, legs, mark, which) => {
    const { market, store, place, settled } = await createFixture(FUTURES);
    await place("one", side, null, { ...ONE, ...legs });
    market.showMark("BTCUSDT", mark);
    await settled();
    const standing = await standingOf(store, "one");
    expect(standing).toMatchObject({ holds: "0", [which]: "FINISHED", closedBy: ["MARKET"] });
    expect((await store.listEntries("one")).at(-1)?.key).toMatch(/^leg:\d+$/);
  });

  test("waits for no quote and no trade, for no mark price before its own, and for none of another symbol", async () => {
    const { market, store, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, { ...ONE, stopLoss: "97", takeProfit: "103" });
    market.show("BTCUSDT", "80", "81");
    market.trade("BTCUSDT", "80");
    market.show("BTCUSDT", "120", "121");
    market.trade("BTCUSDT", "120");
    for (const mark of ["97.00000001", "102.99999999"]) market.showMark("BTCUSDT", mark);
    for (const mark of ["1", "1000"]) market.showMark("ETHUSDT", mark);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW", profit: "NEW" });
  });

  test("of an open entry has no trigger until the entry is filled", async () => {
    const { market, store, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", "95", { ...ONE, stopLoss: "93" });
    for (const mark of ["92", "96"]) market.showMark("BTCUSDT", mark);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "PENDING" });
    market.show("BTCUSDT", "94", "95");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW" });
    market.showMark("BTCUSDT", "93");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "FINISHED" });
  });

  test("cancels its sibling, and no trigger is left", async () => {
    const { market, store, triggers, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, { ...ONE, stopLoss: "97", takeProfit: "103" });
    market.showMark("BTCUSDT", "97");
    market.showMark("BTCUSDT", "103");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ stop: "FINISHED", profit: "CANCELED" });
    expect((await store.listEntries("one")).filter(({ key }) => key?.startsWith("leg:"))).toHaveLength(1);
    // It stays recorded and subscribed until its next settlement.
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    expect(await triggers.settle(settlementAt(3_600_000, "0.01"))).toBe(true);
    expect(market.subscribed()).toEqual([]);
  });

  test.each([
    ["its market is silent", "silence"],
    ["its contract is halted", "halt"],
  ] as const)(
    "that is hit while %s fires as soon as that ends, whatever the mark price is then",
    async (_why, how) => {
      const { market, store, place, settled } = await createFixture(FUTURES);
      await place("one", "BUY", null, { ...ONE, stopLoss: "97" });
      if (how === "silence") market.silence("BTCUSDT");
      else market.halted.add("BTCUSDT");
      market.showMark("BTCUSDT", "97");
      await settled();
      market.showMark("BTCUSDT", "99");
      await settled();
      expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW" });
      if (how === "silence") market.show("BTCUSDT", "98", "99");
      else {
        market.halted.clear();
        market.showMark("BTCUSDT", "99");
      }
      await settled();
      expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "FINISHED" });
    },
  );
});

test("a leg that is hit while nobody buys stays triggered, and is executed again every second", async () => {
  const { market, storage, store, time, place, settled } = await createFixture(FUTURES);
  await place("one", "BUY", null, { ...ONE, stopLoss: "97" });
  const { triggerStore } = storage;
  const { loadAccount } = triggerStore;
  let loads = 0;
  triggerStore.loadAccount = async (strategyId) => {
    loads += 1;
    return await loadAccount(strategyId);
  };
  market.show("BTCUSDT", null, "100");
  for (const mark of ["97", "99"]) market.showMark("BTCUSDT", mark);
  for (let turns = 0; turns < 5; turns += 1) await settled();
  for (let seconds = 0; seconds < 3; seconds += 1) {
    expect(loads).toBe(1 + seconds);
    time.advance(1_000);
    await settled();
  }
  expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW" });
  market.show("BTCUSDT", "98", "99");
  time.advance(1_000);
  await settled();
  expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "FINISHED" });
});

test("a leg that price protection holds back waits at no cost, and fires at the first price that it permits", async () => {
  const { market, storage, store, time, place, desk, triggers, settled } = await createFixture({
    ...FUTURES,
    strict: {},
  });
  market.terms.set("BTCUSDT", { ...contractTerms(), triggerProtect: decimal("0.005") });
  market.openBook("BTCUSDT", { asks: "100x10", bids: "99x10" });
  market.aggregate("BTCUSDT", "seller", "1", "99");
  await triggers.open();
  await place("one", "BUY", null, ONE);
  const leg = { type: "PlaceLeg", symbol: "BTCUSDT", side: "SELL", legType: "STOP_MARKET" } as const;
  const terms = {
    triggerPrice: decimal<Price>("98"),
    workingType: "CONTRACT_PRICE",
    priceProtect: true,
  } as const;
  await desk.execute("one", { ...leg, ...terms, clientLegId: "leg" });
  let loads = 0;
  for (const each of [storage.store, storage.triggerStore]) {
    const { loadAccount } = each;
    each.loadAccount = async (strategyId) => {
      loads += 1;
      return await loadAccount(strategyId);
    };
  }
  // The mark price is 100.
  for (let second = 0; second < 5; second += 1) {
    time.advance(1_000);
    market.aggregate("BTCUSDT", "seller", "1", "97");
    await settled();
  }
  expect(loads).toBe(0);
  expect(await standingOf(store, "one")).toMatchObject({ holds: "1.00000000", stop: "NEW" });
  market.aggregate("BTCUSDT", "seller", "1", "99");
  market.showMark("BTCUSDT", "98");
  await settled();
  expect(await standingOf(store, "one")).toMatchObject({ stop: "NEW" });
  market.aggregate("BTCUSDT", "seller", "1", "98");
  await settled();
  expect(await standingOf(store, "one")).toMatchObject({ holds: "0", stop: "FINISHED" });
});

describe("a position", () => {
  test.each([
    ["BUY", "95.44", "95.43"],
    ["SELL", "104.48", "104.49"],
  ] as const)("by a %s is not liquidated at %s, but at %s", async (side, near, reached) => {
    const { market, store, place, settled } = await createFixture(FUTURES);
    await place("one", side, null, ONE);
    market.show("BTCUSDT", "1", "1000");
    market.showMark("BTCUSDT", near);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: [] });
    market.showMark("BTCUSDT", reached);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", closedBy: ["LIQUIDATION"] });
  });

  test("is liquidated at the price that follows from what was added", async () => {
    const { market, store, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, ONE);
    market.show("BTCUSDT", "96", "97");
    market.showMark("BTCUSDT", "97");
    await place("one", "BUY", null, { quantity: "3" });
    // Four for 391 with a wallet of 19.3545 are liquidated at 93.28.
    market.showMark("BTCUSDT", "93.29");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "4.00000000" });
    market.showMark("BTCUSDT", "93.28");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", closedBy: ["LIQUIDATION"] });
  });

  test("is liquidated at the price that follows from what it has paid for funding", async () => {
    const { market, store, triggers, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, ONE);
    // A wallet of 2.95 lasts until 97.44.
    expect(await triggers.settle(settlementAt(3_600_000, "0.02"))).toBe(true);
    expect(await fundingOf(store, "one")).toEqual(["-2.00000000"]);
    market.showMark("BTCUSDT", "97.45");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: [] });
    market.showMark("BTCUSDT", "97.43");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("is liquidated at once if its price moves beyond a constant mark price", async () => {
    const { market, store, triggers, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, ONE);
    market.showMark("BTCUSDT", "97");
    await settled();
    await triggers.settle(settlementAt(3_600_000, "0.02"));
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("is liquidated at the price that follows from new brackets", async () => {
    const { time, market, store, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, ONE);
    // The wallet of 4.95 is less than five per cent of 100.
    market.terms.set("BTCUSDT", contractTerms("0.05"));
    time.advance(INTERVAL);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("whose contract is unknown at the start has a trigger as soon as it is known, and its past checked", async () => {
    const before = await createFixture(FUTURES);
    await before.place("one", "BUY", null, ONE);
    await before.triggers.close();
    const { time, store } = before;
    time.advance(INTERVAL);

    const { market, triggers, settled } = startOn(store, time, "FUTURES");
    market.terms.set("BTCUSDT", null);
    expect(await triggers.open()).toEqual({ orders: 0, legs: 0, positions: 0 });
    market.show("BTCUSDT", "99", "100");
    market.showMark("BTCUSDT", "100");
    time.advance(INTERVAL);
    await settled();
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    expect(market.askedForSettlements).toEqual([]);
    const noted = (await store.listHeard("FUTURES"))[0]?.at ?? 0;
    market.terms.set("BTCUSDT", contractTerms());
    market.answerMarks([{ from: noted + 1, to: noted + 2, lowest: decimal("90"), highest: decimal("100") }]);
    time.advance(INTERVAL);
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("that is loaded while the rules of its contract are unknown has a trigger again once they are back", async () => {
    const { time, market, storage, store, triggers, place, settled } = await createFixture(FUTURES);
    await triggers.open();
    await place("one", "BUY", null, ONE);
    time.advance(INTERVAL);
    const terms = market.terms.get("BTCUSDT") ?? null;
    market.terms.set("BTCUSDT", null);
    storage.elsewhere.committed([{ strategyId: "one", type: "FUTURES" }]);
    await settled();
    market.terms.set("BTCUSDT", terms);
    time.advance(INTERVAL);
    await settled();
    market.showMark("BTCUSDT", "90");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });

  test("is streamed although nothing reaches it", async () => {
    const { market, place } = await createFixture(FUTURES);
    await place("one", "BUY", null, { quantity: "0.1" });
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
  });
});

describe("hit by one mark price", () => {
  test("a position is liquidated, and its stop cancelled", async () => {
    const { market, store, place, settled } = await createFixture(FUTURES);
    await place("one", "BUY", null, { ...ONE, stopLoss: "97" });
    market.showMark("BTCUSDT", "90");
    await settled();
    const standing = { holds: "0", stop: "CANCELED", closedBy: ["LIQUIDATION"] };
    expect(await standingOf(store, "one")).toMatchObject(standing);
  });

  test("those of other strategies are answered each by itself", async () => {
    const { market, store, place, settled } = await createFixture({ ...FUTURES, strategies: ["one", "two"] });
    await place("one", "BUY", null, { ...ONE, stopLoss: "97" });
    await place("two", "SELL", null, { ...ONE, takeProfit: "96" });
    market.showMark("BTCUSDT", "96");
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ stop: "FINISHED" });
    expect(await standingOf(store, "two")).toMatchObject({ profit: "FINISHED" });
  });
});

describe("a mark price between the decision of an order and its trigger", () => {
  test.each([
    ["fires the stop that came with it", "97", { stop: "FINISHED", closedBy: ["MARKET"] }],
    ["liquidates its position, although it reached the stop too", "90", { closedBy: ["LIQUIDATION"] }],
  ] as const)("%s", async (_what, mark, standing) => {
    const { market, storage, store, place, settled } = await createFixture(FUTURES);
    const hold = storage.hold();
    const placing = place("one", "BUY", null, { ...ONE, stopLoss: "97" });
    await hold.reached;
    market.showMark("BTCUSDT", mark);
    market.showMark("BTCUSDT", "100");
    hold.release();
    await placing;
    await settled();
    expect(await standingOf(store, "one")).toMatchObject({ holds: "0", ...standing });
  });
});

describe("on two servers", () => {
  test.each([
    ["liquidated", "90", ["LIQUIDATION"]],
    ["closed by its stop", "97", ["MARKET"]],
  ] as const)("a position is %s once", async (_what, mark, closedBy) => {
    const { here, there, notify } = await twoServers(["one"], "FUTURES");
    await there.place("one", "BUY", null, { ...ONE, stopLoss: "97" });
    await notify("one");
    expect(here.market.subscribed()).toEqual(["BTCUSDT"]);
    for (const server of [here, there]) server.market.showMark("BTCUSDT", mark);
    await Promise.all([here.settled(), there.settled()]);
    expect(await standingOf(here.store, "one")).toMatchObject({ holds: "0", closedBy });
    await notify("one");
    for (const server of [here, there]) server.market.showMark("BTCUSDT", mark);
    await notify("one");
    expect(await standingOf(here.store, "one")).toMatchObject({ holds: "0", closedBy });
  });

  test("a position is liquidated by the surviving server, at the price that the other's order left it", async () => {
    const { here, there, notify } = await twoServers(["one"], "FUTURES");
    await there.place("one", "BUY", null, ONE);
    await notify("one");
    await there.place("one", "BUY", null, ONE);
    await notify("one");
    await there.triggers.close();
    here.market.showMark("BTCUSDT", "95.43");
    await here.settled();
    expect(await standingOf(here.store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });
});

test("an engine handles the strategies of its own type alone, from any server", async () => {
  const { store, time } = await createFixture();
  const { market, place, settled, storage, triggers } = startOn(store, time, "FUTURES");
  await triggers.open();
  await place("one", "BUY", "90");
  storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
  await settled();
  expect(market.subscribed()).toEqual([]);
});
