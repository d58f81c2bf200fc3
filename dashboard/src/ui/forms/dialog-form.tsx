import type { FormEvent, ReactNode } from "react";
import { Button } from "../button.tsx";
import { ErrorNote } from "../note.tsx";
import { DialogActions } from "../overlays/dialog.tsx";

type DialogFormProps = {
  /** On the button: "Create the key". */
  action: string;
  kind?: "primary" | "danger";
  onSubmit: () => void;
  onCancel: () => void;
  isBusy: boolean;
  /** Why the last attempt failed; null where none did. */
  error: unknown;
  children: ReactNode;
};

/** What a dialog asks, why the server refused it, and the two ways out. */
export function DialogForm({
  action,
  kind = "primary",
  onSubmit,
  onCancel,
  isBusy,
  error,
  children,
}: DialogFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      {error !== null && <ErrorNote error={error} />}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind={kind} isBusy={isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
