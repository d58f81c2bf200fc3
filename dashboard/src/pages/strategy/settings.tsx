// What can be changed about a strategy: its name, its key, and that it goes on.

import { useQuery } from "@tanstack/react-query";
import { summaryQuery } from "../../api/strategy.ts";
import { useStrategyId } from "../../api/use-strategy.ts";
import { Screen } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";
import { CloseCard } from "./settings/close-card.tsx";
import { KeyCard } from "./settings/key-card.tsx";
import { NameCard } from "./settings/name-card.tsx";

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
          <CloseCard strategy={strategy} />
        </>
      )}
    </Screen>
  );
}
