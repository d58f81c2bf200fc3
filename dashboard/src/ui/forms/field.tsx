// A labeled control with its hint and its error, tied together for screen readers. The controls below are
// built on it.
import { type ReactNode, useId } from "react";

export type FieldProps = {
  label: string;
  hint?: ReactNode;
  /** Puts the label before the control, in one line: for filters at the head of a page or a card. */
  isInline?: boolean;
  /**
   * What is wrong with it, as a sentence, or as the rest of one that begins with the label; undefined where
   * nothing is.
   */
  error?: string | undefined;
};

/** What a control needs so that its label, hint and error belong to it. */
export type ControlProps = { id: string; "aria-describedby": string | undefined; "aria-invalid": boolean };

export const CONTROL_LOOK =
  "w-full min-h-9 rounded-md border bg-surface px-3 py-1.5 text-base text-ink placeholder:text-ink-soft " +
  "border-line-strong aria-invalid:border-loss disabled:bg-sunken disabled:text-ink-soft";

export function Field({
  label,
  hint,
  error,
  isInline = false,
  children,
}: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const { describedBy, notes } = useNotes(
    id,
    hint,
    error === undefined ? undefined : sentenceOf(label, error),
  );
  return (
    <div className={isInline ? "flex items-center gap-2" : "flex flex-col gap-1"}>
      <label
        htmlFor={id}
        className={isInline ? "whitespace-nowrap text-ink-soft text-sm" : "font-medium text-sm"}
      >
        {label}
      </label>
      {children({ id, "aria-describedby": describedBy, "aria-invalid": error !== undefined })}
      {notes}
    </div>
  );
}

/** The hint and the error below a control, and the ids by which it refers to them. */
export function useNotes(id: string, hint: ReactNode, error: string | undefined) {
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  const errorId = error === undefined ? undefined : `${id}-error`;
  const describedBy = [errorId, hintId].filter((each) => each !== undefined).join(" ") || undefined;
  const notes = (
    <>
      {error !== undefined && (
        <p id={errorId} className="text-sm text-loss">
          <span aria-hidden="true">✕ </span>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} className="text-sm text-ink-soft">
          {hint}
        </p>
      )}
    </>
  );
  return { describedBy, notes };
}

/** The server says "must be one line of plain text" of a field that it knows by another name. */
function sentenceOf(label: string, error: string): string {
  const sentence = /^\p{Ll}/u.test(error) ? `${label} ${error}` : error;
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
