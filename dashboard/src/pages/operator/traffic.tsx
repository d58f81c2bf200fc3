// What was asked of the service and how fast it answered, by minute and by route.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { TrafficJson } from "../../../../src/dashboard-api/schemas.ts";
import { trafficQuery } from "../../api/operator.ts";
import { AddressSelect, useAddress } from "../../app/address.tsx";
import { Card, EmptyState, Loaded } from "../../ui/card.tsx";
import { latencyInWords } from "../../ui/figures/duration.ts";
import { clockTime, Time, ZONE } from "../../ui/figures/figures.tsx";
import { Plot, type PlotColours } from "../../ui/figures/plot.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, headColumn, numberColumn, TableCard } from "../../ui/table.tsx";
import { Refreshed } from "./parts/refreshed.tsx";
import { ORDERS, orderOf, type RouteTraffic, routesBy, shareOf } from "./traffic/routes.ts";

export function Page() {
  const { search } = useAddress();
  const query = useQuery(trafficQuery);
  const order = orderOf(search.order);
  return (
    <Screen
      title="Traffic"
      lead={
        query.data === undefined ? (
          "Requests answered by this server process."
        ) : (
          <>
            Requests answered by this server process since <Time at={query.data.since} />.
          </>
        )
      }
      actions={<Refreshed query={query} />}
    >
      <Loaded query={query}>
        {({ routes, perMinute }) => (
          <>
            <Card title="Requests per minute" aside={<Legend />}>
              <MinuteChart minutes={perMinute} />
            </Card>
            <TableCard
              title="Routes"
              aside={
                <AddressSelect
                  name="order"
                  label="Sort by"
                  value={order}
                  options={ORDERS}
                  unset="count"
                  replace
                  width="w-56"
                />
              }
              columns={COLUMNS}
              rows={routesBy(order, routes)}
              rowKey={({ method, path }) => `${method} ${path}`}
              empty={<EmptyState title="No requests yet." />}
            />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function Legend() {
  return (
    <span className="flex gap-4 text-ink-soft text-xs">
      <span>
        <span aria-hidden="true" className="mr-1.5 inline-block h-0.5 w-4 bg-accent align-middle" />
        requests
      </span>
      <span>
        <span aria-hidden="true" className="mr-1.5 inline-block h-0.5 w-4 bg-loss align-middle" />
        errors (5xx)
      </span>
    </span>
  );
}

const COLUMNS: readonly Column<RouteTraffic>[] = [
  headColumn("Route", ({ method, path }) => (
    <code className="whitespace-normal break-all font-mono text-xs">
      {method} {path}
    </code>
  )),
  numberColumn("Requests", ({ count }) => count),
  numberColumn("p50", ({ p50Ms }) => latencyInWords(p50Ms)),
  numberColumn("p99", ({ p99Ms }) => latencyInWords(p99Ms)),
  numberColumn("Refused (4xx)", (route) => shareOf(route, 4)),
  numberColumn("Errors (5xx)", (route) => shareOf(route, 5)),
];

// Requests and errors by minute, of the last hour.

const HEIGHT = 160;
const MS = 1_000;
const HOUR_SECONDS = 3_600;

function MinuteChart({ minutes }: { minutes: TrafficJson["perMinute"] }) {
  const data = useMemo<[number[], number[], number[]]>(
    () => [
      minutes.map(({ at }) => at / MS),
      minutes.map(({ count }) => count),
      minutes.map(({ errors }) => errors),
    ],
    [minutes],
  );
  return <Plot label={inWords(minutes)} height={HEIGHT} data={data} options={optionsIn} />;
}

function inWords(minutes: TrafficJson["perMinute"]): string {
  const total = minutes.reduce((sum, { count }) => sum + count, 0);
  const errors = minutes.reduce((sum, minute) => sum + minute.errors, 0);
  const most = Math.max(0, ...minutes.map(({ count }) => count));
  return `In the last ${minutes.length} minutes ${total} requests, at most ${most} a minute, ${errors} errors. Times are in ${ZONE}.`;
}

function optionsIn(colours: PlotColours) {
  const line = { width: 1.5, points: { show: true, size: 3 } };
  const axis = {
    stroke: colours("ink-soft"),
    grid: { stroke: colours("line"), width: 1 },
    ticks: { stroke: colours("line"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  return {
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // The whole hour, also while the server has not run for one.
      x: {
        range: (_plot: unknown, _least: number, last: number): [number, number] => [
          last - HOUR_SECONDS,
          last,
        ],
      },
      y: {
        range: (_plot: unknown, _least: number, most: number): [number, number] => [
          0,
          Math.max(5, most * 1.1),
        ],
      },
    },
    axes: [
      {
        ...axis,
        values: (_plot: unknown, times: number[]) =>
          times.map((at) => clockTime(at * MS, "time").slice(0, 5)),
      },
      { ...axis, size: 46 },
    ],
    series: [
      {},
      {
        label: "Requests",
        stroke: colours("accent"),
        fill: colours("accent-soft"),
        ...line,
      },
      { label: "Errors", stroke: colours("loss"), ...line },
    ],
  };
}
