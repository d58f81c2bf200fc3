// A new account. The answer never says whether the address was known: its owner learns that by mail.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import type { MailShape } from "../../../src/dashboard/shapes.ts";
import { call } from "../api/call.ts";
import { fieldsOf } from "../api/error.ts";
import { useSession } from "../api/session.ts";
import { focusHeading } from "../app/focus.ts";
import { Button, buttonLook } from "../ui/button.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Note } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { PasswordInput } from "../ui/password-input.tsx";
import { TextInput } from "../ui/text-input.tsx";
import { TEXT_LINK } from "../ui/text-link.ts";
import { AskForLink } from "./entrance/ask-for-link.tsx";
import { LinkSent } from "./entrance/link-sent.tsx";

export function Page() {
  const [email, setEmail] = useState("");
  const [mail, setMail] = useState<MailShape["mail"] | null>(null);
  if (mail !== null) return <Sent mail={mail} email={email} />;
  return (
    <>
      <PageHeader
        title="Create an account"
        lead="Trade a virtual account with the client that you already have. Virtual accounts involve no real money."
      />
      <SignUpForm email={email} onEmail={setEmail} onSent={setMail} />
      <p className="mt-5">
        Already have an account?{" "}
        <Link to="/sign-in" className={TEXT_LINK}>
          Sign in
        </Link>
      </p>
    </>
  );
}

type SignUpFormProps = {
  email: string;
  onEmail: (email: string) => void;
  onSent: (mail: MailShape["mail"]) => void;
};

function SignUpForm({ email, onEmail, onSent }: SignUpFormProps) {
  const { server } = useSession();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<MailShape>("POST", "/sign-up", { name, email, password }),
    onSuccess: (answer) => onSent(answer.mail),
    gcTime: 0,
  });
  const fields = fieldsOf(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextInput
        label="Name"
        name="name"
        hint="The name that the dashboard shows."
        autoComplete="name"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={fields.name}
      />
      <TextInput
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={(event) => onEmail(event.target.value)}
        error={fields.email}
      />
      <PasswordInput
        isNew
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={fields.password}
      />
      {!server.sendsMail && (
        <Note>
          This server sends no mail. The link that verifies your address is written to its log, where it was
          started.
        </Note>
      )}
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" kind="primary" isBusy={isPending}>
        Create the account
      </Button>
    </form>
  );
}

function Sent({ mail, email }: { mail: MailShape["mail"]; email: string }) {
  const [isAsking, setAsking] = useState(false);
  useEffect(() => void focusHeading(), []);
  return (
    <>
      <PageHeader title="Verify your e-mail address" lead="One step is left before you can sign in." />
      <div className="flex flex-col gap-5">
        <LinkSent mail={mail} email={email} lifetime="24 hours" />
        <div className="flex flex-wrap gap-2">
          <Link to="/sign-in" className={buttonLook("primary")}>
            Go to sign in
          </Link>
          {!isAsking && <Button onClick={() => setAsking(true)}>Ask for another link</Button>}
        </div>
        {isAsking && (
          <AskForLink
            path="/verification-mail"
            action="Send another link"
            kind="quiet"
            lifetime="24 hours"
            email={email}
          />
        )}
      </div>
    </>
  );
}
