// Several servers on one database: each watches the orders of all.
import { describe, expect, test } from "vitest";
import { decimal, type Price } from "../money/decimal.ts";
import { cleanStages, START, stage, startOn } from "./testing/stage.ts";
import { twoServers } from "./testing/two-servers.ts";

/** How often a process notes when it last heard of its symbols, and how far it stays behind with that, ms. */
const INTERVAL = 5_000;
const LAG = 5_000;
/** From so much earlier each gap is asked for, ms. */
const UNDER_WAY = 1_000;
const MINUTE = 60_000;

cleanStages();

describe("an order of another server", () => {
  test("is filled when the market reaches it, and by neither twice", async () => {
    const { here, there, tell } = await twoServers();
    await there.place("one", "BUY", "90");
    await tell("one");
    expect(here.market.watched()).toEqual(["BTCUSDT"]);
    for (const server of [here, there]) server.market.show("BTCUSDT", "89", "90");
    await Promise.all([here.settled(), there.settled()]);
    expect(await here.fillsOf("one", 2)).toEqual([["90.00000000", "0.10000000", true]]);
    await tell("one");
    expect([here.market.watched(), there.market.watched()]).toEqual([[], []]);
  });

  test("is filled by the one that lives", async () => {
    const { here, there, tell } = await twoServers();
    await there.place("one", "SELL", "110");
    await tell("one");
    await there.watcher.close();
    here.market.show("BTCUSDT", "110", "111");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("FILLED");
  });

  test("is heard of from before the first load on", async () => {
    const there = await stage();
    await there.watcher.rebuild();
    const here = startOn(there.store, there.time);
    const hold = here.storage.holdLoad();
    const isRebuilt = here.watcher.rebuild();
    await hold.reached;
    await there.place("one", "BUY", "90");
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    hold.release();
    await isRebuilt;
    await here.settled();
    expect(here.market.watched()).toEqual(["BTCUSDT"]);
  });

  test("is forgotten when it was canceled there", async () => {
    const { here, there, tell } = await twoServers();
    await there.place("one", "BUY", "90");
    await there.place("one", "BUY", "80");
    await tell("one");
    await there.desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    await tell("one");
    expect(here.market.watched()).toEqual([]);
  });

  test("that is a stop waits at its limit once it was triggered there", async () => {
    const { here, there, tell } = await twoServers();
    await there.place("one", "BUY", "105", { stop: "110" });
    await tell("one");
    there.market.show("BTCUSDT", "109", "110");
    there.market.trade("BTCUSDT", "110");
    await there.settled();
    await tell("one");
    // Its trigger is behind it; its limit is not.
    here.market.trade("BTCUSDT", "110");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("NEW");
    here.market.show("BTCUSDT", "104", "105");
    await here.settled();
    expect(await here.fillsOf("one", 2)).toEqual([["105.00000000", "0.10000000", true]]);
  });

  test("that both trigger at once waits at its limit, although the one that lost announced nothing", async () => {
    const { here, there, tell } = await twoServers();
    await there.place("one", "BUY", "105", { stop: "110" });
    await tell("one");
    for (const { market } of [here, there]) market.show("BTCUSDT", "109", "110");
    const hold = here.storage.hold();
    here.market.trade("BTCUSDT", "110");
    await hold.reached;
    there.market.trade("BTCUSDT", "110");
    await there.settled();
    hold.release();
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("NEW");
    here.market.show("BTCUSDT", "104", "105");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("FILLED");
    expect((await here.store.listEntries("one")).map(({ key }) => key)).toEqual([
      null,
      null,
      null,
      "trigger:2",
      "fill:2",
    ]);
  });

  test("is not taken up by a closed watcher", async () => {
    const { here, there, tell } = await twoServers();
    await there.place("one", "BUY", "90");
    const hold = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await hold.reached;
    await here.watcher.close();
    hold.release();
    await tell("one");
    expect(here.market.watched()).toEqual([]);
    expect(here.time.pending()).toBe(there.time.pending());
  });
});

describe("what came between the beginning of an order and its being known here", () => {
  test("is nothing if nothing that was heard since shortly before could have reached it", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await there.place("one", "BUY", "90");
    here.market.show("BTCUSDT", "98", "99");
    await tell("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([]);
  });

  test("is asked for if something reached it, and decides by its own time", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await there.place("one", "BUY", "90");
    const since = time.now();
    here.market.show("BTCUSDT", "88", "89");
    here.market.show("BTCUSDT", "99", "100");
    await tell("one");
    // A price that was gone when the order began to wait must not fill it: only the trades' own times can say.
    expect(await here.statusOf("one", 3)).toBe("NEW");
    here.market.answer([span(since, since + 10, "89", "100")]);
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([{ symbol: "BTCUSDT", from: since - UNDER_WAY, to: START + 10_000 }]);
    expect(await here.statusOf("one", 3)).toBe("FILLED");
  });

  test("is asked for once for many orders", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "88", "100");
    for (let placed = 0; placed < 5; placed += 1) {
      await there.place("one", "BUY", "90");
      await tell("one");
      time.advance(100);
    }
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([{ symbol: "BTCUSDT", from: START - UNDER_WAY, to: START + INTERVAL }]);
  });

  test("is asked for if the symbol was not heard before, when it is", async () => {
    const { here, there, time, tell } = await twoServers();
    await there.place("one", "BUY", "90");
    time.advance(2_000);
    await tell("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([]);
    here.market.show("BTCUSDT", "99", "100");
    await here.settled();
    expect(here.market.asked).toEqual([
      { symbol: "BTCUSDT", from: START - UNDER_WAY, to: START + 2_000 + INTERVAL },
    ]);
  });

  test("is asked for if something was missed meanwhile", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await there.place("one", "BUY", "90");
    const since = time.now();
    here.market.miss("BTCUSDT", since - 500, since);
    await here.settled();
    const before = here.market.asked.length;
    await tell("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked.slice(before)).toEqual([
      { symbol: "BTCUSDT", from: since - UNDER_WAY, to: since + INTERVAL },
    ]);
  });
});

describe("while what others commit is not heard", () => {
  test("their orders are made up for when it is heard again, and what is gone is forgotten", async () => {
    const { here, there, time, tell } = await twoServers(["one", "two"]);
    await there.place("one", "BUY", "90");
    await here.place("two", "BUY", "70");
    await tell("one");
    here.storage.elsewhere.lost();
    await there.desk.execute("one", { type: "CancelOrder", orderId: 2 });
    await there.place("two", "SELL", "110");
    time.advance(MINUTE);
    here.storage.elsewhere.resumed();
    await here.settled();
    here.market.show("BTCUSDT", "110", "111");
    await here.settled();
    here.market.show("BTCUSDT", "69", "70");
    await here.settled();
    expect(await here.statusOf("two", 3)).toBe("FILLED");
    expect(await here.statusOf("two", 2)).toBe("FILLED");
    expect(here.market.watched()).toEqual([]);
  });

  test("what came in the meantime is asked for from when such an order began to wait", async () => {
    const { here, there, time } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    here.storage.elsewhere.lost();
    time.advance(MINUTE);
    await there.place("one", "BUY", "90");
    time.advance(MINUTE);
    here.storage.elsewhere.resumed();
    await here.settled();
    here.market.answer([span(START + MINUTE + 10, START + MINUTE + 20, "89", "95")]);
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([
      { symbol: "BTCUSDT", from: START + MINUTE - UNDER_WAY, to: START + 2 * MINUTE + INTERVAL },
    ]);
    expect(await here.statusOf("one", 3)).toBe("FILLED");
  });

  test("nothing is noted, since the next process would skip orders that nobody here knows", async () => {
    const { here, there, time } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(INTERVAL);
    await here.settled();
    here.storage.elsewhere.lost();
    time.advance(1);
    const placedAt = time.now();
    await there.place("one", "BUY", "90");
    there.kill();
    time.advance(MINUTE);
    await here.settled();
    expect((await here.store.listHeard("SPOT"))[0]?.at).toBeLessThanOrEqual(placedAt);
  });
});

describe("a note of when a symbol was last heard of", () => {
  test("is left to those who hear everything", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "70");
    await tell("one");
    for (const { market } of [here, there]) market.show("BTCUSDT", "99", "100");
    here.storage.elsewhere.lost();
    time.advance(INTERVAL);
    await here.settled();
    // From here on the one that hears nothing would come last.
    here.storage.noteDelay = there.settled;
    time.advance(2 * INTERVAL);
    await there.settled();
    await here.settled();
    expect(await here.store.listHeard("SPOT")).toEqual([
      { family: "SPOT", symbol: "BTCUSDT", at: time.now() - LAG },
    ]);
  });

  test("goes back to an order that was learned of late, until that is looked at", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    const placedAt = time.now();
    await there.place("one", "BUY", "90");
    there.kill();
    time.advance(MINUTE);
    await here.settled();
    expect((await here.store.listHeard("SPOT"))[0]?.at).toBe(START + MINUTE - LAG);
    for (let questions = 0; questions < 2; questions += 1) here.market.answer(null);
    await tell("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(await here.store.listHeard("SPOT")).toEqual([{ family: "SPOT", symbol: "BTCUSDT", at: placedAt }]);
    for (let questions = 0; questions < 3; questions += 1) {
      time.advance(INTERVAL);
      await here.settled();
    }
    expect((await here.store.listHeard("SPOT"))[0]?.at).toBe(time.now() - LAG);
  });

  test("goes back also where a watcher is closed before it could look", async () => {
    const { here, there, time, tell } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    const placedAt = time.now();
    await there.place("one", "BUY", "90");
    there.kill();
    time.advance(MINUTE);
    await tell("one");
    await here.watcher.close();
    expect(await here.store.listHeard("SPOT")).toEqual([{ family: "SPOT", symbol: "BTCUSDT", at: placedAt }]);
  });

  test("waits for orders that are being loaded", async () => {
    const { here, there, time } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    const placedAt = time.now();
    await there.place("one", "BUY", "90");
    there.kill();
    const hold = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await hold.reached;
    time.advance(MINUTE);
    await here.settled();
    for (const { at } of await here.store.listHeard("SPOT")) expect(at).toBeLessThanOrEqual(placedAt);
    hold.release();
    await here.settled();
    time.advance(INTERVAL);
    await here.settled();
    time.advance(INTERVAL);
    await here.settled();
    expect((await here.store.listHeard("SPOT"))[0]?.at).toBe(time.now() - LAG);
  });
});

/** Trades between two market times, at prices between two. */
function span(from: number, to: number, lowest: string, highest: string) {
  return { from, to, lowest: decimal<Price>(lowest), highest: decimal<Price>(highest) };
}
