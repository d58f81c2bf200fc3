// Where the link of a password mail leads: the new password, once.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { call, isApiError } from "../api/call.ts";
import { refreshSession } from "../api/session.ts";
import { focusHeading } from "../app/focus.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Note } from "../ui/card.tsx";
import { PasswordInput } from "../ui/forms/field.tsx";
import { SubmitForm, useForm } from "../ui/forms/form.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { AskForLink, useLinkToken } from "./entrance/ask-for-link.tsx";

export function Page() {
  const { done } = useSearch({ from: "/reset-password" });
  const token = useLinkToken();
  if (done !== undefined) return <Done />;
  if (token !== null) return <ResetForm key={token} token={token} />;
  return (
    <>
      <PageHeader
        title="Choose a new password"
        lead="Open the link that you received. If you lost it or it has expired, request another one."
      />
      <AskForLink path="/password-reset" action="Send a link" lifetime="one hour" />
    </>
  );
}

function ResetForm({ token }: { token: string }) {
  const navigate = useNavigate();
  const form = useForm({
    first: { password: "" },
    send: ({ password }) => call("POST /password-reset/finish", { token, password }),
    onDone: async () => {
      // The address says that it is done: the page may be rendered again, since a person who was signed in
      // here is signed out.
      await navigate({ to: "/reset-password", search: { done: "1" }, hash: "", replace: true });
      await refreshSession();
    },
  });
  return (
    <>
      <PageHeader
        title="Choose a new password"
        lead="A new password ends every session of your account. Bots are not affected: they use API keys."
      />
      <SubmitForm form={form} action="Set the password" isWide className="max-w-md gap-4">
        <PasswordInput label="New password" isNew {...form.control("password")} />
      </SubmitForm>
      {isApiError(form.error, "LINK_REFUSED") && (
        <div className="mt-5 max-w-md border-line border-t pt-4">
          <AskForLink path="/password-reset" action="Send another link" lifetime="one hour" />
        </div>
      )}
    </>
  );
}

function Done() {
  useEffect(() => void focusHeading(), []);
  return (
    <>
      <PageHeader title="Your password is set" />
      <div className="flex flex-col items-start gap-4">
        <Note tone="gain">Every session has ended. Sign in with the new password.</Note>
        <ButtonLink to="/sign-in">Sign in</ButtonLink>
      </div>
    </>
  );
}
