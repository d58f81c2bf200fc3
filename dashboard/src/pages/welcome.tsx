// The way from a new account to the first order. Each step leads to where it is done.

import { useQueries, useQuery } from "@tanstack/react-query";
import { usePerson } from "../api/session.ts";
import { keysQuery, strategiesQuery } from "../api/strategy.ts";
import { ordersQuery } from "../api/trading.ts";
import { useWatch } from "../live/use-live.ts";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/note.tsx";
import { PageHeader, Screen } from "../ui/page-header.tsx";
import { QueryState, together } from "../ui/query.tsx";
import { CopierJourney } from "./welcome/copier-steps.tsx";
import { journeyOf, nextStep } from "./welcome/journey.ts";
import { StepList } from "./welcome/step-list.tsx";

/** Strategies that are searched for a first order; a person with more has sent one. */
const READ_MAX = 5;

export function Page() {
  const person = usePerson();
  if (person.role === "OPERATOR") {
    return (
      <>
        <PageHeader title="Getting started" />
        <Card isFlush>
          <EmptyState title="These steps are for people who trade or copy.">
            You are an operator: your pages are in the menu.
          </EmptyState>
        </Card>
      </>
    );
  }
  return (
    <Screen
      className="max-w-3xl"
      title="Getting started"
      lead={
        person.profile === "TRADER"
          ? "From a new account to the first order of your bot."
          : "From a new account to the first order that is copied for you."
      }
    >
      {person.profile === "TRADER" ? <TraderJourney /> : <CopierJourney />}
    </Screen>
  );
}

function TraderJourney() {
  const person = usePerson();
  const keys = useQuery(keysQuery);
  const strategies = useQuery(strategiesQuery);
  const rows = strategies.data?.rows ?? [];
  const read = rows.slice(0, READ_MAX).map(({ strategyId }) => strategyId);
  const orders = useQueries({
    queries: read.map((strategyId) => ordersQuery(strategyId, { state: "all" })),
  });
  if (keys.data === undefined || strategies.data === undefined) {
    return <QueryState of={together(keys, strategies)} lines={12} title="Steps to your first order" />;
  }
  const hasOrder = orders.some(({ data }) => data !== undefined && data.rows.length > 0);
  const steps = journeyOf({ person, keys: keys.data.rows, strategies: rows, hasOrder });
  const done = steps.filter(({ state }) => state === "DONE").length;
  const firstLive = rows.find(({ status }) => status === "LIVE")?.strategyId ?? null;
  return (
    <Card
      title="Steps to your first order"
      isFlush
      aside={
        <span className="numeric text-ink-soft text-sm">
          {done} of {steps.length} done
        </span>
      }
    >
      {firstLive !== null && !hasOrder && <Watched strategyId={firstLive} />}
      <StepList steps={steps} next={nextStep(steps)} firstStrategyId={firstLive} />
    </Card>
  );
}

/** The first order ticks its step as it comes in. */
function Watched({ strategyId }: { strategyId: string }) {
  useWatch(strategyId);
  return null;
}
