import { useState } from "react";
import type { StrategyJson } from "../../../src/dashboard-api/schemas.ts";
import { KeyTest } from "../pages/keys/key-test.tsx";
import { SnippetTabs } from "../snippets/snippet-tabs.tsx";
import { Button, ButtonLink } from "../ui/button.tsx";
import { Card, EmptyState } from "../ui/card.tsx";

export function FirstOrder({ strategy: { strategyId, type, key } }: { strategy: StrategyJson }) {
  const [isTesting, setTesting] = useState(false);
  if (key === null) {
    return (
      <Card isFlush>
        <EmptyState
          title="This strategy has no key."
          action={
            <ButtonLink to="/strategies/$strategyId/settings" params={{ strategyId }}>
              Bind a key
            </ButtonLink>
          }
        >
          Its key was revoked. Until another is bound, no bot can trade with it.
        </EmptyState>
      </Card>
    );
  }
  return (
    <div className="flex flex-col gap-5">
      <Card title="Send the first order">
        <SnippetTabs type={type} apiKey={key.apiKey} />
      </Card>
      <Card
        title="Test this key"
        aside={
          !isTesting && (
            <Button size="small" onClick={() => setTesting(true)}>
              Test this key
            </Button>
          )
        }
      >
        {isTesting ? (
          <KeyTest keyId={key.keyId} />
        ) : (
          <p className="text-ink-soft">
            Says whether the key may trade, and what was wrong with the last request if one was refused.
          </p>
        )}
      </Card>
    </div>
  );
}
