// Strategies that were closed long ago go into a file, whole, and nothing else of the database changes.
import { join } from "node:path";
import type { Kysely } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../../test/support/servers/postgres.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import { follow, openToCopiers } from "../contract/copying/records.ts";
import { counterfactualOf } from "../contract/counterfactuals.ts";
import { incomeOf, legOf } from "../contract/futures-records.ts";
import { auditOf } from "../contract/people/people-records.ts";
import { accountOf, commitOf, createdOf, keyOf, orderOf, tradeOf } from "../contract/records.ts";
import { signalOf } from "../contract/signals/records.ts";
import { everythingOf } from "../contract/store-under-test.ts";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import type { Tables } from "../schema.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import type { Store } from "../store.ts";
import { listArchivable, removeStrategies } from "./archive.ts";
import { withPostgres } from "./postgres.ts";
import { checkBackup } from "./restore.ts";
import { restoreSqlite, withSqlite } from "./sqlite.ts";
import { linesOf } from "./testing/lines.ts";
import { writeBackup } from "./write.ts";

const version = "0.1.0";
const LONG_AGO = 5_000;
const LATELY = 50_000;
const CLOSED_BEFORE = 10_000;
/** More than are removed in one transaction. */
const ORDERS = 1_201;

type Place = {
  open(): Promise<Store>;
  use<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
};

let server: Databases | null = null;
beforeAll(async () => {
  server = hasPostgres ? await openPostgres() : null;
});
afterAll(() => server?.stop());

const STORES: readonly { name: string; isThere: boolean; place: () => Promise<Place> }[] = [
  {
    name: "SQLite",
    isThere: true,
    async place() {
      const file = join(newDirectory(), "lyrebird.sqlite");
      return { open: () => openSqliteStore(file), use: (work) => withSqlite(file, work) };
    },
  },
  {
    name: postgresTitle("PostgreSQL"),
    isThere: hasPostgres,
    async place() {
      const url = (await server?.newDatabase()) ?? "";
      return { open: () => openPostgresStore(url), use: (work) => withPostgres(url, work) };
    },
  },
];

describe.each(STORES.filter(({ isThere }) => isThere))("on $name", ({ place: placeOf }) => {
  test("what was closed long ago, is not copied and is read by no key goes, the earliest first", async () => {
    const place = await placeOf();
    const store = await place.open();
    await fill(store);
    const closed = await place.use((db) => listArchivable(db, CLOSED_BEFORE));
    expect(closed).toEqual([
      { strategyId: "older", type: "SPOT", name: "named older", ownerId: null, closedAt: LONG_AGO - 1 },
      { strategyId: "old", type: "SPOT", name: "named old", ownerId: null, closedAt: LONG_AGO },
    ]);
    await store.close();
  });

  test("it goes into a file, from which it comes back, and the others stay as they were", async () => {
    const place = await placeOf();
    const store = await place.open();
    await fill(store);
    const others = ["lately", "live", "copied", "read"];
    const before = await Promise.all(others.map((id) => everythingOf(store, id)));
    const old = await everythingOf(store, "old");
    const signals = await store.listSignals("old", { limit: 9 });
    expect(old.orders).toHaveLength(1_000);
    expect(signals).toHaveLength(1);

    const file = join(newDirectory(), "closed.backup");
    const { rows } = await place.use((db) =>
      writeBackup(db, file, { version, strategies: ["old", "older"] }),
    );
    expect(rows).toMatchObject({
      strategies: 2,
      orders: ORDERS,
      signals: 1,
      counterfactuals: 1,
      api_keys: 0,
      audit: 0,
      copies: 0,
    });
    expect(linesOf(file).join("\n")).not.toContain("lately");
    const removal = await place.use((db) => removeStrategies(db, ["old", "older"], { recordOf }));
    expect(removal).toEqual({ rows: Object.values(rows).reduce((sum, count) => sum + count, 0), kept: [] });
    const audit = await store.people.listAudit({ limit: 2 });
    expect(audit.map(({ about }) => about.id).sort()).toEqual(["old", "older"]);

    expect(await Promise.all(others.map((id) => everythingOf(store, id)))).toEqual(before);
    expect(await everythingOf(store, "old")).toEqual({
      ...{ loaded: null, entries: [], orders: [], trades: [], legs: [], incomes: [] },
    });
    expect(await store.listSignals("old", { limit: 9 })).toEqual([]);
    expect(await store.findCounterfactual("old", 1)).toBeNull();
    expect(await store.findCounterfactual("live", 1)).toEqual(compared("live"));
    const unbound = (await store.listKeys()).filter(({ strategy }) => strategy === null);
    expect(unbound.map(({ key }) => key.apiKey).sort()).toEqual([keyOf("old").apiKey, keyOf("older").apiKey]);
    await store.close();

    const database = join(newDirectory(), "lyrebird.sqlite");
    await restoreSqlite(database, await checkBackup(file));
    const restored = await openSqliteStore(database);
    expect(await everythingOf(restored, "old")).toEqual(old);
    expect(await restored.listSignals("old", { limit: 9 })).toEqual(signals);
    expect(await restored.findCounterfactual("old", 1)).toEqual(compared("old"));
    await restored.close();
  });

  test("one to which its owner binds a key after the listing stays as it is, with its key, and no record", async () => {
    const place = await placeOf();
    const store = await place.open();
    await fill(store);
    await place.use((db) => db.updateTable("strategies").set({ owner_id: "ann" }).execute());
    const spare = keyOf("spare", { strategyId: null, ownerId: "ann" });
    await store.people.createKey(spare, auditOf("KEY_CREATED", "ann"));
    const listed = await place.use((db) => listArchivable(db, CLOSED_BEFORE));
    expect(listed.map(({ strategyId }) => strategyId)).toEqual(["older", "old"]);

    const binding = { keyId: spare.keyId, strategyId: "older", ownerId: "ann" };
    expect(await store.people.bindKey(binding, auditOf("KEY_BOUND", "ann"))).toBe(true);
    const before = await everythingOf(store, "older");
    const keyBefore = (await store.listKeys()).find(({ key }) => key.keyId === spare.keyId);
    expect(keyBefore?.key.strategyId).toBe("older");
    const removal = await place.use((db) => removeStrategies(db, ["older", "old"], { recordOf }));
    expect(removal.kept).toEqual(["older"]);
    await store.close();
    const opened = await place.open();
    expect(await everythingOf(opened, "older")).toEqual(before);
    expect((await opened.listKeys()).find(({ key }) => key.keyId === spare.keyId)).toEqual(keyBefore);
    expect(await opened.loadAccount("old")).toBeNull();
    const records = await opened.people.listAudit({ limit: 9 });
    const archived = records.filter(({ what }) => what === "STRATEGY_ARCHIVED");
    expect(archived.map(({ about }) => about.id)).toEqual(["old"]);
    await opened.close();
  });

  test("a removal that is interrupted is done when it is repeated, and nothing half removed is anybody's", async () => {
    const place = await placeOf();
    const store = await place.open();
    await fill(store);
    const interruption = new AbortController();
    const interrupted = place.use((db) =>
      removeStrategies(db, ["old"], {
        recordOf,
        signal: interruption.signal,
        onProgress: (rows) => rows >= 500 && interruption.abort(),
      }),
    );
    await expect(interrupted).rejects.toThrow(/abort/i);
    const left = await place.use((db) => listArchivable(db, CLOSED_BEFORE));
    expect(left.map(({ strategyId }) => strategyId)).toContain("old");
    await place.use((db) => removeStrategies(db, ["old"], { recordOf }));
    expect((await everythingOf(store, "old")).orders).toEqual([]);
    expect(await place.use((db) => listArchivable(db, CLOSED_BEFORE))).toHaveLength(1);
    await store.close();
  });
});

const recordOf = (id: string): NewAuditRecord => ({
  who: { kind: "COMMAND_LINE" },
  what: "STRATEGY_ARCHIVED",
  about: { kind: "STRATEGY", id },
  at: LATELY,
  details: {},
});

const compared = (strategyId: string) => counterfactualOf(1, ["1"], { strategyId });

/** `old` and `older` may go; of the others each has one reason to stay. */
async function fill(store: Store): Promise<void> {
  const names = ["old", "older", "lately", "live", "copied", "read"];
  await store.createStrategies(names.filter((name) => name !== "copied").map((name) => createdOf(name)));
  await openToCopiers(store, "copied");
  await follow(store, "copied", "ann");
  for (const name of names) {
    const at = name === "lately" ? LATELY : name === "older" ? LONG_AGO - 1 : LONG_AGO;
    const account = accountOf(name, name === "live" ? "LIVE" : "CLOSED");
    const of = name === "old" ? ORDERS : 1;
    const orders = Array.from({ length: name === "older" ? 0 : of }, (_, index) =>
      orderOf(index + 1, { status: "FILLED" }),
    );
    const parts = { orders, trades: [tradeOf(1, 1)], legs: [legOf(ORDERS + 1)], incomes: [incomeOf(1)] };
    await store.commit([commitOf(account, 2, { at, ...(name === "older" ? {} : parts) })]);
    if (!["read", "copied"].includes(name)) await store.revokeKey(keyOf(name).apiKey, at);
  }
  await store.storeCounterfactuals([compared("old"), compared("live")]);
  await store.receiveSignals([signalOf("one", { strategyId: "old" })], { claimedUntil: 9_000 });
}
