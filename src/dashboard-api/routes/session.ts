// Signing up, verifying the e-mail address, signing in and out, and resetting a password. The answer to an
// e-mail address is the same whether or not it is known.
import { z } from "zod";
import type { Person } from "../../domain/person.ts";
import { codeText } from "../codes.ts";
import { emailField, nameField, passwordField, tokenField } from "../reading.ts";
import { demandGranted, granted } from "../refused.ts";
import { type DashboardAnswer, type DashboardCall, personOf, route } from "../route.ts";
import { nothing } from "../schemas/fields.ts";
import { type SessionJson, sessionSchema } from "../schemas/people.ts";

/** Where the link went. */
const mail = z.object({ mail: z.enum(["SENT", "LOGGED"]) });

export const SESSION_ROUTES = [
  route("GET /session", "ANYONE", sessionSchema, async ({ parts, signedIn }) => ({
    body: sessionOf(parts, signedIn?.person ?? null),
  })),

  route("POST /sign-up", "ANYONE", mail, {
    growsDisk: true,
    body: z.strictObject({ email: emailField }),
    async answer({ parts, body, caller }) {
      demandGranted(await parts.people.signUps.request(body.email, caller));
      return mailed(parts);
    },
  }),

  route("POST /verify-email", "ANYONE", nothing, {
    body: z.strictObject({ token: tokenField, name: nameField, password: passwordField }),
    async answer({ parts, body, caller }) {
      const { cookie } = granted(await parts.people.signUps.finish(body, caller));
      return { cookies: [cookie], body: {} };
    },
  }),

  route("POST /session", "ANYONE", sessionSchema, {
    body: z.strictObject({ email: emailField, password: passwordField, code: codeText.optional() }),
    async answer({ parts, body, caller }) {
      const { email, password, code = null } = body;
      const { person, cookies } = granted(
        await parts.people.accounts.signIn({ email, password, code }, caller),
      );
      return { cookies, body: sessionOf(parts, person) };
    },
  }),

  route("DELETE /session", "SIGNED_IN", sessionSchema, async (call) => {
    const { accounts } = call.parts.people;
    const cookie = await accounts.signOut(personOf(call), call.signedIn?.sessionId ?? "");
    return { cookies: [cookie], body: sessionOf(call.parts, null) };
  }),

  route("POST /password-reset", "ANYONE", mail, {
    body: z.strictObject({ email: emailField }),
    async answer({ parts, body, caller }) {
      demandGranted(await parts.people.passwordResets.request(body.email, caller));
      return mailed(parts);
    },
  }),

  route("POST /password-reset/finish", "ANYONE", nothing, {
    body: z.strictObject({ token: tokenField, password: passwordField }),
    async answer({ parts, body, caller }) {
      const { cookie } = granted(await parts.people.passwordResets.finish(body, caller));
      return { cookies: [cookie], body: {} };
    },
  }),
];

/** Who is signed in, and facts of the server. */
export function sessionOf(
  { server }: Pick<DashboardCall["parts"], "server">,
  person: Person | null,
): SessionJson {
  return { person, server };
}

/** The request was accepted; its result comes by mail. */
function mailed({ people }: DashboardCall["parts"]): DashboardAnswer<z.output<typeof mail>> {
  return { status: 202, body: { mail: people.mailer.sendsMail ? "SENT" : "LOGGED" } };
}
