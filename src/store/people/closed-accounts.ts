// Locks, unlocks and closes accounts, each in one transaction with its audit records.
import { type Kysely, sql, type Transaction } from "kysely";
import type { AuditAction, AuditSubject, NewAuditRecord } from "../../domain/audit.ts";
import { addPending } from "../copying/requests.ts";
import { noteChange } from "../copying/revisions.ts";
import { isPostgres } from "../dialect.ts";
import type { PeopleStore } from "../ports/people.ts";
import type { Tables } from "../schema.ts";
import { audited, auditedIf } from "./audit.ts";

/**
 * Prefix of what replaces the e-mail address of a closed account. No address has this form, so nobody signs
 * up with it.
 */
const CLOSED_EMAIL_PREFIX = "closed:";

export function closedAccountQueries(db: Kysely<Tables>) {
  return {
    async lockPerson(personId, at, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({ locked_at: at })
          .where("id", "=", personId)
          .where("locked_at", "is", null)
          .where("closed_at", "is", null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await transaction.deleteFrom("sessions").where("user_id", "=", personId).execute();
        await noteChange(transaction, { personId });
        await transaction
          .updateTable("copies")
          .set({ status: "PAUSED", reason: "LOCKED" })
          .where("person_id", "=", personId)
          .where("status", "=", "FOLLOWING")
          .execute();
        return true;
      });
    },

    async unlockPerson(personId, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({ locked_at: null })
          .where("id", "=", personId)
          .where("locked_at", "is not", null)
          .where("closed_at", "is", null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await noteChange(transaction, { personId });
        await transaction
          .updateTable("copies")
          .set({ status: "FOLLOWING", reason: null })
          .where("person_id", "=", personId)
          .where("status", "=", "PAUSED")
          .where("reason", "=", "LOCKED")
          .execute();
        return true;
      });
    },

    async closePerson({ personId, at, newRequestId }, audit) {
      return await audited(db, async (transaction, record) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({
            closed_at: at,
            is_closing: 1,
            email: `${CLOSED_EMAIL_PREFIX}${personId}`,
            name: "",
            kyc_reason: null,
          })
          .where("id", "=", personId)
          .where("closed_at", "is", null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        const also = (what: AuditAction, kind: AuditSubject["kind"]) => (id: string) =>
          ({ ...audit, what, about: { kind, id }, details: {} }) satisfies NewAuditRecord;
        await erase(transaction, personId);
        const strategies = await closeStrategiesToCopiers(transaction, personId);
        const keys = await revokeKeys(transaction, personId, at);
        const copies = await stopCopies(transaction, { personId, at, newRequestId });
        await record(
          audit,
          ...keys.map(also("KEY_REVOKED", "KEY")),
          ...copies.map(also("COPY_STOPPED", "COPY")),
          ...strategies.map(also("STRATEGY_CLOSE_ASKED", "STRATEGY")),
        );
        return true;
      });
    },

    async listClosingPeople() {
      const rows = await db
        .selectFrom("people")
        .select(["id", "closed_at"])
        .where("is_closing", "=", sql.lit<number>(1))
        .orderBy("closed_at")
        .execute();
      return rows.map(({ id, closed_at }) => ({ personId: id, closedAt: closed_at ?? 0 }));
    },

    async endClosing(personId) {
      await db.updateTable("people").set({ is_closing: 0 }).where("id", "=", personId).execute();
    },
  } satisfies Partial<PeopleStore>;
}

/**
 * Erases what the person signed in with and stated. Mailed links stay, but name an address or a person that
 * no longer exists.
 */
async function erase(transaction: Transaction<Tables>, personId: string): Promise<void> {
  await transaction.deleteFrom("sessions").where("user_id", "=", personId).execute();
  await transaction.deleteFrom("credentials").where("user_id", "=", personId).execute();
  await transaction.deleteFrom("second_factors").where("person_id", "=", personId).execute();
  await transaction.deleteFrom("recovery_codes").where("person_id", "=", personId).execute();
  await transaction.deleteFrom("kyc_submissions").where("person_id", "=", personId).execute();
  await transaction
    .deleteFrom("key_uses")
    .where("key_id", "in", (keys) =>
      keys.selectFrom("api_keys").select("id").where("owner_id", "=", personId),
    )
    .execute();
}

/** Keeps people from copying strategies that are about to close. Answers those strategies. */
async function closeStrategiesToCopiers(
  transaction: Transaction<Tables>,
  personId: string,
): Promise<readonly string[]> {
  // Locks rows in the order in which commits do, so that there is no deadlock.
  const inOrder = isPostgres(transaction) ? sql`ORDER BY id FOR UPDATE` : sql``;
  const { rows } = await sql<{ id: string }>`
    UPDATE strategies SET is_open_to_copiers = 0
    WHERE id IN (SELECT id FROM strategies WHERE owner_id = ${personId} AND status = 'LIVE' ${inOrder})
    RETURNING id
  `.execute(transaction);
  return rows.map(({ id }) => id).sort();
}

async function revokeKeys(
  transaction: Transaction<Tables>,
  personId: string,
  at: number,
): Promise<readonly string[]> {
  const rows = await transaction
    .updateTable("api_keys")
    .set({ revoked_at: at })
    .where("owner_id", "=", personId)
    .where("revoked_at", "is", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id).sort();
}

/**
 * Stops the person's copies without selling, and withdraws open orders that would increase a position, as
 * with any stop.
 */
async function stopCopies(
  transaction: Transaction<Tables>,
  { personId, at, newRequestId }: Parameters<PeopleStore["closePerson"]>[0],
): Promise<readonly string[]> {
  const live = await transaction
    .selectFrom("copies")
    .select("id")
    .where("person_id", "=", personId)
    .where("status", "<>", sql.lit("STOPPED"))
    .orderBy("id")
    .execute();
  for (const { id } of live) {
    const asked = { kind: "WITHDRAW", mayIncrease: false, askedAt: at, doneAt: null, failure: null } as const;
    await addPending(transaction, { requestId: newRequestId(), copyId: id, ...asked });
  }
  await noteChange(transaction, { personId });
  await transaction
    .updateTable("copies")
    .set({ status: "STOPPED", reason: "ACCOUNT_CLOSED", ended_at: at })
    .where("person_id", "=", personId)
    .where("status", "<>", sql.lit("STOPPED"))
    .execute();
  return live.map(({ id }) => id);
}
