import { describe, expect, test } from "vitest";
import type { PlaceOrder, TriggerStop } from "../domain/command.ts";
import { decimal } from "../money/decimal.ts";
import {
  buy,
  cleanFixtures,
  createFixture,
  deskOn,
  executed,
  fundsOf,
  StubMarket,
  upTo,
} from "./testing/fixture.ts";

cleanFixtures();

describe("a triggered stop", () => {
  test("is never refused because the desk is full", async () => {
    const { desk, market, store } = await fixtureWithStop();
    const gate = Promise.withResolvers<void>();
    market.prepare = () => gate.promise;
    const crowd = upTo(500).map((each) =>
      desk.execute("one", { ...buy("90", `c${each}`), size: { quantity: decimal("0.001") } }),
    );
    expect(await desk.execute("one", buy("90", "more"))).toEqual({ refusal: "BUSY" });
    const triggered = desk.execute("one", trigger(1), { key: "trigger:1" });
    gate.resolve();
    await Promise.all(crowd);
    expect(executed(await triggered).orders.map(({ status }) => status)).toEqual(["FILLED"]);
    expect((await store.findOrder("one", { orderId: 1 }))?.status).toBe("FILLED");
  });

  test("is not lost to another process that keeps the database to itself: it is tried until it is committed", async () => {
    const { desk, storage, store } = await fixtureWithStop();
    storage.busyCommits = 2;
    const { events } = executed(await desk.execute("one", trigger(1), { key: "trigger:1" }));
    expect(events.map(({ type }) => type)).toEqual(["OrderTriggered", "OrderFilled"]);
    expect((await store.findOrder("one", { orderId: 1 }))?.status).toBe("FILLED");
    expect(await store.listEntries("one")).toHaveLength(3);
  });

  test("is triggered once: its key, used again at any desk, changes nothing", async () => {
    const { desk, file, market, store, announced } = await fixtureWithStop({ price: decimal("105") });
    market.show("BTCUSDT", "109", "110");
    const first = executed(await desk.execute("one", trigger(1), { key: "trigger:1" }));
    expect(first.events.map(({ type }) => type)).toEqual(["OrderTriggered"]);
    expect(first.orders.map(({ status, workingAt }) => [status, workingAt])).toEqual([["NEW", 1_000]]);
    const before = await store.loadAccount("one");
    const { desk: other } = await deskOn(file);
    for (const each of [desk, other]) {
      expect(await each.execute("one", trigger(1), { key: "trigger:1" })).toEqual({
        ...first,
        replayed: true,
      });
    }
    expect(await store.loadAccount("one")).toEqual(before);
    expect(announced).toHaveLength(2);
    await desk.execute("one", { type: "CancelOrder", orderId: 1 });
    const last = executed(await desk.execute("one", trigger(1), { key: "trigger:1" }));
    expect(last.orders.map(({ status }) => status)).toEqual(["CANCELED"]);
  });

  test("is decided with its market prepared; a closed strategy prepares nothing", async () => {
    const { desk, market } = await fixtureWithStop();
    const prepared = preparedBy(market);
    market.silence("BTCUSDT");
    const prepare = market.prepare;
    market.prepare = (symbol) => {
      market.show(symbol, "111", "112");
      return prepare(symbol);
    };
    const { events } = executed(await desk.execute("one", trigger(1), { key: "trigger:1" }));
    expect(events.map(({ type }) => type)).toEqual(["OrderTriggered", "OrderFilled"]);
    expect(prepared).toEqual(["BTCUSDT"]);
    expect(await desk.execute("one", trigger(1), { key: "again" })).toEqual({ refusal: "NOTHING_TO_FILL" });
    expect(await desk.execute("one", trigger(7), { key: "trigger:7" })).toEqual({
      refusal: "NOTHING_TO_FILL",
    });
    expect(prepared).toEqual(["BTCUSDT"]);
  });

  test("leaves its key free if its market is silent", async () => {
    const { desk, market } = await fixtureWithStop();
    market.silence("BTCUSDT");
    const options = { key: "trigger:1" };
    expect(await desk.execute("one", trigger(1), options)).toEqual({ refusal: "MARKET_SILENT" });
    market.show("BTCUSDT", "99", "100");
    expect(executed(await desk.execute("one", trigger(1), options)).replayed).toBe(false);
  });
});

describe("closing a strategy", () => {
  test("prepares the markets of what it holds, and sells at what they show then", async () => {
    const market = new StubMarket();
    market.show("ETHUSDT", "9", "10");
    const { desk, store } = await createFixture({ market });
    await desk.execute("one", buy("market", "a"));
    await desk.execute("one", { ...buy("market", "b"), symbol: "ETHUSDT" });
    await desk.execute("one", { ...buy("90", "c"), symbol: "XRPUSDT", size: { quantity: decimal("1") } });
    for (const symbol of ["BTCUSDT", "ETHUSDT"]) market.silence(symbol);
    const gates = new Map(["BTCUSDT", "ETHUSDT"].map((symbol) => [symbol, Promise.withResolvers<void>()]));
    const prepared: string[] = [];
    market.prepare = (symbol) => {
      prepared.push(symbol);
      return gates.get(symbol)?.promise;
    };
    const closing = desk.execute("one", { type: "CloseStrategy" });
    for (const [symbol, gate] of gates) {
      market.show(symbol, "200", "201");
      gate.resolve();
    }
    const { events } = executed(await closing);
    // Which way round an asset trades is known to the market alone.
    expect(prepared.sort()).toEqual(["BTCUSDT", "ETHUSDT", "USDTBTC", "USDTETH"]);
    expect(events.at(-1)?.type).toBe("StrategyClosed");
    expect(
      events.flatMap((event) =>
        event.type === "OrderFilled" ? [[event.trade.symbol, event.trade.price]] : [],
      ),
    ).toEqual([
      ["BTCUSDT", decimal("200")],
      ["ETHUSDT", decimal("200")],
    ]);
    expect((await store.loadAccount("one"))?.account.status).toBe("CLOSED");
    expect(await store.listOpenOrders("one", null)).toEqual([]);
    // A closed strategy prepares nothing.
    expect(await desk.execute("one", { type: "CloseStrategy" })).toEqual({ refusal: "STRATEGY_CLOSED" });
    expect(prepared).toHaveLength(4);
  });

  test("is one commit, and one announcement of all it did", async () => {
    const { desk, store, groups, announced } = await createFixture();
    await desk.execute("one", buy("market", "a"));
    await desk.execute("one", buy("90", "b"));
    await desk.execute("one", { type: "CloseStrategy" });
    expect(groups).toHaveLength(3);
    const types = ["OrderCanceled", "OrderPlaced", "OrderFilled", "StrategyClosed"];
    expect(announced.at(-1)?.events.map(({ type }) => type)).toEqual(types);
    expect(announced.at(-1)?.orders.map(({ orderId, status }) => [orderId, status])).toEqual([
      [2, "CANCELED"],
      [3, "FILLED"],
    ]);
    expect((await store.listEntries("one")).at(-1)?.events.map(({ type }) => type)).toEqual(types);
    // 200, less 0.1 BTC at 100, plus 0.0999 BTC at 99, less its fee of 0.1 %.
    expect(await fundsOf(store, "one")).toEqual({ free: "199.88020990", locked: "0.00000000" });
  });

  test("by two desks at once is done by one of them", async () => {
    const { desk, store, file } = await createFixture();
    await desk.execute("one", buy("market", "a"));
    const { desk: other } = await deskOn(file);
    const outcomes = await Promise.all(
      [desk, other].map((each) => each.execute("one", { type: "CloseStrategy" })),
    );
    expect(outcomes.filter((outcome) => "refusal" in outcome)).toEqual([{ refusal: "STRATEGY_CLOSED" }]);
    expect(await store.listEntries("one")).toHaveLength(3);
  });
});

/** A strategy whose order 1 is a stop of 0.1 BTC at 110, with the terms given. */
async function fixtureWithStop(terms: Pick<Partial<PlaceOrder>, "price"> = {}) {
  const market = new StubMarket();
  market.trade("BTCUSDT", "99");
  const fixture = await createFixture({ market });
  const { price = null } = terms;
  const placed = await fixture.desk.execute("one", {
    ...buy("market", "stop"),
    orderType: price === null ? "STOP_LOSS" : "STOP_LOSS_LIMIT",
    price,
    stopPrice: decimal("110"),
  });
  executed(placed);
  return { ...fixture, market };
}

function trigger(orderId: number): TriggerStop {
  return { type: "TriggerStop", orderId, seen: decimal("110") };
}

/** The symbols that are prepared from now on. */
function preparedBy(market: StubMarket): string[] {
  const prepared: string[] = [];
  market.prepare = (symbol) => {
    prepared.push(symbol);
    return undefined;
  };
  return prepared;
}
