// The embedded store: one SQLite file, three connections. The main thread has one for keyed reads (a few microseconds
// each) and one for everything else off the hot path; commits go to a worker thread with its own, group by group.
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Kysely, SqliteDialect } from "kysely";
import type { StrategyStatus, StrategyType } from "../../domain/account.ts";
import {
  decodeAccount,
  decodeEvents,
  decodeOrder,
  encodeBudgets,
  encodeEvents,
  encodeState,
  type StrategyRow,
} from "../codec.ts";
import { migrate, orderRow, queries, tradeRow } from "../queries.ts";
import type { Tables } from "../schema.ts";
import {
  type BoundKey,
  type BudgetEntry,
  type Commit,
  type CommitOutcome,
  type Heard,
  type JournalEntry,
  type LoadedAccount,
  type Store,
  StoreFailure,
} from "../store.ts";
import type { CommitRows, WriteReply, WriteRequest } from "./commit-worker.ts";
import { kyselyDatabase, openDatabase } from "./database.ts";

/** Opens the file, creating or migrating it as needed. */
export async function openSqliteStore(file: string): Promise<Store> {
  const database = openDatabase(file);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
  // The lock makes concurrent first starts take turns, and a migration that is cut off leaves nothing behind.
  database.exec("BEGIN IMMEDIATE");
  try {
    await migrate(db);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    await db.destroy();
    throw error;
  }
  // A connection of its own, since one that is shared with a transaction sees what is not committed.
  const reader = openDatabase(file);
  const writer = new CommitWriter(file);
  return {
    ...queries(db),
    ...hotReads(reader),
    commit: (group) => writer.commit(group),
    logBudgets: (entry, { forgetBefore }) => writer.logBudgets(entry, forgetBefore),
    noteHeard: (heard) => writer.noteHeard(heard),
    async close() {
      await writer.close();
      reader.close();
      await db.destroy();
    },
  };
}

function hotReads(database: DatabaseSync): Pick<Store, "loadAccount" | "findEntry" | "findKey"> {
  const strategyById = database.prepare(
    "SELECT id, type, status, version, state FROM strategies WHERE id = ?",
  );
  const openOrdersOf = database.prepare(
    "SELECT body FROM orders WHERE strategy_id = ? AND is_open = 1 ORDER BY order_id",
  );
  const entryByKey = database.prepare(
    "SELECT version, key, at, events FROM journal WHERE strategy_id = ? AND key = ?",
  );
  const keyWithStrategy = database.prepare(
    `SELECT k.*, s.type, s.status FROM api_keys k LEFT JOIN strategies s ON s.id = k.strategy_id
     WHERE k.api_key = ?`,
  );
  return {
    async loadAccount(strategyId): Promise<LoadedAccount | null> {
      const row = strategyById.get(strategyId) as (StrategyRow & { version: number }) | undefined;
      if (row === undefined) return null;
      const open = openOrdersOf.all(strategyId) as { body: string }[];
      return {
        account: decodeAccount(
          row,
          open.map(({ body }) => decodeOrder(body)),
        ),
        version: row.version,
      };
    },

    async findEntry(strategyId, key): Promise<JournalEntry | null> {
      const row = entryByKey.get(strategyId, key) as
        | (Omit<JournalEntry, "events"> & { events: string })
        | undefined;
      return row === undefined ? null : { ...row, events: decodeEvents(row.events) };
    },

    async findKey(apiKey): Promise<BoundKey | null> {
      const row = keyWithStrategy.get(apiKey) as KeyRow | undefined;
      if (row === undefined) return null;
      const { strategy_id: strategyId, type, status } = row;
      return {
        key: {
          keyId: row.id,
          apiKey: row.api_key,
          salt: row.salt,
          masterVersion: row.master_version,
          label: row.label,
          strategyId,
          createdAt: row.created_at,
          revokedAt: row.revoked_at,
        },
        strategy:
          strategyId === null || type === null || status === null ? null : { strategyId, type, status },
      };
    },
  };
}

type KeyRow = {
  id: string;
  api_key: string;
  salt: string;
  master_version: number;
  label: string;
  strategy_id: string | null;
  created_at: number;
  revoked_at: number | null;
  type: StrategyType | null;
  status: StrategyStatus | null;
};

/** The main thread's end of the commit worker. */
class CommitWriter {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly CommitOutcome[]>>();
  readonly #stopped: Promise<void>;
  #lastId = 0;
  #failure: StoreFailure | null = null;

  constructor(file: string) {
    this.#worker = new Worker(new URL("./commit-worker.ts", import.meta.url), { workerData: { file } });
    this.#stopped = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker.on("message", (reply: WriteReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(new StoreFailure(`the commit worker failed: ${error}`)));
    this.#worker.once("exit", () => this.#fail(new StoreFailure("the commit worker has stopped")));
  }

  commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#write((id) => ({ id, group: group.map(rows) }));
  }

  async logBudgets(entry: BudgetEntry, forgetBefore: number): Promise<void> {
    const { process, at } = entry;
    const budgets = { process, at, body: encodeBudgets(entry), forgetBefore };
    throwIfBusy(await this.#write((id) => ({ id, budgets })));
  }

  async noteHeard(heard: readonly Heard[]): Promise<void> {
    if (heard.length === 0) return;
    const rows = heard.map(({ symbol, at }) => [symbol, at] as const);
    throwIfBusy(await this.#write((id) => ({ id, heard: rows })));
  }

  #write(requestOf: (id: number) => WriteRequest): Promise<readonly CommitOutcome[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    const request = requestOf(id);
    const waiting = Promise.withResolvers<readonly CommitOutcome[]>();
    this.#waiting.set(id, waiting);
    this.#worker.postMessage(request);
    return waiting.promise;
  }

  async close(): Promise<void> {
    this.#worker.postMessage("stop");
    await this.#stopped;
  }

  #settle(reply: WriteReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new StoreFailure(`a write failed: ${reply.error}`));
    else waiting?.resolve(reply.outcomes);
  }

  #fail(error: StoreFailure): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

function throwIfBusy(outcomes: readonly CommitOutcome[]): void {
  if (outcomes.includes("BUSY")) throw new Error("another process kept the database to itself for too long");
}

function rows({ account, entry, orders, trades }: Commit): CommitRows {
  const { strategyId } = account;
  return {
    strategy: [encodeState(account), account.status, entry.version, strategyId],
    journal: [strategyId, entry.version, entry.key, entry.at, encodeEvents(entry.events)],
    orders: orders.map((order) => {
      const row = orderRow(strategyId, order);
      return [
        row.strategy_id,
        row.order_id,
        row.symbol,
        row.client_order_id,
        row.is_open,
        row.placed_at,
        row.body,
      ];
    }),
    trades: trades.map((trade) => {
      const row = tradeRow(strategyId, trade);
      return [row.strategy_id, row.trade_id, row.symbol, row.order_id, row.at, row.body];
    }),
  };
}
