// A new strategy: its name, its type and its key; then the lines that trade on it.

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { usePerson } from "../api/session.ts";
import { isFreeKey, keysQuery, summaryQuery } from "../api/strategy.ts";
import { useAddress } from "../app/address.tsx";
import { focusHeading } from "../app/focus.ts";
import { FirstOrder } from "../strategies/first-order.tsx";
import { TYPES } from "../strategies/type-words.ts";
import { ButtonLink } from "../ui/button.tsx";
import { Card, EmptyState, QueryState } from "../ui/card.tsx";
import { PageHeader, Screen } from "../ui/page-header.tsx";
import { MissingSteps } from "./keys/missing-steps.tsx";
import { CreateForm } from "./new-strategy/create-form.tsx";

export function Page() {
  const { search, change } = useAddress();
  if (search.created !== undefined) return <Ready key={search.created} strategyId={search.created} />;
  return (
    <Screen
      className="max-w-3xl"
      title="New strategy"
      lead="A strategy is a virtual account with a starting balance, traded by your bot."
    >
      <Creation
        keyId={search.key}
        onCreated={(strategyId) => change({ created: strategyId, key: undefined }, { replace: true })}
      />
    </Screen>
  );
}

type CreationProps = { keyId: string | undefined; onCreated: (strategyId: string) => void };

function Creation({ keyId, onCreated }: CreationProps) {
  const person = usePerson();
  const query = useQuery(keysQuery);
  const free = query.data?.rows.filter(isFreeKey);
  if (free === undefined) return <QueryState of={query} lines={10} />;
  if (person.kyc !== "APPROVED") return <MissingSteps person={person} />;
  if (free.length === 0) {
    return (
      <>
        <MissingSteps person={person} />
        <Card isFlush>
          <EmptyState
            title="You need a free API key first."
            {...(person.hasSecondFactor
              ? {
                  action: <ButtonLink to="/keys">Create a key</ButtonLink>,
                }
              : {})}
          >
            {query.data?.rows.some(({ revokedAt }) => revokedAt === null)
              ? "Each of your keys is bound to an open strategy already, and a key trades on only one."
              : "A bot needs an API key to trade on a strategy, and you have none yet."}
          </EmptyState>
        </Card>
      </>
    );
  }
  return (
    <Card>
      <CreateForm keys={free} keyId={keyId} onCreated={({ strategyId }) => onCreated(strategyId)} />
    </Card>
  );
}

// After a strategy was created: the lines that trade on it, and whether its key works.

function Ready({ strategyId }: { strategyId: string }) {
  const query = useQuery(summaryQuery(strategyId));
  const { data: strategy } = query;
  const isKnown = strategy !== undefined;
  useEffect(() => {
    if (isKnown) focusHeading();
  }, [isKnown]);
  if (strategy === undefined) {
    return (
      <>
        <PageHeader title="New strategy" />
        <QueryState of={query} lines={8} />
      </>
    );
  }
  const { name, type } = strategy;
  return (
    <>
      <PageHeader
        title={`${name} is ready`}
        lead={`A ${TYPES[type].name.toLowerCase()} strategy with ${TYPES[type].balance}. It trades as soon as your bot sends an order.`}
        actions={
          <ButtonLink to="/strategies/$strategyId" params={{ strategyId }}>
            Go to the strategy
          </ButtonLink>
        }
      />
      <div className="max-w-4xl">
        <FirstOrder strategy={strategy} />
      </div>
    </>
  );
}
