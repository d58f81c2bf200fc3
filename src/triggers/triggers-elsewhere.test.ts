// Several servers on one database: each has the triggers of all.
import { describe, expect, test } from "vitest";
import { decimal, type Price } from "../money/decimal.ts";
import { cleanFixtures, createFixture, START, startOn } from "./testing/fixture.ts";
import { twoServers } from "./testing/two-servers.ts";

/** How often a process stores its coverage, and how far the watermark stays behind, ms. */
const INTERVAL = 5_000;
const LAG = 5_000;
/** How much earlier than its gap the requested history begins, ms. */
const UNDER_WAY = 1_000;
const MINUTE = 60_000;

cleanFixtures();

describe("an order of another server", () => {
  test("is filled when the market reaches it, and by neither twice", async () => {
    const { here, there, notify } = await twoServers();
    await there.place("one", "BUY", "90");
    await notify("one");
    expect(here.market.subscribed()).toEqual(["BTCUSDT"]);
    for (const server of [here, there]) server.market.show("BTCUSDT", "89", "90");
    await Promise.all([here.settled(), there.settled()]);
    expect(await here.fillsOf("one", 2)).toEqual([["90.00000000", "0.10000000", true]]);
    await notify("one");
    expect([here.market.subscribed(), there.market.subscribed()]).toEqual([[], []]);
  });

  test("is filled by the one that lives", async () => {
    const { here, there, notify } = await twoServers();
    await there.place("one", "SELL", "110");
    await notify("one");
    await there.triggers.close();
    here.market.show("BTCUSDT", "110", "111");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("FILLED");
  });

  test("is known from before the first load on", async () => {
    const there = await createFixture();
    await there.triggers.open();
    const here = startOn(there.store, there.time);
    const hold = here.storage.holdLoad();
    const isRebuilt = here.triggers.open();
    await hold.reached;
    await there.place("one", "BUY", "90");
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    hold.release();
    await isRebuilt;
    await here.settled();
    expect(here.market.subscribed()).toEqual(["BTCUSDT"]);
  });

  test("is forgotten when it was canceled there", async () => {
    const { here, there, notify } = await twoServers();
    await there.place("one", "BUY", "90");
    await there.place("one", "BUY", "80");
    await notify("one");
    await there.desk.execute("one", { type: "CancelOpenOrders", symbol: "BTCUSDT" });
    await notify("one");
    expect(here.market.subscribed()).toEqual([]);
  });

  test("that is a stop waits at its limit once it was triggered there", async () => {
    const { here, there, notify } = await twoServers();
    await there.place("one", "BUY", "105", { stop: "110" });
    await notify("one");
    there.market.show("BTCUSDT", "109", "110");
    there.market.trade("BTCUSDT", "110");
    await there.settled();
    await notify("one");
    // Its stop price was hit; its limit was not.
    here.market.trade("BTCUSDT", "110");
    await here.settled();
    expect(await here.statusOf("one", 2)).toBe("NEW");
    here.market.show("BTCUSDT", "104", "105");
    await here.settled();
    expect(await here.fillsOf("one", 2)).toEqual([["105.00000000", "0.10000000", true]]);
  });

  test("that both trigger at once waits at its limit, although the one that lost announced nothing", async () => {
    const { here, there, notify } = await twoServers();
    await there.place("one", "BUY", "105", { stop: "110" });
    await notify("one");
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

  test("is not taken up by a closed engine", async () => {
    const { here, there, notify } = await twoServers();
    await there.place("one", "BUY", "90");
    const hold = here.storage.holdLoad();
    here.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await hold.reached;
    await here.triggers.close();
    hold.release();
    await notify("one");
    expect(here.market.subscribed()).toEqual([]);
    expect(here.time.pending()).toBe(there.time.pending());
  });
});

describe("what came between the beginning of an order and its being known here", () => {
  test("is nothing if no price since shortly before could have hit it", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await there.place("one", "BUY", "90");
    here.market.show("BTCUSDT", "98", "99");
    await notify("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([]);
  });

  test("is requested if a price has hit it, and its own time decides", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await there.place("one", "BUY", "90");
    const since = time.now();
    here.market.show("BTCUSDT", "88", "89");
    here.market.show("BTCUSDT", "99", "100");
    await notify("one");
    // A price that was gone when the order was placed must not fill it: only the trades' own times show that.
    expect(await here.statusOf("one", 3)).toBe("NEW");
    here.market.answer([span(since, since + 10, "89", "100")]);
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([{ symbol: "BTCUSDT", from: since - UNDER_WAY, to: START + 10_000 }]);
    expect(await here.statusOf("one", 3)).toBe("FILLED");
  });

  test("is requested once for many orders", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "88", "100");
    for (let placed = 0; placed < 5; placed += 1) {
      await there.place("one", "BUY", "90");
      await notify("one");
      time.advance(100);
    }
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([{ symbol: "BTCUSDT", from: START - UNDER_WAY, to: START + INTERVAL }]);
  });

  test("is requested at the symbol's first message", async () => {
    const { here, there, time, notify } = await twoServers();
    await there.place("one", "BUY", "90");
    time.advance(2_000);
    await notify("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked).toEqual([]);
    here.market.show("BTCUSDT", "99", "100");
    await here.settled();
    expect(here.market.asked).toEqual([
      { symbol: "BTCUSDT", from: START - UNDER_WAY, to: START + 2_000 + INTERVAL },
    ]);
  });

  test("is requested if market data was missing in between", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "80");
    here.market.show("BTCUSDT", "99", "100");
    time.advance(5_000);
    await there.place("one", "BUY", "90");
    const since = time.now();
    here.market.miss("BTCUSDT", since - 500, since);
    await here.settled();
    const before = here.market.asked.length;
    await notify("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(here.market.asked.slice(before)).toEqual([
      { symbol: "BTCUSDT", from: since - UNDER_WAY, to: since + INTERVAL },
    ]);
  });
});

describe("while commits of other servers are not received", () => {
  test("their orders are loaded when the connection is back, and ended ones are removed", async () => {
    const { here, there, time, notify } = await twoServers(["one", "two"]);
    await there.place("one", "BUY", "90");
    await here.place("two", "BUY", "70");
    await notify("one");
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
    expect(here.market.subscribed()).toEqual([]);
  });

  test("market data of that time is requested from the creation of such an order on", async () => {
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

  test("no watermark is stored, since the next process would skip orders that are unknown here", async () => {
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

describe("a stored watermark", () => {
  test("is left to servers with complete market data", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "70");
    await notify("one");
    for (const { market } of [here, there]) market.show("BTCUSDT", "99", "100");
    here.storage.elsewhere.lost();
    time.advance(INTERVAL);
    await here.settled();
    // From here on the server without market data would write last.
    here.storage.noteDelay = there.settled;
    time.advance(2 * INTERVAL);
    await there.settled();
    await here.settled();
    expect(await here.store.listHeard("SPOT")).toEqual([
      { type: "SPOT", symbol: "BTCUSDT", at: time.now() - LAG },
    ]);
  });

  test("goes back to an order that became known late, until its past is checked", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    const placedAt = time.now();
    await there.place("one", "BUY", "90");
    there.kill();
    time.advance(MINUTE);
    await here.settled();
    expect((await here.store.listHeard("SPOT"))[0]?.at).toBe(START + MINUTE - LAG);
    for (let questions = 0; questions < 2; questions += 1) here.market.answer(null);
    await notify("one");
    time.advance(INTERVAL);
    await here.settled();
    expect(await here.store.listHeard("SPOT")).toEqual([{ type: "SPOT", symbol: "BTCUSDT", at: placedAt }]);
    for (let questions = 0; questions < 3; questions += 1) {
      time.advance(INTERVAL);
      await here.settled();
    }
    expect((await here.store.listHeard("SPOT"))[0]?.at).toBe(time.now() - LAG);
  });

  test("goes back also if an engine closes before it could check", async () => {
    const { here, there, time, notify } = await twoServers();
    await here.place("one", "BUY", "70");
    here.market.show("BTCUSDT", "99", "100");
    const placedAt = time.now();
    await there.place("one", "BUY", "90");
    there.kill();
    time.advance(MINUTE);
    await notify("one");
    await here.triggers.close();
    expect(await here.store.listHeard("SPOT")).toEqual([{ type: "SPOT", symbol: "BTCUSDT", at: placedAt }]);
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
