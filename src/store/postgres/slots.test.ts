import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../../test/support/servers/postgres.ts";
import { SLOTS, slotOf } from "../../domain/strategy.ts";
import { accountOf, commitOf, orderOf, upTo } from "../contract/records.ts";
import { create, exposedOf } from "../contract/store-under-test.ts";
import type { SlotStore, SlotsView } from "../ports/slots.ts";
import type { Store } from "../store.ts";
import { openPostgresStore } from "./postgres-store.ts";

const LEASE_MS = 60_000;

describe.skipIf(!hasPostgres)(postgresTitle("slots in a PostgreSQL database"), () => {
  let server: Databases;
  let url: string;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.newDatabase();
  });

  test("the database computes the slot of an id as we do, and loads only the given slots", async () => {
    const { store } = await open();
    const ids = ["one", "two", "0f3a9c5e7b1d2468", "é", ...upTo(20).map((id) => `s${id}`)];
    await create(store, ...ids);
    await store.commit(ids.map((id) => commitOf(accountOf(id), 2, { orders: [orderOf(1)] })));
    for (const id of ids) {
      const loaded = await store.listExposedAccounts("SPOT", new Set([slotOf(id)]));
      expect(loaded.map(({ strategyId }) => strategyId)).toEqual(
        ids.filter((other) => slotOf(other) === slotOf(id)).toSorted(),
      );
    }
    expect(await store.listExposedAccounts("SPOT", new Set())).toEqual([]);
    expect(await exposedOf(store)).toHaveLength(ids.length);
  });

  test("the exposed strategies of a slot are found by an index", async () => {
    await open();
    const plan = await ask<{ "QUERY PLAN": string }>(
      `SET enable_seqscan = off; EXPLAIN SELECT id FROM strategies
       WHERE type = 'SPOT' AND is_exposed = 1 AND get_byte(sha256(id::bytea), 0) = ANY('{1,2}'::int[])`,
    );
    expect(plan.map((row) => row["QUERY PLAN"]).join()).toContain("strategies_exposed_by_slot");
  });

  test("free slots are taken once, each with a new epoch", async () => {
    const [here, there] = [await join(), await join()];
    const [first, second] = await Promise.all([here.slots.take(200), there.slots.take(200)]);
    expect(first.size + second.size).toBe(SLOTS);
    expect(new Set([...first.keys(), ...second.keys()]).size).toBe(SLOTS);
    expect(new Set([...first.values(), ...second.values()])).toEqual(new Set([1]));
    expect((await here.slots.renew(LEASE_MS)).free).toBe(0);
  });

  test("what was given back, and what a server that is gone owned, is free", async () => {
    const [here, there] = [await join(), await join()];
    await here.slots.take(SLOTS);
    await here.slots.release([1, 2]);
    expect(await there.slots.take(9)).toEqual(
      new Map([
        [1, 2],
        [2, 2],
      ]),
    );
    const epochOf = ({ servers }: SlotsView) =>
      servers.find(({ serverId }) => serverId === here.slots.serverId)?.epoch ?? 0;
    const before = epochOf(await here.slots.renew(LEASE_MS));
    await expire(here.slots);
    const { free, servers } = await there.slots.renew(LEASE_MS);
    expect(free).toBe(SLOTS - 2);
    expect(servers.find(({ serverId }) => serverId === here.slots.serverId)?.isLive).toBe(false);
    expect(await there.slots.take(SLOTS)).toHaveProperty("size", SLOTS);
    // It learns at its next renewal that it owns nothing, and it is alive again, in another epoch.
    const after = await here.slots.renew(LEASE_MS);
    expect(after.own.size).toBe(0);
    expect(epochOf(after)).toBe(before + 1);
    // Its row is removed when it was away for long.
    await ask(`DELETE FROM servers WHERE id = '${here.slots.serverId}'`);
    expect(epochOf(await here.slots.renew(LEASE_MS))).toBeGreaterThan(before + 1);
    await there.slots.leave();
    expect(await here.slots.renew(LEASE_MS)).toMatchObject({ free: SLOTS, servers: { length: 1 } });
  });

  test("a lease is renewed while more readers wait than there are connections for them", async () => {
    const { store, slots } = await join();
    const holder = new Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("BEGIN");
    await holder.query("LOCK TABLE people IN ACCESS EXCLUSIVE MODE");
    const reading = Promise.all(upTo(20).map((id) => store.people.findPersonByEmail(`${id}@example.com`)));
    expect((await slots.renew(LEASE_MS)).servers).toHaveLength(1);
    await holder.query("ROLLBACK");
    expect(await reading).toEqual(upTo(20).map(() => null));
  });

  test("a server whose lease has expired takes nothing before it has renewed it", async () => {
    const { slots } = await join();
    await expire(slots);
    expect((await slots.take(SLOTS)).size).toBe(0);
    await slots.renew(LEASE_MS);
    expect((await slots.take(SLOTS)).size).toBe(SLOTS);
  });

  test("a new owner's watermarks are no later than those of the slots' last owners", async () => {
    const [here, there, third] = [await join(), await join(), await join()];
    await here.slots.take(100);
    await there.slots.take(100);
    await note(here.store, { BTCUSDT: 1_000, ETHUSDT: 5_000 });
    await note(there.store, { BTCUSDT: 3_000, ETHUSDT: 4_000, XRPUSDT: 9_000 });
    expect(await noted(here.store)).toEqual({ BTCUSDT: 1_000, ETHUSDT: 5_000 });
    await expire(here.slots);
    await there.slots.take(50);
    expect(await noted(there.store)).toEqual({ BTCUSDT: 1_000, ETHUSDT: 4_000, XRPUSDT: 9_000 });
    // After a second failure before anything is checked, the next owner begins as early.
    await expire(there.slots);
    await third.slots.take(SLOTS);
    expect(await noted(third.store)).toEqual({ BTCUSDT: 1_000, ETHUSDT: 4_000, XRPUSDT: 9_000 });
    // Nobody inherits twice.
    await note(third.store, { BTCUSDT: 8_000, ETHUSDT: 8_000 });
    await third.store.forgetHeard("SPOT", ["XRPUSDT"]);
    await third.slots.release([7]);
    const fourth = await join();
    await fourth.slots.take(1);
    expect(await noted(fourth.store)).toEqual({ BTCUSDT: 8_000, ETHUSDT: 8_000 });
    await fourth.store.noteFunding("BTCUSDT", 70);
    await fourth.slots.leave();
    await third.store.noteFunding("BTCUSDT", 90);
    await third.slots.take(1);
    expect(await third.store.listFundingNoted()).toEqual([{ symbol: "BTCUSDT", until: 70 }]);
  });

  test("a watermark that was computed before slots are taken is not stored after it", async () => {
    const [here, there] = [await join(), await join()];
    await here.slots.take(SLOTS);
    await note(here.store, { BTCUSDT: 1_000 });
    await here.slots.release([1]);
    await Promise.all([
      note(there.store, { BTCUSDT: 9_000 }),
      there.slots.take(1),
      note(there.store, { BTCUSDT: 9_000 }),
    ]);
    expect(await noted(there.store)).toEqual({ BTCUSDT: 1_000 });
  });

  async function open(): Promise<{ store: Store; slots: SlotStore }> {
    const store = await openPostgresStore(url);
    onTestFinished(() => store.close());
    if (store.slots === null) throw new Error("servers share this database");
    return { store, slots: store.slots };
  }

  async function join() {
    const opened = await open();
    await opened.slots.renew(LEASE_MS);
    return opened;
  }

  /** What happens to the lease of a server that has not renewed it. */
  async function expire({ serverId }: SlotStore): Promise<void> {
    await ask(`UPDATE servers SET expires_at = expires_at - ${LEASE_MS} WHERE id = '${serverId}'`);
  }

  async function ask<Row>(question: string): Promise<Row[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      const answers = await client.query(question);
      return (Array.isArray(answers) ? answers.at(-1) : answers).rows;
    } finally {
      await client.end();
    }
  }
});

async function note(store: Store, watermarks: Record<string, number>): Promise<void> {
  const heard = Object.entries(watermarks).map(([symbol, at]) => ({ type: "SPOT" as const, symbol, at }));
  await store.noteHeard(heard);
}

async function noted(store: Store): Promise<Record<string, number>> {
  return Object.fromEntries((await store.listHeard("SPOT")).map(({ symbol, at }) => [symbol, at]));
}
