import type { FormEvent, ReactNode } from "react";
import { Button } from "../button.tsx";
import { ErrorNote } from "../note.tsx";
import { DialogActions } from "../overlays/dialog.tsx";

/** What is being sent; a `Form` is one. */
type Sending = {
  readonly onSubmit: () => void;
  readonly isBusy: boolean;
  /** Why the last attempt failed; null where none did. */
  readonly error: unknown;
};

type DialogFormProps = {
  /** On the button: "Create the key". */
  action: string;
  kind?: "primary" | "danger";
  form: Sending;
  onCancel: () => void;
  children?: ReactNode;
};

/** The fields of a dialog, why the server rejected them, and the two ways out. */
export function DialogForm({ action, kind = "primary", form, onCancel, children }: DialogFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    form.onSubmit();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      {form.error !== null && <ErrorNote error={form.error} />}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind={kind} isBusy={form.isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
