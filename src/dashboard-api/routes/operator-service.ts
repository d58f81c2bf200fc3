// Operators' pages of the service: its health, failed attempts, the traffic of its routes, and the fidelity
// of the simulation.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { StrategyType } from "../../domain/account.ts";
import { percentileMs } from "../../observability/traffic.ts";
import { FAILURES_COUNT_MS, isLockedBy } from "../../people/lockout.ts";
import { HANDSHAKE_FAILURES_COUNT_MS } from "../../streams/handshake.ts";
import { type DashboardCall, route } from "../route.ts";
import { fidelitySchema, healthSchema, securitySchema, trafficSchema } from "../schemas/operators.ts";

const FIDELITY_FILE = join(import.meta.dirname, "../../../docs/fidelity.md");
const SHOWN_MS = { signIns: FAILURES_COUNT_MS, handshakes: HANDSHAKE_FAILURES_COUNT_MS };
const TYPES: readonly StrategyType[] = ["SPOT", "FUTURES"];

export const OPERATOR_SERVICE_ROUTES = [
  route("GET /operator/health", "OPERATOR", healthSchema, async ({ parts }) => {
    const { version, market } = parts.server;
    const report = await parts.observability.health.report();
    return { body: { version, startedAt: parts.startedAt, market, ...report } };
  }),

  route("GET /operator/security", "OPERATOR", securitySchema, async (call) => {
    const report = await call.parts.observability.security.report(SHOWN_MS);
    const locked = await lockedHolders(
      call,
      report.failedSignIns.map(({ holder }) => holder),
    );
    const failedSignIns = report.failedSignIns.map((row) => ({ ...row, isLocked: locked.has(row.holder) }));
    return { body: { ...report, failedSignIns } };
  }),

  route("GET /operator/traffic", "OPERATOR", trafficSchema, async ({ parts, now }) => {
    const { traffic } = parts.observability;
    const rows = traffic.routes().map(({ method, path, statuses, classes }) => ({
      method,
      path,
      count: classes.reduce((total, { count }) => total + count, 0),
      byStatus: Object.fromEntries([...statuses].map(([status, count]) => [String(status), count])),
      p50Ms: rounded(percentileMs(classes, 0.5)),
      p99Ms: rounded(percentileMs(classes, 0.99)),
    }));
    const routes = rows.sort((one, other) => other.count - one.count);
    return { body: { since: traffic.since, routes, perMinute: traffic.minutes(now) } };
  }),

  route("GET /operator/fidelity", "OPERATOR", fidelitySchema, async ({ parts }) => {
    const feeds = TYPES.map((type) => ({ ...parts.gateway.markets[type].status(), family: type }));
    return { body: { text: await readFile(FIDELITY_FILE, "utf8"), feeds } };
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
