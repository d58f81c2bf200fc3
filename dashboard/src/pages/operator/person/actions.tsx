// An operator's actions on a person's account: ending sessions, locking and unlocking, resetting the second factor, closing. Each
// dialog says first what it does; the server audits it.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { PersonDetailJson } from "../../../../../src/dashboard-api/schemas.ts";
import { AccountContents } from "../../../account/contents.tsx";
import { call } from "../../../api/call.ts";
import { personQuery } from "../../../api/operator.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeInput } from "../../../ui/forms/code-input.tsx";
import { ConfirmByTyping } from "../../../ui/forms/confirm-by-typing.tsx";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";

const REASON_LENGTH_MAX = 200;

type Action = "END_SESSIONS" | "LOCK" | "UNLOCK" | "RESET_FACTOR" | "CLOSE";
type ActionProps = { detail: PersonDetailJson };

export function PersonActions({ detail }: ActionProps) {
  const { person, contents } = detail;
  const { personId } = person;
  const [open, setOpen] = useState<Action | null>(null);
  const close = () => setOpen(null);
  const dialog = { detail, onClose: close };
  return (
    <Card title="Access">
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setOpen("END_SESSIONS")} disabled={contents.sessions === 0}>
          End sessions…
        </Button>
        {person.lockedAt === null ? (
          <Button onClick={() => setOpen("LOCK")}>Lock…</Button>
        ) : (
          <Button onClick={() => setOpen("UNLOCK")}>Unlock…</Button>
        )}
        <Button onClick={() => setOpen("RESET_FACTOR")} disabled={!person.hasSecondFactor}>
          Reset second factor…
        </Button>
        <Button kind="danger" onClick={() => setOpen("CLOSE")}>
          Close the account…
        </Button>
      </div>
      <ActionDialog
        {...dialog}
        isOpen={open === "END_SESSIONS"}
        title="End all sessions?"
        send={() => call("POST /operator/people/:personId/end-sessions", { personId })}
        action="End the sessions"
        done="Sessions ended"
      >
        <p>They are signed out of every browser and can sign in again. Their API keys keep working.</p>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "LOCK"}
        title="Lock this account?"
        send={({ reason }) => call("POST /operator/people/:personId/lock", { personId, reason })}
        action="Lock"
        done="Account locked"
        asks="REASON"
      >
        <ul className="list-disc pl-5">
          <li>Their sessions end, and nobody signs in until you unlock the account.</li>
          <li>Every API key is refused as a revoked one is; streams end.</li>
          <li>Their copies are paused: they open nothing, and still follow exits.</li>
          <li>Their strategies stay as they are; open orders may fill.</li>
        </ul>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "UNLOCK"}
        title="Unlock this account?"
        send={() => call("POST /operator/people/:personId/unlock", { personId })}
        kind="primary"
        action="Unlock"
        done="Account unlocked"
      >
        <p>They can sign in, their keys work again, and the copies that the lock paused follow again.</p>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "RESET_FACTOR"}
        title="Reset their second factor?"
        send={({ code }) => call("POST /operator/people/:personId/reset-second-factor", { personId, code })}
        action="Reset it"
        done="Second factor reset"
        asks="CODE"
      >
        <p>
          Make sure that it is them who ask: afterwards their password alone signs them in. Their sessions
          end, and they get a mail.
        </p>
      </ActionDialog>
      <CloseDialog {...dialog} isOpen={open === "CLOSE"} />
    </Card>
  );
}

type DialogProps = ActionProps & { isOpen: boolean; onClose: () => void };
type ActionDialogProps = DialogProps & {
  title: string;
  send: (values: typeof NOTHING_GIVEN) => Promise<unknown>;
  /** On the button. */
  action: string;
  /** Said when it is done. */
  done: string;
  kind?: "primary" | "danger";
  asks?: "REASON" | "CODE";
  children: ReactNode;
};

function ActionDialog({ isOpen, onClose, title, children, ...form }: ActionDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} description={form.detail.person.email}>
      {children}
      <ActionForm {...form} onClose={onClose} />
    </Dialog>
  );
}

const NOTHING_GIVEN = { reason: "", code: "" };

function ActionForm({
  detail,
  onClose,
  send,
  action,
  done,
  kind = "danger",
  asks,
}: Omit<ActionDialogProps, "isOpen" | "title" | "children">) {
  const form = useAction({ personId: detail.person.personId, send, done, onDone: onClose });
  return (
    <DialogForm action={action} kind={kind} form={form} onCancel={onClose}>
      {asks === "REASON" && (
        <TextInput
          label="Reason"
          hint="For the audit. The person is not shown it."
          required
          maxLength={REASON_LENGTH_MAX}
          {...form.control("reason")}
        />
      )}
      {asks === "CODE" && <CodeInput label="Your code" {...form.direct("code")} autoFocus />}
    </DialogForm>
  );
}

function CloseDialog({ detail, isOpen, onClose }: DialogProps) {
  const { person, contents } = detail;
  const { personId } = person;
  const form = useAction({
    personId,
    send: ({ code }) => call("POST /operator/people/:personId/close", { personId, code }),
    done: "Account closed",
    onDone: onClose,
  });
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title="Close this account for good?"
      confirmation={person.email}
      action="Close the account"
      onConfirm={form.onSubmit}
      isBusy={form.isBusy}
      error={form.error}
      more={<CodeInput label="Your code" {...form.direct("code")} />}
    >
      <AccountContents contents={contents} />
    </ConfirmByTyping>
  );
}

function useAction({
  personId,
  send,
  done,
  onDone,
}: Pick<ActionDialogProps, "send" | "done"> & { personId: string; onDone: () => void }) {
  const queries = useQueryClient();
  return useForm({
    first: NOTHING_GIVEN,
    send,
    onDone: () => {
      toast(done);
      onDone();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: personQuery(personId).queryKey }),
  });
}
