// The report on standard output: a column a store, what was done above what was found. The zeros are counted, not claimed.
import { SKIP_REASONS } from "../../../src/domain/copying.ts";
import { columns } from "../../crash/report.ts";
import { BEHAVIORS, type Behavior } from "./exchange-behavior.ts";
import type { CopyFaultKind } from "./faults.ts";
import { FATES, type Fate } from "./faulty-way.ts";
import type { RunReport } from "./run.ts";

type Line = readonly [string, (report: RunReport) => number];

const FATE_WORDS: Readonly<Record<Fate, string>> = {
  PASSED: "left alone",
  HELD: "held back for a moment",
  LATE: "held back until they may be too old",
  CUT_BEFORE: "cut before they were forwarded",
  CUT_AFTER: "cut when the venue had carried them out",
  CUT_LATE: "cut, and forwarded later",
  SILENT: "answered when nobody waits any more",
  FAULT_BEFORE: "answered 503 without being forwarded",
  FAULT_AFTER: "answered 503 when the venue had carried them out",
  LIMITED: "answered 429",
  BANNED: "answered 418",
};

const BEHAVIOR_WORDS: Readonly<Record<Behavior, string>> = {
  REFUSE_EXIT: "exits that the exchange refused once",
  HIDE: "orders that it executed and did not show",
  REUSE_IDS: "client ids that it accepted again",
  WEIGHT_BY_ADDRESS: "requests beyond the weight of the address",
};

const LINES: readonly (Line | null)[] = [
  ["copies", ({ copies }) => copies],
  ["  that began when their strategy had a history", ({ lateCopies }) => lateCopies],
  ["orders and legs of the strategies", ({ placed }) => placed],
  ["  taken back", ({ canceled }) => canceled],
  ["kill -9 of what copies", ({ kills }) => kills],
  ["signed requests to the venue", ({ fates }) => FATES.reduce((sum, fate) => sum + fates[fate], 0)],
  ...FATES.map((fate): Line => [`  ${FATE_WORDS[fate]}`, ({ fates }) => fates[fate]]),
  ...BEHAVIORS.map((each): Line => [BEHAVIOR_WORDS[each], ({ behaviors }) => behaviors[each]]),
  ["positions that the venue liquidated", ({ verdict }) => verdict.liquidations],
  null,
  ["mirrored orders and legs", ({ verdict }) => verdict.mirrored],
  ["  copied", ({ verdict }) => verdict.sent],
  ["  skipped, and why", ({ verdict }) => verdict.skipped],
  ...SKIP_REASONS.map((reason): Line => [`    ${reason}`, ({ verdict }) => verdict.byReason[reason] ?? 0]),
  ["  refused by the venue for another reason", ({ verdict }) => verdict.failed],
  ["  sent more than once", ({ verdict }) => verdict.sentAgain],
  ["  that the venue was asked about", ({ verdict }) => verdict.asked],
  ["  sent after the last kill", ({ verdict }) => verdict.afterKills],
  ["orders and legs in the venue's books", ({ verdict }) => verdict.atVenue],
  ["sizes recomputed from the venue's books", ({ verdict }) => verdict.sized],
  ["positions compared with the strategy's", ({ verdict }) => verdict.positions],
  ["  that lacked the strategy's stop for a moment", ({ verdict }) => verdict.naked],
  ["    the longest, ms", ({ verdict }) => verdict.nakedMsMax],
  ["  that were on the other side than the strategy's for a moment", ({ verdict }) => verdict.otherSide],
  ["    the longest, ms", ({ verdict }) => verdict.otherSideMsMax],
  ["seconds from the last order until all was done", ({ settledMs }) => Math.round(settledMs / 1_000)],
  null,
  ["lost", of("LOST")],
  ["doubled", of("DOUBLED")],
  ["out of order", of("DISORDERED")],
  ["not copied, and not explained", of("UNEXPLAINED")],
  ["told otherwise than the venue has it", of("CHANGED")],
  ["holdings that are not the account's", of("UNBALANCED")],
  ["positions off target", of("OFF_TARGET")],
  ["positions without their stop for more than 10 s", of("NAKED")],
  ["sized by what the account never had", of("MISSIZED")],
  ["not done in time", of("LATE")],
  ["damage in a database", of("DAMAGED")],
  ["other faults of the processes", of("GATEWAY")],
  null,
  ["seconds", ({ seconds }) => Math.round(seconds)],
];

/** Of a fault this much is shown, characters, and so many are. */
const SHOWN_MAX = 8_000;
const FAULTS_SHOWN_MAX = 20;

export function renderReport(reports: readonly RunReport[]): string {
  const table = [
    ["", ...reports.map(({ store }) => store)],
    ...LINES.flatMap((line) => {
      if (line === null) return [[]];
      const counts = reports.map(line[1]);
      // A reason that nothing was skipped for says nothing.
      if (line[0].startsWith("    ") && counts.every((count) => count === 0)) return [];
      return [[line[0], ...counts.map((count) => count.toLocaleString("en-US"))]];
    }),
    ["seed", ...reports.map(({ seed }) => String(seed))],
  ];
  return [...columns(table), ...reports.flatMap(faultLines), ""].join("\n");
}

export function renderJson(reports: readonly RunReport[]): string {
  return `${JSON.stringify(reports, null, 2)}\n`;
}

function of(kind: CopyFaultKind): (report: RunReport) => number {
  return ({ faults }) => faults.filter((fault) => fault.kind === kind).length;
}

function faultLines({ store, seed, faults }: RunReport): string[] {
  if (faults.length === 0) return [];
  const again = `The same draws again: npm run copy-faults -- --store ${store} --seed ${seed}`;
  const shown = faults
    .slice(0, FAULTS_SHOWN_MAX)
    .flatMap(({ kind, what }) => ["", `${store}, ${kind}: ${what.slice(0, SHOWN_MAX)}`]);
  return [...shown, "", `${faults.length} in all. ${again}`];
}
