// What can be changed about a strategy: its name, its key, and that it goes on.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { KeyJson, StrategyJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { isFreeKey, keysQuery, summaryQuery, useStrategyId } from "../../api/strategy.ts";
import { SnippetTabs } from "../../snippets/snippet-tabs.tsx";
import { ProfileCard } from "../../strategies/fill-profile.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card, Note, QueryState } from "../../ui/card.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { Facts, fact, Time } from "../../ui/figures/figures.tsx";
import { CodeInput, Select, TextInput } from "../../ui/forms/field.tsx";
import { SubmitForm, useForm } from "../../ui/forms/form.tsx";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { KeyTest } from "../keys/key-test.tsx";
import { MissingSteps } from "../keys/missing-steps.tsx";
import { RevokeKeyDialog } from "../keys/revoke-key-dialog.tsx";
import { NAME_LENGTH_MAX } from "../new-strategy/create-form.tsx";
import { CloseCard } from "./settings/close-card.tsx";

export function Page() {
  const strategyId = useStrategyId();
  const query = useQuery(summaryQuery(strategyId));
  const { data: strategy } = query;
  return (
    <Screen
      className="max-w-3xl"
      title="Settings"
      documentTitle={`Settings, ${strategy?.name ?? strategyId}`}
    >
      <QueryState of={query} lines={8} />
      {strategy !== undefined && (
        <>
          {strategy.status !== "CLOSED" && <NameCard strategy={strategy} />}
          <KeyCard strategy={strategy} />
          <ProfileCard profile={strategy.fillProfile} />
          <CloseCard strategy={strategy} />
        </>
      )}
    </Screen>
  );
}

// The strategy's name, and giving it another.

function NameCard({ strategy }: { strategy: StrategyJson }) {
  const { strategyId } = strategy;
  const form = useForm({
    first: { name: strategy.name },
    send: ({ name }) => call("PUT /strategies/:strategyId/name", { strategyId, name }),
    says: "Name changed",
    outdates: [["strategies"], ["keys"], ["strategy", strategyId, "account"]],
    onDone: ({ name }) => {
      form.set({ name });
    },
  });
  return (
    <Card title="Name">
      <SubmitForm
        form={form}
        action="Change the name"
        kind="quiet"
        isDisabled={form.values.name.trim() === strategy.name}
      >
        <TextInput
          label="Name"
          hint="Bots don’t see it; copiers do, if you open the strategy to them."
          autoComplete="off"
          required
          maxLength={NAME_LENGTH_MAX}
          {...form.control("name")}
        />
      </SubmitForm>
    </Card>
  );
}

// The key of the strategy: testing it, revoking it, and binding another when there is none.

type BoundKey = NonNullable<StrategyJson["key"]>;

function KeyCard({ strategy }: { strategy: StrategyJson }) {
  const { key } = strategy;
  return (
    <Card title="API key">
      {key === null ? <BindKey strategy={strategy} /> : <Bound strategy={strategy} bound={key} />}
    </Card>
  );
}

function Bound({ strategy, bound }: { strategy: StrategyJson; bound: BoundKey }) {
  const [isTesting, setTesting] = useState(false);
  const [isRevoking, setRevoking] = useState(false);
  const { label, apiKey, lastUse } = bound;
  return (
    <div className="flex flex-col gap-4">
      <Facts
        facts={[
          fact("Label", label),
          fact("Last use", lastUse === null ? "Never" : <Time at={lastUse.at} />),
          fact("From", lastUse?.address),
          fact(
            "Route",
            lastUse === null ? null : <span className="break-all font-mono text-xs">{lastUse.route}</span>,
          ),
        ]}
      />
      <Copyable value={apiKey} label="API key" />
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setTesting(true)}>Test this key</Button>
        <Button onClick={() => setRevoking(true)}>Revoke this key</Button>
      </div>
      {strategy.status === "LIVE" && (
        <>
          <p className="text-ink-soft text-sm">
            To trade with another key, revoke this one; then bind the other here. Orders and history stay.
          </p>
          <details className="border-line border-t pt-3">
            <summary className="font-medium text-sm">Code that trades with it</summary>
            <div className="pt-3">
              <SnippetTabs type={strategy.type} apiKey={apiKey} />
            </div>
          </details>
        </>
      )}
      <Dialog isOpen={isTesting} onClose={() => setTesting(false)} title="Test this key" description={label}>
        <KeyTest keyId={bound.keyId} />
      </Dialog>
      <RevokeKeyDialog revoked={isRevoking ? bound : null} onClose={() => setRevoking(false)} />
    </div>
  );
}

// Binds a free key to a strategy whose own was revoked, with a fresh code.

function BindKey({ strategy: { strategyId, status } }: { strategy: StrategyJson }) {
  const person = usePerson();
  const query = useQuery(keysQuery);
  const free = query.data?.rows.filter(isFreeKey);
  const isReady = person.kyc === "APPROVED" && person.hasSecondFactor;
  return (
    <div className="flex flex-col gap-4">
      {status === "LIVE" ? (
        <Note tone="warn" title="No key is bound.">
          No bot can trade on this strategy. Its open orders stay and can still be filled.
        </Note>
      ) : (
        <p className="text-ink-soft">
          No key is bound. One that you bind can read this strategy, and place no orders.
        </p>
      )}
      {!isReady && <MissingSteps person={person} />}
      <QueryState of={query} {...(isReady ? { lines: 4 } : {})} isBare />
      {isReady && free?.length === 0 && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p>You have no free key.</p>
          <ButtonLink to="/keys">Create a key</ButtonLink>
        </div>
      )}
      {isReady && free !== undefined && free.length > 0 && <BindForm strategyId={strategyId} keys={free} />}
    </div>
  );
}

function BindForm({ strategyId, keys }: { strategyId: string; keys: readonly KeyJson[] }) {
  const form = useForm({
    first: { keyId: keys.length === 1 ? (keys[0]?.keyId ?? "") : "", code: "" },
    send: (values) => call("PUT /strategies/:strategyId/key", { strategyId, ...values }),
    says: "Key bound",
    outdates: [["keys"], ["strategies"], ["strategy", strategyId]],
  });
  return (
    <SubmitForm form={form} action="Bind the key">
      <Select
        label="API key"
        hint="Your live keys that are not bound to an open strategy. If you choose the key of a closed strategy, it can no longer read that strategy."
        required
        placeholder="Choose a key"
        options={keys.map((key) => ({ value: key.keyId, label: `${key.label} · …${key.apiKey.slice(-8)}` }))}
        {...form.control("keyId")}
      />
      <CodeInput {...form.direct("code")} />
    </SubmitForm>
  );
}
