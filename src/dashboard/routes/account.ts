// The caller's own account: password, sessions, profile, what was done with it, and its end.
import { z } from "zod";
import type { AuditRecord } from "../../domain/audit.ts";
import { PROFILES } from "../../domain/person.ts";
import { actorOf } from "../../people/second-factor.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf, pageQuery } from "../paging.ts";
import { presentAudit } from "../present/people.ts";
import { passwordField } from "../reading.ts";
import { demandOwnPassword, demandPassword } from "../refused.ts";
import { type DashboardCall, type DashboardRoute, personOf, route, signedInOf } from "../route.ts";
import type { AccountContentsShape, AuditShape, OwnSessionShape, PageShape } from "../shapes.ts";
import { sessionOf } from "./session.ts";

const ID_LENGTH_MAX = 100;

/** That it is the owner: a code where there is a second factor, else the password. */
const proof = { password: passwordField.optional(), code: codeText.optional() };

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
    method: "POST",
    path: "/sessions/end",
    access: "SIGNED_IN",
    body: z.strictObject({ ...proof, sessionId: z.string().max(ID_LENGTH_MAX).nullable() }),
    async answer(call) {
      const { accounts } = call.parts.people;
      const { sessionId, ...given } = call.body;
      // Somebody who finds an open browser must not be able to end the owner's other sessions.
      await demandProof(call, given);
      if (sessionId === null) await accounts.endOtherSessions(personOf(call), signedInOf(call).sessionId);
      else if (!(await accounts.endSession(personOf(call), sessionId))) throw new DashboardError("NOT_FOUND");
      return { body: {} };
    },
  }),

  route({
    method: "GET",
    path: "/account",
    access: "SIGNED_IN",
    async answer({ parts, signedIn }) {
      const { control } = parts.people;
      const body: AccountContentsShape = await control.contentsOf(personOf({ signedIn }).personId);
      return { body };
    },
  }),

  route({
    method: "POST",
    path: "/account/close",
    access: "SIGNED_IN",
    body: z.strictObject({ password: passwordField, code: codeText.optional() }),
    async answer(call) {
      const person = personOf(call);
      if (person.role === "OPERATOR") {
        throw new DashboardError("NOT_FOR_YOU", {
          message: "An operator’s account is closed by the command line alone.",
          action: "Use “lyrebird person close” on the machine of the server.",
        });
      }
      const { password, code } = call.body;
      await demandPassword(call, password);
      if (person.hasSecondFactor) await demandProof(call, { code });
      const { accounts, control } = call.parts.people;
      if (!(await control.close(person, actorOf(person)))) throw new DashboardError("STATE_CHANGED");
      return { cookies: [accounts.clearedCookie()], body: sessionOf(call.parts, null) };
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

/** Throws unless the caller has proved to be the owner: CODE_NEEDED, CODE_REFUSED, BODY_UNFIT, CREDENTIALS_REFUSED, LOCKED, BUSY. */
async function demandProof(
  call: Pick<DashboardCall, "parts" | "caller" | "signedIn">,
  { password, code }: { readonly password?: string | undefined; readonly code?: string | undefined },
): Promise<void> {
  if (personOf(call).hasSecondFactor) {
    if (code === undefined) throw new DashboardError("CODE_NEEDED");
    await demandCode(call, code);
    return;
  }
  if (password === undefined) throw new DashboardError("BODY_UNFIT", { fields: { password: "is missing" } });
  await demandPassword(call, password);
}

function isByAnother({ who }: AuditRecord, personId: string): boolean {
  return who.kind === "OPERATOR" && who.personId !== personId;
}
