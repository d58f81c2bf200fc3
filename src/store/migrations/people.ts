// 0008: people, what they own, how they sign in, and the audit as a chain of hashes.
//
// The audit of before, which knew of keys and the operator alone, becomes the beginning of the chain, in the order of time.
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { AuditAction } from "../../domain/audit.ts";
import { canonicalDetails, chained, EMPTY_CHAIN } from "../audit-chain.ts";
import { isPostgres } from "../dialect.ts";
import { numbered } from "./numbered.ts";

/** Records of before that are read at a time. */
const PAGE_ROWS = 500;

export const PEOPLE: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await makeSignIn(db);
    await makeKyc(db);
    await makeSecondFactors(db);
    await makeOwners(db);
    await makeAudit(db);
  },
};

/** The records of the sign-in library, and what fails of it. */
async function makeSignIn(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("people")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("email", "text", (column) => column.notNull().unique())
    .addColumn("email_verified", "smallint", (column) => column.notNull())
    .addColumn("image", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("role", "text", (column) => column.notNull().defaultTo("PERSON"))
    .addColumn("profile", "text", (column) => column.notNull().defaultTo("COPIER"))
    .addColumn("kyc", "text", (column) => column.notNull().defaultTo("NONE"))
    .addColumn("kyc_reason", "text")
    .execute();
  await index(db, "people", ["created_at"]);
  await db.schema
    .createTable("sessions")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addColumn("token", "text", (column) => column.notNull().unique())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("ip_address", "text")
    .addColumn("user_agent", "text")
    .addColumn("user_id", "text", (column) => column.notNull())
    .execute();
  await index(db, "sessions", ["user_id"]);
  await index(db, "sessions", ["expires_at"]);
  await db.schema
    .createTable("credentials")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("provider_id", "text", (column) => column.notNull())
    .addColumn("user_id", "text", (column) => column.notNull())
    .addColumn("access_token", "text")
    .addColumn("refresh_token", "text")
    .addColumn("id_token", "text")
    .addColumn("access_token_expires_at", "bigint")
    .addColumn("refresh_token_expires_at", "bigint")
    .addColumn("scope", "text")
    .addColumn("password", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("credentials_by_account", ["provider_id", "account_id"])
    .execute();
  await index(db, "credentials", ["user_id"]);
  await db.schema
    .createTable("verifications")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("identifier", "text", (column) => column.notNull())
    .addColumn("value", "text", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .execute();
  await index(db, "verifications", ["identifier"]);
  await index(db, "verifications", ["expires_at"]);
  await numbered(db, "failed_sign_ins")
    .addColumn("holder", "text", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .execute();
  await index(db, "failed_sign_ins", ["holder", "at"]);
  await index(db, "failed_sign_ins", ["at"]);
}

async function makeKyc(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("kyc_submissions")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("person_id", "text", (column) => column.notNull())
    .addColumn("sealed_form", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("submitted_at", "bigint", (column) => column.notNull())
    .addColumn("decided_at", "bigint")
    .addColumn("decided_by", "text")
    .addColumn("reason", "text")
    .execute();
  await index(db, "kyc_submissions", ["person_id", "submitted_at"]);
  await index(db, "kyc_submissions", ["status", "submitted_at"]);
  await index(db, "kyc_submissions", ["status", "decided_at"]);
}

async function makeSecondFactors(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("second_factors")
    .addColumn("person_id", "text", (column) => column.primaryKey().notNull())
    .addColumn("sealed_seed", "text", (column) => column.notNull())
    .addColumn("is_enabled", "smallint", (column) => column.notNull())
    .addColumn("last_step", "bigint", (column) => column.notNull())
    .addColumn("begun_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("recovery_codes")
    .addColumn("person_id", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("recovery_codes_pk", ["person_id", "hash"])
    .execute();
}

/** Strategies of before have no owner; they are called by their type and id, and are as old as their first entry. */
async function makeOwners(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("strategies").addColumn("owner_id", "text").execute();
  await db.schema
    .alterTable("strategies")
    .addColumn("name", "text", (column) => column.notNull().defaultTo(""))
    .execute();
  await db.schema
    .alterTable("strategies")
    .addColumn("created_at", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`
    UPDATE strategies SET
      name = CASE type WHEN 'SPOT' THEN 'Spot ' ELSE 'Futures ' END || id,
      created_at = COALESCE(
        (SELECT j.at FROM journal j WHERE j.strategy_id = strategies.id AND j.key = '#1'), 0)
  `.execute(db);
  await index(db, "strategies", ["owner_id", "created_at"]);
  await db.schema.alterTable("api_keys").addColumn("owner_id", "text").execute();
  await index(db, "api_keys", ["owner_id", "created_at"]);
  await index(db, "api_keys", ["strategy_id"]);
  await db.schema
    .createTable("key_uses")
    .addColumn("key_id", "text", (column) => column.primaryKey().notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("address", "text", (column) => column.notNull())
    .addColumn("route", "text", (column) => column.notNull())
    .execute();
}

async function makeAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("audit").renameTo("audit_before").execute();
  await db.schema
    .createTable("audit")
    // SQLite numbers its rows by a column of exactly this type, so that the last one is found at once.
    .addColumn("position", isPostgres(db) ? "bigint" : "integer")
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("who_kind", "text", (column) => column.notNull())
    .addColumn("who_id", "text")
    .addColumn("what", "text", (column) => column.notNull())
    .addColumn("about_kind", "text", (column) => column.notNull())
    .addColumn("about_id", "text", (column) => column.notNull())
    .addColumn("details", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    // The name of the key of before is taken until its table is gone.
    .addPrimaryKeyConstraint("audit_by_position", ["position"])
    .execute();
  await index(db, "audit", ["about_kind", "about_id", "position"]);
  await index(db, "audit", ["who_id", "position"]);
  await db.schema
    .createTable("audit_head")
    .addColumn("id", "integer", (column) => column.primaryKey().notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .execute();
  await chainRecordsOfBefore(db);
  await db.schema.dropTable("audit_before").execute();
}

/** A page at a time. */
async function chainRecordsOfBefore(db: Kysely<unknown>): Promise<void> {
  let head = EMPTY_CHAIN;
  let last = { at: Number.MIN_SAFE_INTEGER, id: "" };
  for (;;) {
    const { rows } = await sql<{ id: string; what: AuditAction; at: number | string; key_id: string }>`
      SELECT id, what, at, key_id FROM audit_before
      WHERE at > ${last.at} OR (at = ${last.at} AND id > ${last.id}) ORDER BY at, id LIMIT ${sql.lit(PAGE_ROWS)}
    `.execute(db);
    for (const { id, what, at, key_id } of rows) {
      const record = chained(
        {
          who: { kind: "COMMAND_LINE" },
          what,
          about: { kind: "KEY", id: key_id },
          at: Number(at),
          details: {},
        },
        head,
      );
      await sql`
        INSERT INTO audit (position, at, who_kind, what, about_kind, about_id, details, hash)
        VALUES (${record.position}, ${record.at}, 'COMMAND_LINE', ${what}, 'KEY', ${key_id},
          ${canonicalDetails(record.details)}, ${record.hash})
      `.execute(db);
      head = record;
      last = { at: record.at, id };
    }
    if (rows.length < PAGE_ROWS) break;
  }
  if (head.position === 0) return;
  await sql`
    INSERT INTO audit_head (id, position, hash) VALUES (1, ${head.position}, ${head.hash})
  `.execute(db);
}

/** An index of its own for one of the questions that are asked. */
async function index(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns.join("_")}`)
    .on(table)
    .columns([...columns])
    .execute();
}
