// The API keys: which there are, what uses them, and when they were used last.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { CreatedKeyJson, KeyJson } from "../../../src/dashboard-api/schemas.ts";
import { call } from "../api/call.ts";
import { usePerson, useSession } from "../api/session.ts";
import { isFreeKey, keysQuery } from "../api/strategy.ts";
import { Button, ButtonLink, TEXT_LINK } from "../ui/button.tsx";
import { EmptyState, Listed } from "../ui/card.tsx";
import { Copyable } from "../ui/copy-button.tsx";
import { Time } from "../ui/figures/figures.tsx";
import { CodeInput, TextInput } from "../ui/forms/field.tsx";
import { DialogForm, useForm } from "../ui/forms/form.tsx";
import { OnceShown } from "../ui/once-shown.tsx";
import { Dialog, DialogActions } from "../ui/overlays/dialog.tsx";
import { Screen } from "../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, Table, TableCard, timeColumn } from "../ui/table.tsx";
import { KeyTest } from "./keys/key-test.tsx";
import { MissingSteps } from "./keys/missing-steps.tsx";
import { RevokeKeyDialog } from "./keys/revoke-key-dialog.tsx";
import { secretFile, secretFileName } from "./keys/secret-file.ts";

export function Page() {
  const person = usePerson();
  const query = useQuery(keysQuery);
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<KeyJson | null>(null);
  const [tested, setTested] = useState<KeyJson | null>(null);
  const live = query.data?.rows.filter(({ revokedAt }) => revokedAt === null);
  const ended = query.data?.rows.filter(({ revokedAt }) => revokedAt !== null) ?? [];
  const mayCreate = person.kyc === "APPROVED" && person.hasSecondFactor;
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      New key
    </Button>
  );
  return (
    <Screen
      title="API keys"
      lead="A bot signs its requests with a key and its secret. Each key belongs to one strategy."
      actions={mayCreate ? create : undefined}
    >
      <MissingSteps person={person} />
      <Listed query={query}>
        <KeyTable
          rows={live}
          onTest={setTested}
          onRevoke={setRevoked}
          empty={
            <EmptyState
              title={ended.length === 0 ? "No keys yet." : "No live keys."}
              {...(mayCreate ? { action: create } : {})}
            >
              Your bot signs its requests with a key. After the key, create a strategy that trades with it.
            </EmptyState>
          }
        />
      </Listed>
      {ended.length > 0 && (
        <TableCard
          title="Revoked"
          caption="Revoked keys"
          columns={[NAME, STRATEGY, LAST_USE, REVOKED]}
          rows={ended}
          rowKey={({ keyId }) => keyId}
        />
      )}

      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
      <RevokeKeyDialog revoked={revoked} onClose={() => setRevoked(null)} />
      <Dialog
        isOpen={tested !== null}
        onClose={() => setTested(null)}
        title="Test this key"
        description={tested?.label}
      >
        {tested !== null && <KeyTest keyId={tested.keyId} />}
      </Dialog>
    </Screen>
  );
}

// The live keys with what can be done to them, and the revoked ones.

type KeyTableProps = {
  rows: readonly KeyJson[] | undefined;
  onTest: (key: KeyJson) => void;
  onRevoke: (key: KeyJson) => void;
  empty: ReactNode;
};

function KeyTable({ rows, onTest, onRevoke, empty }: KeyTableProps) {
  const columns: readonly Column<KeyJson>[] = [
    NAME,
    STRATEGY,
    LAST_USE,
    CREATED,
    numberColumn("Actions", (key) => (
      <span className="inline-flex flex-wrap justify-end gap-2">
        <Button size="small" onClick={() => onTest(key)} aria-label={`Test the key ${key.label}`}>
          Test
        </Button>
        <Button size="small" onClick={() => onRevoke(key)} aria-label={`Revoke the key ${key.label}`}>
          Revoke
        </Button>
      </span>
    )),
  ];
  return (
    <Table caption="Live keys" columns={columns} rows={rows} rowKey={({ keyId }) => keyId} empty={empty} />
  );
}

const NAME: Column<KeyJson> = headColumn("Key", ({ label, apiKey }) => (
  <span className="flex min-w-0 flex-col items-start gap-1">
    <span title={label} className="max-w-64 truncate">
      {label}
    </span>
    <span className="max-w-64 font-normal">
      <Copyable value={apiKey} label={`API key of ${label}`} isOneLine />
    </span>
  </span>
));

const STRATEGY: Column<KeyJson> = column("Strategy", (key) => (
  <span className="inline-flex flex-wrap items-center gap-2">
    {key.strategy !== null && (
      <Link
        to="/strategies/$strategyId"
        params={{ strategyId: key.strategy.strategyId }}
        title={key.strategy.name}
        className={`inline-block max-w-64 truncate ${TEXT_LINK}`}
      >
        {key.strategy.name}
      </Link>
    )}
    {key.strategy?.status === "CLOSED" && <span className="text-ink-soft">closed</span>}
    {isFreeKey(key) && (
      <ButtonLink to="/strategies/new" search={{ key: key.keyId }} kind="quiet" size="small">
        Create one with it
      </ButtonLink>
    )}
  </span>
));

const LAST_USE: Column<KeyJson> = column("Last use", ({ lastUse }) =>
  lastUse === null ? (
    <span className="text-ink-soft">Never</span>
  ) : (
    <span className="inline-flex flex-col max-md:items-end">
      <Time at={lastUse.at} />
      <span className="break-all font-mono text-ink-soft text-xs">
        {lastUse.address} · {lastUse.route}
      </span>
    </span>
  ),
);

const REVOKED: Column<KeyJson> = timeColumn("Revoked", ({ revokedAt }) => revokedAt);

const CREATED: Column<KeyJson> = timeColumn("Created", ({ createdAt }) => createdAt, "date");

// A new key: its label and a fresh code, then the secret, shown this once.

const LABEL_LENGTH_MAX = 60;

function CreateKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const [created, setCreated] = useState<CreatedKeyJson | null>(null);
  const close = () => {
    setCreated(null);
    onClose();
  };
  const goOn = (keyId: string) => {
    close();
    void navigate({ to: "/strategies/new", search: { key: keyId } });
  };
  return (
    <Dialog
      isOpen={isOpen || created !== null}
      onClose={close}
      isHeld={created !== null}
      title={created === null ? "New API key" : "Save the secret"}
    >
      {created === null ? (
        <CreateForm onCancel={close} onCreated={setCreated} />
      ) : (
        <Secret created={created} onDone={close} onStrategy={() => goOn(created.key.keyId)} />
      )}
    </Dialog>
  );
}

type CreateFormProps = { onCancel: () => void; onCreated: (created: CreatedKeyJson) => void };

function CreateForm({ onCancel, onCreated }: CreateFormProps) {
  const form = useForm({
    first: { label: "", code: "" },
    send: (values) => call("POST /keys", values),
    outdates: [["keys"]],
    onDone: onCreated,
  });
  return (
    <DialogForm action="Create the key" form={form} onCancel={onCancel}>
      <TextInput
        label="Label"
        hint="For you alone: what will use it, such as “BTC grid on the home server”."
        autoComplete="off"
        required
        maxLength={LABEL_LENGTH_MAX}
        {...form.control("label")}
      />
      <CodeInput {...form.direct("code")} />
    </DialogForm>
  );
}

type SecretProps = { created: CreatedKeyJson; onDone: () => void; onStrategy: () => void };

function Secret({ created: { key, apiSecret }, onDone, onStrategy }: SecretProps) {
  const { server } = useSession();
  const { label, apiKey, createdAt } = key;
  return (
    <OnceShown
      label="the key and its secret"
      text={secretFile({ label, apiKey, apiSecret, publicUrl: server.publicUrl, createdAt })}
      fileName={secretFileName(label)}
      warning="This secret is never shown again, not even by an operator. If you lose it, revoke the key and create another."
      confirmation="I have saved the secret"
      actions={(isSaved) => (
        <DialogActions>
          <Button disabled={!isSaved} onClick={onDone}>
            Done
          </Button>
          <Button kind="primary" disabled={!isSaved} onClick={onStrategy}>
            Create a strategy with it
          </Button>
        </DialogActions>
      )}
    >
      <dl className="flex flex-col gap-3">
        <div>
          <dt className="mb-1 font-medium text-sm">API key</dt>
          <dd>
            <Copyable value={apiKey} label="API key" />
          </dd>
        </div>
        <div>
          <dt className="mb-1 font-medium text-sm">Secret</dt>
          <dd>
            <Copyable value={apiSecret} label="secret" />
          </dd>
        </div>
      </dl>
    </OnceShown>
  );
}
