// The page of a sign-up mail's link: the reader of the mail chooses the name and password of the new account.

import { useEffect } from "react";
import { call, isApiError } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { focusHeading } from "../app/focus.ts";
import { ButtonLink, TextLink } from "../ui/button.tsx";
import { Note } from "../ui/card.tsx";
import { PasswordInput, TextInput } from "../ui/forms/field.tsx";
import { SubmitForm, useForm } from "../ui/forms/form.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { AskForLink, useLinkToken } from "./entrance/ask-for-link.tsx";

const LIFETIME = "24 hours";

export function Page() {
  const token = useLinkToken();
  return token === null ? <NoToken /> : <FinishSignUp key={token} token={token} />;
}

function NoToken() {
  return (
    <>
      <PageHeader
        title="Verify your e-mail address"
        lead="Open the link that you received. If you lost it or it has expired, request another one."
      />
      <AskForLink path="/sign-up" action="Send a link" lifetime={LIFETIME} />
    </>
  );
}

function FinishSignUp({ token }: { token: string }) {
  const form = useForm({
    first: { name: "", password: "" },
    send: (values) => call("POST /verify-email", { token, ...values }),
  });
  if (form.answer !== undefined) return <Done />;
  return (
    <>
      <PageHeader
        title="Finish creating your account"
        lead="Your e-mail address is verified with this step. Choose how you sign in."
      />
      <SubmitForm form={form} action="Create the account" isWide className="max-w-md gap-4">
        <TextInput
          label="Name"
          hint="The name that the dashboard shows."
          autoComplete="name"
          required
          {...form.control("name")}
        />
        <PasswordInput isNew {...form.control("password")} />
      </SubmitForm>
      {isApiError(form.error, "LINK_REFUSED") && (
        <div className="mt-5 flex max-w-md flex-col gap-4 border-line border-t pt-4">
          <p>
            A link works once. If you have used it before, your account is there:{" "}
            <TextLink to="/sign-in">sign in</TextLink>. Otherwise ask for another.
          </p>
          <AskForLink path="/sign-up" action="Send another link" lifetime={LIFETIME} />
        </div>
      )}
    </>
  );
}

function Done() {
  const { person } = useSession();
  useEffect(() => void focusHeading(), []);
  return (
    <>
      <PageHeader title="Your e-mail address is verified" />
      <div className="flex flex-col items-start gap-4">
        <Note tone="gain">
          {person === null
            ? "Your account is ready. Sign in to continue: the next step is your identity."
            : "The account is ready. You are still signed in with another one here."}
        </Note>
        <ButtonLink to={person === null ? "/sign-in" : "/"}>
          {person === null ? "Sign in" : "Continue"}
        </ButtonLink>
      </div>
    </>
  );
}
