// What people's requests are refused with (`people/accounts.ts`), as the dashboard answers it.
import type { Refused } from "../people/accounts.ts";
import { codeRefused } from "./codes.ts";
import { DashboardError } from "./errors.ts";
import { type DashboardCall, personOf } from "./route.ts";

/** What was not refused. Throws the refusal otherwise. */
export function granted<Outcome extends object>(outcome: Outcome | Refused): Outcome {
  if ("refused" in outcome) throw refusalOf(outcome as Refused);
  return outcome as Outcome;
}

/** Throws if there is a refusal. */
export function demandGranted(refused: Refused | null): void {
  if (refused !== null) throw refusalOf(refused);
}

/** Throws the refusal of a signed-in person, if any. A wrong password marks its form field. */
export function demandOwnPassword(refused: Refused | null, field: string): void {
  if (refused?.refused === "CREDENTIALS_REFUSED") {
    throw new DashboardError("CREDENTIALS_REFUSED", {
      message: "The password is wrong.",
      action: "Try again. If you have forgotten it, sign out and ask for a link to set a new one.",
      fields: { [field]: "is wrong" },
    });
  }
  demandGranted(refused);
}

/**
 * Throws CREDENTIALS_REFUSED, of the field `password`, LOCKED or BUSY unless this is the caller's password.
 */
export async function demandPassword(
  call: Pick<DashboardCall, "parts" | "caller" | "signedIn">,
  password: string,
): Promise<void> {
  const { accounts } = call.parts.people;
  demandOwnPassword(await accounts.checkPassword(personOf(call), password, call.caller), "password");
}

function refusalOf(refused: Refused): DashboardError {
  switch (refused.refused) {
    case "PASSWORD_UNFIT":
      return new DashboardError("BODY_UNFIT", { fields: { password: refused.fault } });
    case "LOCKED":
    case "TOO_MANY_REQUESTS":
      return new DashboardError(refused.refused, { retryAfterSeconds: refused.retryAfterSeconds });
    case "CODE_REFUSED":
      return codeRefused();
    default:
      return new DashboardError(refused.refused);
  }
}
