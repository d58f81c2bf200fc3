// An API key of the exchange, its secret, and a code of one's own: the same where an account is connected and where its key is replaced.
import { CodeInput } from "../../../ui/forms/code-input.tsx";
import { PasswordInput } from "../../../ui/forms/password-input.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";

const KEY_LENGTH_MAX = 200;

export type Credentials = { readonly apiKey: string; readonly apiSecret: string; readonly code: string };
export const NO_CREDENTIALS: Credentials = { apiKey: "", apiSecret: "", code: "" };

type CredentialFieldsProps = {
  value: Credentials;
  onChange: (changes: Partial<Credentials>) => void;
  /** By field, what the server said is wrong with it. */
  errors: Readonly<Record<string, string>>;
};

export function CredentialFields({ value, onChange, errors }: CredentialFieldsProps) {
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
        value={value.apiKey}
        onChange={({ target }) => onChange({ apiKey: target.value.trim() })}
        error={errors.apiKey}
      />
      <PasswordInput
        label="Secret of the key"
        hint="It is stored encrypted and never shown again."
        name="apiSecret"
        isForeign
        maxLength={KEY_LENGTH_MAX}
        value={value.apiSecret}
        onChange={({ target }) => onChange({ apiSecret: target.value.trim() })}
        error={errors.apiSecret}
      />
      <CodeInput
        label="Code of your second factor here"
        value={value.code}
        onChange={(code) => onChange({ code })}
        error={errors.code}
      />
    </>
  );
}
