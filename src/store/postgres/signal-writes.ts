// What is done to signals beside commits, and to handshakes that have failed.
//
//   receive    adds what is new. A key that another transaction is adding is waited for, in one order everywhere, so that two
//              servers never wait for each other; what is there under it can be seen by the next statement only.
//   claim      passes over what another server is claiming, or a commit is settling
import { type Kysely, sql } from "kysely";
import type { QueryResultRow } from "pg";
import { receiving } from "../gathered-signals.ts";
import type { Tables } from "../schema.ts";
import {
  encodeReason,
  type ReceivedRow,
  SIGNAL_COLUMNS,
  type SignalRow,
  signalOfRow,
} from "../signal-rows.ts";
import type { Store } from "../store.ts";
import type { Connections } from "./connections.ts";

/** Groups of received signals that can be under way at once. */
export const RECEIVINGS_MAX = 1;

const GIVEN = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
  WITH ORDINALITY AS w (signal_id, strategy_id, idempotency_key, body, received_at, due_at, place)`;

/** Positions go by the order in which signals came, though they are added in that of their keys. */
const RECEIVE = `
  WITH given AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('signals', 'position')) AS position, in_order.*
    FROM (SELECT * FROM ${GIVEN} ORDER BY place) AS in_order
  )
  INSERT INTO signals (position, signal_id, strategy_id, idempotency_key, body, received_at, status, attempts, due_at)
  SELECT position, signal_id, strategy_id, idempotency_key, body, received_at, 'RECEIVED', 0, due_at FROM given
  ORDER BY strategy_id, idempotency_key
  ON CONFLICT (strategy_id, idempotency_key) DO NOTHING
  RETURNING signal_id`;

const FIND = `
  SELECT ${SIGNAL_COLUMNS.map((column) => `g.${column}`).join(", ")}
  FROM unnest($1::text[], $2::text[]) AS w (strategy_id, idempotency_key)
  JOIN signals g ON g.strategy_id = w.strategy_id AND g.idempotency_key = w.idempotency_key`;

/** `hot` for what requests wait for, `db` for the rest. */
export function signalWrites(
  hot: Connections,
  db: Kysely<Tables>,
): Pick<Store, "receiveSignals" | "claimSignals" | "postponeSignal" | "noteFailedHandshake"> {
  return {
    receiveSignals: receiving((rows) => receive(hot, rows)),

    async claimSignals({ now, until, limit }) {
      const { rows } = await sql<SignalRow>`
        WITH due AS MATERIALIZED (
          SELECT position, due_at FROM signals WHERE processed_at IS NULL AND due_at <= ${now}
          ORDER BY due_at, position LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ),
        claimed AS (
          UPDATE signals SET due_at = ${until} FROM due WHERE signals.position = due.position
          RETURNING signals.*, due.due_at AS was_due_at
        )
        SELECT ${sql.join(SIGNAL_COLUMNS.map((column) => sql.ref(column)))} FROM claimed
        ORDER BY was_due_at, position
      `.execute(db);
      return rows.map(signalOfRow);
    },

    async postponeSignal(signalId, { reason, dueAt }) {
      await db
        .updateTable("signals")
        .set((row) => ({
          status: "FAILED",
          outcome: encodeReason(reason),
          attempts: row("attempts", "+", 1),
          due_at: dueAt,
        }))
        .where("signal_id", "=", signalId)
        .where("processed_at", "is", null)
        .execute();
    },

    async noteFailedHandshake(apiKey, at, { forgetBefore }) {
      await db.insertInto("failed_handshakes").values({ api_key: apiKey, at }).execute();
      await db.deleteFrom("failed_handshakes").where("at", "<", forgetBefore).execute();
    },
  };
}

/** For each row null if it was added, else what is there under its key. Of rows under one key the first is added. */
async function receive(
  connections: Connections,
  rows: readonly ReceivedRow[],
): Promise<readonly (SignalRow | null)[]> {
  const firsts = new Map(rows.toReversed().map((row) => [nameOf(row), row]));
  const added = await connections.query<{ signal_id: string }>({
    name: "receive-signals",
    text: RECEIVE,
    values: columnsOf(rows.filter((row) => firsts.get(nameOf(row)) === row)),
  });
  const isNew = new Set(added.map(({ signal_id }) => signal_id));
  const known = rows.filter((row) => !isAdded(row));
  if (known.length === 0) return rows.map(() => null);
  const found = await connections.query<SignalRow & QueryResultRow>({
    name: "find-received-signals",
    text: FIND,
    values: [known.map((row) => row.strategy_id), known.map((row) => row.idempotency_key)],
  });
  const byName = new Map(found.map((row) => [nameOf(row), row]));
  return rows.map((row) => {
    if (isAdded(row)) return null;
    const there = byName.get(nameOf(row));
    if (there === undefined) throw new Error("a signal is added unless there is one under its key");
    return there;
  });

  function isAdded(row: ReceivedRow): boolean {
    return isNew.has(row.signal_id) && firsts.get(nameOf(row)) === row;
  }
}

/** What makes a signal one signal. A key as it is stored is JSON, and has no line break in it. */
function nameOf({
  strategy_id,
  idempotency_key,
}: Pick<SignalRow, "strategy_id" | "idempotency_key">): string {
  return `${idempotency_key}\n${strategy_id}`;
}

function columnsOf(rows: readonly ReceivedRow[]): (string | number)[][] {
  return [
    rows.map((row) => row.signal_id),
    rows.map((row) => row.strategy_id),
    rows.map((row) => row.idempotency_key),
    rows.map((row) => row.body),
    rows.map((row) => row.received_at),
    rows.map((row) => row.due_at),
  ];
}
