// After a strategy was created: the lines that trade on it, and whether its key works.

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { summaryQuery } from "../../api/strategy.ts";
import { focusHeading } from "../../app/focus.ts";
import { FirstOrder } from "../../strategies/first-order.tsx";
import { TYPES } from "../../strategies/type-words.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";

export function Ready({ strategyId }: { strategyId: string }) {
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
