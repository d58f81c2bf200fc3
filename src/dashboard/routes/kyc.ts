// The caller's own identity form: how far it has come, and submitting one.
import { KYC_FORM } from "../../people/kyc/kyc-form.ts";
import { DashboardError } from "../errors.ts";
import { type DashboardCall, type DashboardRoute, personOf, route } from "../route.ts";
import type { KycShape } from "../shapes.ts";

export const KYC_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/kyc",
    access: "SIGNED_IN",
    async answer(call) {
      return { body: await statusOf(call) };
    },
  }),

  route({
    method: "POST",
    path: "/kyc",
    access: "SIGNED_IN",
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

async function statusOf(call: Pick<DashboardCall, "parts" | "signedIn">): Promise<KycShape> {
  const { status, reason, last } = await call.parts.people.kyc.statusOf(personOf(call).personId);
  return {
    status,
    reason,
    submittedAt: last?.submittedAt ?? null,
    decidedAt: last?.decidedAt ?? null,
  };
}
