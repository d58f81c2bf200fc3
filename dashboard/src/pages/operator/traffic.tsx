// What was asked of the service and how fast it answered, by minute and by route.

import { useQuery } from "@tanstack/react-query";
import { trafficQuery } from "../../api/operator.ts";
import { AddressSelect } from "../../app/address-select.tsx";
import { useAddress } from "../../app/use-address.ts";
import { Card } from "../../ui/card.tsx";
import { latencyInWords } from "../../ui/figures/duration.ts";
import { Time } from "../../ui/figures/time.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Loaded } from "../../ui/query.tsx";
import { type Column, headColumn, numberColumn, TableCard } from "../../ui/table.tsx";
import { Refreshed } from "./parts/refreshed.tsx";
import { MinuteChart } from "./traffic/minute-chart.tsx";
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
      actions={
        <Refreshed
          at={query.dataUpdatedAt}
          isBusy={query.isFetching}
          onRefresh={() => void query.refetch()}
        />
      }
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
