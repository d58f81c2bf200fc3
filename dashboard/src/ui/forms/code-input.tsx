// The six digits of an authenticator: one field, so that pasting, autofill and screen readers work as everywhere.
import { CONTROL_LOOK, Field } from "./field.tsx";

const DIGITS = 6;

type CodeInputProps = {
  label?: string;
  hint?: string;
  error?: string | undefined;
  value: string;
  /** Digits only, at most six. */
  onChange: (code: string) => void;
  autoFocus?: boolean;
};

export function CodeInput({
  label = "Code",
  hint,
  error,
  value,
  onChange,
  autoFocus = false,
}: CodeInputProps) {
  return (
    <Field
      label={label}
      hint={hint ?? "The six digits that your authenticator shows now. Each code works once."}
      error={error}
    >
      {(control) => (
        <input
          {...control}
          type="text"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]{6}"
          required
          // A code is asked for when there is nothing else to do.
          ref={autoFocus ? focus : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value.replace(/\D/g, "").slice(0, DIGITS))}
          className={`${CONTROL_LOOK} max-w-48 font-mono text-xl tracking-[0.3em]`}
        />
      )}
    </Field>
  );
}

/** Of its own, so that it is called when the input appears and not each time that it is painted. */
function focus(input: HTMLInputElement | null): void {
  input?.focus();
}
