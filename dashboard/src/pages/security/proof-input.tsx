// Proof that the owner asks: a code where there is a second factor, else the password.
import { usePerson } from "../../api/session.ts";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import type { Form } from "../../ui/forms/use-form.ts";

type Proof = { readonly password: string | undefined; readonly code: string | undefined };
export const NO_PROOF: Proof = { password: undefined, code: undefined };

export function ProofInput({ form }: { form: Form<Proof> }) {
  const { hasSecondFactor } = usePerson();
  const { values, fields, set } = form;
  if (hasSecondFactor) {
    return (
      <CodeInput value={values.code ?? ""} onChange={(code) => set({ code })} error={fields.code} autoFocus />
    );
  }
  return <PasswordInput {...form.control("password")} value={values.password ?? ""} />;
}
