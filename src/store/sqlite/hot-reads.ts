// The reads of the hot path: keyed, a few microseconds each, on the main thread and a connection of their
// own.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Kysely } from "kysely";
import type { BoundKey, JournalEntry } from "../../domain/strategy.ts";
import { decodeAccount, decodeEvents, decodeOrder, type StrategyRow } from "../codec.ts";
import { orderFinder } from "../history.ts";
import { type BoundKeyRow, boundKeyOfRow, KEY_COLUMNS, REVOKED_AT } from "../key-rows.ts";
import type { LoadedAccount } from "../ports/trading.ts";
import type { Tables } from "../schema.ts";
import { encodeKey, SIGNAL_COLUMNS, type SignalRow, signalOfRow } from "../signal-rows.ts";
import type { Store } from "../store.ts";

/** Keys in the cache; beyond it all are looked up again. */
const CACHED_KEYS_MAX = 50_000;

export function hotReads(
  database: DatabaseSync,
  snapshot: ReadSnapshot,
  keys: KeyCache,
  db: Kysely<Tables>,
): Pick<Store, "loadAccount" | "findEntry" | "findOrder" | "listOpenOrders" | "findKey" | "findSignal"> {
  const strategyById = database.prepare(
    "SELECT id, type, status, version, state FROM strategies WHERE id = ?",
  );
  const openOrdersOf = database.prepare(
    "SELECT body FROM orders WHERE strategy_id = ? AND is_open = 1 ORDER BY order_id",
  );
  const orderById = database.prepare(
    "SELECT body FROM orders WHERE strategy_id = ? AND symbol = ? AND order_id = ?",
  );
  const entryByKey = database.prepare(
    "SELECT version, key, at, events FROM journal WHERE strategy_id = ? AND key = ?",
  );
  const signalsOf = `SELECT ${SIGNAL_COLUMNS.join(", ")} FROM signals WHERE strategy_id = ?`;
  const signalById = database.prepare(`${signalsOf} AND signal_id = ?`);
  const signalByKey = database.prepare(`${signalsOf} AND idempotency_key = ?`);
  const openOrders = (strategyId: string) =>
    (openOrdersOf.all(strategyId) as { body: string }[]).map(({ body }) => decodeOrder(body));
  const findEntry = async (strategyId: string, key: string): Promise<JournalEntry | null> => {
    snapshot.enter();
    const row = entryByKey.get(strategyId, key) as
      | (Omit<JournalEntry, "events"> & { events: string })
      | undefined;
    return row === undefined ? null : { ...row, events: decodeEvents(row.events) };
  };
  const findBody = async (strategyId: string, symbol: string, orderId: number): Promise<string | null> => {
    snapshot.enter();
    return (orderById.get(strategyId, symbol, orderId) as { body: string } | undefined)?.body ?? null;
  };
  return {
    findEntry,
    findOrder: orderFinder(db, { findEntry, findBody }),

    async loadAccount(strategyId): Promise<LoadedAccount | null> {
      snapshot.enter();
      const row = strategyById.get(strategyId) as (StrategyRow & { version: number }) | undefined;
      if (row === undefined) return null;
      return { account: decodeAccount(row, openOrders(strategyId)), version: row.version };
    },

    async listOpenOrders(strategyId, symbol) {
      snapshot.enter();
      const open = openOrders(strategyId);
      // Asked of the database, the symbol would have it go through all orders that there ever were of it.
      return symbol === null ? open : open.filter((order) => order.symbol === symbol);
    },

    async findKey(apiKey): Promise<BoundKey | null> {
      snapshot.enter();
      return keys.find(apiKey);
    },

    async findSignal(strategyId, signal) {
      snapshot.enter();
      const row = (
        "signalId" in signal
          ? signalById.get(strategyId, signal.signalId)
          : signalByKey.get(strategyId, encodeKey(signal.idempotencyKey))
      ) as SignalRow | undefined;
      return row === undefined ? null : signalOfRow(row);
    },
  };
}

/**
 * One read transaction for all reads of a tick of the event loop: taking and releasing the database's read
 * lock costs as much as a read. It begins with the first read of a tick and ends with the tick, or when this
 * process has committed something, so that a caller sees what it has committed.
 */
export class ReadSnapshot {
  readonly #database: DatabaseSync;
  #isOpen = false;
  #number = 0;
  #endOfTick: NodeJS.Immediate | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Differs from one snapshot to the next. */
  get number(): number {
    return this.#number;
  }

  /** Begins one unless there is one; called before every read. */
  enter(): void {
    if (this.#isOpen) return;
    this.#database.exec("BEGIN");
    this.#isOpen = true;
    this.#number += 1;
    this.#endOfTick ??= setImmediate(() => {
      this.#endOfTick = null;
      this.leave();
    });
  }

  /** Ends it: the next read sees all that is committed by then. */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // There is nothing to commit. A read that failed may have ended it already.
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }
}

const COLUMNS = KEY_COLUMNS.filter((column) => column !== "revoked_at").map((column) => `k.${column}`);

/**
 * Keys that were looked up, until the audit has a newer record, which is queried once a snapshot: every
 * change of a key or of its owner, by whatever process, is audited in the same transaction. The status of a
 * strategy changes without an audit, by commits of this process alone, which clear the cache.
 */
export class KeyCache {
  readonly #cached = new Map<string, BoundKey>();
  readonly #snapshot: ReadSnapshot;
  readonly #keyWithStrategy: StatementSync;
  readonly #newestAudit: StatementSync;
  #checkedIn = -1;
  #audited: unknown = null;

  constructor(database: DatabaseSync, snapshot: ReadSnapshot) {
    this.#snapshot = snapshot;
    this.#keyWithStrategy = database.prepare(
      `SELECT ${COLUMNS.join(", ")}, ${REVOKED_AT} AS revoked_at, s.type, s.status
       FROM api_keys k LEFT JOIN strategies s ON s.id = k.strategy_id LEFT JOIN people o ON o.id = k.owner_id
       WHERE k.api_key = ?`,
    );
    this.#newestAudit = database.prepare("SELECT MAX(position) AS newest FROM audit");
  }

  /** Called within a snapshot. */
  find(apiKey: string): BoundKey | null {
    if (this.#checkedIn !== this.#snapshot.number) {
      this.#checkedIn = this.#snapshot.number;
      const newest = this.#newestAudit.get()?.newest;
      if (newest !== this.#audited) this.#cached.clear();
      this.#audited = newest;
    }
    const cached = this.#cached.get(apiKey);
    if (cached !== undefined) return cached;
    const row = this.#keyWithStrategy.get(apiKey) as BoundKeyRow | undefined;
    if (row === undefined) return null;
    const found = boundKeyOfRow(row);
    // No `BoundedMap`: every request looks a key up, and each change of keys clears the map in any case.
    if (this.#cached.size >= CACHED_KEYS_MAX) this.#cached.clear();
    this.#cached.set(apiKey, found);
    return found;
  }

  clear(): void {
    this.#cached.clear();
  }
}
