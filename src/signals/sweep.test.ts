// The sweep on a real database: any process finishes, once, what another left behind.
import { describe, expect, test } from "vitest";
import { cleanFixtures, StubMarket } from "../desk/testing/fixture.ts";
import { ORDERS_PER_10_SECONDS, TEN_SECONDS_MS } from "../domain/order-counts.ts";
import { StoreUnavailable } from "../store/store.ts";
import { CLAIM_MS, RETRY_MS_MAX } from "./signals.ts";
import { CLAIMED_MAX, DRIVING_WAIT_MS_MAX, SWEEP_MS } from "./sweep.ts";
import { anotherProcess, BUY, START, signalFixture, type Time } from "./testing/fixture.ts";

cleanFixtures();

const LIMIT = { ...BUY, orderType: "LIMIT", quantity: "0.001", price: "50" };
/** Source: specification 3.1. */
const TWO_MINUTES = 120_000;

type Fixture = Awaited<ReturnType<typeof signalFixture>>;

/** Advances time, one sweep each second; returns the time until the condition holds, in ms, or fails. */
async function turnsUntil(
  fixture: Fixture,
  holds: () => Promise<boolean>,
  withinMs = TWO_MINUTES,
): Promise<number> {
  for (let passed = 0; passed <= withinMs; passed += SWEEP_MS) {
    await fixture.sweep.run();
    if (await holds()) return passed;
    fixture.time.now += SWEEP_MS;
  }
  throw new Error(`it does not hold within ${withinMs} ms`);
}

function statusOf({ signals }: Fixture, signalId: string) {
  return async () => (await signals.find("one", signalId))?.state.status;
}

describe("a signal that a dead process left", () => {
  test("between recording and executing is executed when its claim has run out", async () => {
    const fixture = await signalFixture();
    const { signalId } = await fixture.receive("a");
    const status = statusOf(fixture, signalId);
    fixture.time.now += CLAIM_MS - 1;
    await fixture.sweep.run();
    expect(await status()).toBe("RECEIVED");
    fixture.time.now += 1;
    await fixture.sweep.run();
    expect(await status()).toBe("EXECUTED");
    expect(await fixture.ordersOf()).toMatchObject([{ clientOrderId: signalId, status: "FILLED" }]);
  });

  test("is finished within two minutes by another process", async () => {
    const died = await signalFixture();
    const { signalId } = await died.receive("a");
    const other = await anotherProcess(died.file);
    const status = statusOf(other, signalId);
    expect(await turnsUntil(other, async () => (await status()) === "EXECUTED")).toBeLessThanOrEqual(
      CLAIM_MS,
    );
  });

  test("of a strategy that was closed in the meantime is rejected", async () => {
    const fixture = await signalFixture();
    const { signalId } = await fixture.receive("a");
    await fixture.desk.execute("one", { type: "CloseStrategy" });
    fixture.time.now += CLAIM_MS;
    await fixture.sweep.run();
    expect((await fixture.signals.find("one", signalId))?.state).toEqual({
      status: "REJECTED",
      processedAt: START + CLAIM_MS,
      reason: { refusal: "STRATEGY_NOT_LIVE" },
    });
  });

  test("is executed in the order of receipt", async () => {
    const fixture = await signalFixture();
    const received = [];
    for (const key of ["a", "b", "c", "d"]) received.push((await fixture.receive(key, LIMIT)).signalId);
    fixture.time.now += CLAIM_MS;
    await fixture.sweep.run();
    expect((await fixture.ordersOf()).map(({ clientOrderId }) => clientOrderId)).toEqual(received);
  });
});

describe("a silent market", () => {
  test("leaves signals FAILED, and they are executed within two minutes of its return, however long it was away", async () => {
    const market = new StubMarket();
    market.silence("BTCUSDT");
    const fixture = await signalFixture({ market });
    const submitted = await fixture.submit("a");
    if (!("signal" in submitted)) throw new Error("it is recorded");
    const { signalId } = submitted.signal;
    const status = statusOf(fixture, signalId);
    const attempts: number[] = [];
    for (let second = 0; second < 600; second += 1) {
      const before = fixture.driven.get(signalId);
      await fixture.sweep.run();
      if (fixture.driven.get(signalId) !== before) attempts.push(fixture.time.now - START);
      expect(await status()).toBe("FAILED");
      fixture.time.now += SWEEP_MS;
    }
    expect(attempts.slice(0, 7)).toEqual([1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000]);
    market.show("BTCUSDT", "99", "100");
    const waited = await turnsUntil(fixture, async () => (await status()) === "EXECUTED");
    expect(waited).toBeLessThanOrEqual(RETRY_MS_MAX);
    expect(await fixture.ordersOf()).toHaveLength(1);
  });

  test("of one symbol holds up no other", async () => {
    const market = new StubMarket();
    market.show("ETHUSDT", "9", "10");
    market.silence("BTCUSDT");
    const fixture = await signalFixture({ market });
    await fixture.receive("a");
    const { signalId } = await fixture.receive("b", { ...BUY, symbol: "ETHUSDT" });
    fixture.time.now += CLAIM_MS;
    await fixture.sweep.run();
    expect(await statusOf(fixture, signalId)()).toBe("EXECUTED");
  });
});

test("a strategy whose commands wait holds up no other, is driven once, and is waited for by closing", async () => {
  const fixture = await signalFixture({ strategies: ["one", "two"] });
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const execute = fixture.desk.execute.bind(fixture.desk);
  fixture.desk.execute = async (strategyId, ...rest) => {
    if (strategyId === "one") {
      reached.resolve();
      await held.promise;
    }
    return await execute(strategyId, ...rest);
  };
  const slow = await fixture.receive("slow");
  fixture.time.now += SWEEP_MS;
  const { signalId } = await fixture.receive("later", LIMIT, "two");
  fixture.time.now += CLAIM_MS - SWEEP_MS;
  const first = fixture.sweep.run();
  await reached.promise;
  fixture.waits.advance(DRIVING_WAIT_MS_MAX);
  await first;
  fixture.time.now += SWEEP_MS;
  await fixture.sweep.run();
  expect((await fixture.signals.find("two", signalId))?.state.status).toBe("EXECUTED");
  fixture.time.now += CLAIM_MS;
  await fixture.sweep.run();
  expect(fixture.driven.get(slow.signalId)).toBe(1);
  const closing = fixture.sweep.close();
  held.resolve();
  await closing;
  expect(await statusOf(fixture, slow.signalId)()).toBe("EXECUTED");
  expect(fixture.waits.pending()).toBe(0);
});

test("two processes sweep one store: each signal is driven by one of them, and executed once", async () => {
  const strategies = Array.from({ length: 10 }, (_none, index) => `strategy ${index}`);
  const time: Time = { now: START };
  const here = await signalFixture({ strategies, time });
  const there = await anotherProcess(here.file, { time });
  const count = 3 * CLAIMED_MAX;
  for (let index = 0; index < count; index += 1) {
    await here.receive(`key ${index}`, LIMIT, strategies[index % strategies.length]);
  }
  time.now += CLAIM_MS;
  while (here.driven.size + there.driven.size < count) {
    await Promise.all([here.sweep.run(), there.sweep.run()]);
  }
  const times = new Map([...here.driven, ...there.driven]);
  expect(times.size).toBe(count);
  expect([...times.values()].every((each) => each === 1)).toBe(true);
  expect(here.driven.size).toBeGreaterThan(0);
  expect(there.driven.size).toBeGreaterThan(0);
  let orders = 0;
  for (const strategy of strategies) {
    const placed = (await here.ordersOf(strategy)).map(({ clientOrderId }) => clientOrderId);
    expect(new Set(placed).size).toBe(placed.length);
    orders += placed.length;
  }
  expect(orders).toBe(count);
});

test("one sweep finishes all that is due, however much it is", async () => {
  const fixture = await signalFixture();
  for (let index = 0; index <= 2 * CLAIMED_MAX; index += 1) await fixture.receive(`key ${index}`, LIMIT);
  fixture.time.now += CLAIM_MS;
  await fixture.sweep.run();
  expect(await fixture.ordersOf()).toHaveLength(2 * CLAIMED_MAX + 1);
});

test("a signal that was counted as a placement is not counted again, and one beyond the budget waits", async () => {
  const fixture = await signalFixture();
  for (let index = 0; index < ORDERS_PER_10_SECONDS; index += 1) await fixture.submit(`key ${index}`, LIMIT);
  const { signalId } = await fixture.receive("counted at its receipt", LIMIT);
  const tooMany = await fixture.submit("too many", LIMIT);
  if (!("signal" in tooMany)) throw new Error("it is recorded");
  expect(tooMany.signal.state).toMatchObject({ status: "FAILED", reason: { refusal: "ORDERS_EXHAUSTED" } });
  fixture.time.now += CLAIM_MS - 1;
  await fixture.sweep.run();
  expect(await statusOf(fixture, tooMany.signal.signalId)()).toBe("FAILED");
  fixture.time.now += 1;
  const status = statusOf(fixture, tooMany.signal.signalId);
  await turnsUntil(fixture, async () => (await status()) === "EXECUTED");
  expect(await statusOf(fixture, signalId)()).toBe("EXECUTED");
});

test("a signal beyond the budget is counted when it is executed, although it failed for another reason since", async () => {
  const market = new StubMarket();
  const fixture = await signalFixture({ market });
  for (let index = 0; index < ORDERS_PER_10_SECONDS; index += 1) await fixture.submit(`key ${index}`, LIMIT);
  const tooMany = await fixture.submit("too many");
  if (!("signal" in tooMany)) throw new Error("it is recorded");
  const inBudget = async () => (await fixture.store.loadAccount("one"))?.account.orderCounts.inTenSeconds;
  market.silence("BTCUSDT");
  fixture.time.now += TEN_SECONDS_MS;
  await fixture.sweep.run();
  expect(fixture.driven.get(tooMany.signal.signalId)).toBe(1);
  expect(await inBudget()).toBe(ORDERS_PER_10_SECONDS);
  market.show("BTCUSDT", "99", "100");
  await turnsUntil(fixture, async () => (await statusOf(fixture, tooMany.signal.signalId)()) === "EXECUTED");
  expect(await inBudget()).toBe(1);
});

describe("the timer", () => {
  test("sweeps every second, and not twice at once", async () => {
    let claims = 0;
    const held = Promise.withResolvers<void>();
    const fixture = await signalFixture({
      between: () => ({
        claimSignals: async () => {
          claims += 1;
          await held.promise;
          return [];
        },
      }),
    });
    expect(fixture.timers.map(({ intervalMs }) => intervalMs)).toEqual([1_000]);
    const [timer] = fixture.timers;
    timer?.callback();
    timer?.callback();
    const turn = fixture.sweep.run();
    held.resolve();
    await turn;
    expect(claims).toBe(1);
    await fixture.sweep.run();
    expect(claims).toBe(2);
  });

  test("is stopped by closing, which waits for work in flight and begins nothing more", async () => {
    const fixture = await signalFixture();
    for (let index = 0; index < 2 * CLAIMED_MAX; index += 1) await fixture.receive(`key ${index}`, LIMIT);
    fixture.time.now += CLAIM_MS;
    const held = Promise.withResolvers<void>();
    fixture.storage.beforeCommit = () => held.promise;
    const turn = fixture.sweep.run();
    let isClosed = false;
    const closing = fixture.sweep.close().then(() => {
      isClosed = true;
    });
    await fixture.signals.list("one");
    expect(isClosed).toBe(false);
    held.resolve();
    await closing;
    await turn;
    expect(fixture.timers).toEqual([]);
    expect(await fixture.ordersOf()).toHaveLength(CLAIMED_MAX);
    await fixture.sweep.run();
    expect(await fixture.ordersOf()).toHaveLength(CLAIMED_MAX);
  });
});

describe("trouble", () => {
  test("a store out of reach is logged, and the next sweep tries again", async () => {
    let isReachable = false;
    const fixture = await signalFixture({
      between: (store) => ({
        claimSignals: (claim) =>
          isReachable ? store.claimSignals(claim) : Promise.reject(new StoreUnavailable("out of reach")),
      }),
    });
    const { signalId } = await fixture.receive("a");
    fixture.time.now += CLAIM_MS;
    await fixture.sweep.run();
    expect(fixture.logged).toEqual(["pending signals could not be claimed; it is tried again"]);
    isReachable = true;
    await fixture.sweep.run();
    expect(await statusOf(fixture, signalId)()).toBe("EXECUTED");
  });

  test("a signal that cannot be driven is logged, and holds up no other", async () => {
    const fixture = await signalFixture();
    const broken = await fixture.receive("a", { order: "of another version" });
    const { signalId } = await fixture.receive("b");
    fixture.time.now += CLAIM_MS;
    await fixture.sweep.run();
    expect(fixture.logged).toEqual(["a signal could not be driven; it is tried again"]);
    expect(await statusOf(fixture, signalId)()).toBe("EXECUTED");
    expect(await statusOf(fixture, broken.signalId)()).toBe("RECEIVED");
  });
});
