// People who are made whole, without signing up: operators, and the trader of a demo.
import type { Kysely } from "kysely";
import type { PeopleStore } from "../people-store.ts";
import type { Tables } from "../schema.ts";
import { audited } from "./audit.ts";

/** What the sign-in library calls people who have a password. */
const PASSWORD_PROVIDER = "credential";

export function madePeopleQueries(db: Kysely<Tables>): Pick<PeopleStore, "createPerson"> {
  return {
    async createPerson({ person, credentialId, passwordHash }, audit) {
      const { personId, email, name, role, profile, kyc, createdAt } = person;
      const times = { created_at: createdAt, updated_at: createdAt };
      return await audited(db, async (transaction, record) => {
        const made = await transaction
          .insertInto("people")
          .values({ id: personId, email, email_verified: 1, name, role, profile, kyc, ...times })
          .onConflict((conflict) => conflict.column("email").doNothing())
          .returning("id")
          .executeTakeFirst();
        if (made === undefined) return false;
        await transaction
          .insertInto("credentials")
          .values({
            id: credentialId,
            account_id: personId,
            provider_id: PASSWORD_PROVIDER,
            user_id: personId,
            password: passwordHash,
            ...times,
          })
          .execute();
        await record(audit);
        return true;
      });
    },
  };
}
