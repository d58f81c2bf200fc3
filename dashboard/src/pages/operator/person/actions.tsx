// An operator's actions on a person's account: ending sessions, locking and unlocking, resetting the second factor, closing. Each
// dialog says first what it does; the server audits it.

import { type ReactNode, useState } from "react";
import type { PersonDetailJson } from "../../../../../src/dashboard-api/schemas.ts";
import { AccountContents } from "../../../account/contents.tsx";
import { call } from "../../../api/call.ts";
import { personQuery } from "../../../api/operator.ts";
import { outdate } from "../../../api/query-client.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeInput, TextInput } from "../../../ui/forms/field.tsx";
import { ConfirmByTyping, FormDialog, useForm } from "../../../ui/forms/form.tsx";

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
        says="Sessions ended"
      >
        <p>They are signed out of every browser and can sign in again. Their API keys keep working.</p>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "LOCK"}
        title="Lock this account?"
        send={({ reason }) => call("POST /operator/people/:personId/lock", { personId, reason })}
        action="Lock"
        says="Account locked"
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
        says="Account unlocked"
      >
        <p>They can sign in, their keys work again, and the copies that the lock paused follow again.</p>
      </ActionDialog>
      <ActionDialog
        {...dialog}
        isOpen={open === "RESET_FACTOR"}
        title="Reset their second factor?"
        send={({ code }) => call("POST /operator/people/:personId/reset-second-factor", { personId, code })}
        action="Reset it"
        says="Second factor reset"
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
  says: string;
  kind?: "primary" | "danger";
  asks?: "REASON" | "CODE";
  children: ReactNode;
};

const NOTHING_GIVEN = { reason: "", code: "" };

function ActionDialog({ detail, asks, children, ...dialog }: ActionDialogProps) {
  const { personId, email } = detail.person;
  return (
    <FormDialog
      kind="danger"
      {...dialog}
      description={email}
      first={NOTHING_GIVEN}
      onSettled={() => outdate(personQuery(personId).queryKey)}
    >
      {({ control, direct }) => (
        <>
          {children}
          {asks === "REASON" && (
            <TextInput
              label="Reason"
              hint="For the audit. The person is not shown it."
              required
              maxLength={REASON_LENGTH_MAX}
              {...control("reason")}
            />
          )}
          {asks === "CODE" && <CodeInput label="Your code" {...direct("code")} autoFocus />}
        </>
      )}
    </FormDialog>
  );
}

function CloseDialog({ detail: { person, contents }, isOpen, onClose }: DialogProps) {
  const { personId } = person;
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("POST /operator/people/:personId/close", { personId, code }),
    says: "Account closed",
    onDone: onClose,
    onSettled: () => outdate(personQuery(personId).queryKey),
  });
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title="Close this account for good?"
      confirmation={person.email}
      action="Close the account"
      form={form}
      more={<CodeInput label="Your code" {...form.direct("code")} />}
    >
      <AccountContents contents={contents} />
    </ConfirmByTyping>
  );
}
