// For what can't be undone. In a file of its own, so that the frame of all pages, which has forms, does not
// load every kind of field.
import { type ReactNode, useState } from "react";
import { Button } from "../button.tsx";
import { ErrorNote } from "../card.tsx";
import { Dialog, DialogActions } from "../overlays/dialog.tsx";
import { TextInput } from "./field.tsx";
import type { Sending } from "./form.tsx";

type ConfirmByTypingProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** What is to be typed, as it is shown. */
  confirmation: string;
  /** On the button: "Close the strategy". */
  action: string;
  /** What is sent then. */
  form: Sending;
  /** What else is asked for, such as a code. */
  more?: ReactNode;
  /** What will happen. */
  children: ReactNode;
};

/** For what can't be undone: says what will happen, and does it once its name was typed. */
export function ConfirmByTyping(props: ConfirmByTypingProps) {
  const { isOpen, onClose, title, children } = props;
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      {children}
      <ConfirmForm {...props} />
    </Dialog>
  );
}

function ConfirmForm({ confirmation, action, form, onClose, more }: ConfirmByTypingProps) {
  const [typed, setTyped] = useState("");
  const isRight = isConfirmed(typed, confirmation);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight && !form.isBusy) form.onSubmit();
      }}
    >
      <TextInput
        label={`Type ${confirmation} to confirm`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        isMonospace
      />
      {more}
      {form.error !== null && <ErrorNote error={form.error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="danger" disabled={!isRight} isBusy={form.isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Whether what was typed is the text as the page shows it: a browser shows any spaces as one. */
export function isConfirmed(typed: string, confirmation: string): boolean {
  return asShown(typed) === asShown(confirmation);
}

function asShown(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}
