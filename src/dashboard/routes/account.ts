// The caller's own account: password, sessions, profile, and what was done with it.
import { z } from "zod";
import type { AuditRecord } from "../../domain/audit.ts";
import { PROFILES } from "../../domain/person.ts";
import { codeText } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf, pageQuery } from "../paging.ts";
import { passwordField } from "../person-fields.ts";
import { presentAudit } from "../present/people.ts";
import { demandOwnPassword } from "../refused.ts";
import { type DashboardRoute, personOf, route, signedInOf } from "../route.ts";
import type { AuditShape, OwnSessionShape, PageShape } from "../shapes.ts";
import { sessionOf } from "./session.ts";

export const ACCOUNT_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "POST",
    path: "/password",
    access: "SIGNED_IN",
    body: z.strictObject({ current: passwordField, password: passwordField, code: codeText.optional() }),
    async answer(call) {
      const { current, password, code = null } = call.body;
      const { accounts } = call.parts.people;
      const change = { current, password, code };
      demandOwnPassword(await accounts.changePassword(signedInOf(call), change, call.caller), "current");
      return { body: {} };
    },
  }),

  route({
    method: "GET",
    path: "/sessions",
    access: "SIGNED_IN",
    async answer(call) {
      const own = signedInOf(call).sessionId;
      const sessions = await call.parts.people.accounts.listSessions(personOf(call));
      const rows: readonly OwnSessionShape[] = sessions.map((session) => ({
        ...session,
        isThisOne: session.sessionId === own,
      }));
      return { body: { rows } };
    },
  }),

  route({
    method: "DELETE",
    path: "/sessions/:sessionId",
    access: "SIGNED_IN",
    async answer(call) {
      const { sessionId = "" } = call.params;
      if (!(await call.parts.people.accounts.endSession(personOf(call), sessionId))) {
        throw new DashboardError("NOT_FOUND");
      }
      return { body: {} };
    },
  }),

  route({
    method: "DELETE",
    path: "/sessions",
    access: "SIGNED_IN",
    async answer(call) {
      await call.parts.people.accounts.endOtherSessions(personOf(call), signedInOf(call).sessionId);
      return { body: {} };
    },
  }),

  route({
    method: "PUT",
    path: "/profile",
    access: "SIGNED_IN",
    body: z.strictObject({ profile: z.enum(PROFILES) }),
    async answer(call) {
      const person = personOf(call);
      if (person.role === "OPERATOR") throw new DashboardError("NOT_FOR_YOU");
      const switched = await call.parts.people.accounts.switchProfile(person, call.body.profile);
      return { body: sessionOf(call.parts, switched) };
    },
  }),

  route({
    method: "GET",
    path: "/activity",
    access: "SIGNED_IN",
    query: pageQuery,
    async answer(call) {
      const { people } = call.parts.gateway.store;
      const { personId } = personOf(call);
      const found = await people.listAudit({ ...call.query, personId, limit: PAGE_ROWS + 1 });
      const shown = await presentAudit(people, found);
      const operators = new Set(
        found.filter((each) => isByAnother(each, personId)).map((each) => each.position),
      );
      const body: PageShape<AuditShape> = pageOf(shown, {
        // Which of the operators it was is for operators to know.
        present: (record) => (operators.has(record.position) ? { ...record, who: "An operator" } : record),
        next: ({ position }) => String(position),
      });
      return { body };
    },
  }),
];

function isByAnother({ who }: AuditRecord, personId: string): boolean {
  return who.kind === "OPERATOR" && who.personId !== personId;
}
