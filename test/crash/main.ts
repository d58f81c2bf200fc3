// `npm run crash`: the real program killed under load, and what must never be lost or doubled counted.
import { type Circumstances, type Outcome, runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import { type CycleReport, runCrashCycles } from "./crash-cycles.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { renderJson, renderReport } from "./report.ts";
import { onEachStore } from "./stores.ts";

await runLong("crash", { help: HELP, readOptions, run });

async function run(options: Options, { interrupted }: Circumstances): Promise<Outcome> {
  const { cycles, seed, isJson } = options;
  const reports = await onEachStore(options, interrupted, (store) => {
    const onCycle = (cycle: CycleReport) => say(progress(store, cycles, cycle));
    return runCrashCycles({ store, seed, cycles, onCycle, signal: interrupted });
  });
  return {
    report: isJson ? renderJson(reports) : renderReport(reports),
    isClean: reports.every(({ faults, cycles }) => faults.length === 0 && cycles.length > 0),
  };
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
