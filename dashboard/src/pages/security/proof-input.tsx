// That it is the owner who asks: a code where there is a second factor, else the password.
import { usePerson } from "../../api/session.ts";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";

export type Proof = { readonly password?: string; readonly code?: string };
type ProofInputProps = {
  value: Proof;
  onChange: (proof: Proof) => void;
  fields: Readonly<Record<string, string>>;
};

export function ProofInput({ value, onChange, fields }: ProofInputProps) {
  const { hasSecondFactor } = usePerson();
  if (hasSecondFactor) {
    return (
      <CodeInput
        value={value.code ?? ""}
        onChange={(code) => onChange({ code })}
        error={fields.code}
        autoFocus
      />
    );
  }
  return (
    <PasswordInput
      value={value.password ?? ""}
      onChange={({ target }) => onChange({ password: target.value })}
      error={fields.password}
    />
  );
}
