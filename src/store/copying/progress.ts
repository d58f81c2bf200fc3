// What the process that has claimed a lead records of its copies: books, mirror entries with their counts,
// and requests that are done. It takes effect only while the lead is claimed by that process.
//
// Rows are locked in the order of `revisions.ts`. Copies are locked before the entries that they had are
// read, so that an entry that is recorded again, since the outcome of the first time was lost, is counted
// once.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { MirrorEntry, MirrorKind, MirrorStatus } from "../../domain/copying.ts";
import { type Execute, isPostgres, locking, rowsOf } from "../dialect.ts";
import type { CopyProgress } from "../ports/copies.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { encodeBook, encodeEntry } from "./codec.ts";
import { DAY_MS, NO_REASON } from "./entries.ts";

const COPIES = { id: "text", book: "text", done_seq: "bigint" } as const;
const MOVES = {
  ...COPIES,
  status: "text",
  reason: "text",
  moved_at: "bigint",
  from_status: "text",
  from_reason: "text",
} as const;
const ENTRIES = {
  copy_id: "text",
  entry_id: "bigint",
  collective_id: "text",
  symbol: "text",
  status: "text",
  skip_reason: "text",
  is_counted: "bigint",
  is_executed: "bigint",
  is_open: "bigint",
  lead_at: "bigint",
  body: "text",
} as const;
/** What of an entry is counted; `day` is that of its `lead_at`. */
const COUNTED = {
  copy_id: "text",
  entry_id: "bigint",
  status: "text",
  skip_reason: "text",
  is_counted: "bigint",
  day: "bigint",
} as const;
const FINISHES = { id: "text", copy_id: "text", done_at: "bigint", failure: "text" } as const;

/** Statuses of which something is still to be done: by the executor, or by polls of the account. */
const OPEN: readonly MirrorStatus[] = ["NEW", "SENT", "UNCONFIRMED", "RESTING"];
/** The outcome of these is not known yet: they are not counted. */
const UNDECIDED: readonly MirrorStatus[] = ["NEW", "SENT", "UNCONFIRMED"];

/** Entries of these kinds move nothing that was ordered, and are not counted. */
const NOT_COUNTED: readonly MirrorKind[] = [
  "CANCEL",
  "CANCEL_LEG",
  "SET_LEVERAGE",
  "WITHDRAW",
  "WRITE_OFF",
  "PROFIT_SHARE",
];

export function progressWrites(db: Kysely<Tables>, execute: Execute) {
  return {
    async recordProgress(strategyId, holder, progress) {
      const lead = sql<{ holder: string | null }>`
        SELECT holder FROM leads WHERE strategy_id = ${strategyId} ${locking(db, "FOR SHARE")}`.compile(db);
      const writes = progressStatements(db, { strategyId, holder, progress });
      const [found = []] = await execute([lead, ...writes.map((statement) => statement.compile(db))]);
      return (found as { holder: string | null }[])[0]?.holder === holder;
    },
  } satisfies Partial<CopyStore>;
}

/** Each writes nothing unless the lead is the holder's, and nothing of copies of another strategy. */
function progressStatements(
  db: Kysely<Tables>,
  given: {
    readonly strategyId: string;
    readonly holder: string;
    readonly progress: readonly CopyProgress[];
  },
): readonly RawBuilder<unknown>[] {
  const { strategyId, holder, progress } = given;
  const rows = progress.map(copyRow);
  const stays = rows.filter(({ status }) => status === null);
  const moves = rows.filter(({ status }) => status !== null);
  const entries = progress.flatMap((each) => each.entries.map(entryRow));
  const finishes = progress.flatMap(finishRows);

  const isHeld = sql`EXISTS (SELECT 1 FROM leads WHERE strategy_id = ${strategyId} AND holder = ${holder})`;
  const isOwn = sql`${isHeld} AND EXISTS (
    SELECT 1 FROM copies c WHERE c.id = given.copy_id AND c.strategy_id = ${strategyId})`;
  // A copy is found by its id: no index has this expression of its strategy.
  const isSame = sql`copies.id = given.id AND copies.strategy_id || '' = ${strategyId} AND ${isHeld}`;
  const moved = sql`book = given.book, done_seq = given.done_seq, revision = copies.revision + 1`;
  const goes = sql`(copies.status <> 'STOPPED' AND (
    (copies.status = given.from_status AND copies.reason IS NOT DISTINCT FROM given.from_reason)
    OR (given.status = 'CLOSING' AND copies.status IN ('FOLLOWING', 'PAUSED'))))`;
  const names = sql.join(Object.keys(ENTRIES).map((name) => sql.ref(name)));
  const replaced = Object.keys(ENTRIES).slice(2);

  const statements: RawBuilder<unknown>[] = [];
  if (isPostgres(db)) {
    statements.push(sql`
      SELECT copies.id FROM copies JOIN ${rowsOf(db, "given", COPIES, rows)} ON ${isSame}
      ORDER BY copies.id FOR UPDATE OF copies`);
  }
  // Most copies keep their status: a statement that names no column of an index writes to none.
  if (stays.length > 0) {
    statements.push(sql`
      UPDATE copies SET ${moved} FROM ${rowsOf(db, "given", COPIES, stays)} WHERE ${isSame}`);
  }
  if (moves.length > 0) {
    statements.push(sql`
      UPDATE copies SET ${moved}, reason = CASE WHEN ${goes} THEN given.reason ELSE copies.reason END,
        ended_at = CASE WHEN ${goes} AND given.status = 'STOPPED' THEN given.moved_at ELSE copies.ended_at END,
        status = CASE WHEN ${goes} THEN given.status ELSE copies.status END
      FROM ${rowsOf(db, "given", MOVES, moves)} WHERE ${isSame}`);
  }
  if (entries.length > 0) {
    statements.push(
      countEntries(db, { table: "copy_counts", key: ["copy_id"], strategyId }, entries, isOwn),
      countEntries(db, { table: "day_counts", key: ["strategy_id", "day"], strategyId }, entries, isOwn),
      sql`
        INSERT INTO mirror_entries (strategy_id, ${names})
        SELECT CAST(${strategyId} AS text), ${names} FROM ${rowsOf(db, "given", ENTRIES, entries)} WHERE ${isOwn}
        ON CONFLICT (copy_id, entry_id) DO UPDATE SET ${sql.join(
          replaced.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`),
        )}`,
    );
  }
  if (finishes.length > 0) {
    statements.push(sql`
      UPDATE copy_requests SET done_at = given.done_at, failure = given.failure
      FROM ${rowsOf(db, "given", FINISHES, finishes)}
      WHERE copy_requests.id = given.id AND copy_requests.copy_id = given.copy_id
        AND copy_requests.done_at IS NULL AND ${isOwn}`);
  }
  return statements;
}

type CountTable = {
  readonly table: "copy_counts" | "day_counts";
  readonly key: readonly ("copy_id" | "strategy_id" | "day")[];
  readonly strategyId: string;
};

/** Counts entries as they will be, and no more as they were. Counts are locked in the order of their keys. */
function countEntries(
  db: Kysely<Tables>,
  { table, key, strategyId }: CountTable,
  entries: readonly ReturnType<typeof entryRow>[],
  isOwn: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const given = rowsOf(
    db,
    "given",
    COUNTED,
    entries.map((entry) => ({ ...entry, day: Math.floor(entry.lead_at / DAY_MS) })),
  );
  const strategy = sql`CAST(${strategyId} AS text) AS strategy_id`;
  const columns = sql.join([...key, "status", "skip_reason"].map((name) => sql.ref(name)));
  return sql`
    INSERT INTO ${sql.table(table)} (${columns}, count)
    SELECT ${columns}, SUM(change) FROM (
      SELECT ${strategy}, copy_id, day, status, COALESCE(skip_reason, ${sql.lit(NO_REASON)}) AS skip_reason, 1 AS change
      FROM ${given} WHERE is_counted = 1 AND ${isOwn}
      UNION ALL
      SELECT ${strategy}, e.copy_id, e.lead_at / ${sql.lit(DAY_MS)}, e.status, COALESCE(e.skip_reason, ${sql.lit(NO_REASON)}), -1
      FROM ${given} JOIN mirror_entries e ON e.copy_id = given.copy_id AND e.entry_id = given.entry_id
      WHERE e.is_counted = 1 AND ${isOwn}
    ) AS changes
    GROUP BY ${columns} HAVING SUM(change) <> 0 ORDER BY ${columns}
    ON CONFLICT (${columns}) DO UPDATE SET count = ${sql.ref(`${table}.count`)} + excluded.count`;
}

function copyRow({ copyId, book, doneSeq, moves }: CopyProgress) {
  return {
    id: copyId,
    book: encodeBook(book),
    done_seq: doneSeq,
    status: moves?.status ?? null,
    reason: moves?.reason ?? null,
    moved_at: moves?.at ?? null,
    from_status: moves?.from.status ?? null,
    from_reason: moves?.from.reason ?? null,
  };
}

function entryRow(entry: MirrorEntry) {
  const { copyId, entryId, collectiveId, symbol, status, skip, leadAt } = entry;
  return {
    copy_id: copyId,
    entry_id: entryId,
    collective_id: collectiveId,
    symbol,
    status,
    skip_reason: skip?.reason ?? null,
    is_counted: isCounted(entry) ? 1 : 0,
    is_executed: isExecuted(entry) ? 1 : 0,
    is_open: OPEN.includes(status) || entry.isFeeDue === true ? 1 : 0,
    lead_at: leadAt,
    body: encodeEntry(entry),
  };
}

/** Fills of the strategy's orders that were not copied were counted when they were placed. */
function isCounted({ kind, status }: MirrorEntry): boolean {
  return (
    !NOT_COUNTED.includes(kind) && !UNDECIDED.includes(status) && !(kind === "FILL" && status === "SKIPPED")
  );
}

/** Whether it executed something of which the strategy's own price is known. */
function isExecuted({ executedQuantity, leadPrice, symbol, side, acknowledgedAt }: MirrorEntry): boolean {
  const isKnown = leadPrice !== null && symbol !== null && side !== null && acknowledgedAt !== null;
  return executedQuantity > 0n && isKnown;
}

function finishRows({ copyId, finishes }: CopyProgress) {
  return finishes.map(({ requestId, at, failure }) => ({
    id: requestId,
    copy_id: copyId,
    done_at: at,
    failure: failure === null ? null : JSON.stringify(failure),
  }));
}
