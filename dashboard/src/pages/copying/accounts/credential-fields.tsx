// An API key of the exchange, its secret, and a code: for connecting an account and for replacing its key.
import { CodeInput } from "../../../ui/forms/code-input.tsx";
import { PasswordInput } from "../../../ui/forms/password-input.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import type { Form } from "../../../ui/forms/use-form.ts";

const KEY_LENGTH_MAX = 200;

export type Credentials = { readonly apiKey: string; readonly apiSecret: string; readonly code: string };
export const NO_CREDENTIALS: Credentials = { apiKey: "", apiSecret: "", code: "" };

/** A form whose values are credentials among others. */
type CredentialsForm = {
  readonly values: Credentials;
  readonly fields: Form<Credentials>["fields"];
  readonly set: (changes: Partial<Credentials>) => void;
};

export function CredentialFields({ form: { values, fields, set } }: { form: CredentialsForm }) {
  return (
    <>
      <TextInput
        label="API key of the exchange"
        hint="It needs permission to read and trade, and must not have permission to withdraw."
        name="apiKey"
        isMonospace
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        maxLength={KEY_LENGTH_MAX}
        value={values.apiKey}
        onChange={({ target }) => set({ apiKey: target.value.trim() })}
        error={fields.apiKey}
      />
      <PasswordInput
        label="Secret of the key"
        hint="It is stored encrypted and never shown again."
        name="apiSecret"
        isForeign
        maxLength={KEY_LENGTH_MAX}
        value={values.apiSecret}
        onChange={({ target }) => set({ apiSecret: target.value.trim() })}
        error={fields.apiSecret}
      />
      <CodeInput
        label="Code of your second factor here"
        value={values.code}
        onChange={(code) => set({ code })}
        error={fields.code}
      />
    </>
  );
}
