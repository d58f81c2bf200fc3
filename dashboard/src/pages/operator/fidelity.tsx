// How faithful the simulation is, in the words of the documentation, and what became of what the feeds brought.
import { useQuery } from "@tanstack/react-query";
import type { FidelityJson } from "../../../../src/dashboard-api/schemas.ts";
import { fidelityQuery } from "../../api/operator.ts";
import { inWords } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Loaded } from "../../ui/query.tsx";
import { type Column, headColumn, numberColumn, Table } from "../../ui/table.tsx";
import { blocksOf } from "./fidelity/blocks.ts";
import { Prose } from "./fidelity/prose.tsx";
import { Refreshed } from "./parts/refreshed.tsx";

type Feed = FidelityJson["feeds"][number];
type Outcome = { readonly outcome: string; readonly count: number };

export function Page() {
  const query = useQuery(fidelityQuery);
  return (
    <Screen
      title="Fidelity"
      lead="Outcomes of the messages of the market-data feeds, and the known differences from the exchange."
      actions={
        <Refreshed
          at={query.dataUpdatedAt}
          isBusy={query.isFetching}
          onRefresh={() => void query.refetch()}
        />
      }
    >
      <Loaded query={query}>
        {({ feeds, text }) => (
          <>
            {feeds.map((feed) => (
              <FeedCard key={feed.family} feed={feed} />
            ))}
            <Card>
              <Prose blocks={blocksOf(text)} />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function FeedCard({ feed }: { feed: Feed }) {
  const { family, quotes, trades, marks, malformedMessages } = feed;
  const name = family === "SPOT" ? "Spot" : "Futures";
  const kinds = [
    { what: "quotes", counts: quotes },
    { what: "trades", counts: trades },
    ...(family === "FUTURES" ? [{ what: "mark prices", counts: marks }] : []),
  ];
  return (
    <Card
      title={`${name} feed`}
      isFlush
      aside={
        <span className="text-ink-soft text-sm">
          <span className="numeric">{malformedMessages}</span> malformed messages
        </span>
      }
    >
      <div className="grid divide-y divide-line lg:auto-cols-fr lg:grid-flow-col lg:divide-x lg:divide-y-0">
        {kinds.map(({ what, counts }) => (
          <Table
            key={what}
            caption={`${name} ${what}`}
            isCaptionShown
            columns={COLUMNS}
            rows={Object.entries(counts).map(([outcome, count]) => ({ outcome, count }))}
            rowKey={({ outcome }) => outcome}
            phone="scroll"
            empty={`No ${what} yet.`}
          />
        ))}
      </div>
    </Card>
  );
}

const COLUMNS: readonly Column<Outcome>[] = [
  headColumn("Outcome", ({ outcome }) => inWords(outcome.replace(/([a-z])([A-Z])/g, "$1_$2"))),
  numberColumn("Messages", ({ count }) => count),
];
