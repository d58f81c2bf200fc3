// The people of the store port, written once with Kysely for every store, but for what each store notes in its own way.
import type { Kysely } from "kysely";
import type { PeopleStore } from "../people-store.ts";
import type { Tables } from "../schema.ts";
import { auditQueries } from "./audit.ts";
import { closedAccountQueries } from "./closed-accounts.ts";
import { failedSignInQueries } from "./failed-sign-ins.ts";
import { keyUseQueries } from "./key-uses.ts";
import { kycQueries } from "./kyc.ts";
import { madePeopleQueries } from "./made-people.ts";
import { ownershipQueries } from "./ownership.ts";
import { personQueries } from "./persons.ts";
import { secondFactorQueries } from "./second-factors.ts";
import { signInRecords } from "./sign-in-records.ts";

export function peopleQueries(db: Kysely<Tables>): Omit<PeopleStore, "noteFailedSignIn" | "noteKeyUses"> {
  return {
    signIn: signInRecords(db),
    ...personQueries(db),
    ...madePeopleQueries(db),
    ...closedAccountQueries(db),
    ...kycQueries(db),
    ...secondFactorQueries(db),
    ...failedSignInQueries(db),
    ...ownershipQueries(db),
    ...keyUseQueries(db),
    ...auditQueries(db),
  };
}
