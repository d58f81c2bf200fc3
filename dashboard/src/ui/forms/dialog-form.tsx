import type { FormEvent, ReactNode } from "react";
import { Button } from "../button.tsx";
import { ErrorNote } from "../note.tsx";
import { Dialog, DialogActions } from "../overlays/dialog.tsx";
import { type Form, type FormOptions, useForm } from "./use-form.ts";

/** What is being sent; a `Form` is one. */
export type Sending = {
  readonly onSubmit: () => void;
  readonly isBusy: boolean;
  /** Why the last attempt failed; null where none did. */
  readonly error: unknown;
};

type DialogFormProps = {
  /** On the button: "Create the key". */
  action: string;
  kind?: "primary" | "danger";
  /** On the button that sends nothing. */
  cancel?: string;
  form: Sending;
  onCancel: () => void;
  children?: ReactNode;
};

/** The fields of a dialog, why the server rejected them, and the two ways out. */
export function DialogForm(props: DialogFormProps) {
  const { action, kind = "primary", cancel = "Cancel", form, onCancel, children } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    form.onSubmit();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      {form.error !== null && <ErrorNote error={form.error} />}
      <DialogActions>
        <Button onClick={onCancel}>{cancel}</Button>
        <Button type="submit" kind={kind} isBusy={form.isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

type FormDialogProps<Values extends object, Answer> = FormOptions<Values, Answer> &
  Pick<DialogFormProps, "action" | "kind" | "cancel"> & {
    isOpen: boolean;
    onClose: () => void;
    title: string;
    description?: ReactNode;
    children?: (form: Form<Values>) => ReactNode;
  };

/** A dialog that is a form: it starts empty whenever it is opened, and closes when it is done. */
export function FormDialog<Values extends object, Answer>(props: FormDialogProps<Values, Answer>) {
  const { isOpen, onClose, title, description } = props;
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} description={description}>
      <FormOfDialog {...props} />
    </Dialog>
  );
}

function FormOfDialog<Values extends object, Answer>(props: FormDialogProps<Values, Answer>) {
  const { action, kind = "primary", cancel = "Cancel", onClose, onDone, children, ...options } = props;
  const form = useForm<Values, Answer>({
    ...options,
    onDone: (answer) => {
      onClose();
      return onDone?.(answer);
    },
  });
  return (
    <DialogForm action={action} kind={kind} cancel={cancel} form={form} onCancel={onClose}>
      {children?.(form)}
    </DialogForm>
  );
}
