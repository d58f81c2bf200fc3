// `npm run crash`: the real program killed under load, and what must never be lost or doubled counted.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, say } from "../support/program.ts";
import { forgetSettings } from "../support/settings.ts";
import { type CrashReport, type CycleReport, runCrashCycles } from "./crash-cycles.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { renderJson, renderReport } from "./report.ts";

const directory = mkdtempSync(join(tmpdir(), "lyrebird-crash-"));
// A database's server runs as a user of its own and has to get through to its directory.
chmodSync(directory, 0o711);
process.env.TMPDIR = directory;
forgetSettings();
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const broken = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second one does not wait for the cycle's end.
    if (broken.signal.aborted) process.exit(1);
    broken.abort();
  });
}

await runProgram("crash", main);

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  say(`seed ${options.seed}`);
  const reports = await runAll(options);
  process.stdout.write(options.isJson ? renderJson(reports) : renderReport(reports));
  if (broken.signal.aborted) say("broken off");
  const isClean = reports.every(({ faults, cycles }) => faults.length === 0 && cycles.length > 0);
  return isClean && !broken.signal.aborted ? 0 : 1;
}

async function runAll({ stores, mustHave, cycles, seed }: Options): Promise<CrashReport[]> {
  const reports: CrashReport[] = [];
  for (const store of stores) {
    if (broken.signal.aborted) break;
    const onCycle = (cycle: CycleReport) => say(progress(store, cycles, cycle));
    const report = await runCrashCycles({ store, seed, cycles, onCycle, signal: broken.signal });
    if (report !== null) reports.push(report);
    else if (mustHave) {
      throw new Error(
        `${store} needs PostgreSQL's programs (initdb, postgres): install Debian's package postgresql`,
      );
    } else say(`${store} is left out: PostgreSQL's programs are not installed (Debian: postgresql)`);
  }
  return reports;
}

function progress(store: string, cycles: number, report: CycleReport): string {
  const { done, taken, refused } = report.settled;
  return (
    `${store} ${report.cycle} of ${cycles}: ${endOf(report)} after ${report.placed} orders, ` +
    `${done + taken + refused} unknown (${done} done), ${report.filled} reached at the restart, ${report.orders} in all`
  );
}

function endOf({ victim, end }: CycleReport): string {
  switch (end) {
    case "KILLED":
      return victim === "both" ? "gateway and database killed" : "gateway killed";
    case "STOPPED":
      return "database killed, whereupon the gateway stopped,";
    case "OUTLIVED":
      return "database killed, which the gateway outlived,";
  }
}
