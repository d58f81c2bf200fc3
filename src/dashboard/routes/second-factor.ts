// The caller's second factor: setting it up, its recovery codes, and removing it.
import { z } from "zod";
import { codeText, demandAccepted, refusalOf } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { passwordField } from "../reading.ts";
import { demandPassword } from "../refused.ts";
import { type DashboardRoute, personOf, route, signedInOf } from "../route.ts";
import type { RecoveryCodesShape, SecondFactorSetupShape, SecondFactorShape } from "../shapes.ts";

const coded = z.strictObject({ code: codeText });

export const SECOND_FACTOR_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/second-factor",
    access: "SIGNED_IN",
    async answer(call) {
      const body: SecondFactorShape = await call.parts.people.secondFactors.status(personOf(call).personId);
      return { body };
    },
  }),

  route({
    method: "POST",
    path: "/second-factor",
    access: "SIGNED_IN",
    showsSecrets: true,
    body: z.strictObject({ password: passwordField }),
    async answer(call) {
      const person = personOf(call);
      const { secondFactors } = call.parts.people;
      // First, since a right password takes failed attempts back, which codes must not be guessed with.
      if (await secondFactors.isEnabled(person.personId)) throw new DashboardError("STATE_CHANGED");
      await demandPassword(call, call.body.password);
      const begun: SecondFactorSetupShape | null = await secondFactors.begin(person);
      if (begun === null) throw new DashboardError("STATE_CHANGED");
      return { body: begun };
    },
  }),

  route({
    method: "POST",
    path: "/second-factor/confirm",
    access: "SIGNED_IN",
    showsSecrets: true,
    body: coded,
    async answer(call) {
      const { accounts } = call.parts.people;
      return {
        body: shown(await accounts.enableSecondFactor(signedInOf(call), call.body.code, call.caller)),
      };
    },
  }),

  route({
    method: "POST",
    path: "/second-factor/disable",
    access: "SIGNED_IN",
    body: coded,
    async answer(call) {
      const { accounts, secondFactors } = call.parts.people;
      const { personId } = personOf(call);
      if (!(await secondFactors.isEnabled(personId))) throw new DashboardError("STATE_CHANGED");
      demandAccepted(await accounts.disableSecondFactor(signedInOf(call), call.body.code, call.caller));
      const body: SecondFactorShape = await secondFactors.status(personId);
      return { body };
    },
  }),

  route({
    method: "POST",
    path: "/second-factor/recovery-codes",
    access: "SIGNED_IN",
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

/** Recovery codes, or the refusal that there are none because of. */
function shown(codes: readonly string[] | Parameters<typeof refusalOf>[0]): RecoveryCodesShape {
  if (codes === "REFUSED" || "lockedForSeconds" in codes) throw refusalOf(codes);
  return { recoveryCodes: codes };
}
