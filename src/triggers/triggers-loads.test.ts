// Loads from the store during other work: they may be outdated, and they may fail.
import { describe, expect, test } from "vitest";
import { SLOTS, slotOf } from "../domain/strategy.ts";
import type { PriceRange } from "../market/feed.ts";
import { decimal } from "../money/decimal.ts";
import { cleanFixtures, createFixture, START, startOn } from "./testing/fixture.ts";
import { FUTURES, standingOf } from "./testing/futures-fixture.ts";
import { contractTerms } from "./testing/stub-market.ts";
import { twoServers } from "./testing/two-servers.ts";

/** Delay after a failure, ms. */
const RETRY = 1_000;
/** Changes of a strategy after which a test that goes on has failed. */
const CHANGES_MAX = 1_000;
/** How long before the watermark a new owner begins, ms. */
const MARGIN = 15_000;

cleanFixtures();

describe("an outdated load", () => {
  test("by this process's own commit does not take its order off the list", async () => {
    const { here } = await twoServers();
    const hold = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await hold.reached;
    await here.place("one", "BUY", "90");
    hold.release();
    await here.settled();
    here.market.show("BTCUSDT", "89", "90");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("FILLED");
  });

  test("by another's commit is made again, and what it found is not believed", async () => {
    const { here, there, notify } = await twoServers();
    const hold = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await hold.reached;
    await there.place("one", "BUY", "90");
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    hold.release();
    await here.settled();
    expect(here.market.subscribed()).toEqual(["BTCUSDT"]);
    const canceling = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await canceling.reached;
    await there.desk.execute("one", { type: "CancelOrder", orderId: 2 });
    await notify("one");
    canceling.release();
    await here.settled();
    expect(here.market.subscribed()).toEqual([]);
  });

  test("after a refused fill does not restore a stop that was triggered in the meantime", async () => {
    // The fill of a stop is refused, since its market is silent; it is triggered while the order is loaded.
    const { here } = await twoServers();
    await here.place("one", "BUY", "105", { stop: "110" });
    here.market.silence("BTCUSDT");
    const hold = here.storage.holdLoad();
    here.market.trade("BTCUSDT", "110");
    await hold.reached;
    here.market.show("BTCUSDT", "109", "110");
    const seen = (await here.store.findOrder("one", { orderId: 2 }))?.stopPrice;
    if (seen === undefined) throw new Error("the stop is there");
    await here.desk.execute("one", { type: "TriggerStop", orderId: 2, seen }, { key: "trigger:2" });
    hold.release();
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("NEW");
    const entries = (await here.store.listEntries("one")).length;
    here.market.trade("BTCUSDT", "110");
    await here.settled();
    expect((await here.store.listEntries("one")).length).toBe(entries);
    here.market.show("BTCUSDT", "104", "105");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("FILLED");
    expect(here.market.subscribed()).toEqual([]);
  });

  test("after a cancellation leaves no trigger", async () => {
    const { here } = await twoServers();
    await here.place("one", "BUY", null, { stop: "110" });
    here.market.silence("BTCUSDT");
    const hold = here.storage.holdLoad();
    here.market.trade("BTCUSDT", "110");
    await hold.reached;
    await here.desk.execute("one", { type: "CancelOrder", orderId: 2 });
    hold.release();
    await here.settled();
    expect(here.market.subscribed()).toEqual([]);
  });
});

describe("a database that is out of reach for a while", () => {
  test("has what others committed loaded when it is back", async () => {
    const { here, there, time } = await twoServers();
    await there.place("one", "BUY", "90");
    here.storage.failingLoads = 3;
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await here.settled();
    expect(here.market.subscribed()).toEqual([]);
    for (let retries = 0; retries < 3; retries += 1) {
      time.advance(RETRY);
      await here.settled();
    }
    expect(here.storage.failingLoads).toBe(0);
    expect(here.market.subscribed()).toEqual(["BTCUSDT"]);
  });

  test("takes no crossing away: what could not be decided is tried again with the price that was seen", async () => {
    const { here, there, time, notify } = await twoServers();
    await there.place("one", "BUY", "90");
    await notify("one");
    here.storage.failingLoads = 2;
    here.market.show("BTCUSDT", "89", "90");
    here.market.show("BTCUSDT", "99", "100");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("NEW");
    for (let retries = 0; retries < 3; retries += 1) {
      time.advance(RETRY);
      await here.settled();
    }
    expect(await here.fillsOf("one", 2)).toEqual([["90.00000000", "0.10000000", true]]);
  });

  test("keeps a server from starting", async () => {
    const { store, time } = await createFixture();
    const server = startOn(store, time);
    server.storage.failingLoads = 1;
    await expect(server.triggers.open()).rejects.toThrow("the database is out of reach");
  });
});

describe("a strategy that is handed on to another server", () => {
  const ALL = new Set(Array.from({ length: SLOTS }, (_, slot) => slot));
  const WITHOUT_ONE = new Set([...ALL].filter((slot) => slot !== slotOf("one")));

  test("loses its triggers here at once, and the others keep theirs", async () => {
    const { market, place, settled, statusOf, triggers } = await createFixture({
      strategies: ["one", "two"],
    });
    await place("one", "BUY", "90");
    await place("one", "BUY", "45", { symbol: "ETHUSDT" });
    await place("two", "BUY", "90");
    triggers.keepOnly(WITHOUT_ONE);
    expect(market.subscribed()).toEqual(["BTCUSDT"]);
    await place("one", "BUY", "91");
    market.show("BTCUSDT", "89", "90");
    await settled();
    expect([await statusOf("one", 2), await statusOf("one", 4)]).toEqual(["NEW", "NEW"]);
    expect(await statusOf("two", 2)).toBe("FILLED");
  });

  test("is not taken back by a load or a fill that was in progress", async () => {
    const { here, notify } = await twoServers();
    await here.place("one", "BUY", "90");
    await here.place("one", "BUY", "80");
    const commit = here.storage.hold();
    here.market.show("BTCUSDT", "89", "90");
    await commit.reached;
    const load = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await load.reached;
    here.triggers.keepOnly(WITHOUT_ONE);
    load.release();
    commit.release();
    await notify("one");
    expect(await here.statusOf("one", 2)).toBe("FILLED");
    expect(here.market.subscribed()).toEqual([]);
  });

  test("has its triggers again although others change all the time", async () => {
    const { here } = await twoServers(["one", "two"]);
    await here.place("one", "BUY", "90");
    here.triggers.keepOnly(WITHOUT_ONE);
    here.triggers.keepOnly(ALL);
    const { elsewhere, triggerStore } = here.storage;
    const { loadAccount } = triggerStore;
    let changes = 0;
    triggerStore.loadAccount = async (strategyId) => {
      changes += 1;
      if (changes < CHANGES_MAX) elsewhere.committed([{ strategyId: "two", type: "SPOT" }]);
      return await loadAccount(strategyId);
    };
    elsewhere.committed([{ strategyId: "two", type: "SPOT" }]);
    await here.triggers.load(new Set([slotOf("one")]));
    expect(changes).toBeLessThan(CHANGES_MAX);
    expect(here.market.subscribed()).toEqual(["BTCUSDT"]);
  });

  test("is not loaded before what changed during its load is", async () => {
    const { here } = await twoServers();
    await here.place("one", "BUY", "90");
    here.triggers.keepOnly(WITHOUT_ONE);
    here.triggers.keepOnly(ALL);
    const slots = here.storage.holdLoad();
    let isLoaded = false;
    const loading = here.triggers.load(new Set([slotOf("one")])).then(() => {
      isLoaded = true;
    });
    await slots.reached;
    await here.place("one", "BUY", "80");
    const again = here.storage.holdLoad();
    slots.release();
    await again.reached;
    await here.settled();
    expect(isLoaded).toBe(false);
    again.release();
    await loading;
    expect(here.triggers.counts().orders).toBe(2);
  });

  test("has its triggers again after a load, with the market since the watermark", async () => {
    const { market, place, settled, statusOf, time, triggers } = await createFixture({
      strategies: ["one", "two"],
    });
    await place("one", "BUY", "90");
    await place("two", "BUY", "80");
    market.show("BTCUSDT", "99", "100");
    time.advance(40_000);
    await settled();
    triggers.keepOnly(WITHOUT_ONE);
    triggers.keepOnly(ALL);
    const begin = (triggers.coveredUntil("BTCUSDT") ?? 0) - MARGIN;
    await triggers.load(new Set([slotOf("one")]));
    // Nobody had the trigger until now: the market since the watermark is requested.
    const from = START + 36_000;
    market.answer([{ from, to: from, lowest: decimal("89"), highest: decimal("89") }]);
    expect(triggers.coveredUntil("BTCUSDT")).toBe(begin);
    time.advance(5_000);
    await settled();
    expect(market.asked.at(-1)?.from).toBe(begin - 1_000);
    expect(await statusOf("one", 2)).toBe("FILLED");
  });
});

describe("a position whose owner has died", () => {
  const ALL = new Set(Array.from({ length: SLOTS }, (_, slot) => slot));

  test.each([
    "before anything of its slot is loaded",
    "while its slot is loaded",
    "while its slot is loaded, which takes long",
  ] as const)(
    "is liquidated by a price of that time, although its strategy trades here %s",
    async (moment) => {
      const { here, there, time } = await orphaned();
      // A long of 1 BTC that was bought at 100 is liquidated at 95.43.
      const hitAt = time.now() + 1_000;
      marks(here, { from: hitAt, to: hitAt, lowest: decimal("95"), highest: decimal("95") });
      time.advance(2_000);
      there.kill();
      await here.triggers.suspendCoverage();
      here.triggers.keepOnly(ALL);
      const trade = () => here.place("one", "BUY", "40", { symbol: "ETHUSDT" });
      if (moment.startsWith("before")) await trade();
      const load = here.storage.holdLoad();
      const loading = here.triggers.load(ALL);
      await load.reached;
      if (moment.startsWith("while")) await trade();
      if (moment.endsWith("long")) {
        time.advance(5_000);
        await here.settled();
      }
      load.release();
      await loading;
      here.triggers.resumeCoverage();
      here.market.showMark("BTCUSDT", "100");
      time.advance(5_000);
      await here.settled();
      expect(await standingOf(here.store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
      expect(here.triggers.counts()).toEqual({ orders: 1, legs: 0, positions: 0 });
    },
  );

  test.each(["one of its strategy's commits is notified", "notifications of commits are back"] as const)(
    "is not liquidated by a price from before the watermark, which was within other brackets then: %s before anything of its slot is loaded",
    async (what) => {
      const { here, there, time, isBoughtAt } = await orphaned();
      // 96 was above the liquidation price of that time, and is below the present one.
      marks(here, {
        from: isBoughtAt + 1,
        to: isBoughtAt + 1,
        lowest: decimal("96"),
        highest: decimal("96"),
      });
      for (const { market } of [here, there]) market.terms.set("BTCUSDT", contractTerms("0.02"));
      there.kill();
      await here.triggers.suspendCoverage();
      here.triggers.keepOnly(ALL);
      if (what.startsWith("one")) {
        here.storage.elsewhere.committed([{ strategyId: "one", type: "FUTURES" }]);
      } else {
        here.storage.elsewhere.lost();
        here.storage.elsewhere.resumed();
      }
      await here.settled();
      here.market.showMark("BTCUSDT", "100");
      await here.settled();
      await here.triggers.load(ALL);
      here.triggers.resumeCoverage();
      time.advance(5_000);
      await here.settled();
      expect(await standingOf(here.store, "one")).toMatchObject({ holds: "1.00000000", closedBy: [] });
      expect(here.triggers.counts().positions).toBe(1);
    },
  );

  /**
   * Two servers, of which `there` owns everything, one position of BTC among it, and has stored a watermark
   * that is a minute later than the purchase. `here` owns nothing.
   */
  async function orphaned() {
    const { here, there, time } = await twoServers(["one"], FUTURES.type);
    here.triggers.keepOnly(new Set());
    const isBoughtAt = time.now();
    await there.place("one", "BUY", null, { quantity: "1" });
    time.advance(60_000);
    await there.settled();
    expect(await there.store.listHeard("FUTURES")).toMatchObject([{ at: isBoughtAt + 55_000 }]);
    return { here, there, time, isBoughtAt };
  }
});

describe("a position that another server has opened, and this one was not notified of", () => {
  test("is liquidated by a price from before its strategy traded here", async () => {
    const { here, there, time, notify } = await twoServers(["one"], FUTURES.type);
    await there.place("one", "BUY", null, { quantity: "1" });
    const hitAt = time.now() + 1_000;
    marks(here, { from: hitAt, to: hitAt, lowest: decimal("95"), highest: decimal("95") });
    there.kill();
    time.advance(2_000);
    await here.place("one", "BUY", "40", { symbol: "ETHUSDT" });
    here.market.showMark("BTCUSDT", "100");
    await notify("one");
    time.advance(5_000);
    await here.settled();
    expect(await standingOf(here.store, "one")).toMatchObject({ closedBy: ["LIQUIDATION"] });
  });
});

/** The mark prices that a server finds in the exchange's history, where a request includes their time. */
function marks(
  { market }: Pick<Awaited<ReturnType<typeof createFixture>>, "market">,
  range: PriceRange,
): void {
  market.markedBetween = async (_symbol?: string, from = 0, to = 0) =>
    from <= range.from && range.to <= to ? [range] : [];
}
