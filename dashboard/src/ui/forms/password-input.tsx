import { type ComponentProps, useState } from "react";
import { CONTROL_LOOK, Field, type FieldProps } from "./field.tsx";

/** Of a new one; the server decides, this spares a round trip. */
const NEW_LENGTH = { minLength: 10, maxLength: 200 } as const;
const NEW_HINT = "At least 10 characters. A few words that don't belong together are good.";

type PasswordInputProps = Omit<FieldProps, "label"> & {
  label?: string;
  /** Whether it is the one that is or one that will be: password managers ask differently, and a new one has its bounds. */
  isNew?: boolean;
  /** A secret of another service: password managers neither fill it in nor keep it. */
  isForeign?: boolean;
} & Omit<ComponentProps<"input">, "className" | "id" | "type" | "autoComplete">;

/** A password, which its owner may look at while typing: so it needs no second field. */
export function PasswordInput({
  label = "Password",
  hint,
  error,
  isNew = false,
  isForeign = false,
  ...input
}: PasswordInputProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint ?? (isNew ? NEW_HINT : undefined)} error={error}>
      {(control) => (
        <div className="relative">
          <input
            name="password"
            required
            {...(isNew ? NEW_LENGTH : {})}
            {...input}
            {...control}
            type={isShown ? "text" : "password"}
            autoComplete={isForeign ? "off" : isNew ? "new-password" : "current-password"}
            autoCapitalize="none"
            spellCheck={false}
            className={`${CONTROL_LOOK} pr-16`}
          />
          <button
            type="button"
            aria-pressed={isShown}
            aria-label={`Show ${label.toLowerCase()}`}
            onClick={() => setShown(!isShown)}
            className="absolute top-1 right-1 bottom-1 rounded-sm px-2.5 font-medium text-accent-ink text-xs hover:bg-hover"
          >
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </Field>
  );
}
