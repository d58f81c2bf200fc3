// The caller's second factor: setting it up, its recovery codes, and removing it.
import { z } from "zod";
import { codeText, demandAccepted, refusalOf } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { passwordField } from "../reading.ts";
import { demandPassword } from "../refused.ts";
import { personOf, route, signedInOf } from "../route.ts";
import { list, text } from "../schemas/fields.ts";
import { secondFactorSchema, secondFactorSetupSchema } from "../schemas/people.ts";

const coded = z.strictObject({ code: codeText });
/** Shown only once. */
const recoveryCodes = z.object({ recoveryCodes: list(text) });

export const SECOND_FACTOR_ROUTES = [
  route("GET /second-factor", "SIGNED_IN", secondFactorSchema, async (call) => ({
    body: await call.parts.people.secondFactors.status(personOf(call).personId),
  })),

  route("POST /second-factor", "SIGNED_IN", secondFactorSetupSchema, {
    showsSecrets: true,
    body: z.strictObject({ password: passwordField }),
    async answer(call) {
      const person = personOf(call);
      const { secondFactors } = call.parts.people;
      // Checked first: a correct password resets the failed attempts, which must not help to guess codes.
      if (await secondFactors.isEnabled(person.personId)) throw new DashboardError("STATE_CHANGED");
      await demandPassword(call, call.body.password);
      const begun = await secondFactors.begin(person);
      if (begun === null) throw new DashboardError("STATE_CHANGED");
      return { body: begun };
    },
  }),

  route("POST /second-factor/confirm", "SIGNED_IN", recoveryCodes, {
    showsSecrets: true,
    body: coded,
    async answer(call) {
      const { accounts } = call.parts.people;
      return {
        body: shown(await accounts.enableSecondFactor(signedInOf(call), call.body.code, call.caller)),
      };
    },
  }),

  route("POST /second-factor/disable", "SIGNED_IN", secondFactorSchema, {
    body: coded,
    async answer(call) {
      const { accounts, secondFactors } = call.parts.people;
      const { personId } = personOf(call);
      if (!(await secondFactors.isEnabled(personId))) throw new DashboardError("STATE_CHANGED");
      demandAccepted(await accounts.disableSecondFactor(signedInOf(call), call.body.code, call.caller));
      return { body: await secondFactors.status(personId) };
    },
  }),

  route("POST /second-factor/recovery-codes", "SIGNED_IN", recoveryCodes, {
    showsSecrets: true,
    body: coded,
    async answer(call) {
      const { secondFactors } = call.parts.people;
      const person = personOf(call);
      if (!(await secondFactors.isEnabled(person.personId))) throw new DashboardError("SECOND_FACTOR_NEEDED");
      return { body: shown(await secondFactors.renewRecoveryCodes(person, call.body.code, call.caller)) };
    },
  }),
];

/** Throws the rejection if there are no codes. */
function shown(codes: readonly string[] | Parameters<typeof refusalOf>[0]): z.output<typeof recoveryCodes> {
  if (codes === "REFUSED" || "lockedForSeconds" in codes) throw refusalOf(codes);
  return { recoveryCodes: codes };
}
