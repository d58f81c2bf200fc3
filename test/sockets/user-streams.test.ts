// Accounts that clients follow: every event of every commit comes once and in order, whichever server has
// committed, and a stream that would be incomplete ends.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Cancel, systemTimers, type Timers } from "../../src/concurrency/time.ts";
import { type Announcement, Desk } from "../../src/desk/desk.ts";
import { buy, ContractMarket, cancel, executed, StubMarket } from "../../src/desk/testing/fixture.ts";
import { createStrategies } from "../../src/desk/testing/strategies.ts";
import { presentRisk, standingOf } from "../../src/http/present/futures-positions.ts";
import { KeyChecks } from "../../src/keys/key-checks.ts";
import { decimal, type Price, type Quantity } from "../../src/money/decimal.ts";
import {
  BEHIND_MS_MAX,
  CATCH_UP_ENTRIES,
  ENTRIES_AHEAD_MAX,
  FOLLOWED_POLL_MS,
  MARGIN_CHECK_MS,
  POSITION_AGE_MS,
  UNHEARD_MS_MAX,
} from "../../src/sockets/limits.ts";
import type { UserEvent } from "../../src/sockets/user-events/event.ts";
import { UserStreams, type UserStreamsParts } from "../../src/sockets/user-streams.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { type Store, StoreUnavailable } from "../../src/store/store.ts";
import { eventually } from "../support/eventually.ts";
import { seededRandom } from "../support/random.ts";
import { testSeed } from "../support/seed.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";

/** How long the market of a test keeps a symbol that nobody uses, ms. */
const IDLE_MS = 20_000;

const log = pino({ level: "silent" });
const seed = testSeed();

/** Timers and a wall clock that run when the test says so. */
class OwnTime implements Timers {
  now = 1_000_000;
  readonly #waiting = new Set<{ at: number; every: number | null; callback: () => void }>();

  readonly after = (delayMs: number, callback: () => void): Cancel => this.#add(delayMs, null, callback);
  readonly every = (intervalMs: number, callback: () => void): Cancel =>
    this.#add(intervalMs, intervalMs, callback);

  /** Lets time pass, a poll at a time, and gives queries the time to answer. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    while (this.now < end) {
      this.now = Math.min(end, this.now + FOLLOWED_POLL_MS);
      for (const timer of [...this.#waiting]) {
        if (timer.at > this.now) continue;
        if (timer.every === null) this.#waiting.delete(timer);
        else timer.at = this.now + timer.every;
        timer.callback();
      }
      await pause(3);
    }
  }

  #add(delayMs: number, every: number | null, callback: () => void): Cancel {
    const timer = { at: this.now + delayMs, every, callback };
    this.#waiting.add(timer);
    return () => this.#waiting.delete(timer);
  }
}

type Server = { readonly store: Store; readonly desk: Desk; readonly streams: UserStreams };

function serverOn(store: Store, given: Partial<UserStreamsParts> = {}): Server {
  const markets = { SPOT: new StubMarket(), FUTURES: new ContractMarket() };
  const desk = new Desk({ store, markets, onStoreFailure: () => {}, log });
  const marked = {
    SPOT: {
      rules: (symbol: string) => markets.SPOT.rules(symbol),
      lastMarkPrice: () => null,
      prepare: () => undefined,
      now: () => 5_000,
    },
    FUTURES: {
      rules: (symbol: string) => markets.FUTURES.rules(symbol),
      lastMarkPrice: () => markets.FUTURES.markPrice(),
      prepare: () => undefined,
      now: () => 5_000,
    },
  };
  const streams = new UserStreams({
    store,
    desk,
    markets: marked,
    isShared: true,
    timers: systemTimers,
    wallNow: () => Date.now(),
    log,
    ...given,
  });
  onTestFinished(async () => {
    await streams.close();
    await desk.drain();
  });
  return { store, desk, streams };
}

async function newStore(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "lyrebird-user-streams-"));
  const store = await openSqliteStore(join(directory, "lyrebird.sqlite"));
  onTestFinished(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });
  await createStrategies(store, ["one", "two"]);
  return store;
}

/** A store, with what is read of its journal, and the positions that it has told. */
function recordingReads(store: Store) {
  const reads: { readonly after: number; readonly behind: number | undefined }[] = [];
  const positions: number[] = [];
  const recording: Store = {
    ...store,
    async listJournalAfter(strategyId, after, query) {
      reads.push({ after, behind: query.behind });
      return await store.listJournalAfter(strategyId, after, query);
    },
    async newestPosition() {
      const position = await store.newestPosition();
      positions.push(position);
      return position;
    },
  };
  return { reads, positions, store: recording };
}

/** Listens, and answers the events, with what became of the feed. */
async function listenTo({ streams }: Server, strategyId = "one") {
  const feed = await streams.open(strategyId);
  if (feed === null) throw new Error("there is no such strategy");
  const heard: UserEvent[] = [];
  const state = { isLost: false };
  const stop = feed.listen(
    (event) => heard.push(event),
    () => {
      state.isLost = true;
    },
  );
  return { heard, state, stop };
}

/** Orders and executions, such as "1 NEW". */
function executionsOf(heard: readonly UserEvent[]): string[] {
  return heard.flatMap(({ name, text }) => {
    const { i, x } = JSON.parse(text);
    return name === "executionReport" ? [`${i} ${x}`] : [];
  });
}

async function placeAndCancel({ desk }: Server, count: number, strategyId = "one"): Promise<void> {
  for (let placed = 0; placed < count; placed += 1) {
    const { orders } = executed(await desk.execute(strategyId, buy("50", randomUUID())));
    executed(await desk.execute(strategyId, cancel(orders[0]?.orderId ?? 0)));
  }
}

const IN_ORDER = (last: number) =>
  Array.from({ length: last }, (_, index) => [`${index + 1} NEW`, `${index + 1} CANCELED`]).flat();

describe("one server", () => {
  test("each event comes once, from the call on, to each listener, and only of its account", async () => {
    const server = serverOn(await newStore(), { isShared: false });
    await placeAndCancel(server, 1);
    const first = await listenTo(server);
    await placeAndCancel(server, 1);
    const second = await listenTo(server);
    await placeAndCancel(server, 1);
    await placeAndCancel(server, 1, "two");
    expect(executionsOf(first.heard)).toEqual(IN_ORDER(3).slice(2));
    expect(executionsOf(second.heard)).toEqual(IN_ORDER(3).slice(4));
    expect(first.heard.map(({ name }) => name).slice(0, 4)).toEqual([
      "executionReport",
      "outboundAccountPosition",
      "executionReport",
      "outboundAccountPosition",
    ]);
    first.stop();
    await placeAndCancel(server, 1);
    expect(executionsOf(first.heard)).toHaveLength(4);
    expect(executionsOf(second.heard)).toHaveLength(4);
  });

  test("an account is forgotten with its last listener, and when nobody comes to listen", async () => {
    const time = new OwnTime();
    const server = serverOn(await newStore(), { isShared: false, timers: time, wallNow: () => time.now });
    const { stop } = await listenTo(server);
    await time.pass(UNHEARD_MS_MAX);
    expect(server.streams.size).toBe(1);
    stop();
    expect(server.streams.size).toBe(0);
    const feed = await server.streams.open("one");
    await time.pass(UNHEARD_MS_MAX);
    expect(server.streams.size).toBe(0);
    const late = Promise.withResolvers<void>();
    feed?.listen(() => {}, late.resolve);
    await late.promise;
    expect(await server.streams.open("nobody")).toBeNull();
    expect(server.streams.size).toBe(0);
  });

  test("what is committed while the account is loaded comes neither twice nor not at all", async () => {
    const store = await newStore();
    const gate = Promise.withResolvers<void>();
    const slow: Store = {
      ...store,
      async loadAccount(strategyId) {
        const loaded = await store.loadAccount(strategyId);
        await gate.promise;
        return loaded;
      },
    };
    const { desk } = serverOn(store, { isShared: false });
    const streams = new UserStreams({
      ...{ store: slow, desk, isShared: false, timers: systemTimers, wallNow: () => Date.now(), log },
      markets: marketsOf(),
    });
    onTestFinished(() => streams.close());
    const opening = streams.open("one");
    executed(await desk.execute("one", buy("50", "a")));
    executed(await desk.execute("one", buy("50", "b")));
    gate.resolve();
    const feed = await opening;
    const heard: UserEvent[] = [];
    feed?.listen(
      (event) => heard.push(event),
      () => {},
    );
    executed(await desk.execute("one", cancel(2)));
    expect(executionsOf(heard)).toEqual(["2 CANCELED"]);
  });
});

test("a margin call is sent once when the margin of a position runs low", async () => {
  const store = await newStore();
  await createStrategies(store, ["long"], "FUTURES");
  const time = new OwnTime();
  let mark = 100;
  const market = {
    rules: (symbol: string) => new ContractMarket().rules(symbol),
    lastMarkPrice: () => decimal<Price>(String(mark)),
    prepare: () => undefined,
    now: () => 5_000,
  };
  const server = serverOn(store, {
    ...{ isShared: false, timers: time, wallNow: () => time.now },
    markets: { SPOT: market, FUTURES: market },
  });
  const bought = { ...buy("market", "a"), size: { quantity: decimal<Quantity>("1") } };
  executed(await server.desk.execute("long", bought));
  const { heard } = await listenTo(server, "long");
  const calls = () => heard.filter(({ name }) => name === "MARGIN_CALL").length;
  await time.pass(2 * MARGIN_CHECK_MS);
  expect(calls()).toBe(0);
  mark = 1;
  await time.pass(3 * MARGIN_CHECK_MS);
  expect(calls()).toBe(1);
  mark = 100;
  await time.pass(MARGIN_CHECK_MS);
  mark = 1;
  await time.pass(MARGIN_CHECK_MS);
  expect(calls()).toBe(2);
});

test("a symbol that only another server watches has its mark price: one margin call, and `up` as over REST", async () => {
  const store = await newStore();
  await createStrategies(store, ["long"], "FUTURES");
  const time = new OwnTime();
  const mark = decimal<Price>("1");
  let preparedAt = Number.NEGATIVE_INFINITY;
  let isSilent = false;
  const market = {
    rules: (symbol: string) => new ContractMarket().rules(symbol),
    lastMarkPrice: () => (isSilent || time.now - preparedAt >= IDLE_MS ? null : mark),
    prepare: () => {
      preparedAt = time.now;
      return undefined;
    },
    now: () => 5_000,
  };
  const other = serverOn(store);
  const server = serverOn(store, {
    ...{ timers: time, wallNow: () => time.now },
    markets: { SPOT: market, FUTURES: market },
  });
  const bought = (key: string) => ({ ...buy("market", key), size: { quantity: decimal<Quantity>("1") } });
  executed(await other.desk.execute("long", bought("a")));
  const { heard } = await listenTo(server, "long");
  const named = (name: string) =>
    heard.filter((event) => event.name === name).map(({ text }) => JSON.parse(text));
  await time.pass(2 * MARGIN_CHECK_MS);
  // The symbol has no mark price for a while, such as after a lost connection to upstream.
  isSilent = true;
  await time.pass(2 * MARGIN_CHECK_MS);
  isSilent = false;
  await time.pass(2 * IDLE_MS);
  expect(named("MARGIN_CALL")).toHaveLength(1);
  executed(await other.desk.execute("long", bought("b")));
  await time.pass(2 * FOLLOWED_POLL_MS);
  const loaded = await store.loadAccount("long");
  if (loaded === null) throw new Error("there is such a strategy");
  const { symbol } = bought("b");
  const { unRealizedProfit } = presentRisk(
    standingOf(loaded.account, symbol, { ...market, lastMarkPrice: () => mark }),
  );
  const [update] = named("ACCOUNT_UPDATE");
  expect(update.a.P[0].up).toBe(unRealizedProfit);
  expect(Number(unRealizedProfit)).toBeLessThan(0);
});

describe("commits of another server", () => {
  test("are found by polls, and an announcement waits for those before it", async () => {
    const store = await newStore();
    const time = new OwnTime();
    const other = serverOn(store);
    const server = serverOn(store, { timers: time, wallNow: () => time.now });
    const { heard } = await listenTo(server);
    await placeAndCancel(other, 2);
    expect(heard).toEqual([]);
    await time.pass(2 * FOLLOWED_POLL_MS);
    expect(executionsOf(heard)).toEqual(IN_ORDER(2));
    // The other server's entries are missing when this one announces its own.
    await placeAndCancel(other, 1);
    await placeAndCancel(server, 1);
    await eventually("all are heard", () => executionsOf(heard).length === 8);
    expect(executionsOf(heard)).toEqual(IN_ORDER(4));
  });

  test("that close the strategy are heard before the check of its key ends the stream", async () => {
    const store = await newStore();
    const time = new OwnTime();
    const other = serverOn(store);
    const server = serverOn(store, { timers: time, wallNow: () => time.now });
    const keyChecks = new KeyChecks({ store, every: () => () => {}, log });
    onTestFinished(() => keyChecks.close());
    const { heard, stop } = await listenTo(server);
    const state = { hasEnded: false };
    keyChecks.add("key-one", {
      strategyId: "one",
      end() {
        state.hasEnded = true;
        stop();
      },
    });
    executed(await other.desk.execute("one", buy("50", "a")));
    executed(await other.desk.execute("one", { type: "CloseStrategy" }));
    await keyChecks.check();
    await time.pass(2 * FOLLOWED_POLL_MS);
    expect(executionsOf(heard)).toEqual(["1 NEW", "1 CANCELED"]);
    expect(state.hasEnded).toBe(false);
    await keyChecks.check();
    expect(state.hasEnded).toBe(true);
  });

  test(`by turns and at once, for a long time, come in order (seed ${seed})`, async () => {
    const store = await newStore();
    const time = new OwnTime();
    const servers = [serverOn(store), serverOn(store, { timers: time, wallNow: () => time.now })] as const;
    const [, server] = servers;
    const { heard } = await listenTo(server);
    const random = seededRandom(seed);
    for (let round = 0; round < 60; round += 1) {
      const any = () => servers[random() < 0.5 ? 0 : 1];
      if (random() < 0.5) await placeAndCancel(any(), 1);
      else await Promise.all([placeAndCancel(any(), 1), placeAndCancel(any(), 1)]);
      // Now and then a position of the journal grows old enough to be a bound.
      if (random() < 0.3) await time.pass(random() < 0.3 ? 40_000 : FOLLOWED_POLL_MS);
    }
    await time.pass(4 * FOLLOWED_POLL_MS);
    const entries = (await store.listEntries("one")).slice(1);
    const versions = heard.map(({ name, text }) =>
      name === "executionReport" ? Math.floor(JSON.parse(text).I / 65_536) : null,
    );
    expect(versions.filter((version) => version !== null)).toEqual(entries.map(({ version }) => version));
  }, 60_000);

  test("are read a page at a time, and so are announcements beyond those that may wait", async () => {
    const store = await newStore();
    const time = new OwnTime();
    const other = serverOn(store);
    const [polled, announced] = [recordingReads(store), recordingReads(store)];
    const server = serverOn(polled.store, { timers: time, wallNow: () => time.now });
    let announce: (announcement: Announcement) => void = () => {};
    const desk = {
      onCommitted(listener: typeof announce) {
        announce = listener;
        return () => {};
      },
    };
    const listeners = [
      await listenTo(server),
      await listenTo(serverOn(announced.store, { desk, isShared: false })),
    ];
    const announcements: Announcement[] = [];
    other.desk.onCommitted((announcement) => announcements.push(announcement));
    const count = ENTRIES_AHEAD_MAX / 2 + 2;
    await placeAndCancel(other, count);
    await time.pass(FOLLOWED_POLL_MS);
    // The first one is announced to nobody, so that all others wait for it.
    for (const announcement of announcements.slice(1)) announce(announcement);
    for (const { heard } of listeners) {
      await eventually("all are heard", () => executionsOf(heard).length >= 2 * count);
      expect(executionsOf(heard)).toEqual(IN_ORDER(count));
    }
    const pages = [1, 1 + CATCH_UP_ENTRIES, 1 + 2 * CATCH_UP_ENTRIES];
    expect(polled.reads.slice(0, 3).map(({ after }) => after)).toEqual(pages);
    expect(announced.reads.map(({ after }) => after)).toEqual([1, 2 + ENTRIES_AHEAD_MAX]);
  });

  test("are looked for behind a journal position that is old enough, and behind no other", async () => {
    const store = await newStore();
    const time = new OwnTime();
    const other = serverOn(store);
    const { reads, positions, store: recording } = recordingReads(store);
    const { heard } = await listenTo(serverOn(recording, { timers: time, wallNow: () => time.now }));
    await time.pass(FOLLOWED_POLL_MS);
    await placeAndCancel(other, 1);
    await time.pass(2 * FOLLOWED_POLL_MS);
    expect(positions).toHaveLength(1);
    expect(reads.at(-1)?.behind).toBeUndefined();
    await time.pass(POSITION_AGE_MS);
    expect(positions).toHaveLength(2);
    expect(positions[1]).toBeGreaterThan(positions[0] ?? Number.NaN);
    await placeAndCancel(other, 1);
    await time.pass(2 * FOLLOWED_POLL_MS);
    expect(reads.at(-1)?.behind).toBe(positions[0]);
    expect(executionsOf(heard)).toEqual(IN_ORDER(2));
  });

  test("that cannot be read end the stream, and those that come late do not", async () => {
    const store = await newStore();
    let isDown = false;
    const failing: Store = {
      ...store,
      async listJournalAfter(...query) {
        if (isDown) throw new StoreUnavailable("down");
        return await store.listJournalAfter(...query);
      },
    };
    const time = new OwnTime();
    const other = serverOn(store);
    const server = serverOn(failing, { timers: time, wallNow: () => time.now });
    const { heard, state } = await listenTo(server);
    isDown = true;
    await placeAndCancel(other, 1);
    await time.pass(BEHIND_MS_MAX / 2);
    expect(heard).toEqual([]);
    isDown = false;
    await time.pass(2 * FOLLOWED_POLL_MS);
    expect(executionsOf(heard)).toEqual(IN_ORDER(1));
    isDown = true;
    await placeAndCancel(other, 1);
    await time.pass(BEHIND_MS_MAX / 2);
    expect(state.isLost).toBe(false);
    await time.pass(BEHIND_MS_MAX);
    expect(state.isLost).toBe(true);
    expect(executionsOf(heard)).toEqual(IN_ORDER(1));
    expect(server.streams.size).toBe(0);
  });
});

test("notifications of commits that cannot be read do not keep a stream alive", async () => {
  const store = await newStore();
  let isDown = false;
  let notify = () => {};
  const failing: Store = {
    ...store,
    async versionsOf(strategyIds) {
      if (isDown) throw new StoreUnavailable("down");
      return await store.versionsOf(strategyIds);
    },
    async listJournalAfter(...query) {
      if (isDown) throw new StoreUnavailable("down");
      return await store.listJournalAfter(...query);
    },
    async onCommittedElsewhere({ committed }) {
      notify = () => committed([{ strategyId: "one", type: "SPOT" }]);
      return async () => {};
    },
  };
  const time = new OwnTime();
  const { state } = await listenTo(serverOn(failing, { timers: time, wallNow: () => time.now }));
  isDown = true;
  for (let passedMs = 0; passedMs < BEHIND_MS_MAX + FOLLOWED_POLL_MS; passedMs += 5_000) {
    expect(state.isLost).toBe(false);
    notify();
    await time.pass(5_000);
  }
  expect(state.isLost).toBe(true);
});

describe.skipIf(!hasPostgres)(postgresTitle("on one PostgreSQL database"), () => {
  let databases: Databases | null = null;
  beforeAll(async () => {
    databases = await openPostgres();
  });
  afterAll(() => databases?.stop());

  test("two servers that commit at once give each listener every event once and in order", async () => {
    const url = (await databases?.newDatabase()) ?? "";
    const stores = [await openPostgresStore(url), await openPostgresStore(url)] as const;
    onTestFinished(async () => {
      for (const store of stores) await store.close();
    });
    await createStrategies(stores[0], ["one"]);
    const servers = [serverOn(stores[0]), serverOn(stores[1])] as const;
    const listeners = [await listenTo(servers[0]), await listenTo(servers[1])];
    await Promise.all(servers.map((server) => placeAndCancel(server, 40)));
    const expected = (await stores[0].listEntries("one")).slice(1).map(({ version }) => version);
    expect(expected).toHaveLength(160);
    for (const { heard } of listeners) {
      await eventually("all are heard", () => executionsOf(heard).length >= 160);
      expect(
        heard.flatMap(({ name, text }) =>
          name === "executionReport" ? [Math.floor(JSON.parse(text).I / 65_536)] : [],
        ),
      ).toEqual(expected);
    }
    const [one, other] = listeners.map(({ heard }) => heard.map(({ text }) => JSON.parse(text)));
    // Apart from when they were sent, both servers send the same.
    expect(one?.map(({ E: _, ...event }) => event)).toEqual(other?.map(({ E: _, ...event }) => event));
  }, 60_000);
});

function marketsOf(): UserStreamsParts["markets"] {
  const market = {
    ...{ rules: () => null, lastMarkPrice: () => null, prepare: () => undefined, now: () => 5_000 },
  };
  return { SPOT: market, FUTURES: market };
}
