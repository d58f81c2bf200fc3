// E-mail address and password, then the second factor where there is one. The frame opens the next page after
// the sign-in.

import { useState } from "react";
import { call, isApiError } from "../api/call.ts";
import { takeSession, useSession } from "../api/session.ts";
import { Button, TextLink } from "../ui/button.tsx";
import { Note } from "../ui/card.tsx";
import { PasswordInput, TextInput } from "../ui/forms/field.tsx";
import { SubmitForm, useForm } from "../ui/forms/form.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { AskForLink, SecondFactorInput } from "./entrance/ask-for-link.tsx";

type Credentials = { readonly email: string; readonly password: string };

export function Page() {
  const [credentials, setCredentials] = useState<Credentials>({ email: "", password: "" });
  const [isCodeNeeded, setCodeNeeded] = useState(false);
  const [hasReturned, setReturned] = useState(false);
  const back = () => {
    setCodeNeeded(false);
    setReturned(true);
  };
  if (isCodeNeeded) return <SecondStep credentials={credentials} onBack={back} />;
  return (
    <FirstStep
      credentials={credentials}
      hasReturned={hasReturned}
      onChange={setCredentials}
      onCodeNeeded={() => setCodeNeeded(true)}
    />
  );
}

type FirstStepProps = {
  credentials: Credentials;
  /** From the second step: then the password has the focus. */
  hasReturned: boolean;
  onChange: (credentials: Credentials) => void;
  onCodeNeeded: () => void;
};

function FirstStep({ credentials, hasReturned, onChange, onCodeNeeded }: FirstStepProps) {
  const { server } = useSession();
  const form = useForm({
    first: credentials,
    send: (values) => call("POST /session", values),
    onDone: takeSession,
    onError: ({ code }) => {
      if (code !== "CODE_NEEDED") return;
      onChange(form.values);
      onCodeNeeded();
    },
  });
  const { error } = form;
  return (
    <>
      <PageHeader title="Sign in" />
      <SubmitForm
        form={{ ...form, error: isApiError(error, "CODE_NEEDED") ? null : error }}
        action="Sign in"
        isWide
      >
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          required
          {...form.control("email")}
        />
        <PasswordInput autoFocus={hasReturned} {...form.control("password")} />
      </SubmitForm>
      {isApiError(error, "EMAIL_NOT_VERIFIED") && (
        <div className="mt-5 border-line border-t pt-4">
          <AskForLink
            path="/sign-up"
            action="Send another link"
            kind="quiet"
            lifetime="24 hours"
            email={form.values.email}
          />
        </div>
      )}
      <div className="mt-5 flex flex-wrap justify-between gap-x-6 gap-y-2">
        <TextLink to="/forgot-password">Forgot your password?</TextLink>
        <TextLink to="/sign-up">Create an account</TextLink>
      </div>
      {server.isDemo && (
        <div className="mt-6">
          <Note title="This is a demo">
            <p>
              Its trader is <code className="break-all font-mono text-sm">demo@lyrebird.localhost</code>. The
              password was printed once, when the server was first started. You can also create an account of
              your own.
            </p>
          </Note>
        </div>
      )}
    </>
  );
}

function SecondStep({ credentials, onBack }: { credentials: Credentials; onBack: () => void }) {
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("POST /session", { ...credentials, code }),
    onDone: takeSession,
  });
  return (
    <>
      <PageHeader
        title="Your second factor"
        documentTitle="Sign in: second factor"
        lead={
          <>
            Signing in as <span className="break-all">{credentials.email}</span>.
          </>
        }
      />
      <SubmitForm form={form} action="Sign in" beside={<Button onClick={onBack}>Back</Button>}>
        <SecondFactorInput {...form.direct("code")} autoFocus />
      </SubmitForm>
    </>
  );
}
