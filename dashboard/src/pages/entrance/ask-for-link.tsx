// One field and one button: asks for a link by mail, and says where it went.

import { call } from "../../api/call.ts";
import { TextInput } from "../../ui/forms/field.tsx";
import { SubmitForm } from "../../ui/forms/submit-form.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { LinkSent } from "./link-sent.tsx";

type AskForLinkProps = {
  path: "/sign-up" | "/password-reset";
  /** On the button. */
  action: string;
  kind?: "primary" | "quiet";
  /** How long the link is good for: "24 hours". */
  lifetime: string;
  /** Known already. */
  email?: string | undefined;
};

export function AskForLink({ path, action, kind = "primary", lifetime, email: known = "" }: AskForLinkProps) {
  const form = useForm({
    first: { email: known },
    send: ({ email }) => call(`POST ${path}`, { email }),
  });
  const { values, answer, isBusy } = form;
  return (
    <SubmitForm
      form={form}
      action={answer === undefined ? action : "Ask again"}
      kind={answer === undefined ? kind : "quiet"}
      isWide
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="username"
        required
        {...form.control("email")}
      />
      {answer !== undefined && !isBusy && (
        <LinkSent mail={answer.mail} email={values.email} lifetime={lifetime} />
      )}
    </SubmitForm>
  );
}
