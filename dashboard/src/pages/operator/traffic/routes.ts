// The routes of the traffic table: what they are sorted by, and how many of their answers were refusals or
// errors.
import type { TrafficJson } from "../../../../../src/dashboard-api/schemas.ts";

export type RouteTraffic = TrafficJson["routes"][number];

export const ORDERS = [
  { value: "count", label: "Requests" },
  { value: "p99", label: "p99" },
  { value: "errors", label: "Errors" },
] as const;
type Order = (typeof ORDERS)[number]["value"];

/** What the address says; by requests where it says nothing that is known. */
export function orderOf(text: string | undefined): Order {
  return ORDERS.find(({ value }) => value === text)?.value ?? "count";
}

/** Most first; among equals those with more requests, then by name. */
export function routesBy(order: Order, routes: readonly RouteTraffic[]): readonly RouteTraffic[] {
  const measure = MEASURES[order];
  return routes.toSorted(
    (one, other) =>
      measure(other) - measure(one) ||
      other.count - one.count ||
      `${one.path} ${one.method}`.localeCompare(`${other.path} ${other.method}`, "en-GB"),
  );
}

/** How many answers began with this digit, and which share of all: "3 (0.5 %)"; null for none. */
export function shareOf(route: RouteTraffic, digit: 4 | 5): string | null {
  const count = answersOf(route, digit);
  if (count === 0) return null;
  return `${count} (${((100 * count) / route.count).toFixed(1)} %)`;
}

function answersOf({ byStatus }: RouteTraffic, digit: 4 | 5): number {
  return Object.entries(byStatus).reduce(
    (sum, [status, count]) => (status.startsWith(String(digit)) ? sum + count : sum),
    0,
  );
}

const MEASURES: Readonly<Record<Order, (route: RouteTraffic) => number>> = {
  count: ({ count }) => count,
  p99: ({ p99Ms }) => p99Ms,
  errors: (route) => answersOf(route, 5),
};
