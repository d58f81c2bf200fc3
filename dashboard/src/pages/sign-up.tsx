// A new account begins with its e-mail address. The answer never says whether it was known: its owner learns
// that by mail. Name and password are chosen on the page of the mailed link.

import { useEffect, useState } from "react";
import { type Answer, call } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { focusHeading } from "../app/focus.ts";
import { Button, ButtonLink, TextLink } from "../ui/button.tsx";
import { Note } from "../ui/card.tsx";
import { TextInput } from "../ui/forms/field.tsx";
import { type Form, SubmitForm, useForm } from "../ui/forms/form.tsx";
import { PageHeader, Screen } from "../ui/page-header.tsx";
import { AskForLink, LinkSent } from "./entrance/ask-for-link.tsx";

export function Page() {
  const form = useForm({ first: { email: "" }, send: ({ email }) => call("POST /sign-up", { email }) });
  if (form.answer !== undefined) return <Sent mail={form.answer.mail} email={form.values.email} />;
  return (
    <>
      <PageHeader
        title="Create an account"
        lead="Trade a virtual account with the client that you already have. Virtual accounts involve no real money."
      />
      <SignUpForm form={form} />
      <p className="mt-5">
        Already have an account? <TextLink to="/sign-in">Sign in</TextLink>
      </p>
    </>
  );
}

function SignUpForm({ form }: { form: Form<{ email: string }> }) {
  const { server } = useSession();
  return (
    <SubmitForm form={form} action="Send the link" isWide>
      <TextInput
        label="E-mail address"
        hint={
          server.sendsMail ? "We send it a link. On its page you choose your name and password." : undefined
        }
        type="email"
        autoComplete="username"
        required
        {...form.control("email")}
      />
      {!server.sendsMail && (
        <Note>
          This server sends no mail. The link on whose page you choose your name and password is written to
          its log, where it was started.
        </Note>
      )}
    </SubmitForm>
  );
}

function Sent({ mail, email }: { mail: Answer<"POST /sign-up">["mail"]; email: string }) {
  const [isAsking, setAsking] = useState(false);
  useEffect(() => void focusHeading(), []);
  return (
    <Screen
      title="Verify your e-mail address"
      lead="Choose your name and password on the page that the link opens."
    >
      <LinkSent mail={mail} email={email} lifetime="24 hours" />
      <div className="flex flex-wrap gap-2">
        {!isAsking && <Button onClick={() => setAsking(true)}>Ask for another link</Button>}
        <ButtonLink to="/sign-in" kind="quiet">
          Go to sign in
        </ButtonLink>
      </div>
      {isAsking && (
        <AskForLink
          path="/sign-up"
          action="Send another link"
          kind="quiet"
          lifetime="24 hours"
          email={email}
        />
      )}
    </Screen>
  );
}
