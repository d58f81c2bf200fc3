import type { ComponentProps } from "react";
import { CONTROL_LOOK, Field, type FieldProps } from "./field.tsx";

type TextInputProps = FieldProps &
  Omit<ComponentProps<"input">, "className" | "id"> & {
    /** For keys, amounts and ids. */
    isMonospace?: boolean;
  };

export function TextInput({ label, hint, error, isMonospace = false, ...input }: TextInputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          type="text"
          {...input}
          {...control}
          className={`${CONTROL_LOOK} ${isMonospace ? "font-mono" : ""}`}
        />
      )}
    </Field>
  );
}
