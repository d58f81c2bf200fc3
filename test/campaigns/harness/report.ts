// Reports: tables of counters, what was done above what was found. The zeros are counted, not claimed.
import type { StoreName } from "./stores.ts";

/** Something that must never be found, of a kind. */
export type Found<Kind extends string> = { readonly kind: Kind; readonly what: string };

/** What a campaign says of its run on one store. */
export type StoreReport<Kind extends string = string> = {
  readonly store: StoreName;
  readonly seed: number;
  readonly seconds: number;
  /** Empty if all is well. */
  readonly faults: readonly Found<Kind>[];
};

/**
 * A line of the table: its label, indented below what it is a part of, and its count; null for an empty line.
 */
export type Line<Report> = readonly [label: string, count: (report: Report) => number] | null;

/** A part of this depth is left out where nothing was counted. */
const OPTIONAL = "    ";
/** Of a fault this much is shown, characters, and so many are. */
const SHOWN_MAX = 8_000;
const FAULTS_SHOWN_MAX = 20;

/** A line for each kind of fault, below an empty one. */
export function faultLines<Kind extends string>(
  labels: Readonly<Record<Kind, string>>,
): readonly Line<Pick<StoreReport<Kind>, "faults">>[] {
  const lines = Object.entries<string>(labels).map(
    ([kind, label]): Line<Pick<StoreReport<Kind>, "faults">> => [
      label,
      ({ faults }) => faults.filter((fault) => fault.kind === kind).length,
    ],
  );
  return [null, ...lines];
}

/** A column for each store. `again`: the flags that repeat a run, besides store and seed. */
export function renderStores<Report extends StoreReport>(
  name: string,
  lines: readonly Line<Report>[],
  reports: readonly Report[],
  again: (report: Report) => string = () => "",
): string {
  const seconds: Line<Report> = ["seconds", (report) => Math.round(report.seconds)];
  const table = [
    ["", ...reports.map(({ store }) => store)],
    ...[...lines, null, seconds].flatMap((line) => {
      if (line === null) return [[]];
      const counts = reports.map(line[1]);
      if (line[0].startsWith(OPTIONAL) && counts.every((count) => count === 0)) return [];
      return [[line[0], ...counts.map(count)]];
    }),
    ["seed", ...reports.map(({ seed }) => String(seed))],
  ];
  const faultLines = reports.flatMap((report) => {
    const { store, seed, faults } = report;
    if (faults.length === 0) return [];
    // A kind that is rare is not to be left out for one that is frequent.
    const kinds = [...Map.groupBy(faults, ({ kind }) => kind).values()];
    const rarestFirst = kinds.toSorted((one, other) => one.length - other.length).flat();
    const shown = rarestFirst
      .slice(0, FAULTS_SHOWN_MAX)
      .flatMap((fault) => ["", `${store}, ${faultText(fault)}`]);
    const repeated = `npm run ${name} -- --store ${store}${again(report)} --seed ${seed}`;
    return [...shown, "", `${faults.length} in all. The same draws again: ${repeated}`];
  });
  return [...columns(table), ...faultLines, ""].join("\n");
}

export function faultText({ kind, what }: Found<string>): string {
  return `${kind}: ${cut(what, SHOWN_MAX)}`;
}

/** A text, or its beginning and its length. */
export function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}… (${text.length} characters)`;
}

/**
 * A table as lines: the first column to the left, the others to the right, but for those from `leftFrom` on.
 */
export function columns(rows: readonly (readonly string[])[], leftFrom = Number.POSITIVE_INFINITY): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    column === 0 || column >= leftFrom
      ? cell.padEnd(widths[column] ?? 0)
      : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(padded).join("  ").trimEnd());
}

/** A count as people read it. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}
