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
  type FoundRow,
  type ReceivedRow,
  SIGNAL_COLUMNS,
  type SignalRow,
  signalOfRow,
} from "../signal-rows.ts";
import type { Store } from "../store.ts";
import type { Connections } from "./connections.ts";

/** Groups of received signals that can be under way at once. */
export const RECEIVINGS_MAX = 1;

const GIVEN = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
  WITH ORDINALITY AS w (signal_id, strategy_id, idempotency_key, body, received_at, due_at, signature, place)`;

const GIVEN_SIGNATURES = `unnest($8::text[], $9::text[], $10::text[], $11::bigint[])
  AS s (signature, strategy_id, idempotency_key, expires_at)`;

/**
 * Positions go by the order in which signals came, though they are added in that of their keys. Signatures are added before any signal,
 * in an order of their own. A signature that was there before is another key's, unless it is seen to be this one's.
 */
const RECEIVE = `
  WITH accepted AS (
    INSERT INTO signal_signatures (signature, strategy_id, idempotency_key, expires_at)
    SELECT signature, strategy_id, idempotency_key, expires_at FROM ${GIVEN_SIGNATURES} ORDER BY signature
    ON CONFLICT (signature) DO NOTHING RETURNING signature
  ),
  given AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('signals', 'position')) AS position, in_order.*
    FROM (
      SELECT * FROM ${GIVEN} WHERE signature IS NULL OR signature = ANY (ARRAY(SELECT signature FROM accepted))
        OR EXISTS (
          SELECT 1 FROM signal_signatures k WHERE k.signature = w.signature AND k.strategy_id = w.strategy_id
            AND k.idempotency_key = w.idempotency_key
        )
      ORDER BY place
    ) AS in_order
  )
  INSERT INTO signals (position, signal_id, strategy_id, idempotency_key, body, received_at, status, attempts, due_at)
  SELECT position, signal_id, strategy_id, idempotency_key, body, received_at, 'RECEIVED', 0, due_at FROM given
  ORDER BY strategy_id, idempotency_key
  ON CONFLICT (strategy_id, idempotency_key) DO NOTHING
  RETURNING signal_id`;

const FIND = `
  SELECT w.place, k.signature IS NOT NULL AS is_used, ${SIGNAL_COLUMNS.map((column) => `g.${column}`).join(", ")}
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS w (strategy_id, idempotency_key, signature, place)
  LEFT JOIN signals g ON g.strategy_id = w.strategy_id AND g.idempotency_key = w.idempotency_key
  LEFT JOIN signal_signatures k ON k.signature = w.signature
    AND (k.strategy_id <> w.strategy_id OR k.idempotency_key <> w.idempotency_key)`;

/** `hot` for what requests wait for, `db` for the rest. */
export function signalWrites(
  hot: Connections,
  db: Kysely<Tables>,
): Pick<Store, "receiveSignals" | "claimSignals" | "postponeSignal" | "noteFailedHandshake"> {
  return {
    receiveSignals: receiving((rows) => receive(hot, rows)),

    async claimSignals({ now, until, limit }) {
      await sql`
        DELETE FROM signal_signatures WHERE signature IN (
          SELECT signature FROM signal_signatures WHERE expires_at < ${now} FOR UPDATE SKIP LOCKED
        )
      `.execute(db);
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

    async noteFailedHandshake({ apiKey, address }, at, { forgetBefore }) {
      await db.insertInto("failed_handshakes").values({ api_key: apiKey, address, at }).execute();
      await db.deleteFrom("failed_handshakes").where("at", "<", forgetBefore).execute();
    },
  };
}

/** What became of each row. Of rows under one key the first is added, and a signature is that of the first under it. */
async function receive(connections: Connections, rows: readonly ReceivedRow[]): Promise<readonly FoundRow[]> {
  const firsts = new Map(rows.toReversed().map((row) => [nameOf(row), row]));
  const signed = new Map(rows.toReversed().map((row) => [row.signature, row]));
  signed.delete(null);
  const isOfOther = (row: ReceivedRow) => {
    const first = signed.get(row.signature);
    return first !== undefined && nameOf(first) !== nameOf(row);
  };
  const added = await connections.query<{ signal_id: string }>({
    name: "receive-signals",
    text: RECEIVE,
    values: [
      ...columnsOf(rows.filter((row) => firsts.get(nameOf(row)) === row && !isOfOther(row))),
      ...signatureColumnsOf([...signed.values()]),
    ],
  });
  const isNew = new Set(added.map(({ signal_id }) => signal_id));
  const isAdded = (row: ReceivedRow) => isNew.has(row.signal_id) && firsts.get(nameOf(row)) === row;
  const known = rows.filter((row) => !isAdded(row));
  if (known.length === 0) return rows.map(() => null);
  const found = await connections.query<FoundByName & QueryResultRow>({
    name: "find-received-signals",
    text: FIND,
    values: [
      known.map((row) => row.strategy_id),
      known.map((row) => row.idempotency_key),
      known.map((row) => row.signature),
    ],
  });
  const outcomes = new Map<ReceivedRow, FoundRow>(rows.filter(isAdded).map((row) => [row, null]));
  for (const { place, is_used, ...there } of found) {
    const row = known[Number(place) - 1];
    if (row === undefined) throw new Error("what is found was looked for");
    if (is_used) outcomes.set(row, "SIGNATURE_USED");
    else if (there.signal_id !== null) outcomes.set(row, there as SignalRow);
  }
  // The first under a key was refused for its signature, and another under the key is in order.
  const left = rows.filter((row) => !outcomes.has(row));
  const later = left.length === 0 ? [] : await receive(connections, left);
  for (const [index, row] of left.entries()) outcomes.set(row, later[index] ?? null);
  return rows.map((row) => outcomes.get(row) ?? null);
}

/** A row under a key, without values if there is none; and whether the signature is another key's. */
type FoundByName = { readonly [Column in keyof SignalRow]: SignalRow[Column] | null } & {
  readonly place: number | string;
  readonly is_used: boolean;
};

/** What makes a signal one signal. A key as it is stored is JSON, and has no line break in it. */
function nameOf({
  strategy_id,
  idempotency_key,
}: Pick<SignalRow, "strategy_id" | "idempotency_key">): string {
  return `${idempotency_key}\n${strategy_id}`;
}

function columnsOf(rows: readonly ReceivedRow[]): (string | number | null)[][] {
  return [
    rows.map((row) => row.signal_id),
    rows.map((row) => row.strategy_id),
    rows.map((row) => row.idempotency_key),
    rows.map((row) => row.body),
    rows.map((row) => row.received_at),
    rows.map((row) => row.due_at),
    rows.map((row) => row.signature),
  ];
}

function signatureColumnsOf(rows: readonly ReceivedRow[]): (string | number | null)[][] {
  return [
    rows.map((row) => row.signature),
    rows.map((row) => row.strategy_id),
    rows.map((row) => row.idempotency_key),
    rows.map((row) => row.signature_expires_at),
  ];
}
