// `npm run crash`: the real program killed under load, and what must never be lost or doubled counted.
import { campaign, JSON_REPORT, onEachStore, SEED, STORE, say } from "../harness/campaign.ts";
import { number } from "../harness/flags.ts";
import { faultLines, type Line, renderStores } from "../harness/report.ts";
import type { Victim } from "../harness/victims.ts";
import { type CrashFaultKind, type CrashReport, type CycleReport, runCrashCycles } from "./crash-cycles.ts";
import { type FailoverReport, runFailovers } from "./failovers.ts";
import type { End } from "./kill.ts";
import { runServerKills, type ServerKill } from "./server-kills.ts";

export const CAMPAIGN = campaign({
  name: "crash",
  about: `
Trades on a gateway of its own and kills it under load, over and over: kill -9 of the gateway; where the
store is a server of its own also of that, or of both at once. After each restart every book is checked:
what was acknowledged is there, once, and all balances are what the trades make them. Half of the strategies
have the fill profile strict; each of their trades has to follow from its receipt.

With --failovers it does that many failovers of a PostgreSQL primary to its synchronous standby instead,
under two gateways.

With --servers it runs that many gateways on one PostgreSQL database and kills one of them in each cycle,
while the market reaches limit orders that rest; the others must fill them within 15 s, once. Half of the
time the market leaves the orders again at once: then the others find the price in the exchange's history,
within 27 s.`,
  flags: {
    cycles: number("kills per store", { usual: 100, most: 100_000 }),
    failovers: number("failovers instead", { usual: 0, least: 0, most: 10_000 }),
    servers: number("gateways on one PostgreSQL database instead of one", { usual: 1, least: 1, most: 10 }),
    ...{ store: STORE, seed: SEED, json: JSON_REPORT },
  },
  async run({ cycles, failovers, servers, store, seed }, { interrupted: signal }) {
    if (failovers > 0) return await failOver(failovers, signal);
    if (servers > 1) return await killServers({ servers, count: cycles, seed, signal });
    const reports = await onEachStore(store, signal, (name) => {
      const onCycle = (cycle: CycleReport) => say(progress(name, cycles, cycle));
      return runCrashCycles({ store: name, seed, cycles, onCycle, signal });
    });
    return {
      report: reports,
      text: renderCrashes(reports),
      isClean: reports.every(({ faults, cycles }) => faults.length === 0 && cycles.length > 0),
    };
  },
});

async function failOver(count: number, signal: AbortSignal) {
  const onFailover = ({ acceptedAfterMs, acknowledged, sentAgain }: FailoverReport) =>
    say(
      `orders accepted ${Math.round(acceptedAfterMs)} ms after the kill; ${acknowledged} acknowledged, ${sentAgain} sent again`,
    );
  const report = await runFailovers({ count, onFailover, signal });
  if (report === null) throw new Error("PostgreSQL's programs are missing (Debian: postgresql)");
  const { failovers, orders, receipts, faults } = report;
  const lines = [
    `failovers: ${failovers.length}`,
    `orders accepted again after at most: ${Math.round(Math.max(0, ...failovers.map(({ acceptedAfterMs }) => acceptedAfterMs)))} ms`,
    `orders acknowledged: ${orders}`,
    `requests sent again: ${failovers.reduce((total, { sentAgain }) => total + sentAgain, 0)}`,
    `trades under strict that follow from their receipts: ${receipts}`,
    `faults: ${faults.length}`,
    ...faults.map(({ kind, what }) => `${kind}: ${what}`),
  ];
  return {
    report,
    text: `${lines.join("\n")}\n`,
    isClean: faults.length === 0 && failovers.length === count,
  };
}

async function killServers(parts: Parameters<typeof runServerKills>[0]) {
  const onKill = ({ filledAfterMs, acknowledged, sentAgain }: ServerKill) =>
    say(
      `all is filled ${Math.round(filledAfterMs)} ms after the kill; ${acknowledged} acknowledged, ${sentAgain} sent again`,
    );
  const report = await runServerKills({ ...parts, onKill });
  if (report === null) throw new Error("PostgreSQL's programs are missing (Debian: postgresql)");
  const { kills, orders, reached, receipts, faults, seed } = report;
  const lines = [
    `seed: ${seed}`,
    `kills of one of ${parts.servers} servers: ${kills.length}`,
    `orders acknowledged: ${orders}`,
    `of them reached by the market around a kill: ${reached}`,
    `all of these filled after at most: ${Math.round(Math.max(0, ...kills.map(({ filledAfterMs }) => filledAfterMs)))} ms`,
    `requests sent again: ${kills.reduce((total, { sentAgain }) => total + sentAgain, 0)}`,
    `trades under strict that follow from their receipts: ${receipts}`,
    `faults: ${faults.length}`,
    ...faults.map(({ kind, what }) => `${kind}: ${what}`),
  ];
  return {
    report,
    text: `${lines.join("\n")}\n`,
    isClean: faults.length === 0 && kills.length === parts.count,
  };
}

const sum = (count: (cycle: CycleReport) => number) => (report: CrashReport) =>
  report.cycles.reduce((total, cycle) => total + count(cycle), 0);
const victims = (wanted: Victim) => sum(({ victim }) => (victim === wanted ? 1 : 0));
const ends = (wanted: End) => sum(({ end }) => (end === wanted ? 1 : 0));
const last = (count: (cycle: CycleReport) => number) => (report: CrashReport) => {
  const cycle = report.cycles.at(-1);
  return cycle === undefined ? 0 : count(cycle);
};

const LINES: readonly Line<CrashReport>[] = [
  ["cycles", ({ cycles }) => cycles.length],
  ["  gateway killed", victims("gateway")],
  ["  database killed", victims("database")],
  ["  whereupon the gateway stopped by itself", ends("STOPPED")],
  ["  or refused until the database was back", ends("OUTLIVED")],
  ["  both killed at once", victims("both")],
  null,
  ["orders acknowledged before a kill", sum(({ placed }) => placed)],
  ["cancellations acknowledged before a kill", sum(({ canceled }) => canceled)],
  [
    "orders in flight at a kill, outcome unknown",
    sum(({ settled }) => settled.done + settled.taken + settled.refused),
  ],
  ["  had taken effect, and sent again were the same order", sum(({ settled }) => settled.done)],
  ["  had not, and sent again were taken once", sum(({ settled }) => settled.taken)],
  ["  had not, and sent again were refused", sum(({ settled }) => settled.refused)],
  ["orders and legs that the market had reached at a restart, all over by then", sum(({ filled }) => filled)],
  ["orders in the end", last(({ orders }) => orders)],
  ["  of them under strict, filled in part", last(({ filledInPart }) => filledInPart)],
  ["  of them to close a position whose leg had fired", last(({ fired }) => fired)],
  ["  of them to liquidate one", last(({ liquidated }) => liquidated)],
  ["trades under strict that follow from their receipts", last(({ receipts }) => receipts)],
  ["accounts recomputed from their trades", sum(({ booksChecked }) => booksChecked)],
  ["journals replayed", sum(({ journalsReplayed }) => journalsReplayed)],
  ...faultLines<CrashFaultKind>({
    LOST: "lost",
    DOUBLED: "doubled",
    CHANGED: "in a state that may not follow from what was acknowledged",
    UNASKED: "refused or never sent, and there",
    UNBALANCED: "accounts that are not what their trades make them",
    RECEIPT: "trades under `strict` without a receipt that they follow from",
    JOURNAL: "journals that do not make their account",
    DAMAGED: "damage in the database",
    GATEWAY: "other faults of the gateway",
  }),
];

export function renderCrashes(reports: readonly CrashReport[]): string {
  return renderStores("crash", LINES, reports);
}

function progress(store: string, cycles: number, report: CycleReport): string {
  const { done, taken, refused } = report.settled;
  return (
    `${store} ${report.cycle} of ${cycles}: ${endOf(report)} after ${report.placed} orders, ` +
    `${done + taken + refused} unknown (${done} done), ${report.filled} reached at the restart, ${report.orders} in all`
  );
}

function endOf({ victim, end }: CycleReport): string {
  if (end === "STOPPED") return "database killed, and the gateway stopped,";
  if (end === "OUTLIVED") return "database killed, which the gateway outlived,";
  return victim === "both" ? "gateway and database killed" : "gateway killed";
}
