// A new account begins with its e-mail address. The answer never says whether it was known: its owner learns that by mail. Name and
// password are chosen on the page of the mailed link.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import type { MailShape } from "../../../src/dashboard/shapes.ts";
import { call } from "../api/call.ts";
import { fieldsOf } from "../api/error.ts";
import { useSession } from "../api/session.ts";
import { focusHeading } from "../app/focus.ts";
import { Button, buttonLook, TEXT_LINK } from "../ui/button.tsx";
import { TextInput } from "../ui/forms/text-input.tsx";
import { ErrorNote, Note } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
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
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<MailShape>("POST", "/sign-up", { email }),
    onSuccess: (answer) => onSent(answer.mail),
    gcTime: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextInput
        label="E-mail address"
        hint={
          server.sendsMail ? "We send it a link. On its page you choose your name and password." : undefined
        }
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={(event) => onEmail(event.target.value)}
        error={fieldsOf(error).email}
      />
      {!server.sendsMail && (
        <Note>
          This server sends no mail. The link on whose page you choose your name and password is written to
          its log, where it was started.
        </Note>
      )}
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" kind="primary" isBusy={isPending}>
        Send the link
      </Button>
    </form>
  );
}

function Sent({ mail, email }: { mail: MailShape["mail"]; email: string }) {
  const [isAsking, setAsking] = useState(false);
  useEffect(() => void focusHeading(), []);
  return (
    <>
      <PageHeader
        title="Verify your e-mail address"
        lead="Choose your name and password on the page that the link opens."
      />
      <div className="flex flex-col gap-5">
        <LinkSent mail={mail} email={email} lifetime="24 hours" />
        <div className="flex flex-wrap gap-2">
          {!isAsking && <Button onClick={() => setAsking(true)}>Ask for another link</Button>}
          <Link to="/sign-in" className={buttonLook("quiet")}>
            Go to sign in
          </Link>
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
      </div>
    </>
  );
}
