// The second factor as routes demand it.
import { z } from "zod";
import type { CodeOutcome } from "../people/second-factor.ts";
import { DashboardError } from "./errors.ts";
import { type DashboardCall, personOf } from "./route.ts";

const CODE_LENGTH_MAX = 40;

/** A code as somebody types it: of an authenticator, or a recovery code. */
export const codeText = z.string().min(1).max(CODE_LENGTH_MAX);

/**
 * Throws unless the caller's authenticator shows this code now and it has not been used: a recovery code does
 * not do. SECOND_FACTOR_NEEDED: there is none to ask. CODE_REFUSED, LOCKED: it is not accepted.
 */
export async function demandCode(
  call: Pick<DashboardCall, "parts" | "caller" | "signedIn">,
  code: string,
): Promise<void> {
  const person = personOf(call);
  const { secondFactors } = call.parts.people;
  if (!(await secondFactors.isEnabled(person.personId))) throw new DashboardError("SECOND_FACTOR_NEEDED");
  demandAccepted(await secondFactors.check(person, code, { allowsRecovery: false, caller: call.caller }));
}

/** Throws CODE_REFUSED or LOCKED unless a code was accepted. */
export function demandAccepted(outcome: CodeOutcome): void {
  if (outcome !== "ACCEPTED") throw refusalOf(outcome);
}

/** A code that is not right, in whatever form it was typed: its field is what is marked. */
export function codeRefused(): DashboardError {
  return new DashboardError("CODE_REFUSED", { fields: { code: "is wrong or was used already" } });
}

/** Why a code was not accepted, as it is answered. */
export function refusalOf(outcome: Exclude<CodeOutcome, "ACCEPTED">): DashboardError {
  if (outcome === "REFUSED") return codeRefused();
  return new DashboardError("LOCKED", { retryAfterSeconds: outcome.lockedForSeconds });
}
