// People: found by id or e-mail address, listed and counted; their roles and profiles.
import { type ExpressionBuilder, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { KycStatus, Person } from "../../domain/person.ts";
import { contains, isAfter, isPostgres } from "../dialect.ts";
import type { PeopleStore } from "../ports/people.ts";
import type { Tables } from "../schema.ts";
import { audited } from "./audit.ts";

export function personQueries(db: Kysely<Tables>) {
  return {
    async findPerson(personId) {
      const row = await selectPeople(db).where("people.id", "=", personId).executeTakeFirst();
      return row === undefined ? null : personOfRow(row);
    },

    async findPersonByEmail(email) {
      const row = await selectPeople(db).where("people.email", "=", email).executeTakeFirst();
      return row === undefined ? null : personOfRow(row);
    },

    async listPeople({ search, kyc, after, limit }) {
      let query = selectPeople(db);
      if (search !== undefined) {
        query = query.where(({ eb, or }) =>
          or([
            eb("people.id", "=", search),
            contains("people.email", search),
            contains("people.name", search),
          ]),
        );
      }
      if (kyc !== undefined) query = query.where("people.kyc", "=", kyc);
      if (after !== undefined) {
        query = query.where(isAfter({ time: "people.created_at", order: "desc", id: "people.id" }, after));
      }
      const rows = await query
        .orderBy("people.created_at", "desc")
        .orderBy("people.id")
        .limit(limit)
        .execute();
      return rows.map(personOfRow);
    },

    async countPeople() {
      const counts: Record<KycStatus, number> = { NONE: 0, PENDING: 0, APPROVED: 0, REJECTED: 0 };
      const rows = await db
        .selectFrom("people")
        .select(["kyc", ({ fn }) => fn.countAll<number>().as("count")])
        .groupBy("kyc")
        .execute();
      for (const { kyc, count } of rows) counts[kyc] = count;
      return counts;
    },

    async setRole(personId, role, audit) {
      await audited(db, async (transaction, record) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({ role })
          .where("id", "=", personId)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) throw new Error("there is no such person");
        await transaction.deleteFrom("sessions").where("user_id", "=", personId).execute();
        await record(audit);
      });
    },

    async setProfile(personId, profile, audit) {
      await audited(db, async (transaction, record) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({ profile })
          .where("id", "=", personId)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) throw new Error("there is no such person");
        await record(audit);
      });
    },
  } satisfies Partial<PeopleStore>;
}

/**
 * Whether an account is closed. No other audited transaction runs, so that this holds until the given one
 * ends.
 */
export async function isClosed(transaction: Transaction<Tables>, personId: string | null): Promise<boolean> {
  const row = await transaction
    .selectFrom("people")
    .select("id")
    .where("id", "=", personId)
    .where("closed_at", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks the row of a person: on PostgreSQL no session of theirs is inserted until the transaction ends, so
 * that one that begins now finds what the transaction changes. SQLite has one writer.
 */
export async function lockRow(transaction: Transaction<Tables>, personId: string): Promise<void> {
  const row = transaction.selectFrom("people").select("id").where("id", "=", personId);
  if (isPostgres(transaction)) await row.forUpdate().execute();
}

/** Whether an account is closed or locked; as long as `isClosed` says. */
export async function isShutOut(transaction: Transaction<Tables>, personId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("people")
    .select("id")
    .where("id", "=", personId)
    .where(({ eb, or }) => or([eb("closed_at", "is not", null), eb("locked_at", "is not", null)]))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * A row to insert for a person into `columnsOf(row)`, or none if the account is closed or locked. On
 * PostgreSQL a closing waits for the insert, and the insert for a closing, so that no row outlives the
 * closing; so with a lock.
 */
export function unlessShutOut<Row extends Readonly<Record<string, string | number>>>(
  db: Kysely<Tables>,
  personId: string,
  row: Row,
) {
  return db
    .selectFrom("people")
    .select(Object.entries(row).map(([column, value]) => sql`${value}`.as(column)))
    .where("id", "=", personId)
    .where("closed_at", "is", null)
    .where("locked_at", "is", null)
    .$if(isPostgres(db), (rows) => rows.forShare());
}

/** The columns of a row, in the order in which `unlessShutOut` selects them. */
export function columnsOf<Row extends object>(row: Row): (keyof Row)[] {
  return Object.keys(row) as (keyof Row)[];
}

/** Whether the person of the row has an enabled second factor. */
function hasSecondFactor({ exists, selectFrom }: ExpressionBuilder<Tables, "people">) {
  return exists(
    selectFrom("second_factors")
      .select("person_id")
      .whereRef("person_id", "=", "people.id")
      .where("is_enabled", "=", 1),
  ).as("has_second_factor");
}

function selectPeople(db: Kysely<Tables>) {
  return db.selectFrom("people").selectAll("people").select(hasSecondFactor);
}

/** SQLite answers a condition as a number, PostgreSQL as a boolean. */
type PersonRow = Selectable<Tables["people"]> & { readonly has_second_factor: number | boolean };

function personOfRow(row: PersonRow): Person {
  return {
    personId: row.id,
    email: row.email,
    isEmailVerified: row.email_verified === 1,
    name: row.name,
    role: row.role,
    profile: row.profile,
    kyc: row.kyc,
    kycReason: row.kyc_reason,
    hasSecondFactor: Boolean(row.has_second_factor),
    createdAt: row.created_at,
    lockedAt: row.locked_at,
    closedAt: row.closed_at,
  };
}
