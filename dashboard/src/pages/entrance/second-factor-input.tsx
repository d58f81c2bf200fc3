// The code of an authenticator, or in its place one of the recovery codes.
import { useState } from "react";
import { TEXT_LINK } from "../../ui/button.tsx";
import { CodeInput, TextInput } from "../../ui/forms/field.tsx";

type SecondFactorInputProps = {
  value: string;
  onChange: (code: string) => void;
  error?: string | undefined;
  autoFocus?: boolean;
};

export function SecondFactorInput({ value, onChange, error, autoFocus = false }: SecondFactorInputProps) {
  const [isRecovery, setRecovery] = useState(false);
  const turn = () => {
    setRecovery(!isRecovery);
    onChange("");
  };
  return (
    <div className="flex flex-col items-start gap-2">
      {isRecovery ? (
        <TextInput
          label="Recovery code"
          hint="One of those that you saved when you set up the second factor. Each works once."
          name="recovery-code"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          isMonospace
          required
          autoFocus
          value={value}
          onChange={(event) => onChange(event.target.value.trim())}
          error={error}
        />
      ) : (
        <CodeInput value={value} onChange={onChange} error={error} autoFocus={autoFocus} />
      )}
      <button type="button" onClick={turn} className={`${TEXT_LINK} text-sm`}>
        {isRecovery ? "Use the authenticator" : "Use a recovery code"}
      </button>
    </div>
  );
}
