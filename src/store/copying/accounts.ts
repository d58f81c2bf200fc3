// Copiers' accounts at venues: their credentials, sealed, and what the venue says of them.
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { VenueAccount } from "../../domain/copying.ts";
import { audited, auditedIf } from "../people/audit.ts";
import { isShutOut } from "../people/persons.ts";
import type { KeyDigests } from "../ports/copies.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { noteChange } from "./revisions.ts";
import { destroySealed, keepSealed, positionOf } from "./sealed-credentials.ts";

export function accountQueries(db: Kysely<Tables>) {
  return {
    async connectAccount(account, audit, { liveMax, keyDigests }) {
      return await audited(db, async (transaction, record) => {
        if (await isShutOut(transaction, account.personId)) return "FULL";
        // Audited transactions are serialized, so this count holds until the transaction ends.
        const { count } = await transaction
          .selectFrom("venue_accounts")
          .select(({ fn }) => fn.countAll<number>().as("count"))
          .where("person_id", "=", account.personId)
          .where("status", "<>", "DISCONNECTED")
          .executeTakeFirstOrThrow();
        if (count >= liveMax) return "FULL";
        if (await isKeyTaken(transaction, account.accountId, keyDigests)) return "TAKEN";
        const credentials = account.sealed === null ? null : await keepSealed(transaction, account.sealed);
        const row = { ...accountRow(account), credentials, key_digest: keyDigests?.kept ?? null };
        await transaction.insertInto("venue_accounts").values(row).execute();
        await record(audit);
        return "CONNECTED";
      });
    },

    async findAccount(accountId) {
      const row = await accounts(db).where("a.id", "=", accountId).executeTakeFirst();
      return row === undefined ? null : accountOfRow(row);
    },

    async listAccountsOf(personId) {
      const rows = await accounts(db)
        .where("person_id", "=", personId)
        .orderBy(sql`CASE status WHEN 'DISCONNECTED' THEN 1 ELSE 0 END`)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .execute();
      return rows.map(accountOfRow);
    },

    async countAccounts() {
      return await db
        .selectFrom("venue_accounts")
        .select(["venue", "status", ({ fn }) => fn.countAll<number>().as("count")])
        .groupBy(["venue", "status"])
        .orderBy("venue")
        .orderBy("status")
        .execute();
    },

    async noteAccountChecked(accountId, { status, failure, at }) {
      await db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("venue_accounts")
          .set({ status, failure: encodeFailure(failure), checked_at: at })
          .where("id", "=", accountId)
          .where("status", "<>", "DISCONNECTED")
          .executeTakeFirst();
        if (numUpdatedRows > 0n) await noteChange(transaction, { accountId });
      });
    },

    async replaceCredentials({ accountId, personId, sealed, keyHint, keyDigests, at }, audit) {
      return await audited(db, async (transaction, record) => {
        if (await isKeyTaken(transaction, accountId, keyDigests)) return "TAKEN";
        const { numUpdatedRows } = await transaction
          .updateTable("venue_accounts")
          .set({
            key_hint: keyHint,
            key_digest: keyDigests?.kept ?? null,
            status: "CONNECTED",
            failure: null,
            checked_at: at,
          })
          .where("id", "=", accountId)
          .where("person_id", "=", personId)
          .where("status", "<>", "DISCONNECTED")
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return "GONE";
        await putCredentials(transaction, accountId, sealed);
        await noteChange(transaction, { accountId });
        await record(audit);
        return "REPLACED";
      });
    },

    async disconnectAccount({ accountId, personId, at }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("venue_accounts")
          .set({ key_digest: null, status: "DISCONNECTED", failure: null, disconnected_at: at })
          .where("id", "=", accountId)
          .where("person_id", "=", personId)
          .where("status", "<>", "DISCONNECTED")
          .where(({ exists, not, selectFrom }) =>
            not(
              exists(
                selectFrom("copies")
                  .select("copies.id")
                  .where("copies.account_id", "=", accountId)
                  .where("copies.status", "<>", "STOPPED"),
              ),
            ),
          )
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await putCredentials(transaction, accountId, null);
        return true;
      });
    },

    async listSealedAccounts() {
      const rows = await db
        .selectFrom("venue_accounts as a")
        .innerJoin("venue_credentials as c", "c.position", "a.credentials")
        .select(["a.id", "c.sealed"])
        .orderBy("a.id")
        .execute();
      return rows.map(({ id, sealed }) => ({ accountId: id, sealed }));
    },

    async resealAccount(accountId, { from, to, keyDigest }) {
      return await db.transaction().execute(async (transaction) => {
        // A transaction begins with what it writes, so that nobody else writes between.
        const kept = await keepSealed(transaction, to);
        const row = await accounts(transaction).where("a.id", "=", accountId).executeTakeFirst();
        const replaced = row?.sealed === from ? row.credentials : null;
        const { numUpdatedRows } = await transaction
          .updateTable("venue_accounts")
          .set({ credentials: kept, ...(keyDigest !== undefined && { key_digest: keyDigest }) })
          .where("id", "=", accountId)
          .where("credentials", "=", replaced)
          .executeTakeFirst();
        const isReplaced = numUpdatedRows > 0n;
        await destroySealed(transaction, isReplaced ? replaced : kept);
        return isReplaced;
      });
    },
  } satisfies Partial<CopyStore>;
}

function accounts(db: Kysely<Tables>) {
  return db
    .selectFrom("venue_accounts as a")
    .leftJoin("venue_credentials as c", "c.position", "a.credentials")
    .selectAll("a")
    .select("c.sealed");
}

/**
 * Gives an account that the transaction has locked other credentials, or none, and destroys those that it
 * had.
 */
async function putCredentials(
  transaction: Transaction<Tables>,
  accountId: string,
  sealed: string | null,
): Promise<void> {
  const replaced = await positionOf(transaction, accountId);
  const credentials = sealed === null ? null : await keepSealed(transaction, sealed);
  await transaction.updateTable("venue_accounts").set({ credentials }).where("id", "=", accountId).execute();
  await destroySealed(transaction, replaced);
}

/** Whether another account has that key. Audited transactions are serialized, so this holds until the end. */
async function isKeyTaken(
  transaction: Transaction<Tables>,
  accountId: string,
  digests: KeyDigests | undefined,
): Promise<boolean> {
  if (digests === undefined) return false;
  const other = await transaction
    .selectFrom("venue_accounts")
    .select("id")
    .where("key_digest", "in", digests.known)
    .where("id", "<>", accountId)
    .executeTakeFirst();
  return other !== undefined;
}

type AccountRow = Selectable<Tables["venue_accounts"]> & { readonly sealed: string | null };

function accountRow(account: VenueAccount) {
  return {
    id: account.accountId,
    person_id: account.personId,
    family: account.type,
    venue: account.venue,
    label: account.label,
    key_hint: account.keyHint,
    status: account.status,
    failure: encodeFailure(account.failure),
    created_at: account.createdAt,
    checked_at: account.checkedAt,
    disconnected_at: account.disconnectedAt,
  };
}

function accountOfRow(row: AccountRow): VenueAccount {
  return {
    accountId: row.id,
    personId: row.person_id,
    type: row.family,
    venue: row.venue,
    label: row.label,
    keyHint: row.key_hint,
    sealed: row.sealed,
    status: row.status,
    failure: row.failure === null ? null : JSON.parse(row.failure),
    createdAt: row.created_at,
    checkedAt: row.checked_at,
    disconnectedAt: row.disconnected_at,
  };
}

function encodeFailure(failure: string | null): string | null {
  return failure === null ? null : JSON.stringify(failure);
}
