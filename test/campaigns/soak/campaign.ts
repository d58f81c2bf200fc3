// `npm run soak`: many clients on the streams of the real program for a while, every message held to the
// rules.
import { seededRandom } from "../../support/random.ts";
import { campaign, JSON_REPORT, SEED, say } from "../harness/campaign.ts";
import { number } from "../harness/flags.ts";
import { columns, count, faultText } from "../harness/report.ts";
import { drawDrops } from "./drops.ts";
import { FAULT_LABELS, type FaultKind } from "./faults.ts";
import { SUBSCRIPTIONS_PER_CONNECTION } from "./plan.ts";
import { runSoak, type SoakProgress, type SoakReport } from "./soak.ts";

const SECONDS_PER_MINUTE = 60;
const MEMORY_EVERY_SECONDS = 15;
const MEGABYTE = 1024 * 1024;
const KILOBYTE = 1024;
/** As many connections as this machine has ports and descriptors for. */
const CLIENTS_MAX = 5_000;

export const CAMPAIGN = campaign({
  name: "soak",
  about: `
Streams from a gateway of its own to many clients while its market's connections are cut, over and over, and
holds every message to the rules: no id that goes back, no book out of order, no tick after a candle's
final, every final once, nothing silent above five seconds but in an outage, memory flat. Then cuts all
clients off at once and waits until they are back. Everything stays on this machine's loopback addresses.`,
  flags: {
    minutes: number("how long", { usual: 10, most: 24 * 60 }),
    clients: number("connections", { usual: 500, most: CLIENTS_MAX }),
    subscriptions: number("of each of them", {
      ...{ usual: SUBSCRIPTIONS_PER_CONNECTION, most: SUBSCRIPTIONS_PER_CONNECTION },
    }),
    storm: number("clients that are cut off at once", { usual: 1_000, least: 0, most: CLIENTS_MAX }),
    ...{ seed: SEED, json: JSON_REPORT },
  },
  async run({ seed, minutes, clients, subscriptions, storm }, { interrupted }) {
    const report = await runSoak({
      ...{ seed, clients, subscriptions, storm },
      seconds: minutes * SECONDS_PER_MINUTE,
      // Draws of their own: how many clients there are does not change when upstream goes away.
      drops: drawDrops(seededRandom(seed + 1)),
      memoryEverySeconds: MEMORY_EVERY_SECONDS,
      onProgress: (progress) => say(progressText(progress)),
      signal: interrupted,
    });
    const isClean = report.faults.length === 0 && report.books > 0 && report.ticks > 0;
    return { report, text: renderSoak(report), isClean };
  },
});

function progressText(progress: SoakProgress): string {
  const { seconds, complete, messages, finals, drops, longestSilenceMs, heapBytes, faults } = progress;
  return (
    `${Math.round(seconds)} s: ${complete} clients, ${count(messages)} messages, ${count(finals)} finals, ${drops} drops, ` +
    `longest silence ${Math.round(longestSilenceMs)} ms` +
    `${heapBytes === null ? "" : `, heap ${megabytes(heapBytes)}`}${faults === 0 ? "" : `, ${count(faults)} FAULTS`}`
  );
}

export function renderSoak(report: SoakReport): string {
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
        ["  handshakes refused until then", count(turnedAway)],
      ] as const;
    }),
    ...Object.entries(FAULT_LABELS).map(
      ([kind, label]) => [label, count(report.counts[kind as FaultKind])] as const,
    ),
    ["seed", String(report.seed)],
  ];
  const shown = report.faults.flatMap((fault) => ["", faultText(fault)]);
  return [...columns(lines), ...shown, ""].join("\n");
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
