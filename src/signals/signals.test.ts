// Signals on a real database: what is recorded, what is executed, and what the same key answers afterwards.
import { describe, expect, test } from "vitest";
import { cleanFixtures, StubMarket } from "../desk/testing/fixture.ts";
import { isRefusal } from "../domain/refusal.ts";
import type { Signal } from "../domain/signal.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { RETRY_MS_MIN, retryMs, type Submitted } from "./signals.ts";
import { anotherProcess, BUY, START, signalFixture } from "./testing/fixture.ts";

cleanFixtures();

const LIMIT = { ...BUY, orderType: "LIMIT", price: "50" };
const CLOSED = { status: "CLOSED" };

function signalOf(submitted: Submitted): Signal {
  if (!("signal" in submitted)) throw new Error(`expected a signal, not ${submitted.refused}`);
  return submitted.signal;
}

test("listeners are called for what was received, sent again or postponed, until they unsubscribe", async () => {
  const market = new StubMarket();
  const { submit, signals, sweep, time, logged, announced } = await signalFixture({ market });
  const heard: string[] = [];
  signals.onNews(() => {
    throw new Error("a listener with a fault");
  });
  const stop = signals.onNews((strategyId) => heard.push(strategyId));
  await submit("a");
  // The commit is announced, and there is nothing else to be told.
  expect([announced.length, heard.length]).toEqual([1, 0]);
  const replayed = signalOf(await submit("a"));
  expect(heard).toEqual(["one"]);
  expect(logged).toEqual(["a listener of signals has thrown"]);
  expect(signals.replays.of(replayed.signalId)).toBe(1);
  await submit("a", { ...BUY, quantity: "0.2" });
  await submit("b", "{");
  expect(heard).toHaveLength(1);
  market.silence("BTCUSDT");
  await submit("c");
  expect(heard).toHaveLength(3);
  time.now += RETRY_MS_MIN;
  await sweep.run();
  expect(heard).toHaveLength(4);
  stop();
  await submit("d");
  expect(heard).toHaveLength(4);
});

describe("a new key", () => {
  test("is recorded and executed, and its order has the signal's id", async () => {
    const { submit, signals, ordersOf } = await signalFixture();
    const submitted = await submit("a");
    const signal = signalOf(submitted);
    const [order] = await ordersOf();
    expect(submitted).toMatchObject({ replayed: false });
    expect(signal).toMatchObject({ idempotencyKey: "a", body: JSON.stringify(BUY), receivedAt: START });
    expect(signal.state).toEqual({ status: "EXECUTED", processedAt: START, order });
    expect(order).toMatchObject({ clientOrderId: signal.signalId, status: "FILLED" });
    expect(await signals.find("one", signal.signalId)).toEqual(signal);
    expect(await signals.list("one")).toEqual([signal]);
  });

  test.each([
    ["EXECUTED", BUY],
    ["REJECTED", { ...BUY, quantity: "3" }],
  ])("is recorded by the commit that makes it %s", async (status, order) => {
    const receiveSignals = () => Promise.reject(new Error("it is recorded by its commit alone"));
    const fixture = await signalFixture({ between: () => ({ receiveSignals }) });
    const recorded: (readonly Signal[])[] = [];
    fixture.storage.beforeCommit = async () => {
      recorded.push(await fixture.signals.list("one"));
    };
    const signal = signalOf(await fixture.submit("a", order));
    expect(recorded).toEqual([[]]);
    expect(signal).toMatchObject({ idempotencyKey: "a", state: { status } });
    expect(await fixture.signals.list("one")).toEqual([signal]);
  });

  test("is recorded before it is executed if its market has to be prepared", async () => {
    const market = new StubMarket();
    market.prepare = () => Promise.resolve();
    const fixture = await signalFixture({ market });
    const recorded: (readonly Signal[])[] = [];
    fixture.storage.beforeCommit = async () => {
      recorded.push(await fixture.signals.list("one"));
    };
    const signal = signalOf(await fixture.submit("a"));
    expect(recorded).toMatchObject([[{ idempotencyKey: "a", state: { status: "RECEIVED" } }]]);
    expect(signal.state.status).toBe("EXECUTED");
    expect(await fixture.signals.list("one")).toEqual([signal]);
  });

  test("whose order can never be taken is REJECTED, permanently", async () => {
    const { submit, ordersOf } = await signalFixture();
    const first = await submit("a", { ...BUY, quantity: "3" });
    expect(signalOf(first).state).toEqual({
      status: "REJECTED",
      processedAt: START,
      reason: { refusal: "INSUFFICIENT_BALANCE" },
    });
    // The missing prerequisite may exist now.
    await submit("b", { ...BUY, quantity: "1" });
    await submit("c", { ...BUY, tradeType: "SELL", quantity: "0.9" });
    expect(await submit("a", { ...BUY, quantity: "3" })).toEqual({ ...first, replayed: true });
    expect(await ordersOf()).toHaveLength(2);
  });

  test("of a strategy that is not LIVE is not recorded", async () => {
    const { submit, signals } = await signalFixture();
    expect(await submit("a", BUY, CLOSED)).toEqual({ refused: "NOT_LIVE" });
    expect(await submit("a", "{", { status: "CLOSING" })).toEqual({ refused: "NOT_LIVE" });
    expect(await signals.list("one")).toEqual([]);
  });

  test("with a malformed body is not recorded, and can be used again", async () => {
    const { submit, signals } = await signalFixture();
    expect(await submit("a", { ...BUY, stopprice: 1 })).toEqual({
      refused: "MALFORMED",
      fault: "stopprice is not a field of this body",
    });
    expect(await signals.list("one")).toEqual([]);
    expect(signalOf(await submit("a")).state.status).toBe("EXECUTED");
  });

  test("is each strategy's own", async () => {
    const { submit, signals } = await signalFixture({ strategies: ["one", "two"] });
    const mine = signalOf(await submit("a"));
    const theirs = signalOf(await submit("a", LIMIT, { strategyId: "two" }));
    expect(theirs.signalId).not.toBe(mine.signalId);
    expect(await signals.find("two", mine.signalId)).toBeNull();
    expect(await signals.list("two")).toEqual([theirs]);
  });
});

describe("a key that was used before", () => {
  test("answers with the stored result and executes nothing", async () => {
    const { submit, ordersOf, time } = await signalFixture();
    const first = await submit("a");
    time.now += 86_400_000;
    expect(await submit("a")).toEqual({ signal: signalOf(first), replayed: true });
    expect(await ordersOf()).toHaveLength(1);
  });

  test("answers with the order as the execution left it, whatever happened to it since", async () => {
    const { submit, desk } = await signalFixture();
    const first = signalOf(await submit("a", LIMIT));
    if (first.state.status !== "EXECUTED") throw new Error("it should rest");
    const { orderId } = first.state.order;
    expect(isRefusal(await desk.execute("one", { type: "CancelOrder", orderId }))).toBe(false);
    const again = signalOf(await submit("a", LIMIT));
    expect(again).toEqual(first);
    expect(again.state).toMatchObject({ order: { status: "NEW" } });
  });

  test("answers the same order however it is written", async () => {
    const { submit } = await signalFixture();
    const first = signalOf(await submit("a", '{"symbol":"BTCUSDT","tradeType":"BUY","quantity":"0.10"}'));
    expect(await submit("a", '{ "quantity": 0.1, "tradeType": "BUY", "symbol": "BTCUSDT" }')).toEqual({
      signal: first,
      replayed: true,
    });
  });

  test("answers although the strategy is not LIVE any more", async () => {
    const { submit } = await signalFixture();
    const first = await submit("a");
    expect(await submit("a", BUY, CLOSED)).toEqual({ ...first, replayed: true });
  });

  test.each([
    ["another order", { ...BUY, quantity: "0.2" }, {}],
    ["another order on a closed strategy", { ...BUY, quantity: "0.2" }, CLOSED],
    ["no order at all", "{", {}],
    ["no order at all on a closed strategy", "{", CLOSED],
  ])("is refused for %s, and nothing is executed", async (_what, body, strategy) => {
    const { submit, ordersOf, signals } = await signalFixture();
    const first = signalOf(await submit("a"));
    expect(await submit("a", body, strategy)).toEqual({ refused: "OTHER_ORDER" });
    expect(await ordersOf()).toHaveLength(1);
    expect(await signals.list("one")).toEqual([first]);
  });

  test("is driven now if its signal is not terminal", async () => {
    const market = new StubMarket();
    const { submit, ordersOf } = await signalFixture({ market });
    market.silence("BTCUSDT");
    const first = await submit("a");
    expect(signalOf(first).state).toEqual({
      status: "FAILED",
      reason: { refusal: "MARKET_SILENT" },
      attempts: 1,
    });
    expect(signalOf(await submit("a")).state).toMatchObject({ status: "FAILED", attempts: 2 });
    market.show("BTCUSDT", "99", "100");
    const again = await submit("a");
    expect(again).toMatchObject({ replayed: false, signal: { state: { status: "EXECUTED" } } });
    expect(signalOf(again).signalId).toBe(signalOf(first).signalId);
    expect(await ordersOf()).toHaveLength(1);
  });
});

describe("at once", () => {
  test("one key, one order: ten submissions in one process", async () => {
    const { submit, ordersOf, signals } = await signalFixture();
    const submitted = await Promise.all(Array.from({ length: 10 }, () => submit("a")));
    const [first, ...others] = submitted.map(signalOf);
    for (const other of others) expect(other).toEqual(first);
    expect(first?.state.status).toBe("EXECUTED");
    expect(await ordersOf()).toHaveLength(1);
    expect(await signals.list("one")).toHaveLength(1);
  });

  test("one key, one order: submissions in two processes", async () => {
    const here = await signalFixture();
    const there = await anotherProcess(here.file);
    const submitted = await Promise.all(
      Array.from({ length: 10 }, (_none, index) => (index % 2 === 0 ? here : there).submit("a")),
    );
    const [first, ...others] = submitted.map(signalOf);
    for (const other of others) expect(other).toEqual(first);
    expect(first?.state.status).toBe("EXECUTED");
    expect(await here.ordersOf()).toHaveLength(1);
  });

  test("of two orders under one key one is recorded, and the other refused", async () => {
    const here = await signalFixture();
    const there = await anotherProcess(here.file);
    const submitted = await Promise.all([
      here.submit("a"),
      there.submit("a", { ...BUY, quantity: "0.2" }),
      here.submit("a", LIMIT),
    ]);
    expect(submitted.filter((each) => "signal" in each)).toHaveLength(1);
    expect(submitted.filter((each) => "refused" in each && each.refused === "OTHER_ORDER")).toHaveLength(2);
    expect(await here.ordersOf()).toHaveLength(1);
  });

  test("a funded order that is tried twice at once is executed, not rejected for want of what it has spent itself", async () => {
    const here = await signalFixture();
    const there = await anotherProcess(here.file);
    const all = { ...BUY, quantity: "1.9" };
    const signal = await here.receive("a", all);
    const tried = await Promise.all([
      here.signals.drive(signal),
      there.signals.drive(signal),
      here.signals.drive(signal),
    ]);
    for (const each of tried) expect(each).toEqual(tried[0]);
    expect(tried[0]?.state.status).toBe("EXECUTED");
    expect(await here.ordersOf()).toHaveLength(1);
  });
});

test("a late driver gets what the signal's execution left, not the order's present state", async () => {
  const { receive, signals, desk, time } = await signalFixture();
  const signal = await receive("a", LIMIT);
  const driven = await signals.drive(signal);
  if (driven.state.status !== "EXECUTED") throw new Error("it should rest");
  await desk.execute("one", { type: "CancelOrder", orderId: driven.state.order.orderId });
  time.now += 1_000;
  expect(await signals.drive(signal)).toEqual(driven);
});

test("a strategy that is closed after the receipt has the signal rejected", async () => {
  const { receive, signals, desk, ordersOf } = await signalFixture();
  const signal = await receive("a");
  await desk.execute("one", { type: "CloseStrategy" });
  expect((await signals.drive(signal)).state).toEqual({
    status: "REJECTED",
    processedAt: START,
    reason: { refusal: "STRATEGY_NOT_LIVE" },
  });
  expect(await ordersOf()).toEqual([]);
});

describe("what fails", () => {
  test("a store too busy to record and execute a signal records nothing, and asking again is safe", async () => {
    const { submit, storage, signals } = await signalFixture();
    storage.busyCommits = 1;
    await expect(submit("a")).rejects.toThrow(StoreUnavailable);
    expect(await signals.list("one")).toEqual([]);
    expect(signalOf(await submit("a")).state.status).toBe("EXECUTED");
  });

  test("a busy store leaves a recorded signal FAILED", async () => {
    const { submit, receive, signals, storage } = await signalFixture();
    const signal = await receive("a");
    storage.busyCommits = 1;
    expect((await signals.drive(signal)).state).toEqual({
      status: "FAILED",
      reason: { refusal: "BUSY" },
      attempts: 1,
    });
    expect(signalOf(await submit("a")).state.status).toBe("EXECUTED");
  });

  test("a commit that failed is passed on: whether it took effect is unknown", async () => {
    const { submit, storage } = await signalFixture();
    storage.beforeCommit = () => Promise.reject(new StoreFailure("the disk is gone"));
    await expect(submit("a")).rejects.toThrow(StoreFailure);
  });

  test("a bug in deciding leaves the signal FAILED, and is logged", async () => {
    const market = new StubMarket();
    const { submit, logged } = await signalFixture({ market });
    market.quote = () => {
      throw new Error("a bug");
    };
    expect(signalOf(await submit("a")).state).toMatchObject({
      status: "FAILED",
      reason: { refusal: "BUSY" },
    });
    expect(logged).toEqual(["a signal could not be driven; it is tried again"]);
  });

  test("a signal that cannot even be postponed stays as it is, for its claim to run out", async () => {
    const market = new StubMarket();
    market.silence("BTCUSDT");
    const { submit, logged, signals } = await signalFixture({
      market,
      between: () => ({ postponeSignal: () => Promise.reject(new StoreUnavailable("out of reach")) }),
    });
    expect(signalOf(await submit("a")).state).toEqual({ status: "RECEIVED" });
    expect(await signals.list("one")).toMatchObject([{ state: { status: "RECEIVED" } }]);
    expect(logged).toEqual(["a signal could not be postponed"]);
  });

  test("a store out of reach at the receipt is passed on, and asking again is safe", async () => {
    let isReachable = false;
    const market = new StubMarket();
    market.silence("BTCUSDT");
    const { submit, ordersOf } = await signalFixture({
      market,
      between: (store) => ({
        receiveSignals: async (...received) => {
          const answer = await store.receiveSignals(...received);
          // It was stored, and the answer was lost.
          if (!isReachable) throw new StoreUnavailable("out of reach");
          return answer;
        },
      }),
    });
    await expect(submit("a")).rejects.toThrow(StoreUnavailable);
    market.show("BTCUSDT", "99", "100");
    isReachable = true;
    expect(await submit("a")).toMatchObject({ replayed: false, signal: { state: { status: "EXECUTED" } } });
    expect(await ordersOf()).toHaveLength(1);
  });
});

test("the list has the newest 500, newest first", async () => {
  const { receive, signals, time } = await signalFixture();
  for (let count = 0; count < 503; count += 1) {
    time.now += 1;
    await receive(`key ${count}`);
  }
  const keys = (await signals.list("one")).map(({ idempotencyKey }) => idempotencyKey);
  expect(keys).toEqual(Array.from({ length: 500 }, (_none, index) => `key ${502 - index}`));
});

test("the wait for the next time doubles from one second to thirty", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 1_000, 5_000].map(retryMs)).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000,
  ]);
});
