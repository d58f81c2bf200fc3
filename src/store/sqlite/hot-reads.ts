// The reads of the hot path: keyed, a few microseconds each, on the main thread and a connection of their own.
import type { DatabaseSync } from "node:sqlite";
import { decodeAccount, decodeEvents, decodeOrder, type StrategyRow } from "../codec.ts";
import { encodeKey, SIGNAL_COLUMNS, type SignalRow, signalOfRow } from "../signal-rows.ts";
import type { BoundKey, JournalEntry, LoadedAccount, Store } from "../store.ts";
import type { HeldKeys } from "./held-keys.ts";
import type { TurnSnapshot } from "./turn-snapshot.ts";

export function hotReads(
  database: DatabaseSync,
  snapshot: TurnSnapshot,
  keys: HeldKeys,
): Pick<Store, "loadAccount" | "findEntry" | "findKey" | "findSignal"> {
  const strategyById = database.prepare(
    "SELECT id, type, status, version, state FROM strategies WHERE id = ?",
  );
  const openOrdersOf = database.prepare(
    "SELECT body FROM orders WHERE strategy_id = ? AND is_open = 1 ORDER BY order_id",
  );
  const entryByKey = database.prepare(
    "SELECT version, key, at, events FROM journal WHERE strategy_id = ? AND key = ?",
  );
  const signalsOf = `SELECT ${SIGNAL_COLUMNS.join(", ")} FROM signals WHERE strategy_id = ?`;
  const signalById = database.prepare(`${signalsOf} AND signal_id = ?`);
  const signalByKey = database.prepare(`${signalsOf} AND idempotency_key = ?`);
  return {
    async loadAccount(strategyId): Promise<LoadedAccount | null> {
      snapshot.enter();
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
      snapshot.enter();
      const row = entryByKey.get(strategyId, key) as
        | (Omit<JournalEntry, "events"> & { events: string })
        | undefined;
      return row === undefined ? null : { ...row, events: decodeEvents(row.events) };
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
