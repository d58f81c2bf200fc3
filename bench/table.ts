// The report on standard output: as a table to read, or as the tables of the document.
import type { Figure, Section, Unit } from "./figures.ts";
import type { Options } from "./options.ts";
import type { Machine } from "./processes/machine.ts";
import type { Spread } from "./statistics.ts";

export type Report = {
  readonly machine: Machine;
  /** When it was measured: ISO 8601. */
  readonly at: string;
  readonly options: Pick<Options, "seconds" | "rounds" | "strategies" | "isQuick">;
  readonly sections: readonly Section[];
  readonly notes: readonly string[];
};

const HOW_TO_READ = `How to read it. Every figure is the median of its repeats (min to max in brackets). A ratio holds it against what stands
beside it, measured in the same run: for rates (/s) 1.00 would be as much and higher is better; for times (ms, µs, ns) it is
how many times the other's time, and lower is better. Ratios carry over to other machines, figures do not. "Per second of
processor time" says what a core of its own would carry if other programs took from this one, or if the server waited for
its disk. Latencies come from an open loop and count from the time a request was due. The signed echo verifies the same
signature on a bare node:http server and does nothing else, so no gateway on that server can exceed 1.00.`;

/** Markdown whose columns are aligned, to read in a terminal or in docs/figures.md. */
export function renderReport(report: Report): string {
  const sections = report.sections.flatMap(({ title, missing, figures }) => [
    `### ${title}`,
    "",
    ...(missing === null ? table([HEAD, ...figures.map(rowOf)]) : [missing]),
    "",
  ]);
  const notes = report.notes.map((note) => `- ${note}`);
  return [...headLines(report), "", ...sections, ...notes, "", HOW_TO_READ, ""].join("\n");
}

const HEAD = ["Figure", "Aim", "Median (min to max)", "Ratio", "Against"];

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [head = "", ...lines] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  return [head, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...lines];
}

function headLines({ machine, at, options }: Report): string[] {
  const { rounds, seconds, strategies, isQuick } = options;
  const { cpu, cores, node, platform, commit, isChanged, pinning, syncMs, isInMemory } = machine;
  return [
    `Lyrebird, commit ${commit ?? "unknown"}${isChanged ? " with changes" : ""}, ${at}`,
    `${cpu}, ${cores} cores, ${platform}, Node.js ${node}`,
    pinning === null
      ? "Unpinned: servers and sender share whatever cores there are, so ratios are rougher."
      : `Pinned: all threads of a server on core ${pinning.server}, the sender on core ${pinning.sender}.`,
    isInMemory
      ? "The data directory lies in memory: durability cost nothing here. Set TMPDIR to a directory on a disk."
      : `A bare 4 kB append with fdatasync takes ${syncMs.toFixed(2)} ms here.`,
    `Repeats: ${rounds}, of ${seconds} s a measurement; ${strategies.toLocaleString("en-US")} strategies of each type, each with a key.`,
    ...(isQuick ? ["A QUICK RUN: it shows that the bench works; its figures mean nothing."] : []),
  ];
}

function rowOf({ name, unit, value, aim, against }: Figure): string[] {
  return [
    name.replace(/^ {2}/, "… "),
    aim ?? "",
    spread(value, unit),
    against === null ? "" : ratio(against.ratio, unit),
    against === null ? "" : `${against.name}: ${quantity(against.value.median, unit)}`,
  ];
}

function spread({ median, min, max }: Spread, unit: Unit): string {
  if (min === max) return quantity(median, unit);
  return `${quantity(median, unit)} (${quantity(min, unit)} to ${quantity(max, unit)})`;
}

function quantity(value: number, unit: Unit): string {
  if (Number.isNaN(value)) return "none";
  if (unit === "/s") return `${Math.round(value).toLocaleString("en-US")}/s`;
  // A value below the noise may be negative.
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits).replace(/^-(?=[0.]+$)/, "")} ${unit}`;
}

function ratio({ median, min, max }: Spread, unit: Unit): string {
  if (Number.isNaN(median)) return "none";
  const times = unit === "/s" ? "" : "×";
  if (min === max) return `${median.toFixed(2)}${times}`;
  return `${median.toFixed(2)}${times} (${min.toFixed(2)} to ${max.toFixed(2)})`;
}
