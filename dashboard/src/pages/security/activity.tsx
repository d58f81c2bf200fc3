// The person's own part of the audit, newest first.

import { useInfiniteQuery } from "@tanstack/react-query";
import type { AuditJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { auditWords, detailsInWords } from "../../audit/words.ts";
import { Button } from "../../ui/button.tsx";
import { TextLink } from "../../ui/links.tsx";
import { ListCard } from "../../ui/query.tsx";
import { type Column, column, headColumn, Table, timeColumn } from "../../ui/table.tsx";

export function ActivityCard() {
  const { email } = usePerson();
  const query = useInfiniteQuery({
    queryKey: ["activity"],
    queryFn: ({ pageParam }) => call("GET /activity", pageParam === null ? {} : { before: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  return (
    <div id="activity" className="scroll-mt-16">
      <ListCard query={query} title="Activity">
        <Table
          caption="What was done with your account"
          columns={columnsFor(email)}
          rows={query.data?.pages.flatMap(({ rows }) => rows)}
          rowKey={({ position }) => position}
          empty="Nothing yet."
        />

        {query.hasNextPage && (
          <div className="border-line border-t px-4 py-3">
            <Button size="small" onClick={() => void query.fetchNextPage()} isBusy={query.isFetchingNextPage}>
              Show older ones
            </Button>
          </div>
        )}
      </ListCard>
    </div>
  );
}

function columnsFor(email: string): readonly Column<AuditJson>[] {
  return [
    headColumn("What", ({ what }) => auditWords(what)),
    timeColumn("When", ({ at }) => at),
    column("Who", ({ who }) => (who === email ? "You" : who)),
    column("Details", (record) => {
      const says = detailsInWords(withoutIds(record.details));
      const strategyId = strategyOf(record);
      if (says === "" && strategyId === null) return null;
      return (
        <span className="break-words text-ink-soft">
          {says} <StrategyLink strategyId={strategyId} />
        </span>
      );
    }),
  ];
}

/** Ids of records say nothing to their owner. */
function withoutIds(details: AuditJson["details"]): AuditJson["details"] {
  return Object.fromEntries(Object.entries(details).filter(([name]) => !name.endsWith("Id")));
}

function strategyOf({ about, details }: AuditJson): string | null {
  return about.kind === "STRATEGY" ? about.id : (details.strategyId ?? null);
}

function StrategyLink({ strategyId }: { strategyId: string | null }) {
  const { profile } = usePerson();
  if (strategyId === null || profile !== "TRADER") return null;
  return (
    <TextLink to="/strategies/$strategyId" params={{ strategyId }}>
      Strategy
    </TextLink>
  );
}
