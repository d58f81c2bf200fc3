import type { ComponentProps } from "react";
import { CONTROL_LOOK, Field, type FieldProps } from "./field.tsx";

type SelectProps = FieldProps &
  Omit<ComponentProps<"select">, "className" | "id" | "children"> & {
    options: readonly { readonly value: string; readonly label: string }[];
    /** Shown while nothing is chosen; can't be chosen. */
    placeholder?: string;
  };

/** The browser's own list: it is the one that works everywhere. */
export function Select({
  label,
  hint,
  error,
  isInline = false,
  options,
  placeholder,
  ...select
}: SelectProps) {
  return (
    <Field label={label} hint={hint} error={error} isInline={isInline}>
      {(control) => (
        <select {...select} {...control} className={CONTROL_LOOK}>
          {placeholder !== undefined && (
            <option value="" disabled>
              {placeholder}
            </option>
          )}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
