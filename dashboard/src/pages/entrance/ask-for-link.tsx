// One field and one button: asks for a link by mail, and says where it went.

import { call } from "../../api/call.ts";
import { Button, type ButtonKind } from "../../ui/button.tsx";
import { TextInput } from "../../ui/forms/text-input.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
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
  const { values, answer, control, onSubmit, error, isBusy } = useForm({
    first: { email: known },
    send: ({ email }) => call(`POST ${path}`, { email }),
  });
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <TextInput label="E-mail address" type="email" autoComplete="username" required {...control("email")} />
      {error !== null && <ErrorNote error={error} />}
      {answer !== undefined && !isBusy && (
        <LinkSent mail={answer.mail} email={values.email} lifetime={lifetime} />
      )}
      <Button type="submit" kind={answer === undefined ? kind : "quiet"} isBusy={isBusy}>
        {answer === undefined ? action : "Ask again"}
      </Button>
    </form>
  );
}
