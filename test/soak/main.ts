// `npm run soak`: many clients on the streams of the real program for a while, every message held to the rules.
import { interruption, keepTemporaryIn } from "../support/long-run.ts";
import { runProgram, say } from "../support/program.ts";
import { seededRandom } from "../support/random.ts";
import { forgetSettings } from "../support/settings.ts";
import { drawDrops } from "./drops.ts";
import { HELP, readOptions } from "./options.ts";
import { progressText, renderJson, renderReport } from "./report.ts";
import { runSoak } from "./soak.ts";

const SECONDS_PER_MINUTE = 60;
const MEMORY_EVERY_SECONDS = 15;

keepTemporaryIn("soak");
forgetSettings();
const interrupted = interruption();

await runProgram("soak", main);

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  const { seed, minutes, clients, subscriptions, storm, isJson } = options;
  say(`seed ${seed}`);
  const report = await runSoak({
    ...{ seed, clients, subscriptions, storm },
    seconds: minutes * SECONDS_PER_MINUTE,
    // Draws of their own: how many clients there are does not change when upstream goes away.
    drops: drawDrops(seededRandom(seed + 1)),
    memoryEverySeconds: MEMORY_EVERY_SECONDS,
    onProgress: (progress) => say(progressText(progress)),
    signal: interrupted,
  });
  process.stdout.write(isJson ? renderJson(report) : renderReport(report));
  if (interrupted.aborted) say("broken off");
  const isClean = report.faults.length === 0 && report.books > 0 && report.ticks > 0;
  return isClean && !interrupted.aborted ? 0 : 1;
}
