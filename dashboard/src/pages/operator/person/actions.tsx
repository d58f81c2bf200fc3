// What an operator does with somebody's account: end sign-ins, lock and unlock, reset the second factor, close. Each dialog says first
// what it does; the server audits it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { PersonDetailShape } from "../../../../../src/dashboard/shapes.ts";
import { AccountContents } from "../../../account/contents.tsx";
import { call } from "../../../api/call.ts";
import { fieldsOf } from "../../../api/error.ts";
import { personQuery } from "../../../api/operator.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeInput } from "../../../ui/forms/code-input.tsx";
import { ConfirmByTyping } from "../../../ui/forms/confirm-by-typing.tsx";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";

const REASON_LENGTH_MAX = 200;

type Action = "END_SESSIONS" | "LOCK" | "UNLOCK" | "RESET_FACTOR" | "CLOSE";
type ActionProps = { detail: PersonDetailShape };

export function PersonActions({ detail }: ActionProps) {
  const { person, contents } = detail;
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
        path="/end-sessions"
        action="End the sessions"
        done="Sessions ended"
      >
        <p>They are signed out of every browser and can sign in again. Their API keys keep working.</p>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "LOCK"}
        title="Lock this account?"
        path="/lock"
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
        path="/unlock"
        action="Unlock"
        done="Account unlocked"
      >
        <p>They can sign in, their keys work again, and the copies that the lock paused follow again.</p>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "RESET_FACTOR"}
        title="Reset their second factor?"
        path="/reset-second-factor"
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
  /** Under the person's path. */
  path: string;
  /** On the button. */
  action: string;
  /** Said when it is done. */
  done: string;
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

function ActionForm({
  detail,
  onClose,
  path,
  action,
  done,
  asks,
}: Omit<ActionDialogProps, "isOpen" | "title" | "children">) {
  const [given, setGiven] = useState("");
  const { mutate, error, isPending } = useAction({
    personId: detail.person.personId,
    path,
    body: asks === "REASON" ? { reason: given } : asks === "CODE" ? { code: given } : undefined,
    done,
    onDone: onClose,
    onError: () => asks === "CODE" && setGiven(""),
  });
  const fields = fieldsOf(error);
  return (
    <DialogForm
      action={action}
      kind={path === "/unlock" ? "primary" : "danger"}
      onSubmit={mutate}
      onCancel={onClose}
      isBusy={isPending}
      error={error}
    >
      {asks === "REASON" && (
        <TextInput
          label="Reason"
          hint="For the audit. The person is not shown it."
          name="reason"
          required
          maxLength={REASON_LENGTH_MAX}
          value={given}
          onChange={({ target }) => setGiven(target.value)}
          error={fields.reason}
        />
      )}
      {asks === "CODE" && (
        <CodeInput label="Your code" value={given} onChange={setGiven} error={fields.code} autoFocus />
      )}
    </DialogForm>
  );
}

function CloseDialog({ detail, isOpen, onClose }: DialogProps) {
  const { person, contents } = detail;
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useAction({
    personId: person.personId,
    path: "/close",
    body: { code },
    done: "Account closed",
    onDone: onClose,
    onError: () => setCode(""),
  });
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title="Close this account for good?"
      confirmation={person.email}
      action="Close the account"
      onConfirm={mutate}
      isBusy={isPending}
      error={error}
      more={<CodeInput label="Your code" value={code} onChange={setCode} error={fieldsOf(error).code} />}
    >
      <AccountContents contents={contents} />
    </ConfirmByTyping>
  );
}

function useAction({
  personId,
  path,
  body,
  done,
  onDone,
  onError,
}: {
  personId: string;
  path: string;
  body: object | undefined;
  done: string;
  onDone: () => void;
  onError: () => unknown;
}) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call("POST", `/operator/people/${encodeURIComponent(personId)}${path}`, body),
    onSuccess: () => {
      toast(done);
      onDone();
    },
    onError,
    onSettled: () => queries.invalidateQueries({ queryKey: personQuery(personId).queryKey }),
    gcTime: 0,
  });
}
