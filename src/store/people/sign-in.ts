// What people sign in with: accounts, password hashes, sessions and mailed links. Tokens arrive as hashes.
// Where only one of several requests may succeed, the statement that writes decides which, so that it holds
// for all servers.
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { PeopleStore, StoredSession, WhichSessions } from "../ports/people.ts";
import type { Tables } from "../schema.ts";
import { audited, auditedIf } from "./audit.ts";
import { columnsOf, isClosed, lockRow, unlessShutOut } from "./persons.ts";

/** The provider of every credential; a person has one of it. */
const PROVIDER = "credential";

export function signInQueries(db: Kysely<Tables>) {
  return {
    async createPerson({ person, passwordHash }, audit) {
      const { personId, email, name, role, profile, kyc, createdAt } = person;
      const times = { created_at: createdAt, updated_at: createdAt };
      return await auditedIf(db, [audit], async (transaction) => {
        const created = await transaction
          .insertInto("people")
          .values({ id: personId, email, email_verified: 1, name, role, profile, kyc, ...times })
          .onConflict((conflict) => conflict.column("email").doNothing())
          .returning("id")
          .executeTakeFirst();
        if (created === undefined) return false;
        await putPassword(transaction, { personId, passwordHash, at: createdAt });
        return true;
      });
    },

    async verifyPerson({ personId, name, passwordHash, at }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("people")
          .set({ email_verified: 1, name, updated_at: at })
          .where("id", "=", personId)
          .where("email_verified", "=", 0)
          .where("closed_at", "is", null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await putPassword(transaction, { personId, passwordHash, at });
        return true;
      });
    },

    async findPasswordHash(personId) {
      const row = await db
        .selectFrom("credentials")
        .select("password")
        .where("provider_id", "=", PROVIDER)
        .where("user_id", "=", personId)
        .executeTakeFirst();
      return row?.password ?? null;
    },

    async setPasswordHash(password, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        await lockRow(transaction, password.personId);
        if (await isClosed(transaction, password.personId)) return false;
        await putPassword(transaction, password);
        await deleteSessions(transaction, password.personId, "ALL");
        return true;
      });
    },

    async replacePasswordHash({ personId, from, to, keptSession, at }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        await lockRow(transaction, personId);
        const { numUpdatedRows } = await transaction
          .updateTable("credentials")
          .set({ password: to, updated_at: at })
          .where("provider_id", "=", PROVIDER)
          .where("user_id", "=", personId)
          .where("password", "=", from)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await deleteSessions(transaction, personId, { allBut: keptSession });
        return true;
      });
    },

    async createSession({ sessionId, personId, tokenHash, address, userAgent, createdAt, expiresAt }, max) {
      await db
        .deleteFrom("sessions")
        .where("user_id", "=", personId)
        .where("id", "not in", (newest) =>
          newest
            .selectFrom("sessions")
            .select("id")
            .where("user_id", "=", personId)
            .where("expires_at", ">", createdAt)
            .orderBy("created_at", "desc")
            .orderBy("id")
            .limit(max - 1),
        )
        .execute();
      const row = {
        id: sessionId,
        user_id: personId,
        token: tokenHash,
        ip_address: address,
        user_agent: userAgent,
        created_at: createdAt,
        updated_at: createdAt,
        expires_at: expiresAt,
      };
      await db
        .insertInto("sessions")
        .columns(columnsOf(row))
        .expression(unlessShutOut(db, personId, row))
        .execute();
    },

    async findSession(tokenHash) {
      const row = await db
        .selectFrom("sessions")
        .selectAll()
        .where("token", "=", tokenHash)
        .executeTakeFirst();
      return row === undefined ? null : sessionOfRow(row);
    },

    async listSessions(personId, { expiresAfter, usedAfter }) {
      const rows = await db
        .selectFrom("sessions")
        .selectAll()
        .where("user_id", "=", personId)
        .where("expires_at", ">", expiresAfter)
        .where("updated_at", ">", usedAfter)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .execute();
      return rows.map(sessionOfRow);
    },

    async liveSessionsOf(sessionIds, { expiresAfter, usedAfter }) {
      if (sessionIds.length === 0) return new Set();
      const rows = await db
        .selectFrom("sessions")
        .select("id")
        .where("id", "in", sessionIds)
        .where("expires_at", ">", expiresAfter)
        .where("updated_at", ">", usedAfter)
        .execute();
      return new Set(rows.map(({ id }) => id));
    },

    async recordSessionUse(sessionId, at) {
      await db.updateTable("sessions").set({ updated_at: at }).where("id", "=", sessionId).execute();
    },

    async endSessions(personId, which, audit) {
      if (audit === null) return await deleteSessions(db, personId, which);
      return await audited(db, async (transaction, record) => {
        const ended = await deleteSessions(transaction, personId, which);
        if (ended > 0) await record({ ...audit, details: { ...audit.details, count: String(ended) } });
        return ended;
      });
    },

    async createLink({ nameHash, value, createdAt, expiresAt }) {
      await db.deleteFrom("verifications").where("expires_at", "<=", createdAt).execute();
      const times = { created_at: createdAt, updated_at: createdAt, expires_at: expiresAt };
      await db
        .insertInto("verifications")
        .values({ id: nameHash, identifier: nameHash, value, ...times })
        .execute();
    },

    async findLink(nameHash, at) {
      const row = await db
        .selectFrom("verifications")
        .select("value")
        .where("identifier", "=", nameHash)
        .where("expires_at", ">", at)
        .executeTakeFirst();
      return row?.value ?? null;
    },

    async takeLink(nameHash, at) {
      const row = await db
        .deleteFrom("verifications")
        .where("identifier", "=", nameHash)
        .where("expires_at", ">", at)
        .returning("value")
        .executeTakeFirst();
      return row?.value ?? null;
    },

    async endLinks(prefix) {
      await db
        .deleteFrom("verifications")
        .where(sql`SUBSTR(value, 1, ${[...prefix].length})`, "=", prefix)
        .execute();
    },
  } satisfies Partial<PeopleStore>;
}

/** Ends sessions of a person; answers how many. */
export async function deleteSessions(
  db: Kysely<Tables>,
  personId: string,
  which: WhichSessions,
): Promise<number> {
  let query = db.deleteFrom("sessions").where("user_id", "=", personId);
  if (which !== "ALL") {
    const [operator, id] = "only" in which ? (["=", which.only] as const) : (["<>", which.allBut] as const);
    query = query.where("id", operator, id);
  }
  const { numDeletedRows } = await query.executeTakeFirst();
  return Number(numDeletedRows);
}

/** Sets the password of a person, who may have none yet. */
async function putPassword(
  transaction: Transaction<Tables>,
  { personId, passwordHash, at }: Parameters<PeopleStore["setPasswordHash"]>[0],
): Promise<void> {
  await transaction
    .insertInto("credentials")
    .values({
      id: personId,
      account_id: personId,
      provider_id: PROVIDER,
      user_id: personId,
      password: passwordHash,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(["provider_id", "account_id"]).doUpdateSet({ password: passwordHash, updated_at: at }),
    )
    .execute();
}

function sessionOfRow(row: Selectable<Tables["sessions"]>): StoredSession {
  return {
    sessionId: row.id,
    personId: row.user_id,
    address: row.ip_address ?? "",
    userAgent: row.user_agent ?? "",
    createdAt: row.created_at,
    lastUsedAt: row.updated_at,
    expiresAt: row.expires_at,
  };
}
