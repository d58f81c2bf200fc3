// Second factors: the seed, the last time step whose code was accepted, and the unused recovery codes. Where
// only one of several requests may succeed, the statement that writes decides which.
import type { Kysely, Selectable, Transaction } from "kysely";
import type { PeopleStore, SecondFactor } from "../ports/people.ts";
import type { Tables } from "../schema.ts";
import { auditedIf } from "./audit.ts";
import { columnsOf, isClosed, lockRow, unlessShutOut } from "./persons.ts";
import { deleteSessions } from "./sign-in.ts";

export function secondFactorQueries(db: Kysely<Tables>) {
  return {
    async findSecondFactor(personId) {
      const row = await db
        .selectFrom("second_factors")
        .selectAll()
        .where("person_id", "=", personId)
        .executeTakeFirst();
      return row === undefined ? null : factorOfRow(row);
    },

    async beginSecondFactor(personId, sealedSeed, at) {
      const seed = { sealed_seed: sealedSeed, last_step: 0, begun_at: at };
      const row = { person_id: personId, is_enabled: 0, ...seed };
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto("second_factors")
        .columns(columnsOf(row))
        .expression(unlessShutOut(db, personId, row))
        .onConflict((conflict) =>
          conflict.column("person_id").doUpdateSet(seed).where("second_factors.is_enabled", "=", 0),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },

    async resealSecondFactor(personId, { from, to }) {
      const { numUpdatedRows } = await db
        .updateTable("second_factors")
        .set({ sealed_seed: to })
        .where("person_id", "=", personId)
        .where("sealed_seed", "=", from)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async listSecondFactors() {
      const rows = await db.selectFrom("second_factors").selectAll().orderBy("person_id").execute();
      return rows.map(factorOfRow);
    },

    async enableSecondFactor({ personId, sealedSeed, keptSession }, recoveryHashes, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        await lockRow(transaction, personId);
        const { numUpdatedRows } = await transaction
          .updateTable("second_factors")
          .set({ is_enabled: 1 })
          .where("person_id", "=", personId)
          .where("sealed_seed", "=", sealedSeed)
          .where("is_enabled", "=", 0)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await putRecoveryCodes(transaction, personId, recoveryHashes);
        await deleteSessions(transaction, personId, { allBut: keptSession });
        return true;
      });
    },

    async removeSecondFactor({ personId, keptSession }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom("second_factors")
          .where("person_id", "=", personId)
          .where("is_enabled", "=", 1)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await putRecoveryCodes(transaction, personId, []);
        await deleteSessions(transaction, personId, keptSession === null ? "ALL" : { allBut: keptSession });
        return true;
      });
    },

    async acceptTotpStep(personId, step) {
      const { numUpdatedRows } = await db
        .updateTable("second_factors")
        .set({ last_step: step })
        .where("person_id", "=", personId)
        .where("last_step", "<", step)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async replaceRecoveryCodes(personId, hashes, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        if (await isClosed(transaction, personId)) return false;
        await putRecoveryCodes(transaction, personId, hashes);
        return true;
      });
    },

    async useRecoveryCode(personId, hash, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom("recovery_codes")
          .where("person_id", "=", personId)
          .where("hash", "=", hash)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      });
    },

    async countRecoveryCodes(personId) {
      const row = await db
        .selectFrom("recovery_codes")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("person_id", "=", personId)
        .executeTakeFirstOrThrow();
      return row.count;
    },
  } satisfies Partial<PeopleStore>;
}

/** Replaces all recovery codes. */
async function putRecoveryCodes(
  transaction: Transaction<Tables>,
  personId: string,
  hashes: readonly string[],
): Promise<void> {
  await transaction.deleteFrom("recovery_codes").where("person_id", "=", personId).execute();
  for (const hash of hashes) {
    await transaction.insertInto("recovery_codes").values({ person_id: personId, hash }).execute();
  }
}

function factorOfRow(row: Selectable<Tables["second_factors"]>): SecondFactor {
  return {
    personId: row.person_id,
    sealedSeed: row.sealed_seed,
    isEnabled: row.is_enabled === 1,
  };
}
