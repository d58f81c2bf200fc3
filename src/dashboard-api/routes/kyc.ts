// The caller's own identity form: its status, and submitting one.

import type { z } from "zod";
import { KYC_FORM } from "../../people/kyc/kyc-form.ts";
import { DashboardError } from "../errors.ts";
import { type DashboardCall, personOf, route } from "../route.ts";
import { kycSchema } from "../schemas/people.ts";

export const KYC_ROUTES = [
  route("GET /kyc", "SIGNED_IN", kycSchema, async (call) => ({ body: await statusOf(call) })),

  route("POST /kyc", "SIGNED_IN", kycSchema, {
    growsDisk: true,
    body: KYC_FORM,
    async answer(call) {
      const person = personOf(call);
      if (person.role === "OPERATOR") throw new DashboardError("NOT_FOR_YOU");
      const fault = await call.parts.people.kyc.submit(person, call.body);
      if (fault === "NOT_NOW") throw new DashboardError("STATE_CHANGED");
      if (fault !== null) throw new DashboardError("BODY_UNFIT", fault);
      return { body: await statusOf(call) };
    },
  }),
];

async function statusOf(
  call: Pick<DashboardCall, "parts" | "signedIn">,
): Promise<z.output<typeof kycSchema>> {
  const { status, reason, last } = await call.parts.people.kyc.statusOf(personOf(call).personId);
  return {
    status,
    reason,
    submittedAt: last?.submittedAt ?? null,
    decidedAt: last?.decidedAt ?? null,
  };
}
