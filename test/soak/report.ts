// The report on standard output: what was streamed above what was found. The zeros are counted, not claimed.
import { FAULT_KINDS, type FaultKind } from "./faults.ts";
import type { SoakProgress, SoakReport } from "./soak.ts";

const MEGABYTE = 1024 * 1024;
const KILOBYTE = 1024;
/** Of a fault this much is shown, characters. */
const SHOWN_MAX = 2_000;

const FAULT_LINES: { readonly [K in FaultKind]: string } = {
  ID_WENT_BACK: "ids that went back",
  BAD_BOOK: "books out of order, crossed or too long",
  BAD_CANDLE: "candles of another length, or that contradict themselves",
  OLDER_CANDLE: "older candles after newer ones",
  TICK_AFTER_FINAL: "ticks of a candle after its final",
  FINAL_TWICE: "finals that came twice",
  FINAL_MISSED: "finals that never came before what follows",
  SILENT: "silences above 5 s outside of an outage",
  UNASKED: "messages that nobody asked for",
  UNSAID: "outages that not every subscription was told of",
  REFUSED: "subscriptions that were refused",
  CUT_OFF: "connections that the gateway ended",
  NOT_BACK: "clients that did not get in",
  MEMORY: "memory that grew",
  GATEWAY: "other faults of the gateway",
};

export function progressText(progress: SoakProgress): string {
  const { seconds, complete, messages, finals, drops, longestSilenceMs, heapBytes, faults } = progress;
  return (
    `${Math.round(seconds)} s: ${complete} clients, ${count(messages)} messages, ${count(finals)} finals, ${drops} drops, ` +
    `longest silence ${Math.round(longestSilenceMs)} ms` +
    `${heapBytes === null ? "" : `, heap ${megabytes(heapBytes)}`}${faults === 0 ? "" : `, ${count(faults)} FAULTS`}`
  );
}

export function renderReport(report: SoakReport): string {
  const { seconds, messages, books, ticks, finals, drops, unavailable, memory, growth } = report;
  const lines: (readonly [string, string])[] = [
    ["clients", count(report.clients)],
    ["subscriptions of each", count(report.subscriptions)],
    ["seconds", count(Math.round(seconds))],
    ["messages a second", count(Math.round(messages / seconds))],
    ["books, storms and all", count(books)],
    ["candles' ticks", count(ticks)],
    ["  of them finals", count(finals)],
    ["drops of upstream's connections", count(drops)],
    ["  UPSTREAM_UNAVAILABLE, by subscriptions", count(unavailable)],
    ["longest silence, outages left out", milliseconds(report.longestSilenceMs)],
    ["  outages and all", milliseconds(report.longestInAllMs)],
    ["heap after collection, first and last", `${heapText(memory[0])}, ${heapText(memory.at(-1))}`],
    ["resident memory, first and last", `${residentText(memory[0])}, ${residentText(memory.at(-1))}`],
    ["heap's growth a minute, once warm", growth === null ? "-" : kilobytes(growth.bytesPerMinute)],
    ...report.storms.flatMap(({ clients, isBackAtOnce, halfMs, nearlyAllMs, allMs, turnedAway }) => {
      const how = isBackAtOnce ? "all back at once" : "back as stock clients come";
      return [
        [`storm: ${count(clients)} clients cut off at once, ${how}`, ""],
        ["  until half of them were subscribed again", milliseconds(halfMs)],
        ["  until 99 %", milliseconds(nearlyAllMs)],
        ["  until all", milliseconds(allMs)],
        ["  handshakes refused meanwhile", count(turnedAway)],
      ] as const;
    }),
    ...FAULT_KINDS.map((kind) => [FAULT_LINES[kind], count(report.counts[kind])] as const),
    ["seed", String(report.seed)],
  ];
  const [width, valueWidth] = [0, 1].map((column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  const table = lines.map(([name, value]) =>
    `${name.padEnd(width ?? 0)}  ${value.padStart(valueWidth ?? 0)}`.trimEnd(),
  );
  const told = report.faults.flatMap(({ kind, what }) => ["", `${kind}: ${cut(what)}`]);
  return [...table, ...told, ""].join("\n");
}

export function renderJson(report: SoakReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

function heapText(sample: SoakReport["memory"][number] | undefined): string {
  return sample === undefined ? "-" : megabytes(sample.heapBytes);
}

function residentText(sample: SoakReport["memory"][number] | undefined): string {
  return sample?.residentBytes == null ? "-" : megabytes(sample.residentBytes);
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / KILOBYTE).toFixed(0)} KB`;
}

function milliseconds(ms: number): string {
  return `${count(Math.round(ms))} ms`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function cut(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)`;
}
