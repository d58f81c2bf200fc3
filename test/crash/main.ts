// `npm run crash`: the real program killed under load, and what must never be lost or doubled counted.
import { interruption, keepTemporaryIn } from "../support/long-run.ts";
import { runProgram, say } from "../support/program.ts";
import { forgetSettings } from "../support/settings.ts";
import { type CrashReport, type CycleReport, runCrashCycles } from "./crash-cycles.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { renderJson, renderReport } from "./report.ts";
import { onEachStore } from "./stores.ts";

keepTemporaryIn("crash");
forgetSettings();
const interrupted = interruption();

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
  if (interrupted.aborted) say("broken off");
  const isClean = reports.every(({ faults, cycles }) => faults.length === 0 && cycles.length > 0);
  return isClean && !interrupted.aborted ? 0 : 1;
}

async function runAll(options: Options): Promise<CrashReport[]> {
  const { cycles, seed } = options;
  return await onEachStore(options, interrupted, (store) => {
    const onCycle = (cycle: CycleReport) => say(progress(store, cycles, cycle));
    return runCrashCycles({ store, seed, cycles, onCycle, signal: interrupted });
  });
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
