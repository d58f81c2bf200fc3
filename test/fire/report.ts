// The report on standard output: a column a store, what was done above what was found. The zeros are counted, not claimed.
import { columns } from "../crash/report.ts";
import { FATES, type Fate } from "./cutting-proxy.ts";
import type { FireFaultKind } from "./faults.ts";
import type { FireReport } from "./fire.ts";

type Line = readonly [string, (report: FireReport) => number];

const FATE_WORDS: Readonly<Record<Fate, string>> = {
  PASSED: "left alone",
  DELAYED: "delayed",
  REFUSED: "hung up on at once",
  CUT_BEFORE: "cut before the request was forwarded",
  CUT_WITHIN: "cut within the request",
  CUT_AFTER: "cut after it, before the answer",
  CUT_ANSWER: "cut within the answer",
};

const LINES: readonly (Line | null)[] = [
  ["signals", ({ signals }) => signals],
  ["  sent twice at once", ({ twins }) => twins],
  ["  whose key was tried with another order", ({ mismatches }) => mismatches],
  ["requests", ({ requests }) => requests],
  ["  again under a key that was sent before", ({ retries }) => retries],
  ["  without an answer", ({ unanswered }) => unanswered],
  ["connections", ({ fates }) => FATES.reduce((sum, fate) => sum + fates[fate], 0)],
  ...FATES.map((fate): Line => [`  ${FATE_WORDS[fate]}`, ({ fates }) => fates[fate]]),
  ["gateway killed", ({ kills }) => kills.gateway + kills.both],
  ["database killed", ({ kills }) => kills.database + kills.both],
  null,
  ["signals that were recorded", ({ audit }) => audit.recorded],
  ["  executed", ({ audit }) => audit.executed],
  ["  rejected", ({ audit }) => audit.rejected],
  ["  not over in the end", ({ audit }) => audit.pending],
  ["signals that no bot was told the end of", ({ left }) => left],
  ["seconds from the last recovery to the last end", ({ settledMs }) => Math.round(settledMs / 1_000)],
  ["orders", ({ audit }) => audit.orders],
  null,
  ["lost", of("LOST")],
  ["doubled", of("DOUBLED")],
  ["ended late, or not at all", of("LATE")],
  ["changed after the end, or told otherwise than stored", of("CHANGED")],
  ["never asked for, and there", of("UNASKED")],
  ["accounts recomputed from their trades", ({ audit }) => audit.accounts],
  ["  not equal", of("UNBALANCED")],
  ["journals replayed", ({ audit }) => audit.accounts],
  ["  not equal", of("JOURNAL")],
  ["damage in the database", of("DAMAGED")],
  ["other faults of the gateway", of("GATEWAY")],
  null,
  ["seconds", ({ seconds }) => Math.round(seconds)],
];

/** Of a fault this much is shown, characters, and so many are. */
const SHOWN_MAX = 3_000;
const FAULTS_SHOWN_MAX = 20;

export function renderReport(reports: readonly FireReport[]): string {
  const table = [
    ["", ...reports.map(({ store }) => store)],
    ...LINES.map((line) =>
      line === null ? [] : [line[0], ...reports.map((each) => line[1](each).toLocaleString("en-US"))],
    ),
    ["seed", ...reports.map(({ seed }) => String(seed))],
  ];
  return [...columns(table), ...reports.flatMap(faultLines), ""].join("\n");
}

export function renderJson(reports: readonly FireReport[]): string {
  return `${JSON.stringify(reports, null, 2)}\n`;
}

function of(kind: FireFaultKind): (report: FireReport) => number {
  return ({ faults }) => faults.filter((fault) => fault.kind === kind).length;
}

function faultLines({ store, seed, signals, faults }: FireReport): string[] {
  if (faults.length === 0) return [];
  const again = `The same draws again: npm run fire -- --store ${store} --signals ${signals} --seed ${seed}`;
  const shown = faults
    .slice(0, FAULTS_SHOWN_MAX)
    .flatMap(({ kind, what }) => ["", `${store}, ${kind}: ${what.slice(0, SHOWN_MAX)}`]);
  return [...shown, "", `${faults.length} in all. ${again}`];
}
