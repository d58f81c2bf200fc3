// The databases of a gateway: SQLite's file in its data directory, and a PostgreSQL server of the benchmark's
// own, where its programs are installed. Both with the durability that is shipped.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { placementKey, signalKey } from "../src/domain/command.ts";
import { openRows } from "../test/campaigns/harness/stored-rows.ts";
import { hasPostgres, openPostgres } from "../test/support/servers/postgres.ts";
import { type Pinning, pinThisProcess } from "./processes/machine.ts";

export const STORE_NAMES = ["sqlite", "postgres"] as const;
export type StoreName = (typeof STORE_NAMES)[number];

export const STORE_TITLES: { readonly [N in StoreName]: string } = {
  sqlite: "SQLite",
  postgres: "PostgreSQL",
};

/** The store of a gateway. `databaseUrl` is null for the file in the data directory. */
export type Place = { readonly dataDir: string; readonly databaseUrl: string | null };

export type BenchStore = {
  readonly name: StoreName;
  /** A new data directory with a new, empty database. */
  newPlace(): Promise<Place>;
  close(): Promise<void>;
};

/** Why a requested store is not measured. */
export type MissingStore = { readonly name: StoreName; readonly reason: string };

const NO_PROGRAMS = "not measured: no PostgreSQL programs here (Debian: the package postgresql)";

/** Opens the stores; those that cannot be had on this machine are named. */
export async function openStores(
  names: readonly StoreName[],
  directory: string,
  pinning: Pinning,
): Promise<{ readonly stores: readonly BenchStore[]; readonly missing: readonly MissingStore[] }> {
  const newDirectory = (name: StoreName) => mkdtempSync(join(directory, `${name}-`));
  const stores: BenchStore[] = [];
  const missing: MissingStore[] = [];
  for (const name of names) {
    if (name === "sqlite") {
      stores.push({
        name,
        newPlace: async () => ({ dataDir: newDirectory(name), databaseUrl: null }),
        close: async () => {},
      });
      continue;
    }
    // The server inherits the core: the gateway's own threads have the other to themselves.
    if (hasPostgres && pinning !== null) pinThisProcess(pinning.sender);
    const server = hasPostgres ? await openPostgres() : null;
    if (server === null) missing.push({ name, reason: NO_PROGRAMS });
    else {
      stores.push({
        name,
        newPlace: async () => ({ dataDir: newDirectory(name), databaseUrl: await server.newDatabase() }),
        close: () => server.stop(),
      });
    }
  }
  return { stores, missing };
}

/** Where PostgreSQL's processes ran, for readers of the figures. */
export function postgresNote(pinning: Pinning): string {
  if (process.env.TEST_DATABASE_URL !== undefined)
    return "PostgreSQL: the server of TEST_DATABASE_URL, wherever it runs; the gateway's own threads on their one core";
  return pinning === null
    ? "PostgreSQL: a server of the bench's own, unpinned like everything else"
    : "PostgreSQL: a server of the bench's own; its processes share the sender's core and go first there, so that the " +
        "gateway's threads have theirs to themselves: what the database takes shows in how late the sender was";
}

/**
 * Compares the database of a stopped server with the answers that clients received, and its journal with its
 * tables. Returns what differs, or
 * null.
 */
export async function differenceIn(
  place: Place,
  acknowledged: { readonly orders: number; readonly signals: number },
): Promise<string | null> {
  const rows = openRows(place);
  const count = async (
    table: "orders" | "signals" | "journal",
    column: "status" | "key" | null,
    text = "",
  ) => {
    const all = rows.selectFrom(table).select((select) => select.fn.countAll().as("count"));
    const some = column === null ? all : all.where(column as never, "like", text as never);
    return Number((await some.executeTakeFirstOrThrow()).count);
  };
  try {
    const orders = await count("orders", null);
    const placed = await count("journal", "key", placementKey("%"));
    const executed = await count("signals", "status", "EXECUTED");
    const journaled = await count("journal", "key", signalKey("%"));
    if (placed !== acknowledged.orders) {
      return `${acknowledged.orders} orders were acknowledged but the journal has ${placed}`;
    }
    if (executed !== acknowledged.signals || journaled !== executed) {
      return `${acknowledged.signals} signals were answered as executed but ${executed} are, and the journal has ${journaled}`;
    }
    return orders === placed + executed
      ? null
      : `${placed} placements and ${executed} executed signals made ${orders} orders`;
  } finally {
    await rows.destroy();
  }
}
