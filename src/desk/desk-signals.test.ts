// Signals at the desk: whichever process drives one, and however often, it has one order or none, and its row
// says which.
import { describe, expect, test } from "vitest";
import type { ExecuteSignal } from "../domain/command.ts";
import { signalKey } from "../domain/command.ts";
import type { NewSignal } from "../domain/signal.ts";
import { decimal } from "../money/decimal.ts";
import { StoreFailure } from "../store/store.ts";
import type { Desk } from "./desk.ts";
import {
  buy,
  cancel,
  cleanFixtures,
  createFixture,
  deskOn,
  executed,
  fundsOf,
  open,
  StubMarket,
  upTo,
} from "./testing/fixture.ts";

cleanFixtures();

const CLAIMED_UNTIL = 20_000;

function signalOf(signalId: string, strategyId = "one"): NewSignal {
  return { signalId, strategyId, idempotencyKey: `key-${signalId}`, body: "{}", receivedAt: 10_000 };
}

/** To buy 0.1 BTC at a limit or at the market, tried at wall time 12,345. */
function execute(price: string, signalId: string): ExecuteSignal {
  return { type: "ExecuteSignal", signalId, order: buy(price, signalId), processedAt: 12_345 };
}

/** More than a strategy has. */
function tooMuch(signalId: string): ExecuteSignal {
  const command = execute("market", signalId);
  return { ...command, order: { ...command.order, size: { quantity: decimal("1000") } } };
}

/** To sell a little of what is held. */
function sell(signalId: string): ExecuteSignal {
  const command = execute("market", signalId);
  return { ...command, order: { ...command.order, side: "SELL", size: { quantity: decimal("0.001") } } };
}

function drive(desk: Desk, command: ExecuteSignal, strategyId = "one") {
  return desk.execute(strategyId, command, { key: signalKey(command.signalId) });
}

/** A desk on whose store signals have been received. */
async function fixtureWith(signalIds: readonly string[], options: Parameters<typeof createFixture>[0] = {}) {
  const fixture = await createFixture(options);
  await fixture.store.receiveSignals(
    signalIds.map((signalId) => signalOf(signalId)),
    { claimedUntil: CLAIMED_UNTIL },
  );
  const stateOf = async (signalId: string) => (await fixture.store.findSignal("one", { signalId }))?.state;
  const claim = async () => {
    const claimed = await fixture.store.claimSignals({ now: CLAIMED_UNTIL, until: 30_000, limit: 99 });
    return claimed.map((signal) => signal.signalId);
  };
  return { ...fixture, stateOf, claim };
}

describe("a signal", () => {
  test("is executed with its order in one commit, and its row says so", async () => {
    const { desk, store, groups, announced, stateOf } = await fixtureWith(["s"]);
    const { events, orders, replayed } = executed(await drive(desk, execute("market", "s")));
    expect(events.map(({ type }) => type)).toEqual(["OrderPlaced", "OrderFilled", "SignalExecuted"]);
    expect(orders.map(({ clientOrderId, status }) => [clientOrderId, status])).toEqual([["s", "FILLED"]]);
    expect(replayed).toBe(false);
    expect(groups).toHaveLength(1);
    expect(announced.map((each) => each.events)).toEqual([events]);
    expect(await stateOf("s")).toEqual({ status: "EXECUTED", processedAt: 12_345, order: orders[0] });
    expect((await store.findEntry("one", "signal:s"))?.events).toEqual(events);
    expect(await store.findOrder("one", { clientOrderId: "s" })).toEqual(orders[0]);
  });

  test("keeps its order as the execution left it, while the order changes", async () => {
    const { desk, stateOf } = await fixtureWith(["s"]);
    const [order] = executed(await drive(desk, execute("90", "s"))).orders;
    expect(order?.status).toBe("NEW");
    await desk.execute("one", cancel(1));
    expect(await stateOf("s")).toEqual({ status: "EXECUTED", processedAt: 12_345, order });
  });

  test("driven again is replayed, with its order in its present state", async () => {
    const { desk, store, announced } = await fixtureWith(["s"]);
    const first = executed(await drive(desk, execute("90", "s")));
    await desk.execute("one", cancel(1));
    const again = executed(await drive(desk, { ...execute("market", "s"), processedAt: 99_999 }));
    expect(again).toMatchObject({ events: first.events, replayed: true });
    expect(again.orders.map(({ status }) => status)).toEqual(["CANCELED"]);
    expect(await store.listEntries("one")).toHaveLength(3);
    expect(announced).toHaveLength(2);
  });

  test("is rejected permanently: nothing of the account changes, and it is not retried", async () => {
    const { desk, store, stateOf, claim } = await fixtureWith(["s"]);
    const before = await store.loadAccount("one");
    const { events, orders } = executed(await drive(desk, tooMuch("s")));
    expect(events.map(({ type }) => type)).toEqual(["SignalRejected"]);
    expect(orders).toEqual([]);
    const reason = { refusal: "INSUFFICIENT_BALANCE" } as const;
    expect(await stateOf("s")).toEqual({ status: "REJECTED", processedAt: 12_345, reason });
    expect(await store.loadAccount("one")).toEqual({ ...before, version: 2 });
    // Even with an order that could be taken.
    const again = executed(await drive(desk, execute("market", "s")));
    expect(again).toEqual({ events, orders: [], legs: [], replayed: true });
    expect(await claim()).toEqual([]);
  });

  test("of a closed strategy is rejected, without using the market", async () => {
    const market = new StubMarket();
    const { desk, stateOf } = await fixtureWith(["s"], { market });
    await desk.execute("one", { type: "CloseStrategy" });
    market.prepare = (symbol) => {
      throw new Error(`nothing is asked about ${symbol}`);
    };
    executed(await drive(desk, execute("market", "s")));
    const reason = { refusal: "STRATEGY_NOT_LIVE" } as const;
    expect(await stateOf("s")).toEqual({ status: "REJECTED", processedAt: 12_345, reason });
  });

  test("of a futures strategy is rejected: there is no such thing", async () => {
    const { desk, store } = await createFixture({ futures: ["perpetual"] });
    await store.receiveSignals([signalOf("s", "perpetual")], { claimedUntil: CLAIMED_UNTIL });
    executed(await drive(desk, execute("market", "s"), "perpetual"));
    expect((await store.findSignal("perpetual", { signalId: "s" }))?.state).toMatchObject({
      status: "REJECTED",
      reason: { refusal: "KEY_OF_OTHER_FAMILY" },
    });
  });

  test("stays as it is while its market is silent, and is executed when there is a price", async () => {
    const market = new StubMarket();
    const { desk, store, stateOf, claim } = await fixtureWith(["s"], { market });
    market.silence("BTCUSDT");
    expect(await drive(desk, execute("market", "s"))).toEqual({ refusal: "MARKET_SILENT" });
    expect(await stateOf("s")).toEqual({ status: "RECEIVED" });
    expect(await store.listEntries("one")).toHaveLength(1);
    expect(await claim()).toEqual(["s"]);
    market.show("BTCUSDT", "99", "100");
    expect(executed(await drive(desk, execute("market", "s"))).replayed).toBe(false);
    expect((await stateOf("s"))?.status).toBe("EXECUTED");
  });

  test("counts against the order budget, and waits when that is exhausted", async () => {
    const ids = upTo(51).map((id) => `s${id}`);
    const { desk, stateOf } = await fixtureWith(ids);
    const outcomes = await Promise.all(
      ids.map((id) =>
        desk.execute("one", execute("10", id), { key: signalKey(id), admittedAt: 1_795_228_300_000 }),
      ),
    );
    const exhausted = { refusal: "ORDERS_EXHAUSTED", limit: 50, interval: "10 SECOND" };
    expect(outcomes.filter((outcome) => "refusal" in outcome)).toEqual([exhausted]);
    expect(await stateOf("s51")).toEqual({ status: "RECEIVED" });
  });

  test("that the database was too busy for is left as it is", async () => {
    const { desk, storage, stateOf } = await fixtureWith(["s"]);
    storage.busyCommits = 1;
    expect(await drive(desk, execute("market", "s"))).toEqual({ refusal: "BUSY" });
    expect(await stateOf("s")).toEqual({ status: "RECEIVED" });
    expect(executed(await drive(desk, execute("market", "s"))).replayed).toBe(false);
  });
});

describe("a signal that its commit records", () => {
  const settle = (desk: Desk, command: ExecuteSignal, records = signalOf(command.signalId)) =>
    desk.execute("one", command, { key: signalKey(command.signalId), records });

  test("is there as it was settled, by one commit", async () => {
    const { desk, groups, store, stateOf } = await fixtureWith([]);
    const { orders } = executed(await settle(desk, execute("market", "s")));
    executed(await settle(desk, tooMuch("t")));
    expect(groups).toHaveLength(2);
    expect(await stateOf("s")).toEqual({ status: "EXECUTED", processedAt: 12_345, order: orders[0] });
    expect(await stateOf("t")).toMatchObject({ status: "REJECTED", processedAt: 12_345 });
    expect(await store.findSignal("one", { signalId: "s" })).toMatchObject(signalOf("s"));
  });

  test("is decided again if another process has moved the account", async () => {
    const { desk, file, stateOf } = await fixtureWith([]);
    executed(await settle(desk, execute("market", "s")));
    const { desk: other } = await deskOn(file);
    executed(await other.execute("one", buy("market", "beside")));
    executed(await settle(desk, execute("market", "t")));
    expect((await stateOf("t"))?.status).toBe("EXECUTED");
  });

  test("and whose key is known, is refused, with nothing done", async () => {
    const { desk, store, stateOf } = await fixtureWith(["s"]);
    const again = { ...signalOf("t"), idempotencyKey: "key-s" };
    expect(await settle(desk, execute("market", "t"), again)).toEqual({ refusal: "BUSY" });
    expect([await stateOf("s"), await stateOf("t")]).toEqual([{ status: "RECEIVED" }, undefined]);
    expect(await store.listEntries("one")).toHaveLength(1);
    // The account in memory is as it was, too.
    const [order] = executed(await drive(desk, execute("market", "s"))).orders;
    expect(order?.orderId).toBe(1);
  });

  const preparing = new StubMarket();
  preparing.prepare = () => Promise.resolve();
  const silent = new StubMarket();
  silent.silence("BTCUSDT");
  test.each([
    ["has to be prepared", preparing],
    ["is silent", silent],
  ])("is refused while its market %s, and nothing is stored", async (_what, market) => {
    const { desk, groups, stateOf } = await fixtureWith([], { market });
    expect(await settle(desk, execute("market", "s"))).toEqual({ refusal: "BUSY" });
    expect(groups).toEqual([]);
    expect(await stateOf("s")).toBeUndefined();
  });

  test("is refused at once while its strategy has another command in progress", async () => {
    const { desk, stateOf } = await fixtureWith([]);
    const outcomes = [desk.execute("one", buy("market", "before")), settle(desk, execute("market", "s"))];
    const [before, refused] = await Promise.all(outcomes);
    expect(executed(before ?? { refusal: "BUSY" }).orders).toHaveLength(1);
    expect(refused).toEqual({ refusal: "BUSY" });
    expect(await stateOf("s")).toBeUndefined();
  });
});

describe("a signal that is driven twice at once", () => {
  test("at two desks has one order, every time", async () => {
    const ids = upTo(15).map((id) => `s${id}`);
    const { desk, file, store, stateOf } = await fixtureWith(ids);
    const { desk: other } = await deskOn(file);
    for (const id of ids) {
      const outcomes = await Promise.all([desk, other].map((each) => drive(each, execute("90", id))));
      expect(outcomes.map((outcome) => executed(outcome).replayed).sort()).toEqual([false, true]);
      expect((await stateOf(id))?.status).toBe("EXECUTED");
    }
    const placed = await store.listOrders("one", { symbol: "BTCUSDT", limit: 99 });
    expect(placed.map(({ clientOrderId }) => clientOrderId)).toEqual(ids);
  });

  test("is executed or rejected, never both, if the two desks see different markets", async () => {
    const ids = upTo(15).map((id) => `s${id}`);
    const { desk, file, store, stateOf } = await fixtureWith(ids);
    // That market has no bids, so a market order can never be filled.
    const empty = new StubMarket();
    empty.quote = () => ({ bid: null, ask: decimal("100") });
    const { desk: other } = await deskOn(file, undefined, empty);
    executed(await desk.execute("one", buy("market", "held")));
    for (const id of ids) {
      const outcomes = await Promise.all([desk, other].map((each) => drive(each, sell(id))));
      const [one, two] = outcomes.map(executed);
      expect(one?.events).toEqual(two?.events);
      const last = one?.events.at(-1)?.type;
      expect((await stateOf(id))?.status).toBe(last === "SignalExecuted" ? "EXECUTED" : "REJECTED");
    }
    const settled = await store.listSignals("one", { limit: 99 });
    const placed = await store.listOrders("one", { symbol: "BTCUSDT", limit: 99 });
    const done = settled.filter(({ state }) => state.status === "EXECUTED").map(({ signalId }) => signalId);
    expect(placed.map(({ clientOrderId }) => clientOrderId).sort()).toEqual(["held", ...done].sort());
  });

  test("and cancelled between the two is not placed again", async () => {
    const { desk, file, store } = await fixtureWith(["s"]);
    executed(await drive(desk, execute("90", "s")));
    const { desk: other } = await deskOn(file);
    const [again] = await Promise.all([drive(other, execute("90", "s")), desk.execute("one", cancel(1))]);
    expect(executed(again).replayed).toBe(true);
    expect(await fundsOf(store, "one")).toEqual({ free: "200.00000000", locked: "0.00000000" });
  });
});

describe("a process that dies", () => {
  test("between receiving and executing leaves a signal that the next one claims and executes", async () => {
    const { file } = await fixtureWith(["s"]);
    const next = await open(file);
    expect(await next.claimSignals({ now: CLAIMED_UNTIL - 1, until: 30_000, limit: 9 })).toEqual([]);
    const [claimed] = await next.claimSignals({ now: CLAIMED_UNTIL, until: 30_000, limit: 9 });
    expect(claimed).toEqual({ ...signalOf("s"), state: { status: "RECEIVED" } });
    const { desk } = await deskOn(file, next);
    executed(await drive(desk, execute("market", "s")));
    expect((await next.findSignal("one", { signalId: "s" }))?.state.status).toBe("EXECUTED");
  });

  test("in a commit that was not made durable leaves signal and account as they were", async () => {
    const { desk, storage, stateOf, store, claim } = await fixtureWith(["s"]);
    storage.beforeCommit = () => Promise.reject(new StoreFailure("the disk is full"));
    await expect(drive(desk, execute("market", "s"))).rejects.toThrow("the disk is full");
    expect(await stateOf("s")).toEqual({ status: "RECEIVED" });
    expect(await store.listEntries("one")).toHaveLength(1);
    expect(await claim()).toEqual(["s"]);
  });
});
