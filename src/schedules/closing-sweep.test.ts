import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { Desk } from "../desk/desk.ts";
import { createStrategies } from "../desk/testing/strategies.ts";
import { decimal } from "../money/decimal.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { type Store, StoreFailure } from "../store/store.ts";
import { StubMarket } from "../triggers/testing/stub-market.ts";
import { createClosingSweep } from "./closing-sweep.ts";

/** How often the strategies that are being closed are tried again, ms. */
const INTERVAL = 2_000;

/** In the place of a strategy's id. */
const EVERY = "every";

/** Iterations of the event loop between two steps of a sweep. */
const STEP_TURNS = 5;

let directory: string;
const opened: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lyrebird-closing-"));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  rmSync(directory, { recursive: true });
});

test("a strategy whose holding's market is silent is closed when that market is back", async () => {
  const { market, store, close, sweeps } = await createFixture();
  market.silence("BTCUSDT");
  await close("one");
  expect(await statusOf(store, "one")).toBe("CLOSING");
  await sweeps(3);
  expect(await statusOf(store, "one")).toBe("CLOSING");
  expect(await holdingOf(store, "one")).toBe(decimal("0.0999"));
  market.show("BTCUSDT", "98", "99");
  await sweeps(1);
  expect(await statusOf(store, "one")).toBe("CLOSED");
  expect(await holdingOf(store, "one")).toBe(0n);
});

test("nothing is tried before its time, nor again when all is closed", async () => {
  const { time, market, executions, close, sweeps, settled } = await createFixture();
  market.silence("BTCUSDT");
  await close("one");
  time.advance(INTERVAL - 1);
  await settled();
  expect(executions()).toBe(0);
  time.advance(1);
  await settled();
  expect(executions()).toBe(1);
  market.show("BTCUSDT", "98", "99");
  await sweeps(1);
  const tried = executions();
  await sweeps(5);
  expect(executions()).toBe(tried);
});

test("a strategy that can be closed at once is never tried again", async () => {
  const { executions, store, close, sweeps } = await createFixture();
  await close("one");
  expect(await statusOf(store, "one")).toBe("CLOSED");
  await sweeps(3);
  expect(executions()).toBe(0);
});

test("a process that starts finishes what a former one left closing", async () => {
  const before = await createFixture({ strategies: ["one", "two"] });
  before.market.silence("BTCUSDT");
  await before.close("one");
  await before.sweep.close();

  const { store, sweeps } = await startOn();
  expect(await statusOf(store, "one")).toBe("CLOSING");
  await sweeps(1);
  expect(await statusOf(store, "one")).toBe("CLOSED");
  expect(await statusOf(store, "two")).toBe("LIVE");
});

test("a process that starts does not wait for the first interval", async () => {
  const before = await createFixture();
  before.market.silence("BTCUSDT");
  await before.close("one");
  await before.sweep.close();
  const { store, sweep, executions, finished } = await startOn();
  void sweep.run();
  await finished();
  expect(executions()).toBe(1);
  expect(await statusOf(store, "one")).toBe("CLOSED");
});

test("what another process leaves closing while this one runs is finished here, and both trying does no harm", async () => {
  const here = await createFixture();
  const there = await startOn();
  for (const { market } of [here, there]) market.silence("BTCUSDT");
  await there.close("one");
  await here.sweeps(1);
  expect(await statusOf(here.store, "one")).toBe("CLOSING");
  for (const { market } of [here, there]) market.show("BTCUSDT", "98", "99");
  await Promise.all([here.sweeps(1), there.sweeps(1)]);
  expect(await statusOf(here.store, "one")).toBe("CLOSED");
  expect(await holdingOf(here.store, "one")).toBe(0n);
  const closings = (await here.store.listEntries("one")).filter(({ events }) =>
    events.some(({ type }) => type === "StrategyClosed"),
  );
  expect(closings).toHaveLength(1);
});

test("a list that cannot be read is logged and read again", async () => {
  const { market, store, logged, faults, close, sweeps } = await createFixture();
  market.silence("BTCUSDT");
  await close("one");
  market.show("BTCUSDT", "98", "99");
  faults.add(EVERY);
  await sweeps(1);
  expect(logged).toEqual([undefined]);
  expect(await statusOf(store, "one")).toBe("CLOSING");
  faults.clear();
  await sweeps(1);
  expect(await statusOf(store, "one")).toBe("CLOSED");
});

test("a strategy that another process has closed is forgotten", async () => {
  const here = await createFixture();
  here.market.silence("BTCUSDT");
  await here.close("one");
  const there = await startOn();
  await there.close("one");
  expect(await statusOf(there.store, "one")).toBe("CLOSED");
  const entries = await here.store.listEntries("one");
  here.market.show("BTCUSDT", "98", "99");
  await here.sweeps(5);
  expect(here.executions()).toBe(0);
  expect(await here.store.listEntries("one")).toEqual(entries);
});

test("one that fails is logged and tried again, and keeps no other from being closed", async () => {
  const { market, store, logged, faults, close, sweeps } = await createFixture({
    strategies: ["one", "two"],
  });
  market.silence("BTCUSDT");
  await close("one");
  await close("two");
  faults.add("one");
  market.show("BTCUSDT", "98", "99");
  await sweeps(1);
  expect(logged).toEqual(["one"]);
  expect([await statusOf(store, "one"), await statusOf(store, "two")]).toEqual(["CLOSING", "CLOSED"]);
  faults.clear();
  await sweeps(1);
  expect(logged).toEqual(["one"]);
  expect(await statusOf(store, "one")).toBe("CLOSED");
});

test("a sweep that takes longer than the interval delays the next", async () => {
  const { time, market, executions, delay, close, sweeps, settled } = await createFixture();
  market.silence("BTCUSDT");
  await close("one");
  const gate = Promise.withResolvers<void>();
  delay.until = gate.promise;
  for (let intervals = 0; intervals < 5; intervals += 1) {
    time.advance(INTERVAL);
    await settled();
  }
  expect(executions()).toBe(1);
  gate.resolve();
  await sweeps(1);
  await sweeps(1);
  expect(executions()).toBeGreaterThan(1);
});

test("a closed sweep tries nothing more", async () => {
  const { time, market, executions, sweep, close, settled } = await createFixture();
  market.silence("BTCUSDT");
  await close("one");
  time.advance(INTERVAL);
  await sweep.close();
  time.advance(10 * INTERVAL);
  await settled();
  expect(executions()).toBe(0);
  expect(time.pending()).toBe(0);
});

/**
 * A sweep on a new database; every strategy holds 0.0999 BTC, what its purchase of 0.1 left after the fee.
 */
async function createFixture(options: { readonly strategies?: readonly string[] } = {}) {
  const strategies = options.strategies ?? ["one"];
  const started = await startOn();
  await createStrategies(started.store, strategies);
  for (const strategyId of strategies) {
    await started.execute(strategyId, {
      type: "PlaceOrder",
      symbol: "BTCUSDT",
      side: "BUY",
      orderType: "MARKET",
      size: { quantity: decimal("0.1") },
      price: null,
      stopPrice: null,
      clientOrderId: "bought",
    });
  }
  return started;
}

/** The same as a process of its own on the test's database. */
async function startOn() {
  const store = await openSqliteStore(join(directory, "lyrebird.sqlite"));
  opened.push(() => store.close());
  const time = createManualTime();
  const market = new StubMarket(time.now);
  const logged: (string | undefined)[] = [];
  /** Strategies whose commits fail; EVERY: their list. */
  const faults = new Set<string>();
  /** Every command waits for this before its decision. */
  const delay = { until: Promise.resolve() };
  const desk = new Desk({
    store: {
      ...store,
      async loadAccount(strategyId) {
        await delay.until;
        return await store.loadAccount(strategyId);
      },
      async commit(group) {
        const isFaulty = group.some(({ account }) => faults.has(account.strategyId));
        if (isFaulty) throw new StoreFailure("the disk is gone");
        return await store.commit(group);
      },
    },
    markets: { SPOT: market, FUTURES: market },
    log: pino({ level: "silent" }),
    onStoreFailure() {},
  });
  let executions = 0;
  const execute = desk.execute.bind(desk);
  const underWay = new Set<Promise<unknown>>();
  desk.execute = (...command) => {
    executions += 1;
    const executing = execute(...command);
    underWay.add(executing);
    return executing;
  };
  const sweep = createClosingSweep({
    owns: () => true,
    desk,
    store: {
      async listClosingStrategies() {
        if (faults.has(EVERY)) throw new Error("the database is out of reach");
        return await store.listClosingStrategies();
      },
    },
    every: time.every,
    log: { error: ({ strategyId }: { strategyId?: string }) => logged.push(strategyId) },
  });
  opened.push(() => sweep.close());
  return {
    store,
    time,
    market,
    sweep,
    logged,
    faults,
    delay,
    /** How many commands the sweep has given. */
    executions: () => executions,
    /** A trader's commands are not counted. */
    execute,
    close: (strategyId: string) => execute(strategyId, { type: "CloseStrategy" }),
    settled,
    /** Runs this many sweeps to their end. */
    async sweeps(count: number): Promise<void> {
      for (let swept = 0; swept < count; swept += 1) {
        time.advance(INTERVAL);
        await finished();
      }
    },
    finished,
  };

  /** Resolves when everything that the sweep has begun is done. */
  async function finished(): Promise<void> {
    await settled();
    for (const executing of underWay) {
      await Promise.allSettled([executing]);
      underWay.delete(executing);
      await settled();
    }
  }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < STEP_TURNS; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function statusOf(store: Store, strategyId: string): Promise<string | undefined> {
  return (await store.loadAccount(strategyId))?.account.status;
}

async function holdingOf(store: Store, strategyId: string): Promise<bigint | undefined> {
  return (await store.loadAccount(strategyId))?.account.balances.get("BTC")?.free;
}
