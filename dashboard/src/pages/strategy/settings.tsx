// What can be changed about a strategy: its name, its key, and that it goes on.
import { useQuery } from "@tanstack/react-query";
import { summaryQuery } from "../../api/strategy.ts";
import { useStrategyId } from "../../api/use-strategy.ts";
import { Card } from "../../ui/card.tsx";
import { ErrorNote } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { CloseCard } from "./settings/close-card.tsx";
import { KeyCard } from "./settings/key-card.tsx";
import { NameCard } from "./settings/name-card.tsx";

export function Page() {
  const strategyId = useStrategyId();
  const { data: strategy, error, refetch, isFetching } = useQuery(summaryQuery(strategyId));
  return (
    <>
      <PageHeader title="Settings" documentTitle={`Settings, ${strategy?.name ?? strategyId}`} />
      <div className="flex max-w-3xl flex-col gap-5">
        {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />}
        {strategy === undefined && error === null && (
          <Card>
            <div aria-busy="true">
              <Skeleton lines={8} />
            </div>
          </Card>
        )}
        {strategy !== undefined && (
          <>
            {strategy.status !== "CLOSED" && <NameCard strategy={strategy} />}
            <KeyCard strategy={strategy} />
            <CloseCard strategy={strategy} />
          </>
        )}
      </div>
    </>
  );
}
