import { type ComponentProps, useId } from "react";
import { type FieldProps, useNotes } from "./field.tsx";

type CheckboxProps = FieldProps & Omit<ComponentProps<"input">, "className" | "id" | "type">;

export function Checkbox({ label, hint, error, ...input }: CheckboxProps) {
  const id = useId();
  const { describedBy, notes } = useNotes(id, hint, error);
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="flex min-h-6 items-start gap-2 text-base">
        <input
          {...input}
          id={id}
          type="checkbox"
          aria-describedby={describedBy}
          aria-invalid={error !== undefined}
          className="mt-0.5 size-4.5 shrink-0 accent-accent"
        />
        {label}
      </label>
      {notes}
    </div>
  );
}
