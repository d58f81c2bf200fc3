// One field and one button: asks for a link by mail, and says where it went.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { MailShape } from "../../../../src/dashboard/shapes.ts";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { Button, type ButtonKind } from "../../ui/button.tsx";
import { TextInput } from "../../ui/forms/text-input.tsx";
import { ErrorNote } from "../../ui/note.tsx";
import { LinkSent } from "./link-sent.tsx";

type AskForLinkProps = {
  path: "/sign-up" | "/password-reset";
  /** On the button. */
  action: string;
  kind?: ButtonKind;
  /** How long the link is good for: "24 hours". */
  lifetime: string;
  /** Known already. */
  email?: string | undefined;
};

export function AskForLink({ path, action, kind = "primary", lifetime, email: known = "" }: AskForLinkProps) {
  const [email, setEmail] = useState(known);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call<MailShape>("POST", path, { email }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextInput
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={fieldsOf(error).email}
      />
      {error !== null && <ErrorNote error={error} />}
      {data !== undefined && !isPending && <LinkSent mail={data.mail} email={email} lifetime={lifetime} />}
      <Button type="submit" kind={data === undefined ? kind : "quiet"} isBusy={isPending}>
        {data === undefined ? action : "Ask again"}
      </Button>
    </form>
  );
}
