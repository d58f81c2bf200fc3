// The way from a new account to the first order or the first copy. Each step leads to where it is done.

import { useQueries, useQuery } from "@tanstack/react-query";
import { accountsQuery, copiesQuery, venuesQuery } from "../api/copying.ts";
import { usePerson } from "../api/session.ts";
import { keysQuery, ordersQuery, strategiesQuery } from "../api/strategy.ts";
import { NotOffered } from "../copying/not-offered.tsx";
import { useWatch } from "../live/use-live.ts";
import { Card, EmptyState, QueryState, together } from "../ui/card.tsx";
import { PageHeader, Screen } from "../ui/page-header.tsx";
import { copierJourneyOf } from "./welcome/copier-journey.ts";
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
  useWatch("strategy", [strategyId]);
  return null;
}

// A copier's way to the first copy, or, where copying is not offered, what can be done instead.

function CopierJourney() {
  const person = usePerson();
  const venues = useQuery(venuesQuery);
  const accounts = useQuery(accountsQuery);
  const copies = useQuery(copiesQuery);
  if (venues.data === undefined || accounts.data === undefined || copies.data === undefined) {
    return <QueryState of={together(venues, accounts, copies)} lines={12} title="Steps to your first copy" />;
  }
  const steps = copierJourneyOf({
    person,
    hasAccount: accounts.data.rows.some(({ status }) => status === "CONNECTED"),
    hasCopy: copies.data.rows.length > 0,
  });
  const isOffered = venues.data.rows.length > 0;
  const shown = isOffered ? steps : steps.filter(({ name }) => BEFORE_COPYING.has(name));
  const done = shown.filter(({ state }) => state === "DONE").length;
  return (
    <>
      {!isOffered && <NotOffered />}
      <Card
        title={isOffered ? "Steps to your first copy" : "What you can do already"}
        isFlush
        aside={
          <span className="numeric text-ink-soft text-sm">
            {done} of {shown.length} done
          </span>
        }
      >
        <StepList steps={shown} next={nextStep(shown)} />
      </Card>
    </>
  );
}

/** Stays with the account, whatever it is used for. */
const BEFORE_COPYING: ReadonlySet<string> = new Set(["EMAIL", "IDENTITY", "APPROVAL", "SECOND_FACTOR"]);
