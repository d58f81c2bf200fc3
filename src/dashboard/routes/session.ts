// Getting in and out: signing up, verifying the e-mail address, signing in and out, and a new password for who has lost the old
// one. Where an e-mail address is asked for, the answer is the same whether or not it is known.
import { z } from "zod";
import type { Person } from "../../domain/person.ts";
import { codeText } from "../codes.ts";
import { presentPerson } from "../present/people.ts";
import { emailField, nameField, passwordField, tokenField } from "../reading.ts";
import { demandGranted, granted } from "../refused.ts";
import { type DashboardAnswer, type DashboardCall, type DashboardRoute, personOf, route } from "../route.ts";
import type { MailShape, SessionShape } from "../shapes.ts";

export const SESSION_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/session",
    access: "ANYONE",
    answer: async ({ parts, signedIn }) => ({ body: sessionOf(parts, signedIn?.person ?? null) }),
  }),

  route({
    method: "POST",
    path: "/sign-up",
    access: "ANYONE",
    growsDisk: true,
    body: z.strictObject({ email: emailField }),
    async answer({ parts, body, caller }) {
      demandGranted(await parts.people.signUps.request(body.email, caller));
      return mailed(parts);
    },
  }),

  route({
    method: "POST",
    path: "/verify-email",
    access: "ANYONE",
    body: z.strictObject({ token: tokenField, name: nameField, password: passwordField }),
    async answer({ parts, body, caller }) {
      const { cookie } = granted(await parts.people.signUps.finish(body, caller));
      return { cookies: [cookie], body: {} };
    },
  }),

  route({
    method: "POST",
    path: "/session",
    access: "ANYONE",
    body: z.strictObject({ email: emailField, password: passwordField, code: codeText.optional() }),
    async answer({ parts, body, caller }) {
      const { email, password, code = null } = body;
      const { person, cookies } = granted(
        await parts.people.accounts.signIn({ email, password, code }, caller),
      );
      return { cookies, body: sessionOf(parts, person) };
    },
  }),

  route({
    method: "DELETE",
    path: "/session",
    access: "SIGNED_IN",
    async answer(call) {
      const { accounts } = call.parts.people;
      const cookie = await accounts.signOut(personOf(call), call.signedIn?.sessionId ?? "");
      return { cookies: [cookie], body: sessionOf(call.parts, null) };
    },
  }),

  route({
    method: "POST",
    path: "/password-reset",
    access: "ANYONE",
    body: z.strictObject({ email: emailField }),
    async answer({ parts, body, caller }) {
      demandGranted(await parts.people.passwordResets.request(body.email, caller));
      return mailed(parts);
    },
  }),

  route({
    method: "POST",
    path: "/password-reset/finish",
    access: "ANYONE",
    body: z.strictObject({ token: tokenField, password: passwordField }),
    async answer({ parts, body, caller }) {
      const { cookie } = granted(await parts.people.passwordResets.finish(body, caller));
      return { cookies: [cookie], body: {} };
    },
  }),
];

/** Who is signed in, and with what server, as the browser gets it. */
export function sessionOf(
  { server }: Pick<DashboardCall["parts"], "server">,
  person: Person | null,
): SessionShape {
  return { person: person === null ? null : presentPerson(person), server };
}

/** The request was taken; what comes of it comes by mail. */
function mailed({ people }: DashboardCall["parts"]): DashboardAnswer {
  const body: MailShape = { mail: people.mailer.sendsMail ? "SENT" : "LOGGED" };
  return { status: 202, body };
}
