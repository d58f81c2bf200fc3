// The store for many servers: one PostgreSQL database. Requests have connections of their own, one for each kind of statement
// that can be under way, so that nothing off the hot path keeps them waiting.
//
// What is certain of a commit that was not answered "committed":
//
//   BUSY           no connection could be had, so nothing was sent; or the server says that it rolled the group back for the
//                  sake of others (a lock, a deadlock, its time was up), or that its disk is full
//   StoreFailure   everything else. The connection was lost under way: whether the group took effect is unknown. Or the
//                  server refuses a row: it was rolled back, and there is a bug.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import { encodeBudgets } from "../budget-codec.ts";
import { migrate, queries } from "../queries.ts";
import type { Tables } from "../schema.ts";
import {
  type BudgetEntry,
  type Commit,
  type CommitOutcome,
  type Store,
  StoreFailure,
  StoreUnavailable,
} from "../store.ts";
import { noting, type SymbolNote } from "../symbol-notes.ts";
import { areTexts } from "../texts.ts";
import { commitStatement } from "./commit-group.ts";
import { Connections, isFull, isReadOnly, isRolledBack, reasonOf, unfitness } from "./connections.ts";
import { postgresCopying } from "./copying.ts";
import { HOT_READS_MAX, hotReads } from "./hot-reads.ts";
import { listenForCommits } from "./notifications.ts";
import { postgresPeople } from "./people.ts";
import { sharedListening } from "./shared-listening.ts";
import { RECEIVINGS_MAX, signalWrites } from "./signal-writes.ts";

/** Groups that can be under way at once: the desk sends one after the other. */
const COMMITS_MAX = 1;
/** Connections for everything off the hot path. */
const OTHERS_MAX = 6;
/** How long a start may wait for others to migrate, and its own migrations may take, ms. */
const MIGRATION_MS_MAX = 600_000;
/** Callers retry BUSY at once, so a database that is unreachable or full is queried at most this often, ms. */
const RECONNECT_PAUSE_MS = 200;

/** Keys of advisory locks in the database: the first number is ours, the second says which. */
const LOCKS = 1_280_922_180;
const MIGRATION_LOCK = 1;
const BUDGET_LOG_LOCK = 2;

/**
 * Opens a database, creating or migrating its tables as needed. Rejects with DatabaseUnfit if it must not be relied on, with
 * StoreUnavailable if it is out of reach.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  await bringUpToDate(url);
  const connectionsMax = COMMITS_MAX + HOT_READS_MAX + RECEIVINGS_MAX;
  const hot = new Connections(url, { connectionsMax, keyedOnly: true });
  const others = new Connections(url, { connectionsMax: OTHERS_MAX });
  const db = kyselyOn(others);
  /** By which the other servers know that a commit is not their own. */
  const process = randomBytes(8).toString("hex");
  let isClosed = false;
  /** The last entry of the budget log on its way: they are written in the order in which they came. */
  let logging: Promise<void> = Promise.resolve();
  const shared = queries(db);
  return {
    ...shared,
    people: postgresPeople(db),
    copying: postgresCopying(others, db),
    ...hotReads(hot),
    ...signalWrites(hot, db),

    async findOrder(strategyId, order) {
      if ("clientOrderId" in order && !areTexts(order.clientOrderId)) return null;
      return await shared.findOrder(strategyId, order);
    },

    async findLeg(strategyId, leg) {
      if ("clientLegId" in leg && !areTexts(leg.clientLegId)) return null;
      return await shared.findLeg(strategyId, leg);
    },

    async sizeBytes() {
      const { rows } = await sql<{
        size: string;
      }>`SELECT pg_database_size(current_database()) AS size`.execute(db);
      return Number(rows[0]?.size ?? 0);
    },

    async commit(group) {
      if (isClosed) throw new StoreFailure("the store is closed");
      return await commit(hot, process, group);
    },

    logBudgets(entry, { forgetBefore }) {
      const logged = logging.then(() => logBudgets(db, entry, forgetBefore));
      logging = logged.catch(() => {});
      return logged;
    },

    ...noting((notes) => note(db, notes)),
    onCommittedElsewhere: sharedListening((listener) => listenForCommits(url, process, listener)),

    async close() {
      isClosed = true;
      await hot.close();
      await db.destroy();
      // Which has closed nothing if it was never asked anything.
      await others.close();
    },
  };
}

/** Whether a database holds Lyrebird's tables: who only looks must not create them. Rejects like `openPostgresStore`. */
export async function hasTables(url: string): Promise<boolean> {
  const connections = new Connections(url, { connectionsMax: 1 });
  try {
    const [row] = await connections.query<{ there: boolean }>({
      text: "SELECT to_regclass('strategies') IS NOT NULL AS there",
    });
    return row?.there === true;
  } catch (error) {
    throw unfitness(error) ?? error;
  } finally {
    await connections.close();
  }
}

/** First starts of several servers take turns; a migration that fails or is cut off leaves nothing behind. */
async function bringUpToDate(url: string): Promise<void> {
  const db = kyselyOn(new Connections(url, { connectionsMax: 1, statementMsMax: MIGRATION_MS_MAX }));
  try {
    await db.connection().execute(async (connection) => {
      // The session's, which ends with it.
      await sql`SELECT pg_advisory_lock(${LOCKS}, ${MIGRATION_LOCK})`.execute(connection);
      await migrate(connection);
    });
  } catch (error) {
    throw unfitness(error) ?? error;
  } finally {
    await db.destroy();
  }
}

function kyselyOn(connections: Connections): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: connections.forKysely() }) });
}

async function commit(
  connections: Connections,
  process: string,
  group: readonly Commit[],
): Promise<CommitOutcome[]> {
  const statement = commitStatement(process, group);
  const client = await connections.take().catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    await pause(RECONNECT_PAUSE_MS);
    return null;
  });
  if (client === null) return group.map(() => "BUSY");
  try {
    const { rows } = await client.query<{ id: string }>(statement);
    client.release();
    const moved = new Set(rows.map(({ id }) => id));
    return group.map(({ account }) => (moved.has(account.strategyId) ? "COMMITTED" : "OUTDATED"));
  } catch (error) {
    client.release(true);
    if (!isRolledBack(error)) throw new StoreFailure(`a commit failed: ${reasonOf(error)}`, { cause: error });
    // What the market brings is tried again at once.
    if (isFull(error) || isReadOnly(error)) await pause(RECONNECT_PAUSE_MS);
    return group.map(() => "BUSY");
  }
}

async function logBudgets(db: Kysely<Tables>, entry: BudgetEntry, forgetBefore: number): Promise<void> {
  const { process, at } = entry;
  await db.transaction().execute(async (transaction) => {
    // Held until what was added can be seen, so positions ascend in the order of commit. The newest entry is never removed.
    await sql`SELECT pg_advisory_xact_lock(${LOCKS}, ${BUDGET_LOG_LOCK})`.execute(transaction);
    await sql`INSERT INTO budget_log (position, process, at, body)
      SELECT COALESCE(MAX(position), 0) + 1, ${process}, ${at}, ${encodeBudgets(entry)} FROM budget_log`.execute(
      transaction,
    );
    await transaction.deleteFrom("budget_log").where("at", "<", forgetBefore).execute();
  });
}

async function note(db: Kysely<Tables>, notes: readonly SymbolNote[]): Promise<void> {
  // Once each, the last note; in one order, so that two servers never wait for each other.
  const last = new Map(notes.map((each) => [`${each.kind} ${each.symbol}`, each]));
  if (last.size === 0) return;
  const rows = [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
  await db
    .insertInto("symbol_notes")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["kind", "symbol"]).doUpdateSet({ at: (set) => set.ref("excluded.at") }),
    )
    .execute();
}
