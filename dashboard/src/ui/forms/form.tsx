import { type QueryKey, useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { type ApiError, asApiError, fieldsOf, outdate } from "../../api/call.ts";
import { Button } from "../button.tsx";
import { ErrorNote } from "../card.tsx";
import { useIsShown } from "../hooks.ts";
import { Dialog, DialogActions } from "../overlays/dialog.tsx";
import { toast } from "../overlays/toast.tsx";

type SubmitFormProps = {
  form: { onSubmit: (event: FormEvent) => void; isBusy: boolean; error: unknown };
  /** On the button. */
  action: string;
  kind?: "primary" | "quiet";
  isDisabled?: boolean;
  /** The button is as wide as the form. */
  isWide?: boolean;
  /** Beside the button. */
  beside?: ReactNode;
  noValidate?: boolean;
  /** Classes of the form: its width and gap. */
  className?: string;
  children: ReactNode;
};

export function SubmitForm(props: SubmitFormProps) {
  const { form, action, kind = "primary", isDisabled = false, isWide = false } = props;
  const { beside, noValidate = false, className = "gap-4", children } = props;
  const button = (
    <Button type="submit" kind={kind} isBusy={form.isBusy} disabled={isDisabled}>
      {action}
    </Button>
  );
  return (
    <form onSubmit={form.onSubmit} noValidate={noValidate} className={`flex flex-col ${className}`}>
      {children}
      {form.error !== null && <ErrorNote error={form.error} />}
      {isWide ? (
        button
      ) : (
        <div className="flex flex-wrap gap-2">
          {button}
          {beside}
        </div>
      )}
    </form>
  );
}

// The state of a form: the values of its fields, and sending them. A failed attempt clears the code, which
// works only once.

export type FormOptions<Values, Answer> = {
  /** The values at first. */
  readonly first: Values | (() => Values);
  readonly send: (values: Values) => Promise<Answer>;
  /** Said when it is done. */
  readonly says?: string | ((answer: Answer, values: Values) => string);
  /** Keys of the queries that are out of date when it is done. */
  readonly outdates?: readonly QueryKey[];
  readonly onDone?: (answer: Answer) => unknown;
  readonly onError?: (error: ApiError, set: (changes: Partial<Values>) => void) => void;
  readonly onSettled?: () => unknown;
};

export type Form<Values extends object> = ReturnType<typeof useForm<Values, unknown>>;

export function useForm<Values extends object, Answer>(options: FormOptions<Values, Answer>) {
  const { first, send, says, outdates = [], onDone, onError, onSettled } = options;
  const [values, setValues] = useState(first);
  const set = (changes: Partial<Values>) => setValues((before) => ({ ...before, ...changes }));
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () => send(values),
    onSuccess: (answer) => {
      if (says !== undefined) toast(typeof says === "string" ? says : says(answer, values));
      outdate(...outdates);
      return onDone?.(answer);
    },
    onError: (failure) => {
      setValues((before) => ("code" in before ? { ...before, code: "" } : before));
      onError?.(asApiError(failure), set);
    },
    onSettled: () => onSettled?.(),
    // The cache must not keep passwords and codes.
    gcTime: 0,
  });
  const fields = fieldsOf(error);
  const onSubmit = (event?: FormEvent) => {
    event?.preventDefault();
    mutate();
  };
  return {
    values,
    set,
    fields,
    /** Undefined until the server has accepted the form. */
    answer: data,
    reset,
    /** For the element or component of the form. */
    onSubmit,
    isBusy: isPending,
    error,
    /** The props of the input or select of a field. */
    control: <Name extends keyof Values & string>(name: Name) => ({
      name,
      value: values[name],
      onChange: ({ target }: { readonly target: { readonly value: string } }) =>
        set({ [name]: target.value } as unknown as Partial<Values>),
      error: fields[name],
    }),
    /** The props of a component that passes the value itself. */
    direct: <Name extends keyof Values & string>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name]) => set({ [name]: value } as unknown as Partial<Values>),
      error: fields[name],
    }),
  };
}

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
      {/* Unmounted at once: what a closing dialog is given must not reach a request in flight. */}
      {isOpen && <FormOfDialog {...props} />}
    </Dialog>
  );
}

function FormOfDialog<Values extends object, Answer>(props: FormDialogProps<Values, Answer>) {
  const { action, kind = "primary", cancel = "Cancel", onClose, onDone, children, ...options } = props;
  const isShown = useIsShown();
  const form = useForm<Values, Answer>({
    ...options,
    onDone: (answer) => {
      // By now the dialog may be that of something else.
      if (isShown()) onClose();
      return onDone?.(answer);
    },
  });
  return (
    <DialogForm action={action} kind={kind} cancel={cancel} form={form} onCancel={onClose}>
      {children?.(form)}
    </DialogForm>
  );
}
