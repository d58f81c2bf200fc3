// Signals beside the commits that settle them: received, claimed, postponed and listed. Signals that are
// received at about the same time are recorded in one transaction.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { Batcher } from "../concurrency/batcher.ts";
import type { NewSignal } from "../domain/signal.ts";
import { type Execute, isInSlots, isPostgres, locking, overRows } from "./dialect.ts";
import type { ReceivedSignal } from "./ports/signals.ts";
import type { Tables } from "./schema.ts";
import {
  encodeReason,
  type FoundRow,
  type ReceivedRow,
  receivedRow,
  SIGNAL_COLUMNS,
  type SignalRow,
  signalOfRow,
} from "./signal-rows.ts";
import { type Store, StoreUnavailable } from "./store.ts";

/** Larger batches hardly gain throughput and cost latency. */
const BATCH_MAX = 200;

/**
 * How long a signal may wait until its batch is written, ms; one that has waited longer is rejected and never
 * written. It is the default receive window, which is how long an order waits for its turn.
 */
export const RECEIVE_WAIT_MS_MAX = 5_000;

/**
 * `write` answers for each row what is recorded under its key. `now` is a monotonic clock, ms; the process's
 * own unless given.
 */
export function receiving(
  write: (rows: readonly ReceivedRow[]) => Promise<readonly FoundRow[]>,
  now?: () => number,
): Store["receiveSignals"] {
  const record = async (batch: readonly { signal: NewSignal; row: ReceivedRow }[]) => {
    const found = await write(batch.map(({ row }) => row));
    return batch.map(({ signal }, index) => answerOf(signal, found[index] ?? null));
  };
  const tooLate = () => new StoreUnavailable("the database has kept this waiting for too long");
  const expiry = { waitMs: RECEIVE_WAIT_MS_MAX, error: tooLate };
  const batcher = new Batcher(record, { sizeMax: BATCH_MAX, expiry, ...(now === undefined ? {} : { now }) });
  return async (signals, { claimedUntil }) =>
    await Promise.all(
      signals.map((signal) => batcher.add({ signal, row: receivedRow(signal, claimedUntil) })),
    );
}

function answerOf({ signed: _, ...signal }: NewSignal, found: FoundRow): ReceivedSignal {
  if (found === "SIGNATURE_USED") return { signal: null, isNew: false };
  return found === null
    ? { signal: { ...signal, state: { status: "RECEIVED" } }, isNew: true }
    : { signal: signalOfRow(found), isNew: false };
}

const SIGNATURES = {
  place: "bigint",
  strategy_id: "text",
  idempotency_key: "text",
  signature: "text",
  signature_expires_at: "bigint",
} as const;
const SIGNALS = {
  ...SIGNATURES,
  signal_id: "text",
  body: "text",
  received_at: "bigint",
  due_at: "bigint",
} as const;

/**
 * Returns the function that records signals, each unless there is one under its key, or its signature was
 * accepted for another key; it answers for each null if it was added. Signatures come first. Rows are
 * inserted in an order that is the same everywhere, so that two servers never wait for each other; their
 * positions are in the order in which the signals came. A signature expires by the time that it signs, so
 * that the same one always has the same expiry.
 */
export function signalRecorder(
  db: Kysely<Tables>,
  execute: Execute,
): (rows: readonly ReceivedRow[]) => Promise<readonly FoundRow[]> {
  const [position, order] = isPostgres(db)
    ? [
        sql`nextval(pg_get_serial_sequence('signals', 'position'))`,
        sql`ORDER BY strategy_id, idempotency_key, place`,
      ]
    : [sql`NULL`, sql``];
  const addSignatures = overRows(
    db,
    SIGNATURES,
    (given) => sql`
      INSERT INTO signal_signatures (signature, strategy_id, idempotency_key, expires_at)
      SELECT signature, strategy_id, idempotency_key, signature_expires_at FROM ${given} WHERE true
      ORDER BY signature_expires_at, signature, place ON CONFLICT (expires_at, signature) DO NOTHING`,
  );
  const addSignals = overRows(
    db,
    SIGNALS,
    (given) => sql`
      WITH accepted AS MATERIALIZED (
        SELECT ${position} AS position, in_order.* FROM (
          SELECT * FROM ${given} WHERE signature IS NULL OR EXISTS (
            SELECT 1 FROM signal_signatures k
            WHERE k.expires_at = given.signature_expires_at AND k.signature = given.signature
              AND k.strategy_id = given.strategy_id AND k.idempotency_key = given.idempotency_key
          ) ORDER BY place
        ) AS in_order
      )
      INSERT INTO signals (position, signal_id, strategy_id, idempotency_key, body, received_at, status, attempts, due_at)
      SELECT position, signal_id, strategy_id, idempotency_key, body, received_at, 'RECEIVED', 0, due_at
      FROM accepted WHERE true ${order}
      ON CONFLICT (strategy_id, idempotency_key) DO NOTHING RETURNING signal_id`,
  );
  // The signals recorded under the given keys, and whether the given signatures belong to other keys.
  const findSignals = overRows(
    db,
    SIGNATURES,
    (given) => sql`
      SELECT given.place, k.signature AS used_signature, ${columnsOf("s")} FROM ${given}
      LEFT JOIN signals s ON s.strategy_id = given.strategy_id AND s.idempotency_key = given.idempotency_key
      LEFT JOIN signal_signatures k ON k.expires_at = given.signature_expires_at AND k.signature = given.signature
        AND (k.strategy_id <> given.strategy_id OR k.idempotency_key <> given.idempotency_key)`,
  );
  return async (rows) => {
    const placed = rows.map((row, place) => ({ ...row, place }));
    const withSignature = placed.filter(({ signature }) => signature !== null);
    const [, answer = []] = await execute([addSignatures(withSignature), addSignals(placed)]);
    const added = new Set((answer as { signal_id: string }[]).map(({ signal_id }) => signal_id));
    if (added.size === rows.length) return rows.map(() => null);
    const [found = []] = await execute([findSignals(placed)]);
    const byPlace = new Map((found as Found[]).map((row) => [row.place, row]));
    return rows.map(({ signal_id }, place) => {
      const row = byPlace.get(place);
      if (row?.used_signature != null) return "SIGNATURE_USED";
      if (added.delete(signal_id)) return null;
      // Its signature expired, and was removed, between two statements. A retry is answered.
      if (row?.signal_id == null) throw new StoreUnavailable("a signature expired while it was recorded");
      return row;
    });
  };
}

type Found = SignalRow & { readonly place: number; readonly used_signature: string | null };

function columnsOf(table: string): RawBuilder<unknown> {
  return sql.join(SIGNAL_COLUMNS.map((column) => sql.ref(`${table}.${column}`)));
}

export function signalQueries(db: Kysely<Tables>, execute: Execute) {
  return {
    async claimSignals({ now, until, limit, slots }) {
      const skip = locking(db, "FOR UPDATE SKIP LOCKED");
      const inSlots = slots === undefined ? sql`` : sql`AND ${isInSlots("strategy_id", slots)}`;
      const due = sql`
        SELECT position FROM signals WHERE processed_at IS NULL AND due_at <= ${now} ${inSlots}
        ORDER BY due_at, position LIMIT ${limit}`;
      const [, inOrder = [], claimed = []] = await execute([
        sql`
          DELETE FROM signal_signatures WHERE (expires_at, signature) IN (
            SELECT expires_at, signature FROM signal_signatures WHERE expires_at < ${now} ${skip}
          )`.compile(db),
        // The order is lost with the update. Which rows are claimed the update alone decides.
        due.compile(db),
        sql`
          WITH due AS MATERIALIZED (${due} ${skip})
          UPDATE signals SET due_at = ${until} WHERE position IN (SELECT position FROM due)
          RETURNING position, ${columnsOf("signals")}`.compile(db),
      ]);
      const ranks = new Map(
        (inOrder as { position: unknown }[]).map(({ position }, rank) => [position, rank]),
      );
      const rankOf = ({ position }: { position: unknown }) => ranks.get(position) ?? ranks.size;
      const rows = claimed as (SignalRow & { position: unknown })[];
      return rows.toSorted((one, other) => rankOf(one) - rankOf(other)).map(signalOfRow);
    },

    async postponeSignal(signalId, { reason, dueAt }) {
      await execute([
        db
          .updateTable("signals")
          .set((row) => ({
            status: "FAILED",
            outcome: encodeReason(reason),
            attempts: row("attempts", "+", 1),
            due_at: dueAt,
          }))
          .where("signal_id", "=", signalId)
          .where("processed_at", "is", null)
          .compile(),
      ]);
    },

    async listSignals(strategyId, { limit }) {
      const rows = await db
        .selectFrom("signals")
        .select(SIGNAL_COLUMNS)
        .where("strategy_id", "=", strategyId)
        .orderBy("position", "desc")
        .limit(limit)
        .execute();
      return rows.map(signalOfRow);
    },

    async countPendingSignals() {
      const row = await db
        .selectFrom("signals")
        .select(({ fn }) => [fn.countAll<number>().as("count"), fn.min("received_at").as("oldest")])
        .where("processed_at", "is", null)
        .executeTakeFirstOrThrow();
      const { count, oldest } = row;
      return { count, oldestReceivedAt: oldest };
    },
  } satisfies Partial<Store>;
}
