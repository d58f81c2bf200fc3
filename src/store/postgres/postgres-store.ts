// The store for many servers: one PostgreSQL database. Requests have connections of their own, one for each
// kind of statement that can be in flight, so that nothing off the hot path delays them.
// Invariant: a commit is answered only with what is certain. BUSY: nothing of it was stored. A group in
// doubt, since its connection was lost, is committed again (decision 74). StoreFailure: it stayed in doubt
// for too long, or the server rejected a row, which is a bug.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import { copyingQueries } from "../copying/queries.ts";
import type { Execute } from "../dialect.ts";
import { ADVISORY_LOCKS, frequentPeopleWrites } from "../frequent-writes.ts";
import { migrate } from "../migrations.ts";
import { peopleQueries } from "../people/queries.ts";
import type { Commit, CommitOutcome } from "../ports/trading.ts";
import { queries } from "../queries.ts";
import { journalRow } from "../rows.ts";
import type { Tables } from "../schema.ts";
import { receiving, signalRecorder } from "../signals.ts";
import { type Store, StoreFailure, StoreUnavailable } from "../store.ts";
import { commitStatement, type MovedRow } from "./commit-group.ts";
import {
  Connections,
  isFull,
  isOutOfReach,
  isReadOnly,
  isRolledBack,
  reasonOf,
  unfitness,
} from "./connections.ts";
import { HOT_READS_MAX, hotReads } from "./hot-reads.ts";
import { CommitNotifier, concernsOwner, listenForCommits } from "./notifications.ts";
import { sharedListening } from "./shared-listening.ts";
import { PostgresSlots } from "./slots.ts";
import { Watches } from "./watches.ts";

/** Groups that can be in flight at once: the desk sends one after the other. */
const COMMITS_MAX = 1;
/** Batches of received signals in flight at once. */
const RECEIVINGS_MAX = 1;
/** Notifications of other servers in flight at once. */
const NOTIFICATIONS_MAX = 1;
/** A lease is renewed however many readers wait for a connection. */
const LEASES_MAX = 1;
/** Connections for everything else off the hot path. */
const OTHERS_MAX = 6;
/** How long a start may wait for others to migrate, and its own migrations may take, ms. */
const MIGRATION_MS_MAX = 600_000;
/** How long a group may be in doubt, ms: longer than a failover takes. */
const IN_DOUBT_MS_MAX = 60_000;
/**
 * Callers retry BUSY at once, so a database that is unreachable or full is queried at most this often, ms.
 */
const RECONNECT_PAUSE_MS = 200;

/** Which advisory lock migrations take. */
const MIGRATION_LOCK = 1;

/**
 * Opens a database, creating or migrating its tables as needed. Rejects with DatabaseUnfit if it must not be
 * relied on, with StoreUnavailable if it is out of reach.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  await bringUpToDate(url);
  const connectionsMax = COMMITS_MAX + HOT_READS_MAX + RECEIVINGS_MAX + NOTIFICATIONS_MAX;
  const hot = new Connections(url, { connectionsMax, keyedOnly: true });
  const leases = new Connections(url, { connectionsMax: LEASES_MAX });
  const others = new Connections(url, { connectionsMax: OTHERS_MAX });
  const db = kyselyOn(others);
  /** By which the other servers know that a commit is not their own. */
  const process = randomBytes(8).toString("hex");
  let isClosed = false;
  const execute: Execute = (statements) => others.execute(statements);
  const executeHot: Execute = (statements) => hot.execute(statements);
  const shared = queries(db, execute);
  const slots = new PostgresSlots({
    ...{ db, execute, serverId: process },
    executeLeases: (statements) => leases.execute(statements),
  });
  const notifier = new CommitNotifier(hot, process);
  const watches = new Watches({ db, execute, process });
  return {
    ...shared,
    ...slots.notes(shared),
    ...hotReads(hot, db),
    people: { ...peopleQueries(db), ...frequentPeopleWrites(db, execute) },
    copying: copyingQueries(db, execute),
    slots,
    receiveSignals: receiving(signalRecorder(db, executeHot)),

    async sizeBytes() {
      const { rows } = await sql<{
        size: number;
      }>`SELECT pg_database_size(current_database()) AS size`.execute(db);
      return rows[0]?.size ?? 0;
    },

    async waitsForStandby() {
      const { rows } = await sql<{
        names: string;
      }>`SELECT current_setting('synchronous_standby_names') AS names`.execute(db);
      return (rows[0]?.names ?? "") !== "";
    },

    async commit(group) {
      if (isClosed) throw new StoreFailure("the store is closed");
      const { outcomes, watched } = await commit(hot, process, group);
      notifier.add(
        group.flatMap((each, index) => {
          const { strategyId, type } = each.account;
          const isForOwner = concernsOwner(each) && !slots.isOwn(strategyId);
          const isForOthers = isForOwner || watched.has(strategyId);
          return outcomes[index] === "COMMITTED" && isForOthers ? [{ strategyId, type, isForOwner }] : [];
        }),
      );
      return outcomes;
    },

    watchStrategy: (strategyId) => watches.add(strategyId),

    onCommittedElsewhere: sharedListening((listener) => listenForCommits(url, process, listener)),

    async close() {
      isClosed = true;
      await notifier.close();
      await watches.close();
      await hot.close();
      await leases.close();
      await db.destroy();
      // Which has closed nothing if it was never asked anything.
      await others.close();
    },
  };
}

/**
 * Whether a database holds Lyrebird's tables: who only looks must not create them. Rejects like
 * `openPostgresStore`.
 */
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
      await sql`SELECT pg_advisory_lock(${ADVISORY_LOCKS}, ${MIGRATION_LOCK})`.execute(connection);
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

/** The outcomes of a group, and the strategies of it that other processes watch. */
type Committed = { readonly outcomes: CommitOutcome[]; readonly watched: ReadonlySet<string> };

async function commit(
  connections: Connections,
  process: string,
  group: readonly Commit[],
): Promise<Committed> {
  const first = await attempt(connections, process, group);
  if (first === "BUSY") return { outcomes: group.map(() => "BUSY"), watched: new Set() };
  if (!("doubt" in first)) return first;
  const since = performance.now();
  while (performance.now() - since < IN_DOUBT_MS_MAX) {
    await pause(RECONNECT_PAUSE_MS);
    const again = await attempt(connections, process, group);
    // Nothing of that attempt took effect, or its outcome is unknown as well.
    if (again === "BUSY" || "doubt" in again) continue;
    const entered = await findEntered(connections, group).catch(() => null);
    if (entered === null) continue;
    const outcomes = group.map((_, index) => (entered.has(index) ? "COMMITTED" : "OUTDATED"));
    // Of the attempt that took effect it is not known who watches.
    return { outcomes, watched: new Set(group.map(({ account }) => account.strategyId)) };
  }
  const { doubt } = first;
  throw new StoreFailure(`a commit failed: ${reasonOf(doubt)}`, { cause: doubt });
}

/**
 * Commits a group once. BUSY: no connection could be had, or the server says that it rolled the group back (a
 * lock, a deadlock, a timeout, a full disk). Rejects with StoreFailure if the server rejects it.
 */
async function attempt(
  connections: Connections,
  process: string,
  group: readonly Commit[],
): Promise<Committed | "BUSY" | { readonly doubt: unknown }> {
  const statement = commitStatement(process, group);
  const client = await connections.take().catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    await pause(RECONNECT_PAUSE_MS);
    return null;
  });
  if (client === null) return "BUSY";
  try {
    const { rows } = await client.query<MovedRow>(statement);
    client.release();
    const moved = new Set(rows.map(({ id }) => id));
    return {
      outcomes: group.map(({ account }) => (moved.has(account.strategyId) ? "COMMITTED" : "OUTDATED")),
      watched: new Set(rows.flatMap(({ id, is_watched }) => (is_watched ? [id] : []))),
    };
  } catch (error) {
    connections.drop(client, error);
    if (!isOutOfReach(error)) {
      throw new StoreFailure(`a commit failed: ${reasonOf(error)}`, { cause: error });
    }
    if (!isRolledBack(error)) return { doubt: error };
    // What the market brings is tried again at once.
    if (isFull(error) || isReadOnly(error)) await pause(RECONNECT_PAUSE_MS);
    return "BUSY";
  }
}

/** The places of the commits of a group whose very entry is in the journal. */
async function findEntered(connections: Connections, group: readonly Commit[]): Promise<ReadonlySet<number>> {
  const rows = group.map(({ account, entry }) => journalRow(account.strategyId, entry));
  const found = await connections.query<{ place: number }>({
    text: `
      SELECT place FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[])
        WITH ORDINALITY AS given (strategy_id, key, version, at, events, place)
      JOIN journal j USING (strategy_id, key)
      WHERE j.version = given.version AND j.at = given.at AND j.events = given.events`,
    values: [
      rows.map(({ strategy_id }) => strategy_id),
      rows.map(({ key }) => key),
      rows.map(({ version }) => version),
      rows.map(({ at }) => at),
      rows.map(({ events }) => events),
    ],
  });
  return new Set(found.map(({ place }) => place - 1));
}
