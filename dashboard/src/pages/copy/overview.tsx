// The state of a copy: its worth, its limit, what it copied and skipped, and the ways to pause, stop or halt
// it.

import { useQuery } from "@tanstack/react-query";
import { copyQuery } from "../../api/copying.ts";
import { useCopyId } from "../../api/use-copy.ts";
import { BehindNote } from "../../copying/behind-note.tsx";
import { HaltNote } from "../../copying/halt-note.tsx";
import { Outcomes } from "../../copying/outcomes.tsx";
import { Card } from "../../ui/card.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Actions } from "./overview/actions.tsx";
import { HaltCard } from "./overview/halt-card.tsx";
import { NewestEntries } from "./overview/newest-entries.tsx";
import { ProfitShares } from "./overview/profit-shares.tsx";
import { ReasonNote } from "./overview/reason-note.tsx";
import { WorthCard } from "./overview/worth-card.tsx";

export function Page() {
  const copyId = useCopyId();
  const query = useQuery(copyQuery(copyId));
  const { data: copy, error } = query;
  return (
    <Screen
      title="Overview"
      documentTitle={`Copy of ${copy?.strategyName ?? "a strategy"}`}
      actions={copy === undefined ? undefined : <Actions copy={copy} />}
    >
      <QueryState of={query} />
      {copy !== undefined && (
        <>
          {copy.status !== "STOPPED" && <HaltNote copy={copy} />}
          <ReasonNote copy={copy} />
          <BehindNote copy={copy} />
        </>
      )}
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <WorthCard copy={copy} />
        <Card title="What was copied">
          {copy === undefined ? (
            <div aria-busy={error === null}>
              <Skeleton lines={5} />
            </div>
          ) : (
            <Outcomes counts={copy.counts} copyId={copyId} />
          )}
        </Card>
      </div>
      <NewestEntries copyId={copyId} />
      <ProfitShares copyId={copyId} />
      {copy !== undefined && copy.status !== "STOPPED" && copy.halted === null && (
        <HaltCard copyId={copyId} />
      )}
    </Screen>
  );
}
