// The caller's own account: password, sessions, profile, its audit, and closing it.
import { z } from "zod";
import type { AuditRecord } from "../../domain/audit.ts";
import { PROFILES } from "../../domain/person.ts";
import { actorOf } from "../../people/second-factor.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf, pageQuery } from "../paging.ts";
import { auditAnswers } from "../people-names.ts";
import { passwordField } from "../reading.ts";
import { demandOwnPassword, demandPassword } from "../refused.ts";
import { type DashboardCall, personOf, route, signedInOf } from "../route.ts";
import { nothing, page, rows } from "../schemas/fields.ts";
import { auditSchema, contentsSchema, ownSessionSchema, sessionSchema } from "../schemas/people.ts";
import { sessionOf } from "./session.ts";

const ID_LENGTH_MAX = 100;

/** That it is the owner: a code where there is a second factor, else the password. */
const proof = { password: passwordField.optional(), code: codeText.optional() };

export const ACCOUNT_ROUTES = [
  route("POST /password", "SIGNED_IN", nothing, {
    body: z.strictObject({ current: passwordField, password: passwordField, code: codeText.optional() }),
    async answer(call) {
      const { current, password, code = null } = call.body;
      const { accounts } = call.parts.people;
      const change = { current, password, code };
      demandOwnPassword(await accounts.changePassword(signedInOf(call), change, call.caller), "current");
      return { body: {} };
    },
  }),

  route("GET /sessions", "SIGNED_IN", rows(ownSessionSchema), async (call) => {
    const own = signedInOf(call).sessionId;
    const sessions = await call.parts.people.accounts.listSessions(personOf(call));
    const rows = sessions.map((session) => ({ ...session, isThisOne: session.sessionId === own }));
    return { body: { rows } };
  }),

  route("POST /sessions/end", "SIGNED_IN", nothing, {
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

  route("GET /account", "SIGNED_IN", contentsSchema, async ({ parts, signedIn }) => ({
    body: await parts.people.control.contentsOf(personOf({ signedIn }).personId),
  })),

  route("POST /account/close", "SIGNED_IN", sessionSchema, {
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

  route("PUT /profile", "SIGNED_IN", sessionSchema, {
    body: z.strictObject({ profile: z.enum(PROFILES) }),
    async answer(call) {
      const person = personOf(call);
      if (person.role === "OPERATOR") throw new DashboardError("NOT_FOR_YOU");
      const switched = await call.parts.people.accounts.switchProfile(person, call.body.profile);
      return { body: sessionOf(call.parts, switched) };
    },
  }),

  route("GET /activity", "SIGNED_IN", page(auditSchema), {
    query: pageQuery,
    async answer(call) {
      const { people } = call.parts.gateway.store;
      const { personId } = personOf(call);
      const found = await people.listAudit({ ...call.query, personId, limit: PAGE_ROWS + 1 });
      const shown = await auditAnswers(people, found);
      const operators = new Set(
        found.filter((each) => isByAnother(each, personId)).map((each) => each.position),
      );
      // Only operators see which operator it was.
      const anonymous = shown.map((record) =>
        operators.has(record.position) ? { ...record, who: "An operator" } : record,
      );
      return { body: pageOf(anonymous, ({ position }) => String(position)) };
    },
  }),
];

/**
 * Throws unless the caller has proved to be the owner: CODE_NEEDED, CODE_REFUSED, BODY_UNFIT,
 * CREDENTIALS_REFUSED, LOCKED, BUSY.
 */
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
