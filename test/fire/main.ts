// `npm run fire`: signals over connections that are cut, to a gateway that is killed, and what became of each.
import { onEachStore } from "../crash/stores.ts";
import { interruption, keepTemporaryIn } from "../support/long-run.ts";
import { runProgram, say } from "../support/program.ts";
import { forgetSettings } from "../support/settings.ts";
import { type FireReport, fire, type Progress } from "./fire.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { renderJson, renderReport } from "./report.ts";

/** A kill every few seconds, at the rate at which signals are sent. */
const SIGNALS_PER_KILL = 250;

keepTemporaryIn("fire");
forgetSettings();
const interrupted = interruption();

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
  if (interrupted.aborted) say("broken off");
  const isClean = reports.every(({ faults, audit }) => faults.length === 0 && audit.recorded > 0);
  return isClean && !interrupted.aborted ? 0 : 1;
}

async function fireAtAll(options: Options): Promise<FireReport[]> {
  const { signals, seed, kills, cuts, isPlain } = options;
  return await onEachStore(options, interrupted, (store) =>
    fire({
      ...{ store, seed, signals, cuts, isPlain, signal: interrupted },
      kills: kills ? Math.ceil(signals / SIGNALS_PER_KILL) : 0,
      onProgress: (progress) => say(`${store}: ${wordsOf(progress, signals)}`),
    }),
  );
}

function wordsOf({ begun, kills, left }: Progress, signals: number): string {
  if (left === null) return `${begun} of ${signals} signals, ${kills} kills`;
  return `all is sent, ${left} signals are not over`;
}
