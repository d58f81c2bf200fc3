// The key that trades on the strategy: testing it, revoking it, and binding another when there is none.
import { useState } from "react";
import type { StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { SnippetTabs } from "../../../snippets/snippet-tabs.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Copyable } from "../../../ui/copy-button.tsx";
import { Facts } from "../../../ui/figures/facts.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { KeyTest } from "../../keys/key-test.tsx";
import { RevokeKeyDialog } from "../../keys/revoke-key-dialog.tsx";
import { BindKey } from "./bind-key.tsx";

type BoundKey = NonNullable<StrategyJson["key"]>;

export function KeyCard({ strategy }: { strategy: StrategyJson }) {
  const { key, status } = strategy;
  return (
    <Card title="API key">
      {key !== null && <Bound strategy={strategy} bound={key} />}
      {key === null && status === "LIVE" && <BindKey strategyId={strategy.strategyId} />}
      {key === null && status !== "LIVE" && (
        <p className="text-ink-soft">No key is bound. A closed strategy can’t have one.</p>
      )}
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
          { label: "Label", value: label },
          { label: "Last use", value: lastUse === null ? "Never" : <Time at={lastUse.at} /> },
          { label: "From", value: lastUse?.address },
          {
            label: "Route",
            value:
              lastUse === null ? null : <span className="break-all font-mono text-xs">{lastUse.route}</span>,
          },
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
