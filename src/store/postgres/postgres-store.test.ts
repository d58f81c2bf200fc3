import { inspect } from "node:util";
import { Client, escapeIdentifier } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../../test/support/servers/postgres.ts";
import { storeContract } from "../contract/contract.ts";
import { beginSession, countSessions, signUp } from "../contract/people/people-records.ts";
import { accountOf, commitOf, orderOf, upTo } from "../contract/records.ts";
import { recordedOf, signalOf } from "../contract/signals/records.ts";
import { create, versionsOf } from "../contract/store-under-test.ts";
import type { Commit } from "../ports/trading.ts";
import { type Store, StoreUnavailable } from "../store.ts";
import { commitStatement } from "./commit-group.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { DatabaseUnfit } from "./server-check.ts";

describe.skipIf(!hasPostgres)(postgresTitle("on a PostgreSQL server"), () => {
  let server: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
  });
  afterAll(() => server.stop());

  /** Databases that are empty again, with their tables: making one takes longer than any case. */
  const empty: string[] = [];
  const emptyDatabase = async () => empty.pop() ?? (await server.newDatabase());
  const giveBack = async (url: string) => {
    await removeAllRows(url);
    empty.push(url);
  };

  storeContract("postgres", async () => {
    const url = await emptyDatabase();
    const opened: Store[] = [];
    const open = async () => {
      const store = closedOnce(await openPostgresStore(url));
      opened.push(store);
      return store;
    };
    return {
      store: await open(),
      place: url,
      changeRows: (sql) => change(url, sql),
      reopen: open,
      async dispose() {
        for (const store of opened) await store.close();
        await giveBack(url);
      },
    };
  });

  describe("a database that is opened", () => {
    let url: string;
    beforeEach(async () => {
      url = await server.newDatabase();
    });

    test.each([
      ["synchronous_commit = off", /synchronous_commit is off.*synchronous_commit = on/],
      ["synchronous_commit = local", /synchronous_commit is local/],
      ["synchronous_commit = remote_write", /synchronous_commit is remote_write/],
    ])("with %s is refused with what to do, and nothing is made in it", async (setting, message) => {
      await change(url, `ALTER DATABASE ${nameOf(url)} SET ${setting}`);
      await expect(openPostgresStore(url)).rejects.toThrow(DatabaseUnfit);
      await expect(openPostgresStore(url)).rejects.toThrow(message);
      expect(await tablesOf(url)).toEqual([]);
    });

    test("may ask for more than it must: remote_apply is left as it is", async () => {
      await change(url, `ALTER DATABASE ${nameOf(url)} SET synchronous_commit = remote_apply`);
      const store = await openPostgresStore(url);
      expect(await store.countStrategies()).toBe(0);
      await store.close();
    });

    test("in another encoding is refused", async () => {
      const name = `${nameOf(url)}_ascii`;
      await change(server.url, `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0`);
      const other = url.replace(nameOf(url), name);
      await expect(openPostgresStore(other)).rejects.toThrow(/encoding is SQL_ASCII.*UTF8/);
      await change(server.url, `DROP DATABASE ${name}`);
    });

    test("that a later version has migrated is refused with what to do", async () => {
      await (await openPostgresStore(url)).close();
      await change(
        url,
        "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-from-the-future', '2099-01-01')",
      );
      await expect(openPostgresStore(url)).rejects.toThrow(
        /written by another version of Lyrebird: .*9999-from-the-future.*Start that version/s,
      );
    });

    test("is left as it was by a migration that fails half-way, so that it can be carried out again", async () => {
      // The baseline makes this table after several others.
      await change(url, "CREATE TABLE api_keys (id TEXT)");
      await expect(openPostgresStore(url)).rejects.toThrow(
        /migration 0012-venue-credentials failed: .*api_keys/,
      );
      expect(await tablesOf(url)).toEqual(["api_keys"]);
      await change(url, "DROP TABLE api_keys");
      const store = await openPostgresStore(url);
      expect(await store.countStrategies()).toBe(0);
      await store.close();
    });

    test("for the first time by several servers at once is made once", async () => {
      const stores = await Promise.all(upTo(5).map(() => openPostgresStore(url)));
      expect(await Promise.all(stores.map((store) => store.countStrategies()))).toEqual([0, 0, 0, 0, 0]);
      for (const store of stores) await store.close();
    });

    test("by somebody who may not make tables in it is refused with the reason", async () => {
      const user = `${nameOf(url)}_guest`;
      await change(url, `CREATE USER ${user} PASSWORD 'guest'`);
      const guest = new URL(url);
      guest.username = user;
      guest.password = "guest";
      await expect(openPostgresStore(guest.href)).rejects.toThrow(/permission denied for schema public/);
      await expect(openPostgresStore(guest.href)).rejects.toThrow(DatabaseUnfit);
      await change(url, `DROP USER ${user}`);
    });

    test("with a wrong password is refused, and no password is said", async () => {
      const wrong = new URL(url);
      wrong.password = "swordfish";
      const error = await openPostgresStore(wrong.href).catch((reason) => reason);
      expect(error).toBeInstanceOf(DatabaseUnfit);
      expect(error.message).toMatch(/password authentication failed for user/);
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("swordfish");
    });
  });

  describe("a store that is in use", () => {
    let url: string;
    let store: Store;
    let other: Store;
    beforeEach(async () => {
      url = await emptyDatabase();
      store = await openPostgresStore(url);
      other = await openPostgresStore(url);
    });
    afterEach(async () => {
      await store.close();
      await other.close();
      await giveBack(url);
    });

    test("commits again what was under way on a connection that is cut", async () => {
      await create(store, "one", "two");
      const lock = await lockStrategy(url, "one");
      const cut = store.commit([commitOf(accountOf("one"), 2, { key: "k" }), commitOf(accountOf("two"), 7)]);
      await whenWaiting(url, { count: 1, what: "pg_terminate_backend(pid)" });
      await lock.release();
      expect(await cut).toEqual(["COMMITTED", "OUTDATED"]);
      expect(await versionsOf(store, ["one", "two"])).toEqual([2, 1]);
      expect(await store.commit([commitOf(accountOf("two"), 2)])).toEqual(["COMMITTED"]);
    });

    test.each([
      ["took effect, though its answer is lost: it is committed, once", recording(1_000), "COMMITTED"],
      ["was overtaken by another one with the same key: it is outdated", recording(2_000), "OUTDATED"],
    ])("knows of a commit in doubt whether it %s", async (_what, first, outcome) => {
      await create(store, "one");
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query("BEGIN");
      await client.query("SELECT FROM strategies WHERE id = 'one' FOR UPDATE");
      const cut = store.commit([recording(1_000)]);
      await whenWaiting(url, { count: 1, what: "pg_terminate_backend(pid)" });
      await client.query(commitStatement("elsewhere", [first]));
      await client.query("COMMIT");
      await client.end();
      expect(await cut).toEqual([outcome]);
      expect((await store.listEntries("one")).map(({ version }) => version)).toEqual([1, 2]);
      expect(await store.listSignals("one", { limit: 9 })).toHaveLength(1);
    });

    test("records a signal where the strategy's row was changed in the meantime, though not its version", async () => {
      await create(store, "one");
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query("BEGIN");
      await client.query("UPDATE strategies SET is_lead = 1 WHERE id = 'one'");
      const committed = store.commit([recording(1_000)]);
      await whenWaiting(url, { count: 1, what: "pid" });
      await client.query("COMMIT");
      expect(await committed).toEqual(["COMMITTED"]);
      const { rowCount } = await client.query("SELECT FROM lead_entries WHERE strategy_id = 'one'");
      await client.end();
      expect(rowCount).toBe(1);
      expect(await store.listSignals("one", { limit: 9 })).toMatchObject([{ state: { status: "EXECUTED" } }]);
      expect(await versionsOf(store, ["one"])).toEqual([2]);
    });

    test("writes nothing to an account that another server is closing at the moment", async () => {
      await signUp(store, "ann");
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query("BEGIN");
      await client.query("UPDATE people SET closed_at = 1 WHERE id = 'id-ann'");
      const begun = store.people.beginSecondFactor("id-ann", "seal", 1_000);
      const session = beginSession(store, "ann");
      await whenWaiting(url, { count: 2, what: "pid" });
      await client.query("COMMIT");
      await client.end();
      expect(await begun).toBe(false);
      await session;
      expect(await store.people.findSecondFactor("id-ann")).toBeNull();
      expect(await countSessions(store, "id-ann")).toBe(0);
    });

    test("answers BUSY for a group that the server gave up, and stores nothing of it", async () => {
      await create(store, "one", "two");
      const lock = await lockStrategy(url, "two");
      const group = store.commit([commitOf(accountOf("two"), 2), commitOf(accountOf("one"), 2)]);
      await whenWaiting(url, { count: 1, what: "pg_cancel_backend(pid)" });
      expect(await group).toEqual(["BUSY", "BUSY"]);
      await lock.release();
      expect(await versionsOf(store, ["one", "two"])).toEqual([1, 1]);
      expect(await store.commit([commitOf(accountOf("two"), 2)])).toEqual(["COMMITTED"]);
    });

    test("answers BUSY for a group that the server's disk has no space for, reads on, and goes on when there is", async () => {
      await create(store, "one");
      await change(
        url,
        `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
      );
      await change(url, "CREATE TRIGGER full_disk BEFORE INSERT ON journal EXECUTE FUNCTION full_disk()");
      expect(await store.commit([commitOf(accountOf("one"), 2)])).toEqual(["BUSY"]);
      expect(await versionsOf(store, ["one"])).toEqual([1]);
      await change(url, "CREATE TRIGGER full_disk BEFORE INSERT ON signals EXECUTE FUNCTION full_disk()");
      const signal = { signalId: "a", strategyId: "one", idempotencyKey: "k", body: "{}", receivedAt: 1 };
      await expect(store.receiveSignals([signal], { claimedUntil: 2 })).rejects.toThrow(StoreUnavailable);
      await change(url, "DROP FUNCTION full_disk CASCADE");
      expect(await store.commit([commitOf(accountOf("one"), 2)])).toEqual(["COMMITTED"]);
    });

    test("loses nothing with connections that were cut while nobody used them", async () => {
      const { key } = await create(store, "one");
      await store.findKey(key.apiKey);
      await withClient(server.url, async (client) => {
        const ours = `FROM pg_stat_activity WHERE application_name = 'lyrebird' AND datname = '${nameOf(url)}'`;
        await client.query(`SELECT pg_terminate_backend(pid) ${ours}`);
        await eventually("the connections are gone", async () => {
          return (await client.query(`SELECT 1 ${ours}`)).rowCount === 0;
        });
        // What they said at their end was there before this answer.
        await client.query("SELECT 1");
      });
      expect(await store.commit([commitOf(accountOf("one"), 2)])).toEqual(["COMMITTED"]);
      expect((await store.findKey(key.apiKey))?.key).toEqual(key);
      expect(await store.countStrategies()).toBe(1);
      await store.logBudgets([{ process: "p", at: 1, charges: [], bans: [] }], { forgetBefore: 0 });
    });

    test("never waits for another that waits for it: overlapping groups in opposite order", async () => {
      const ids = upTo(20).map((id) => `s${id}`);
      await create(store, ...ids);
      for (const version of upTo(11).slice(1)) {
        const groupOf = (key: string) =>
          ids.map((id) => commitOf(accountOf(id), version, { key: `${key}${version}` }));
        // Held up in their middle, both have begun before either can end.
        const lock = await lockStrategy(url, "s10");
        const groups = Promise.all([store.commit(groupOf("here")), other.commit(groupOf("there").reverse())]);
        await whenWaiting(url, { count: 2, what: "pid" });
        await lock.release();
        const [here, there] = await groups;
        const outcomes = ids.map((_, index) => [here[index], there[ids.length - 1 - index]].sort().join());
        expect(new Set(outcomes)).toEqual(new Set(["COMMITTED,OUTDATED"]));
      }
      expect(await versionsOf(store, ids)).toEqual(ids.map(() => 11));
    });

    test("has no order under a client id that no text can hold", async () => {
      await create(store, "one");
      await store.commit([commitOf(accountOf("one"), 2, { orders: [orderOf(1)] })]);
      expect(await store.findOrder("one", { clientOrderId: "client-1\0" })).toBeNull();
      expect(await store.findOrder("one", { clientOrderId: "client-1" })).toEqual(orderOf(1));
    });
  });
});

/** A commit that records a signal, and settles it; `at` is Unix ms. */
function recording(at: number): Commit {
  const signal = signalOf("a", { signed: { signature: "first", expiresAt: 5_000 } });
  return commitOf(accountOf("one"), 2, { key: "signal:a", at, signals: [recordedOf(signal)] });
}

/** A case may close a store before its database is disposed of. */
function closedOnce(store: Store): Store {
  let closing: Promise<void> | null = null;
  return {
    ...store,
    close() {
      closing ??= store.close();
      return closing;
    },
  };
}

/** Keeps every commit of a strategy waiting until it is released. */
async function lockStrategy(url: string, id: string): Promise<{ release(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM strategies WHERE id = $1 FOR UPDATE", [id]);
  return { release: () => client.end() };
}

/** Does something to the connections that wait for a lock, as soon as there are so many. */
async function whenWaiting(url: string, { count, what }: { count: number; what: string }): Promise<void> {
  const waiting = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${nameOf(url)}'`;
  await withClient(url, async (client) => {
    await eventually(`${count} wait for the lock`, async () => {
      return (await client.query(`SELECT 1 ${waiting}`)).rowCount === count;
    });
    await client.query(`SELECT ${what} ${waiting}`);
  });
}

async function tablesOf(url: string): Promise<string[]> {
  return await withClient(url, tablesIn);
}

async function tablesIn(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'kysely%'",
  );
  return rows.map(({ name }) => name);
}

async function removeAllRows(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const tables = await tablesIn(client);
    await client.query(tables.map((name) => `DELETE FROM ${escapeIdentifier(name)}`).join(";"));
  });
}

async function change(url: string, statements: string): Promise<void> {
  await withClient(url, (client) => client.query(statements));
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
