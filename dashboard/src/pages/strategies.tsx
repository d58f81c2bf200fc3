// The strategies of the person: what each is worth, and the way to a new one.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { usePerson } from "../api/session.ts";
import { keysQuery, sparklinesQuery, strategiesQuery } from "../api/strategy.ts";
import { useChanges, useWatches } from "../live/use-changes.ts";
import { useLive } from "../live/use-live.ts";
import { Card } from "../ui/card.tsx";
import { Time } from "../ui/figures/time.tsx";
import { ButtonLink } from "../ui/links.tsx";
import { Screen } from "../ui/page-header.tsx";
import { QueryState } from "../ui/query.tsx";
import { NextStep } from "./strategies/next-step.tsx";
import { StrategyTable } from "./strategies/strategy-table.tsx";

const LIST_EVERY_MS = 2_000;
const EQUITY_EVERY_MS = 5_000;
const PICTURES_EVERY_MS = 30_000;

export function Page() {
  const person = usePerson();
  const list = useQuery(strategiesQuery);
  const keys = useQuery(keysQuery);
  const pictures = useQuery(sparklinesQuery);
  const going = list.data?.rows.filter(({ status }) => status !== "CLOSED");
  const closed = list.data?.rows.filter(({ status }) => status === "CLOSED") ?? [];
  useLiveList(going?.map(({ strategyId }) => strategyId) ?? []);
  const sparklines = new Map(pictures.data?.rows.map(({ strategyId, equity }) => [strategyId, equity]));
  const isKnown = list.data !== undefined;
  return (
    <Screen
      title="Strategies"
      lead="Each strategy is a virtual account, traded by the bot that has its key."
      actions={
        isKnown && list.data.rows.length > 0 ? (
          <ButtonLink to="/strategies/new">New strategy</ButtonLink>
        ) : undefined
      }
    >
      <QueryState of={list} />
      {(list.error === null || isKnown) && (
        <Card isFlush>
          <StrategyTable
            caption="Strategies"
            rows={going}
            sparklines={sparklines}
            loadedAt={list.dataUpdatedAt}
            empty={
              <NextStep person={person} keys={keys.data?.rows ?? (keys.error === null ? undefined : [])} />
            }
          />
          {going !== undefined && going.length > 0 && (
            <p className="border-line border-t px-4 py-2 text-ink-soft text-xs">
              Equity at the last prices of <Time at={list.dataUpdatedAt} format="time" />. It comes in by
              itself, every few seconds, and orders and fills at once.
            </p>
          )}
        </Card>
      )}
      {closed.length > 0 && (
        <Card title="Closed" isFlush>
          <StrategyTable
            caption="Closed strategies"
            rows={closed}
            sparklines={sparklines}
            loadedAt={list.dataUpdatedAt}
            empty="None."
          />
        </Card>
      )}
    </Screen>
  );
}

/** The list is loaded again as fills and orders happen and as prices move, its pictures more seldom. */
function useLiveList(strategyIds: readonly string[]): void {
  const queries = useQueryClient();
  useWatches(strategyIds);
  useChanges(
    LIST_EVERY_MS,
    () => true,
    () => void queries.invalidateQueries({ queryKey: ["strategies"] }, { cancelRefetch: false }),
  );
  // The market moves the equity of what nobody trades, which no change tells.
  useLive("heartbeat", () => {
    const lastAt = queries.getQueryState(strategiesQuery.queryKey)?.dataUpdatedAt ?? 0;
    if (strategyIds.length === 0 || document.hidden || Date.now() - lastAt < EQUITY_EVERY_MS) return;
    void queries.invalidateQueries({ queryKey: ["strategies"] }, { cancelRefetch: false });
  });
  useChanges(
    PICTURES_EVERY_MS,
    ({ what }) => what.includes("account"),
    () => void queries.invalidateQueries({ queryKey: ["sparklines"] }, { cancelRefetch: false }),
  );
}
