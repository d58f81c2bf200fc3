// The report on standard output: a column a store, what was done above what was found. The zeros are counted, not claimed.
import type { CrashReport, CycleReport } from "./crash-cycles.ts";
import type { FaultKind } from "./faults.ts";
import type { End, Victim } from "./kill.ts";

export type Totals = {
  readonly store: string;
  readonly seed: number;
  readonly seconds: number;
  readonly cycles: number;
  readonly killed: { readonly [V in Victim]: number };
  /** Gateways that lost their database and ended by themselves, or outlived it. */
  readonly lostDatabase: { readonly [E in Exclude<End, "KILLED">]: number };
  readonly acknowledged: { readonly orders: number; readonly cancellations: number };
  readonly unknown: { readonly done: number; readonly taken: number; readonly refused: number };
  readonly filled: number;
  readonly orders: number;
  readonly fired: number;
  readonly liquidated: number;
  readonly booksChecked: number;
  readonly journalsReplayed: number;
  readonly faults: { readonly [K in FaultKind]: number };
};

export function totalsOf({ store, seed, seconds, cycles, faults }: CrashReport): Totals {
  const sum = (count: (cycle: CycleReport) => number) =>
    cycles.reduce((total, cycle) => total + count(cycle), 0);
  const victims = (wanted: Victim) => sum(({ victim }) => (victim === wanted ? 1 : 0));
  const ends = (wanted: End) => sum(({ end }) => (end === wanted ? 1 : 0));
  const found = (wanted: FaultKind) => faults.filter(({ kind }) => kind === wanted).length;
  return {
    store,
    seed,
    seconds,
    cycles: cycles.length,
    killed: { gateway: victims("gateway"), database: victims("database"), both: victims("both") },
    lostDatabase: { STOPPED: ends("STOPPED"), OUTLIVED: ends("OUTLIVED") },
    acknowledged: { orders: sum(({ placed }) => placed), cancellations: sum(({ canceled }) => canceled) },
    unknown: {
      done: sum(({ settled }) => settled.done),
      taken: sum(({ settled }) => settled.taken),
      refused: sum(({ settled }) => settled.refused),
    },
    filled: sum(({ filled }) => filled),
    orders: cycles.at(-1)?.orders ?? 0,
    fired: cycles.at(-1)?.fired ?? 0,
    liquidated: cycles.at(-1)?.liquidated ?? 0,
    booksChecked: sum(({ booksChecked }) => booksChecked),
    journalsReplayed: sum(({ journalsReplayed }) => journalsReplayed),
    faults: {
      LOST: found("LOST"),
      DOUBLED: found("DOUBLED"),
      CHANGED: found("CHANGED"),
      UNASKED: found("UNASKED"),
      UNBALANCED: found("UNBALANCED"),
      JOURNAL: found("JOURNAL"),
      DAMAGED: found("DAMAGED"),
      GATEWAY: found("GATEWAY"),
    },
  };
}

/** A line of the table: what it says, and what of the totals. */
const LINES: readonly (readonly [string, (totals: Totals) => number] | null)[] = [
  ["cycles", ({ cycles }) => cycles],
  ["  gateway killed", ({ killed }) => killed.gateway],
  ["  database killed", ({ killed }) => killed.database],
  ["    whereupon the gateway stopped by itself", ({ lostDatabase }) => lostDatabase.STOPPED],
  ["    or refused until the database was back", ({ lostDatabase }) => lostDatabase.OUTLIVED],
  ["  both killed at once", ({ killed }) => killed.both],
  null,
  ["orders acknowledged before a kill", ({ acknowledged }) => acknowledged.orders],
  ["cancellations acknowledged before a kill", ({ acknowledged }) => acknowledged.cancellations],
  ["orders under way at a kill, outcome unknown", ({ unknown: u }) => u.done + u.taken + u.refused],
  ["  had taken effect, and sent again were the same order", ({ unknown }) => unknown.done],
  ["  had not, and sent again were taken once", ({ unknown }) => unknown.taken],
  ["  had not, and sent again were refused", ({ unknown }) => unknown.refused],
  ["orders and legs that the market had reached at a restart, all over by then", ({ filled }) => filled],
  ["orders in the end", ({ orders }) => orders],
  ["  of them to close a position whose leg had fired", ({ fired }) => fired],
  ["  of them to liquidate one", ({ liquidated }) => liquidated],
  null,
  ["lost", ({ faults }) => faults.LOST],
  ["doubled", ({ faults }) => faults.DOUBLED],
  ["in a state that may not follow from what was acknowledged", ({ faults }) => faults.CHANGED],
  ["refused or never sent, and there", ({ faults }) => faults.UNASKED],
  ["accounts recomputed from their trades", ({ booksChecked }) => booksChecked],
  ["  not equal", ({ faults }) => faults.UNBALANCED],
  ["journals replayed", ({ journalsReplayed }) => journalsReplayed],
  ["  not equal", ({ faults }) => faults.JOURNAL],
  ["damage in the database", ({ faults }) => faults.DAMAGED],
  ["other faults of the gateway", ({ faults }) => faults.GATEWAY],
  null,
  ["seconds", ({ seconds }) => Math.round(seconds)],
];

/** Of a fault this much is shown, characters. */
const SHOWN_MAX = 3_000;

export function renderReport(reports: readonly CrashReport[]): string {
  const totals = reports.map(totalsOf);
  const table = [
    ["", ...totals.map(({ store }) => store)],
    ...LINES.map((line) =>
      line === null ? [] : [line[0], ...totals.map((each) => line[1](each).toLocaleString("en-US"))],
    ),
    ["seed", ...totals.map(({ seed }) => String(seed))],
  ];
  return [...columns(table), ...reports.flatMap(faultLines), ""].join("\n");
}

export function renderJson(reports: readonly CrashReport[]): string {
  return `${JSON.stringify(
    reports.map((report) => ({ ...totalsOf(report), found: report.faults })),
    null,
    2,
  )}\n`;
}

function faultLines({ store, seed, faults }: CrashReport): string[] {
  if (faults.length === 0) return [];
  const again = `The same draws again: npm run crash -- --store ${store} --seed ${seed}`;
  return [...faults.flatMap(({ kind, what }) => ["", `${store}, ${kind}: ${cut(what)}`]), "", again];
}

function cut(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)`;
}

/** A table as lines: words to the left, numbers to the right. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(padded).join("  "));
}
