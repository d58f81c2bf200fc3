// What operators see of the service: its health, who tries what, the traffic of its routes, and how faithful the simulation is.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StrategyType } from "../../domain/account.ts";
import { percentileMs } from "../../inspection/traffic.ts";
import { FAILURES_COUNT_MS, isLockedBy } from "../../people/lockout.ts";
import { type DashboardCall, type DashboardRoute, route } from "../route.ts";
import type { FidelityShape, HealthShape, SecurityShape, TrafficShape } from "../shapes.ts";

const FIDELITY_FILE = join(import.meta.dirname, "../../../docs/fidelity.md");
const FAMILIES: readonly StrategyType[] = ["SPOT", "FUTURES"];

export const OPERATOR_SERVICE_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/operator/health",
    access: "OPERATOR",
    async answer({ parts }) {
      const { version, market } = parts.server;
      const report = await parts.inspection.health.report();
      const body: HealthShape = { version, startedAt: parts.startedAt, market, ...report };
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/operator/security",
    access: "OPERATOR",
    async answer(call) {
      const report = await call.parts.inspection.security.report();
      const locked = await lockedHolders(
        call,
        report.failedSignIns.map(({ holder }) => holder),
      );
      const body: SecurityShape = {
        ...report,
        failedSignIns: report.failedSignIns.map((row) => ({ ...row, isLocked: locked.has(row.holder) })),
      };
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/operator/traffic",
    access: "OPERATOR",
    async answer({ parts, now }) {
      const { traffic } = parts.inspection;
      const rows = traffic.routes().map(({ method, path, statuses, classes }) => ({
        method,
        path,
        count: classes.reduce((total, { count }) => total + count, 0),
        byStatus: Object.fromEntries([...statuses].map(([status, count]) => [String(status), count])),
        p50Ms: rounded(percentileMs(classes, 0.5)),
        p99Ms: rounded(percentileMs(classes, 0.99)),
      }));
      const body: TrafficShape = {
        since: traffic.since,
        routes: rows.sort((one, other) => other.count - one.count),
        perMinute: traffic.minutes(now),
      };
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/operator/fidelity",
    access: "OPERATOR",
    async answer({ parts }) {
      const body: FidelityShape = {
        text: await readFile(FIDELITY_FILE, "utf8"),
        feeds: FAMILIES.map((family) => {
          const { quotes, trades, marks, malformedMessages } = parts.gateway.markets[family].status();
          return { family, quotes, trades, marks, malformedMessages };
        }),
      };
      return { body };
    },
  }),
];

/** Which of these holders of failed sign-ins are locked now. */
async function lockedHolders(
  { parts, now }: Pick<DashboardCall, "parts" | "now">,
  holders: readonly string[],
): Promise<ReadonlySet<string>> {
  const { people } = parts.gateway.store;
  const failures = await people.listFailedSignIns(holders, now - FAILURES_COUNT_MS + 1);
  return new Set(holders.filter((holder) => isLockedBy(holder, failures.get(holder)?.length ?? 0)));
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
