// The audit. Every audited transaction first changes the single row of `audit_head`, which locks it: so
// audited transactions of all processes run one after another, and none reads before it writes.
import { setImmediate } from "node:timers/promises";
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import type { Actor, AuditRecord, AuditSubject, NewAuditRecord } from "../../domain/audit.ts";
import { type ChainHead, canonicalDetails, chained, EMPTY_CHAIN, follows } from "../audit-chain.ts";
import type { AuditStore } from "../ports/audit.ts";
import type { Tables } from "../schema.ts";

/** The one row of `audit_head`. */
const HEAD_ID = 1;

/** Records that are verified at a time; other work runs in between. */
const PAGE_ROWS = 500;

/** Adds records to the chain. */
export type Recording = (...records: readonly NewAuditRecord[]) => Promise<void>;

/**
 * Executes a change in one transaction with its audit records. No other audited transaction runs at the same
 * time.
 */
export async function audited<Answer>(
  db: Kysely<Tables>,
  change: (transaction: Transaction<Tables>, record: Recording) => Promise<Answer>,
): Promise<Answer> {
  return await db.transaction().execute(async (transaction) => {
    let head = await lockHead(transaction);
    return await change(transaction, async (...records) => {
      for (const record of records) head = await add(transaction, chained(record, head));
      const { position, hash } = head;
      await transaction.updateTable("audit_head").set({ position, hash }).where("id", "=", HEAD_ID).execute();
    });
  });
}

/**
 * As `audited`, of a change that answers whether there was anything to change: its records are added only if
 * there was.
 */
export async function auditedIf(
  db: Kysely<Tables>,
  records: readonly NewAuditRecord[],
  change: (transaction: Transaction<Tables>) => Promise<boolean>,
): Promise<boolean> {
  return await audited(db, async (transaction, record) => {
    const isChanged = await change(transaction);
    if (isChanged) await record(...records);
    return isChanged;
  });
}

/** Locks the head, which the first record creates, and answers the end of the chain. */
async function lockHead(transaction: Transaction<Tables>): Promise<ChainHead> {
  const { position, hash } = await transaction
    .insertInto("audit_head")
    .values({ id: HEAD_ID, ...EMPTY_CHAIN })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet(({ ref }) => ({ position: ref("audit_head.position") })),
    )
    .returning(["position", "hash"])
    .executeTakeFirstOrThrow();
  return { position, hash };
}

async function add(transaction: Transaction<Tables>, record: AuditRecord): Promise<AuditRecord> {
  const { position, at, who, what, about, details, hash } = record;
  await transaction
    .insertInto("audit")
    .values({
      position,
      at,
      who_kind: who.kind,
      who_id: "personId" in who ? who.personId : null,
      what,
      about_kind: about.kind,
      about_id: about.id,
      details: canonicalDetails(details),
      hash,
    })
    .execute();
  return record;
}

/** What people own: the subjects of the audit by their table, and its column of the owner. */
const OWNED = [
  ["KEY", "api_keys", "owner_id"],
  ["STRATEGY", "strategies", "owner_id"],
  ["COPY", "copies", "person_id"],
  ["VENUE_ACCOUNT", "venue_accounts", "person_id"],
] as const satisfies readonly (readonly [AuditSubject["kind"], keyof Tables, string])[];

type Condition = RawBuilder<boolean>;

function isAbout(kind: RawBuilder<unknown>, ids: RawBuilder<unknown>): Condition {
  return sql<boolean>`(a.about_kind = ${kind} AND a.about_id ${ids})`;
}

/**
 * Whether a record is among the newest of those conditions that concern a person: what they did, and what was
 * done to them or to what they own. Each part of the union reads an index.
 */
function concerns(
  personId: string,
  { conditions, limit }: { readonly conditions: readonly Condition[]; readonly limit: number },
): Condition {
  const parts = [
    sql<boolean>`a.who_id = ${personId}`,
    isAbout(sql.lit("PERSON"), sql`= ${personId}`),
    ...OWNED.map(([kind, table, owner]) =>
      isAbout(
        sql.lit(kind),
        sql`IN (SELECT id FROM ${sql.table(table)} WHERE ${sql.ref(owner)} = ${personId})`,
      ),
    ),
  ].map((part) => sql`SELECT a.position FROM audit a WHERE ${sql.join([part, ...conditions], sql` AND `)}`);
  return sql<boolean>`a.position IN (
    SELECT position FROM (${sql.join(parts, sql` UNION `)}) AS concerned ORDER BY position DESC LIMIT ${limit})`;
}

export function auditQueries(db: Kysely<Tables>): AuditStore {
  return {
    async audit(record) {
      await audited(db, async (_transaction, add) => await add(record));
    },

    async listAudit({ before, limit, about, personId }) {
      const conditions = [
        ...(before === undefined ? [] : [sql<boolean>`a.position < ${before}`]),
        ...(about === undefined ? [] : [isAbout(sql`${about.kind}`, sql`= ${about.id}`)]),
      ];
      let query = db.selectFrom("audit as a").selectAll();
      for (const condition of conditions) query = query.where(condition);
      if (personId !== undefined) query = query.where(concerns(personId, { conditions, limit }));
      const rows = await query.orderBy("a.position", "desc").limit(limit).execute();
      return rows.map(recordOfRow);
    },

    async verifyAudit() {
      const { head, newest } = await endsOf(db);
      let last: ChainHead = EMPTY_CHAIN;
      while (last.position < head.position) {
        const rows = await db
          .selectFrom("audit")
          .selectAll()
          .where("position", ">", last.position)
          .where("position", "<=", head.position)
          .orderBy("position")
          .limit(PAGE_ROWS)
          .execute();
        if (rows.length === 0) return { brokenAt: last.position + 1 };
        for (const row of rows) {
          const record = readRecord(row);
          if (record === null || !follows(record, last)) return { brokenAt: row.position };
          last = record;
        }
        await setImmediate();
      }
      if (last.hash !== head.hash) return { brokenAt: head.position };
      return newest > head.position ? { brokenAt: head.position + 1 } : null;
    },
  };
}

/** The head, and the position of the newest record, read at one moment. */
async function endsOf(db: Kysely<Tables>): Promise<{ head: ChainHead; newest: number }> {
  const row = await db
    .selectNoFrom(({ selectFrom }) => [
      selectFrom("audit_head").select("position").where("id", "=", HEAD_ID).as("position"),
      selectFrom("audit_head").select("hash").where("id", "=", HEAD_ID).as("hash"),
      selectFrom("audit")
        .select(({ fn }) => fn.max("position").as("newest"))
        .as("newest"),
    ])
    .executeTakeFirstOrThrow();
  const head =
    row.position === null || row.hash === null ? EMPTY_CHAIN : { position: row.position, hash: row.hash };
  return { head, newest: row.newest ?? 0 };
}

/** Null if the details are not valid: then somebody else has changed the row. */
function readRecord(row: Selectable<Tables["audit"]>): AuditRecord | null {
  try {
    return recordOfRow(row);
  } catch {
    return null;
  }
}

function recordOfRow(row: Selectable<Tables["audit"]>): AuditRecord {
  return {
    position: row.position,
    at: row.at,
    who: actorOf(row.who_kind, row.who_id),
    what: row.what,
    about: { kind: row.about_kind, id: row.about_id },
    details: JSON.parse(row.details),
    hash: row.hash,
  };
}

function actorOf(kind: Actor["kind"], personId: string | null): Actor {
  return (personId === null ? { kind } : { kind, personId }) as Actor;
}
