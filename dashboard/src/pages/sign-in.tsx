// E-mail address and password, then the second factor where there is one. The frame leads on once somebody is signed in.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { SessionShape } from "../../../src/dashboard/shapes.ts";
import { call } from "../api/call.ts";
import { asApiError, fieldsOf } from "../api/error.ts";
import { takeSession, useSession } from "../api/session.ts";
import { Button, TEXT_LINK } from "../ui/button.tsx";
import { PasswordInput } from "../ui/forms/password-input.tsx";
import { TextInput } from "../ui/forms/text-input.tsx";
import { ErrorNote, Note } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { AskForLink } from "./entrance/ask-for-link.tsx";
import { SecondFactorInput } from "./entrance/second-factor-input.tsx";

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

function signIn(body: Credentials & { readonly code?: string }): Promise<SessionShape> {
  return call<SessionShape>("POST", "/session", body);
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
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => signIn(credentials),
    onSuccess: takeSession,
    onError: (refusal) => {
      if (asApiError(refusal).code === "CODE_NEEDED") onCodeNeeded();
    },
    gcTime: 0,
  });
  const refusal = error === null ? null : asApiError(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <>
      <PageHeader title="Sign in" />
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextInput
          label="E-mail address"
          type="email"
          name="email"
          autoComplete="username"
          required
          value={credentials.email}
          onChange={(event) => onChange({ ...credentials, email: event.target.value })}
          error={refusal?.fields.email}
        />
        <PasswordInput
          autoFocus={hasReturned}
          value={credentials.password}
          onChange={(event) => onChange({ ...credentials, password: event.target.value })}
          error={refusal?.fields.password}
        />
        {refusal !== null && refusal.code !== "CODE_NEEDED" && <ErrorNote error={refusal} />}
        <Button type="submit" kind="primary" isBusy={isPending}>
          Sign in
        </Button>
      </form>
      {refusal?.code === "EMAIL_NOT_VERIFIED" && (
        <div className="mt-5 border-line border-t pt-4">
          <AskForLink
            path="/sign-up"
            action="Send another link"
            kind="quiet"
            lifetime="24 hours"
            email={credentials.email}
          />
        </div>
      )}
      <div className="mt-5 flex flex-wrap justify-between gap-x-6 gap-y-2">
        <Link to="/forgot-password" className={TEXT_LINK}>
          Forgot your password?
        </Link>
        <Link to="/sign-up" className={TEXT_LINK}>
          Create an account
        </Link>
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
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => signIn({ ...credentials, code }),
    onSuccess: takeSession,
    onError: () => setCode(""),
    gcTime: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
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
      <form onSubmit={submit} className="flex flex-col gap-4">
        <SecondFactorInput value={code} onChange={setCode} error={fieldsOf(error).code} autoFocus />
        {error !== null && <ErrorNote error={error} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" isBusy={isPending}>
            Sign in
          </Button>
          <Button onClick={onBack}>Back</Button>
        </div>
      </form>
    </>
  );
}
