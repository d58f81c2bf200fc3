// The table on standard output.
import type { Figure } from "./figures.ts";
import type { Machine } from "./machine.ts";
import type { Spread } from "./statistics.ts";

export type Report = {
  readonly machine: Machine;
  readonly options: { readonly seconds: number; readonly rounds: number };
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
};

const HOW_TO_READ = `How to read it. Every figure is the median of its repeats (min to max in brackets). A ratio holds it against a ceiling
that was measured in the same run: for rates (/s) 1.00 would be as much as the ceiling and higher is better; for times
(ms, ns) it is how many times the ceiling's time, and lower is better. Ratios carry over to other machines, figures do
not. "Per second of processor time" says what a core of its own would carry if other programs took from this one, or
if the server waited for its disk. Latencies come from an open loop and count from the time a request was due. The signed echo verifies the same
signature on a bare node:http server and does nothing else, so no gateway on that server can exceed 1.00.`;

export function renderTable({ machine, options, figures, notes }: Report): string {
  const rows = figures.map(({ name, unit, value, ceiling }) => [
    name,
    spread(value, unit),
    ceiling === null ? "(ceiling)" : ratio(ceiling.ratio, unit),
    ceiling === null ? "" : `${ceiling.name}: ${quantity(ceiling.value.median, unit)}`,
  ]);
  const table = columns([["figure", "measured", "ratio", "against"], ...rows]);
  const { cpu, cores, node, platform, commit, pinning, syncMs, isInMemory } = machine;
  return [
    `Lyrebird ${commit ?? "(no commit known)"} on ${cpu}, ${cores} cores, ${platform}, Node.js ${node}`,
    pinning === null
      ? "Unpinned: servers and sender share whatever cores there are, so ratios are rougher."
      : `Pinned: all threads of a server on core ${pinning.server}, the sender on core ${pinning.sender}.`,
    isInMemory
      ? "The data directory lies in memory: durability cost nothing here. Set TMPDIR to a directory on a disk."
      : `A bare 4 kB append with fdatasync takes ${syncMs.toFixed(2)} ms here.`,
    `${options.rounds} rounds of ${options.seconds} s a measurement.`,
    "",
    ...table,
    "",
    ...notes.map((note) => `- ${note}`),
    "",
    HOW_TO_READ,
    "",
  ].join("\n");
}

function spread(value: Spread, unit: Figure["unit"]): string {
  const [median, min, max] = [value.median, value.min, value.max].map((each) => quantity(each, unit));
  return `${median} (${min} to ${max})`;
}

function quantity(value: number, unit: Figure["unit"]): string {
  if (unit === "/s") return `${Math.round(value).toLocaleString("en-US")}/s`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

function ratio({ median, min, max }: Spread, unit: Figure["unit"]): string {
  const times = unit === "/s" ? "" : "×";
  return `${median.toFixed(2)}${times} (${min.toFixed(2)} to ${max.toFixed(2)})`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return lines;
}
