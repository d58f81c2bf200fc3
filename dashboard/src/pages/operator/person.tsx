// One person: who they are, what they run, and what was done by and to them. Never a secret of theirs.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type {
  KeyJson,
  PersonDetailJson,
  PersonJson,
  StrategyNameJson,
} from "../../../../src/dashboard-api/schemas.ts";
import { AccountContents } from "../../account/contents.tsx";
import { call, outdate } from "../../api/call.ts";
import { personQuery } from "../../api/operator.ts";
import { Badge, inWords, StatusBadge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Loaded } from "../../ui/card.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { type Fact, Facts, fact, Time } from "../../ui/figures/figures.tsx";
import { ConfirmByTyping } from "../../ui/forms/confirm-by-typing.tsx";
import { CodeInput, TextInput } from "../../ui/forms/field.tsx";
import { FormDialog, useForm } from "../../ui/forms/form.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, TableCard, timeColumn } from "../../ui/table.tsx";
import { AuditTable } from "./parts/audit-table.tsx";
import { SubmissionTable } from "./parts/submission-table.tsx";

const route = getRouteApi("/operator/people/$personId");

export function Page() {
  const { personId } = route.useParams();
  const query = useQuery(personQuery(personId));
  const person = query.data?.person;
  const [revoked, setRevoked] = useState<KeyJson | null>(null);
  return (
    <Screen
      title={person === undefined ? "Person" : person.name || person.email}
      badge={person === undefined ? undefined : badgeOf(person)}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <Card title="Account">
              <Facts facts={factsOf(detail.person)} />
            </Card>
            {detail.person.role !== "OPERATOR" && detail.person.closedAt === null && (
              <PersonActions detail={detail} />
            )}
            <TableCard
              title="Strategies"
              columns={STRATEGY_COLUMNS}
              rows={detail.strategies}
              rowKey={({ strategyId }) => strategyId}
              empty="They have no strategy."
            />
            <TableCard
              title="API keys"
              columns={keyColumns(setRevoked)}
              rows={detail.keys}
              rowKey={({ keyId }) => keyId}
              empty="They have no API key."
            />
            <Card title="Identity forms" isFlush>
              <SubmissionTable
                caption="Identity forms"
                rows={detail.submissions}
                without={["E-mail", "Waiting for"]}
                empty="They have submitted none."
              />
            </Card>
            <Card title="Audit trail" isFlush>
              <AuditTable caption="What was done by and to this person" rows={detail.audit} />
            </Card>
            <RevokeKey personId={personId} revoked={revoked} onClose={() => setRevoked(null)} />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function badgeOf({ role, lockedAt, closedAt }: PersonJson) {
  if (closedAt !== null) return <StatusBadge status="CLOSED" />;
  if (lockedAt !== null) return <Badge tone="loss">Locked</Badge>;
  return role === "OPERATOR" ? <Badge tone="accent">Operator</Badge> : undefined;
}

function factsOf(person: PersonJson): readonly Fact[] {
  return [
    fact("E-mail address", <span className="break-all">{person.email}</span>),
    fact("E-mail verified", person.isEmailVerified ? "Yes" : "No"),
    fact("Profile", person.role === "OPERATOR" ? "None: an operator" : inWords(person.profile)),
    fact(
      "Identity",
      <StatusBadge status={person.kyc} {...(person.kyc === "NONE" ? { label: "Not submitted" } : {})} />,
    ),
    ...(person.kycReason === null
      ? []
      : [fact("Rejected because", <span className="whitespace-pre-line">{person.kycReason}</span>)]),
    fact("Second factor", person.hasSecondFactor ? "Enabled" : "Not enabled"),
    ...(person.lockedAt === null ? [] : [fact("Locked since", <Time at={person.lockedAt} />)]),
    ...(person.closedAt === null ? [] : [fact("Closed", <Time at={person.closedAt} />)]),
    fact("Since", <Time at={person.createdAt} />),
    fact("Id", <code className="break-all font-mono text-xs">{person.personId}</code>),
  ];
}

const STRATEGY_COLUMNS: readonly Column<StrategyNameJson>[] = [
  headColumn("Name", ({ name }) => name),
  column("Type", ({ type }) => inWords(type)),
  column("Status", ({ status }) => <StatusBadge status={status} />),
  column("Id", ({ strategyId }) => <code className="break-all font-mono text-xs">{strategyId}</code>),
];

const keyColumns = (onRevoke: (key: KeyJson) => void): readonly Column<KeyJson>[] => [
  ...KEY_COLUMNS,
  numberColumn(
    "Action",
    (key) =>
      key.revokedAt === null && (
        <Button size="small" onClick={() => onRevoke(key)} aria-label={`Revoke the key ${key.label}`}>
          Revoke…
        </Button>
      ),
  ),
];

const KEY_COLUMNS: readonly Column<KeyJson>[] = [
  headColumn("Label", ({ label }) => label),
  column("API key", ({ apiKey }) => (
    <span className="inline-block w-64 max-w-full">
      <Copyable value={apiKey} label="API key" isOneLine />
    </span>
  )),
  column("Status", ({ revokedAt }) => <StatusBadge status={revokedAt === null ? "ACTIVE" : "REVOKED"} />),
  column("Strategy", ({ strategy }) => strategy?.name),
  timeColumn("Created", ({ createdAt }) => createdAt),
  column("Last use", ({ lastUse }) =>
    lastUse === null ? (
      "Never"
    ) : (
      <span>
        <Time at={lastUse.at} /> from <span className="inline-block break-all">{lastUse.address}</span>
      </span>
    ),
  ),
];

type RevokeKeyProps = { personId: string; revoked: KeyJson | null; onClose: () => void };

function RevokeKey({ personId, revoked, onClose }: RevokeKeyProps) {
  const { keyId = "", label = "" } = revoked ?? {};
  return (
    <FormDialog
      isOpen={revoked !== null}
      onClose={onClose}
      title="Revoke this key?"
      description={label}
      action="Revoke the key"
      kind="danger"
      first={{}}
      send={() => call("POST /operator/people/:personId/keys/:keyId/revoke", { personId, keyId })}
      says="API key revoked"
      onSettled={() => outdate(personQuery(personId).queryKey)}
    >
      {() => (
        <p>
          Its next request is refused; this can’t be undone. The strategy, its open orders and its history
          stay as they are. Its owner gets a mail.
        </p>
      )}
    </FormDialog>
  );
}

// An operator's actions on a person's account: ending sessions, locking and unlocking, resetting the second
// factor, closing. Each dialog says first what it does; the server audits it.

const REASON_LENGTH_MAX = 200;

type Action = "END_SESSIONS" | "LOCK" | "UNLOCK" | "RESET_FACTOR" | "CLOSE";
type ActionProps = { detail: PersonDetailJson };

function PersonActions({ detail }: ActionProps) {
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
      {/* What was typed goes with it. */}
      {open === "CLOSE" && <CloseDialog {...dialog} isOpen />}
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
