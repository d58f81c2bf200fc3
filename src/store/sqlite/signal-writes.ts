// What the writing thread does with signals and with handshakes that have failed. Whoever calls has a transaction open.
import type { DatabaseSync } from "node:sqlite";
import type { Value } from "../group-columns.ts";
import { type FoundRow, type ReceivedRow, SIGNAL_COLUMNS, type SignalRow } from "../signal-rows.ts";
import type { HandshakeSource } from "../store.ts";

export type SignalClaim = { readonly now: number; readonly until: number; readonly limit: number };
export type SignalDelay = {
  readonly signalId: string;
  /** Why it is put off, as its row says it. */
  readonly outcome: string;
  readonly dueAt: number;
};
export type FailedHandshake = HandshakeSource & {
  readonly at: number;
  /** Those that failed before this time are removed. */
  readonly forgetBefore: number;
};

export function signalWrites(database: DatabaseSync) {
  const columns = SIGNAL_COLUMNS.join(", ");
  const add = database.prepare(
    `INSERT INTO signals (signal_id, strategy_id, idempotency_key, body, received_at, status, attempts, due_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (strategy_id, idempotency_key) DO NOTHING`,
  );
  const addSignature = database.prepare(
    `INSERT INTO signal_signatures (signature, strategy_id, idempotency_key, expires_at)
     VALUES (?, ?, ?, ?) ON CONFLICT (signature) DO NOTHING`,
  );
  const findSignature = database.prepare(
    "SELECT 1 FROM signal_signatures WHERE signature = ? AND strategy_id = ? AND idempotency_key = ?",
  );
  const forgetSignatures = database.prepare("DELETE FROM signal_signatures WHERE expires_at < ?");
  const findByKey = database.prepare(
    `SELECT ${columns} FROM signals WHERE strategy_id = ? AND idempotency_key = ?`,
  );
  const settle = database.prepare(
    `UPDATE signals SET status = ?3, processed_at = ?4, outcome = ?5
     WHERE signal_id = ?2 AND strategy_id = ?1 AND processed_at IS NULL`,
  );
  const listDue = database.prepare(
    `SELECT position, ${columns} FROM signals WHERE processed_at IS NULL AND due_at <= ?
     ORDER BY due_at, position LIMIT ?`,
  );
  const claim = database.prepare("UPDATE signals SET due_at = ? WHERE position = ?");
  const postpone = database.prepare(
    `UPDATE signals SET status = 'FAILED', outcome = ?, attempts = attempts + 1, due_at = ?
     WHERE signal_id = ? AND processed_at IS NULL`,
  );
  const addHandshake = database.prepare(
    "INSERT INTO failed_handshakes (api_key, address, at) VALUES (?, ?, ?)",
  );
  const forgetHandshakes = database.prepare("DELETE FROM failed_handshakes WHERE at < ?");
  return {
    receive(rows: readonly ReceivedRow[]): FoundRow[] {
      return rows.map((row) => {
        const { strategy_id, idempotency_key, signature, signature_expires_at } = row;
        if (
          signature !== null &&
          addSignature.run(signature, strategy_id, idempotency_key, signature_expires_at).changes === 0 &&
          findSignature.get(signature, strategy_id, idempotency_key) === undefined
        ) {
          return "SIGNATURE_USED";
        }
        const own = [row.signal_id, strategy_id, idempotency_key, row.body, row.received_at];
        if (add.run(...own, row.status, row.attempts, row.due_at).changes === 1) return null;
        return findByKey.get(strategy_id, idempotency_key) as SignalRow;
      });
    },

    /** `row` as `settlementRow` makes it. One that is settled stays as it is. */
    settle(row: readonly Value[]): void {
      settle.run(...row);
    },

    /** Longest due first. */
    claim({ now, until, limit }: SignalClaim): SignalRow[] {
      forgetSignatures.run(now);
      const due = listDue.all(now, limit) as (SignalRow & { position: number })[];
      for (const { position } of due) claim.run(until, position);
      return due;
    },

    postpone({ signalId, outcome, dueAt }: SignalDelay): void {
      postpone.run(outcome, dueAt, signalId);
    },

    noteHandshake({ apiKey, address, at, forgetBefore }: FailedHandshake): void {
      addHandshake.run(apiKey, address, at);
      forgetHandshakes.run(forgetBefore);
    },
  };
}
