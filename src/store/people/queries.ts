// The port for people, written once with Kysely for both stores. Each store records failed sign-ins and uses
// of keys in its own way.
import type { Kysely } from "kysely";
import type { PeopleStore } from "../ports/people.ts";
import type { Tables } from "../schema.ts";
import { auditQueries } from "./audit.ts";
import { closedAccountQueries } from "./closed-accounts.ts";
import { failedSignInQueries } from "./failed-sign-ins.ts";
import { keyUseQueries } from "./key-uses.ts";
import { kycQueries } from "./kyc.ts";
import { ownershipQueries } from "./ownership.ts";
import { personQueries } from "./persons.ts";
import { secondFactorQueries } from "./second-factors.ts";
import { signInQueries } from "./sign-in.ts";

export function peopleQueries(db: Kysely<Tables>): Omit<PeopleStore, "noteFailedSignIn" | "noteKeyUses"> {
  return {
    ...personQueries(db),
    ...signInQueries(db),
    ...closedAccountQueries(db),
    ...kycQueries(db),
    ...secondFactorQueries(db),
    ...failedSignInQueries(db),
    ...ownershipQueries(db),
    ...keyUseQueries(db),
    ...auditQueries(db),
  };
}
