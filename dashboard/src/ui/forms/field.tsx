// A labeled control with its hint and its error, tied together for screen readers. The controls below are
// built on it.
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { Button } from "../button.tsx";

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

/** Of a new one; the server decides, this spares a round trip. */
const NEW_LENGTH = { minLength: 10, maxLength: 200 } as const;
const NEW_HINT = "At least 10 characters. A few words that don't belong together are good.";

type PasswordInputProps = Omit<FieldProps, "label"> & {
  label?: string;
  /**
   * Whether it is the one that is or one that will be: password managers ask differently, and a new one has
   * its bounds.
   */
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

// The six digits of an authenticator: one field, so that pasting, autofill and screen readers work as
// everywhere.

const DIGITS = 6;

type CodeInputProps = {
  label?: string;
  hint?: string;
  error?: string | undefined;
  value: string;
  /** Digits only, at most six. */
  onChange: (code: string) => void;
  autoFocus?: boolean;
};

export function CodeInput({
  label = "Code",
  hint,
  error,
  value,
  onChange,
  autoFocus = false,
}: CodeInputProps) {
  return (
    <Field
      label={label}
      hint={hint ?? "The six digits that your authenticator shows now. Each code works once."}
      error={error}
    >
      {(control) => (
        <input
          {...control}
          type="text"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]{6}"
          required
          // A code is asked for when there is nothing else to do.
          ref={autoFocus ? focus : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value.replace(/\D/g, "").slice(0, DIGITS))}
          className={`${CONTROL_LOOK} max-w-48 font-mono text-xl tracking-[0.3em]`}
        />
      )}
    </Field>
  );
}

/** Of its own, so that it is called when the input appears and not each time that it is painted. */
function focus(input: HTMLInputElement | null): void {
  input?.focus();
}

type RadioCardProps = {
  /** Of the group. */
  name: string;
  value?: string;
  isChosen: boolean;
  onChoose: () => void;
  title: string;
  /** At the right of the title. */
  aside?: ReactNode;
  says: string;
};

/** One choice of a few, with what it means. */
export function RadioCard({ name, value, isChosen, onChoose, title, aside, says }: RadioCardProps) {
  return (
    <label className="flex cursor-pointer gap-3 rounded-md border border-line-strong px-3 py-2.5 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2">
      <input
        type="radio"
        name={name}
        value={value}
        checked={isChosen}
        onChange={onChoose}
        className="mt-1 size-4 shrink-0 accent-accent"
      />
      <span className="min-w-0">
        <span className="flex flex-wrap justify-between gap-x-3">
          <span className="font-medium">{title}</span>
          {aside}
        </span>
        <span className="mt-0.5 block text-ink text-sm">{says}</span>
      </span>
    </label>
  );
}

// A text that a list is searched by, sent with its button or with Enter.

type SearchFormProps = {
  label: string;
  /** What the list is searched by now; give the form a key of it. */
  searched: string;
  maxLength: number;
  /** Undefined if nothing was entered. */
  onSearch: (text: string | undefined) => void;
};

export function SearchForm({ label, searched, maxLength, onSearch }: SearchFormProps) {
  const [text, setText] = useState(searched);
  return (
    <search>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(text.trim() || undefined);
        }}
      >
        <div className="w-56">
          <TextInput
            label={label}
            type="search"
            maxLength={maxLength}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </div>
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
