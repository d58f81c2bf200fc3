// A form on a page: its fields, why the server rejected them, and the button that sends them.
import type { FormEvent, ReactNode } from "react";
import { Button } from "../button.tsx";
import { ErrorNote } from "../note.tsx";

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
