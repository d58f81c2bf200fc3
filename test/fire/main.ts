// `npm run fire`: signals over connections that are cut, to a gateway that is killed, and what became of each.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, say } from "../support/program.ts";
import { forgetSettings } from "../support/settings.ts";
import { type FireReport, fire, type Progress } from "./fire.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { renderJson, renderReport } from "./report.ts";

/** A kill every few seconds, at the rate at which signals are sent. */
const SIGNALS_PER_KILL = 250;

const directory = mkdtempSync(join(tmpdir(), "lyrebird-fire-"));
// A database's server runs as a user of its own and has to get through to its directory.
chmodSync(directory, 0o711);
process.env.TMPDIR = directory;
forgetSettings();
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const broken = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second one does not wait for the end of what is under way.
    if (broken.signal.aborted) process.exit(1);
    broken.abort();
  });
}

await runProgram("fire", main);

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  say(`seed ${options.seed}`);
  const reports = await fireAtAll(options);
  process.stdout.write(options.isJson ? renderJson(reports) : renderReport(reports));
  if (broken.signal.aborted) say("broken off");
  const isClean = reports.every(({ faults, audit }) => faults.length === 0 && audit.recorded > 0);
  return isClean && !broken.signal.aborted ? 0 : 1;
}

async function fireAtAll({
  stores,
  mustHave,
  signals,
  seed,
  kills,
  cuts,
  isPlain,
}: Options): Promise<FireReport[]> {
  const reports: FireReport[] = [];
  for (const store of stores) {
    if (broken.signal.aborted) break;
    const report = await fire({
      ...{ store, seed, signals, cuts, isPlain, signal: broken.signal },
      kills: kills ? Math.ceil(signals / SIGNALS_PER_KILL) : 0,
      onProgress: (progress) => say(`${store}: ${wordsOf(progress, signals)}`),
    });
    if (report !== null) reports.push(report);
    else if (mustHave) {
      throw new Error(
        `${store} needs PostgreSQL's programs (initdb, postgres): install Debian's package postgresql`,
      );
    } else say(`${store} is left out: PostgreSQL's programs are not installed (Debian: postgresql)`);
  }
  return reports;
}

function wordsOf({ begun, kills, left }: Progress, signals: number): string {
  if (left === null) return `${begun} of ${signals} signals, ${kills} kills`;
  return `all is sent, ${left} signals are not over`;
}
