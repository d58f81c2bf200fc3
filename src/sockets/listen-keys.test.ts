// Listen keys in use: when their streams fall silent, and when their connections end. The test has the clock.
import { expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import type { BoundKey } from "../domain/strategy.ts";
import { KEYS_CHECKED_EVERY_MS, KeyChecks } from "../keys/key-checks.ts";
import type { ListenKey } from "../store/ports/keys.ts";
import { StoreUnavailable } from "../store/store.ts";
import { LISTEN_KEYS_AT_ONCE, USER_STREAMS_PER_KEY_MAX } from "./limits.ts";
import { ListenKeys } from "./listen-keys.ts";
import { listenKeyNames } from "./private-streams.ts";
import type { UserEvent } from "./user-events/event.ts";

const HOUR_MS = 3_600_000;
const KEY = "k".repeat(64);

/** A store, a feed and connections in memory. */
function createFixture(
  changed: Partial<BoundKey["key"]> & { status?: "LIVE" | "CLOSED"; type?: "SPOT" } = {},
) {
  const time = createManualTime();
  const { status = "LIVE", type = "FUTURES", ...key } = changed;
  const bound: BoundKey = {
    key: {
      ...{ keyId: "id", apiKey: "mine", salt: "", masterVersion: 1, label: "", ownerId: null },
      ...{ strategyId: "one", createdAt: 0, revokedAt: null },
      ...key,
    },
    strategy: { strategyId: "one", type, status },
  };
  const rows: ListenKey[] = [{ listenKey: KEY, apiKey: "mine", expiresAt: time.now() + HOUR_MS }];
  const state = { rows, bound, isDown: false, queries: [] as number[] };
  const listeners = new Set<{ onEvent(event: UserEvent): void; onLost(): void }>();
  const store = {
    findKey: async () => state.bound,
    async findListenKeys(wanted: readonly string[]) {
      state.queries.push(wanted.length);
      if (state.isDown) throw new StoreUnavailable("down");
      return state.rows.filter(({ listenKey }) => wanted.includes(listenKey));
    },
  };
  const log = { warn() {}, error() {} };
  const keyChecks = new KeyChecks({ store, every: time.every, log });
  const listenKeys = new ListenKeys({
    store,
    keyChecks,
    every: time.every,
    wallNow: time.now,
    log,
    userStreams: {
      open: async () => ({
        strategyId: "one",
        type: "FUTURES",
        listen(onEvent, onLost) {
          const listener = { onEvent, onLost };
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      }),
    },
  });
  const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
  return {
    state,
    listeners,
    emit(name: string) {
      for (const { onEvent } of [...listeners]) onEvent({ name, text: `{"e":"${name}"}` });
    },
    async pass(ms: number) {
      time.advance(ms);
      await settle();
    },
    /** A connection that has opened a key: what it was sent, and how it was closed. */
    async connect(query = `listenKey=${KEY}`, name = KEY) {
      const sent: string[] = [];
      const closes: number[] = [];
      const { asked, ownNames } = listenKeyNames(query, { listenKeys, timers: time, log });
      const open = await ownNames(name);
      const cancel = open?.({ send: (text) => sent.push(text), close: (code) => void closes.push(code) });
      return { sent, closes, asked, cancel: () => cancel?.() };
    },
  };
}

test("events come until the connection ends", async () => {
  const { emit, connect, listeners, pass, state } = createFixture();
  const { sent, closes, cancel } = await connect();
  emit("ORDER_TRADE_UPDATE");
  expect([sent, closes]).toEqual([['{"e":"ORDER_TRADE_UPDATE"}'], []]);
  cancel();
  expect(listeners.size).toBe(0);
  const count = state.queries.length;
  await pass(10 * KEYS_CHECKED_EVERY_MS);
  expect(state.queries).toHaveLength(count);
});

test("a filter lets through what it names, also by the older name of algo updates", async () => {
  const { emit, connect } = createFixture();
  const { sent, asked } = await connect(`listenKey=${KEY}&events=ALGO_ORDER_UPDATE/ACCOUNT_UPDATE`);
  expect(asked).toEqual([KEY]);
  for (const name of ["ORDER_TRADE_UPDATE", "ALGO_UPDATE", "TRADE_LITE", "ACCOUNT_UPDATE"]) emit(name);
  expect(sent).toEqual(['{"e":"ALGO_UPDATE"}', '{"e":"ACCOUNT_UPDATE"}']);
});

test("a key that was extended goes on; one that has expired says so once, and is silent", async () => {
  const { state, emit, connect, pass } = createFixture();
  const { sent, closes } = await connect();
  const [row] = state.rows as [ListenKey];
  state.rows = [{ ...row, expiresAt: row.expiresAt + HOUR_MS }];
  await pass(HOUR_MS);
  emit("ORDER_TRADE_UPDATE");
  expect(sent).toHaveLength(1);
  await pass(HOUR_MS);
  // Another was opened in its place.
  state.rows = [];
  await pass(HOUR_MS);
  emit("ORDER_TRADE_UPDATE");
  expect(sent.slice(1).map((text) => JSON.parse(text))).toEqual([
    { e: "listenKeyExpired", E: expect.any(Number), listenKey: KEY },
  ]);
  expect(closes).toEqual([]);
});

test("a key that is closed closes its connections; a database that is out of reach closes none", async () => {
  const { state, connect, pass, listeners } = createFixture();
  const connections = [await connect(), await connect()];
  state.isDown = true;
  state.rows = [];
  await pass(KEYS_CHECKED_EVERY_MS);
  expect(connections.flatMap(({ closes }) => closes)).toEqual([]);
  state.isDown = false;
  await pass(KEYS_CHECKED_EVERY_MS);
  expect(connections.map(({ closes }) => closes)).toEqual([[1_000], [1_000]]);
  expect(listeners.size).toBe(0);
});

test.each([
  ["is revoked", 1, (bound: BoundKey) => ({ ...bound, key: { ...bound.key, revokedAt: 1 } })],
  [
    "has its strategy closed",
    2,
    (bound: BoundKey) => ({ ...bound, strategy: bound.strategy && { ...bound.strategy, status: "CLOSED" } }),
  ],
])("an API key that %s closes the connections of its listen key", async (_what, checks, change) => {
  const { state, connect, pass, listeners } = createFixture();
  const { closes } = await connect();
  state.bound = change(state.bound) as BoundKey;
  for (let count = 0; count < checks; count += 1) await pass(KEYS_CHECKED_EVERY_MS);
  expect(closes).toEqual([1_008]);
  expect(listeners.size).toBe(0);
});

test("events that are lost close the connection", async () => {
  const { connect, listeners } = createFixture();
  const { closes } = await connect();
  for (const { onLost } of [...listeners]) onLost();
  expect(closes).toEqual([1_011]);
});

test.each([
  ["is unknown", {}, "x".repeat(64), 0],
  ["has expired", {}, KEY, HOUR_MS],
  ["has a revoked API key", { revokedAt: 1 }, KEY, 0],
  ["has a closed strategy", { status: "CLOSED" }, KEY, 0],
  ["leads to a strategy of spot", { type: "SPOT" }, KEY, 0],
] as const)("a listen key that %s is closed at once", async (_what, changed, listenKey, ms) => {
  const { connect, pass, listeners } = createFixture(changed);
  await pass(ms);
  const { closes } = await connect(`listenKey=${listenKey}`, listenKey);
  expect(closes).toEqual([1_008]);
  expect(listeners.size).toBe(0);
});

test("an API key has so many streams, and no more", async () => {
  const { connect } = createFixture();
  const connections = [];
  for (let count = 0; count <= USER_STREAMS_PER_KEY_MAX; count += 1) connections.push(connect());
  const closes = (await Promise.all(connections)).flatMap((connection) => connection.closes);
  expect(closes).toEqual([1_008]);
});

test("keys that are opened together are looked up in one query, so many at a time", async () => {
  const { connect, state } = createFixture();
  const unknown = Array.from({ length: LISTEN_KEYS_AT_ONCE + 1 }, (_, index) => `${KEY}${index}`);
  const connections = await Promise.all(unknown.map((listenKey) => connect("", listenKey)));
  expect(state.queries).toEqual([LISTEN_KEYS_AT_ONCE, 1]);
  expect(connections.flatMap(({ closes }) => closes)).toEqual(unknown.map(() => 1_008));
});

test("other names are nobody's, in silence", async () => {
  const { connect } = createFixture();
  for (const name of ["0", "btcusdt@trade"]) {
    const { closes, sent } = await connect("", name);
    expect([closes, sent]).toEqual([[], []]);
  }
});
