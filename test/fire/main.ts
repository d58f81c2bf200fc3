// `npm run fire`: signals over connections that are cut, to a gateway that is killed, and what became of each.
import { onEachStore } from "../crash/stores.ts";
import { type Circumstances, type Outcome, runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import { fire, type Progress } from "./fire.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { renderJson, renderReport } from "./report.ts";

/** A kill every few seconds, at the rate at which signals are sent. */
const SIGNALS_PER_KILL = 250;

await runLong("fire", { help: HELP, readOptions, run });

async function run(options: Options, { interrupted }: Circumstances): Promise<Outcome> {
  const { signals, seed, kills, cuts, isPlain, isJson } = options;
  const reports = await onEachStore(options, interrupted, (store) =>
    fire({
      ...{ store, seed, signals, cuts, isPlain, signal: interrupted },
      kills: kills ? Math.ceil(signals / SIGNALS_PER_KILL) : 0,
      onProgress: (progress) => say(`${store}: ${wordsOf(progress, signals)}`),
    }),
  );
  return {
    report: isJson ? renderJson(reports) : renderReport(reports),
    isClean: reports.every(({ faults, audit }) => faults.length === 0 && audit.recorded > 0),
  };
}

function wordsOf({ begun, kills, left }: Progress, signals: number): string {
  if (left === null) return `${begun} of ${signals} signals, ${kills} kills`;
  return `all is sent, ${left} signals are not over`;
}
