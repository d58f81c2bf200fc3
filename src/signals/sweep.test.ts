// The sweep on a real database: any process finishes, once, what another left behind.
import { describe, expect, test } from "vitest";
import { cleanStages, StubMarket } from "../desk/testing/stage.ts";
import { ORDERS_PER_10_SECONDS } from "../domain/order-counts.ts";
import { StoreUnavailable } from "../store/store.ts";
import { CLAIM_MS, RETRY_MS_MAX } from "./signals.ts";
import { CLAIMED_MAX, SWEEP_MS } from "./sweep.ts";
import { anotherProcess, BUY, START, signalStage, type Time } from "./testing/stage.ts";

cleanStages();

const LIMIT = { ...BUY, orderType: "LIMIT", quantity: "0.001", price: "50" };
/** Source: specification 3.1. */
const TWO_MINUTES = 120_000;

type Stage = Awaited<ReturnType<typeof signalStage>>;

/** Advances time, one sweep each second; returns the time until the condition holds, in ms, or fails. */
async function turnsUntil(
  stage: Stage,
  holds: () => Promise<boolean>,
  withinMs = TWO_MINUTES,
): Promise<number> {
  for (let passed = 0; passed <= withinMs; passed += SWEEP_MS) {
    await stage.sweep.run();
    if (await holds()) return passed;
    stage.time.now += SWEEP_MS;
  }
  throw new Error(`it does not hold within ${withinMs} ms`);
}

function statusOf({ signals }: Stage, signalId: string) {
  return async () => (await signals.find("one", signalId))?.state.status;
}

describe("a signal that a dead process left", () => {
  test("between recording and executing is executed when its claim has run out", async () => {
    const stage = await signalStage();
    const { signalId } = await stage.receive("a");
    const status = statusOf(stage, signalId);
    stage.time.now += CLAIM_MS - 1;
    await stage.sweep.run();
    expect(await status()).toBe("RECEIVED");
    stage.time.now += 1;
    await stage.sweep.run();
    expect(await status()).toBe("EXECUTED");
    expect(await stage.ordersOf()).toMatchObject([{ clientOrderId: signalId, status: "FILLED" }]);
  });

  test("is finished within two minutes by another process", async () => {
    const died = await signalStage();
    const { signalId } = await died.receive("a");
    const other = await anotherProcess(died.file);
    const status = statusOf(other, signalId);
    expect(await turnsUntil(other, async () => (await status()) === "EXECUTED")).toBeLessThanOrEqual(
      CLAIM_MS,
    );
  });

  test("of a strategy that was closed in the meantime is rejected", async () => {
    const stage = await signalStage();
    const { signalId } = await stage.receive("a");
    await stage.desk.execute("one", { type: "CloseStrategy" });
    stage.time.now += CLAIM_MS;
    await stage.sweep.run();
    expect((await stage.signals.find("one", signalId))?.state).toEqual({
      status: "REJECTED",
      processedAt: START + CLAIM_MS,
      reason: { refusal: "STRATEGY_NOT_LIVE" },
    });
  });

  test("is executed in the order of receipt", async () => {
    const stage = await signalStage();
    const received = [];
    for (const key of ["a", "b", "c", "d"]) received.push((await stage.receive(key, LIMIT)).signalId);
    stage.time.now += CLAIM_MS;
    await stage.sweep.run();
    expect((await stage.ordersOf()).map(({ clientOrderId }) => clientOrderId)).toEqual(received);
  });
});

describe("a silent market", () => {
  test("leaves signals FAILED, and they are executed within two minutes of its return, however long it was away", async () => {
    const market = new StubMarket();
    market.silence("BTCUSDT");
    const stage = await signalStage({ market });
    const submitted = await stage.submit("a");
    if (!("signal" in submitted)) throw new Error("it is recorded");
    const { signalId } = submitted.signal;
    const status = statusOf(stage, signalId);
    const attempts: number[] = [];
    for (let second = 0; second < 600; second += 1) {
      const before = stage.driven.get(signalId);
      await stage.sweep.run();
      if (stage.driven.get(signalId) !== before) attempts.push(stage.time.now - START);
      expect(await status()).toBe("FAILED");
      stage.time.now += SWEEP_MS;
    }
    expect(attempts.slice(0, 7)).toEqual([1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000]);
    market.show("BTCUSDT", "99", "100");
    const waited = await turnsUntil(stage, async () => (await status()) === "EXECUTED");
    expect(waited).toBeLessThanOrEqual(RETRY_MS_MAX);
    expect(await stage.ordersOf()).toHaveLength(1);
  });

  test("of one symbol holds up no other", async () => {
    const market = new StubMarket();
    market.show("ETHUSDT", "9", "10");
    market.silence("BTCUSDT");
    const stage = await signalStage({ market });
    await stage.receive("a");
    const { signalId } = await stage.receive("b", { ...BUY, symbol: "ETHUSDT" });
    stage.time.now += CLAIM_MS;
    await stage.sweep.run();
    expect(await statusOf(stage, signalId)()).toBe("EXECUTED");
  });
});

test("two processes sweep one store: each signal is driven by one of them, and executed once", async () => {
  const strategies = Array.from({ length: 10 }, (_none, index) => `strategy ${index}`);
  const time: Time = { now: START };
  const here = await signalStage({ strategies, time });
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
  const stage = await signalStage();
  for (let index = 0; index <= 2 * CLAIMED_MAX; index += 1) await stage.receive(`key ${index}`, LIMIT);
  stage.time.now += CLAIM_MS;
  await stage.sweep.run();
  expect(await stage.ordersOf()).toHaveLength(2 * CLAIMED_MAX + 1);
});

test("a signal that was counted as a placement is not counted again, and one beyond the budget waits", async () => {
  const stage = await signalStage();
  for (let index = 0; index < ORDERS_PER_10_SECONDS; index += 1) await stage.submit(`key ${index}`, LIMIT);
  const { signalId } = await stage.receive("counted at its receipt", LIMIT);
  const tooMany = await stage.submit("too many", LIMIT);
  if (!("signal" in tooMany)) throw new Error("it is recorded");
  expect(tooMany.signal.state).toMatchObject({ status: "FAILED", reason: { refusal: "ORDERS_EXHAUSTED" } });
  stage.time.now += CLAIM_MS - 1;
  await stage.sweep.run();
  expect(await statusOf(stage, tooMany.signal.signalId)()).toBe("FAILED");
  stage.time.now += 1;
  const status = statusOf(stage, tooMany.signal.signalId);
  await turnsUntil(stage, async () => (await status()) === "EXECUTED");
  expect(await statusOf(stage, signalId)()).toBe("EXECUTED");
});

describe("the timer", () => {
  test("sweeps every second, and not twice at once", async () => {
    let claims = 0;
    const held = Promise.withResolvers<void>();
    const stage = await signalStage({
      between: () => ({
        claimSignals: async () => {
          claims += 1;
          await held.promise;
          return [];
        },
      }),
    });
    expect(stage.timers.map(({ intervalMs }) => intervalMs)).toEqual([1_000]);
    const [timer] = stage.timers;
    timer?.callback();
    timer?.callback();
    const turn = stage.sweep.run();
    held.resolve();
    await turn;
    expect(claims).toBe(1);
    await stage.sweep.run();
    expect(claims).toBe(2);
  });

  test("is stopped by closing, which waits for work in flight and begins nothing more", async () => {
    const stage = await signalStage();
    for (let index = 0; index < 2 * CLAIMED_MAX; index += 1) await stage.receive(`key ${index}`, LIMIT);
    stage.time.now += CLAIM_MS;
    const held = Promise.withResolvers<void>();
    stage.storage.beforeCommit = () => held.promise;
    const turn = stage.sweep.run();
    let isClosed = false;
    const closing = stage.sweep.close().then(() => {
      isClosed = true;
    });
    await stage.signals.list("one");
    expect(isClosed).toBe(false);
    held.resolve();
    await closing;
    await turn;
    expect(stage.timers).toEqual([]);
    expect(await stage.ordersOf()).toHaveLength(CLAIMED_MAX);
    await stage.sweep.run();
    expect(await stage.ordersOf()).toHaveLength(CLAIMED_MAX);
  });
});

describe("trouble", () => {
  test("a store out of reach is logged, and the next sweep tries again", async () => {
    let isReachable = false;
    const stage = await signalStage({
      between: (store) => ({
        claimSignals: (claim) =>
          isReachable ? store.claimSignals(claim) : Promise.reject(new StoreUnavailable("out of reach")),
      }),
    });
    const { signalId } = await stage.receive("a");
    stage.time.now += CLAIM_MS;
    await stage.sweep.run();
    expect(stage.logged).toEqual(["pending signals could not be claimed; it is tried again"]);
    isReachable = true;
    await stage.sweep.run();
    expect(await statusOf(stage, signalId)()).toBe("EXECUTED");
  });

  test("a signal that cannot be driven is logged, and holds up no other", async () => {
    const stage = await signalStage();
    const broken = await stage.receive("a", { order: "of another version" });
    const { signalId } = await stage.receive("b");
    stage.time.now += CLAIM_MS;
    await stage.sweep.run();
    expect(stage.logged).toEqual(["a signal could not be driven; it is tried again"]);
    expect(await statusOf(stage, signalId)()).toBe("EXECUTED");
    expect(await statusOf(stage, broken.signalId)()).toBe("RECEIVED");
  });
});
