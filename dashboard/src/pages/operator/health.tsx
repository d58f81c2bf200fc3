// How the service fares: each reading with what is normal, and what to do when it is not.

import { useQuery } from "@tanstack/react-query";
import type { HealthJson } from "../../../../src/dashboard-api/schemas.ts";
import { healthQuery } from "../../api/operator.ts";
import { MARKET_KINDS } from "../../markets/markets.ts";
import { Age, Badge, type Tone } from "../../ui/badge.tsx";
import { Card, Loaded, Note } from "../../ui/card.tsx";
import { type Fact, Facts, fact, Time } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, TableCard } from "../../ui/table.tsx";
import { checksOf, type HealthCheck, worstOf } from "./health/checks.ts";
import { Refreshed } from "./parts/refreshed.tsx";

type State = HealthCheck["state"];

export function Page() {
  const query = useQuery(healthQuery);
  const { data, dataUpdatedAt } = query;
  const checks = data === undefined ? [] : checksOf(data, dataUpdatedAt);
  return (
    <Screen
      title="Health"
      badge={data === undefined ? undefined : <StateBadge state={worstOf(checks)} />}
      actions={<Refreshed query={query} />}
    >
      <Loaded query={query}>
        {(health) => (
          <>
            {worstOf(checks) === "FINE" && <Note tone="gain" title="All checks are normal." />}
            <TableCard
              title="Readings"
              columns={COLUMNS}
              rows={checks}
              rowKey={({ name }) => name}
              empty="There are none."
            />
            <Card title="Server">
              <Facts facts={factsOf(health)} />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

const STATES: Readonly<Record<State, { tone: Tone; icon: string; word: string }>> = {
  FINE: { tone: "gain", icon: "✓", word: "Normal" },
  WATCH: { tone: "warn", icon: "▲", word: "Watch" },
  BAD: { tone: "loss", icon: "✕", word: "Act" },
};

function StateBadge({ state }: { state: State }) {
  const { tone, icon, word } = STATES[state];
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{icon}</span>
      {word}
    </Badge>
  );
}

const COLUMNS: readonly Column<HealthCheck>[] = [
  headColumn("What", ({ name }) => name),
  column("State", ({ state }) => <StateBadge state={state} />),
  column("Reading", ({ reading }) => reading),
  column("Normal", ({ normal }) => <span className="text-ink-soft">{normal}</span>),
  column("What to do", ({ action }) => action),
];

function factsOf({ version, startedAt, market, people, feeds, pendingSignals }: HealthJson): readonly Fact[] {
  return [
    fact("Version", version),
    fact("Market", MARKET_KINDS[market].name),
    fact("Started", <Time at={startedAt} />),
    fact("Running for", <Age since={startedAt} />),
    fact("Pending signals", pendingSignals),
    fact(
      "Symbols in use",
      feeds.map(({ family: type, symbols }) => `${TYPE_NAMES[type]} ${symbols}`).join(", "),
    ),
    fact("People approved", people.APPROVED),
    fact("… with a form in review", people.PENDING),
    fact("… rejected", people.REJECTED),
    fact("… without a form", people.NONE),
  ];
}

const TYPE_NAMES = { SPOT: "Spot", FUTURES: "Futures" } as const;
