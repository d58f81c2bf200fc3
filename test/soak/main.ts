// `npm run soak`: many clients on the streams of the real program for a while, every message held to the rules.
import { type Circumstances, type Outcome, runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import { seededRandom } from "../support/random.ts";
import { drawDrops } from "./drops.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { progressText, renderJson, renderReport } from "./report.ts";
import { runSoak } from "./soak.ts";

const SECONDS_PER_MINUTE = 60;
const MEMORY_EVERY_SECONDS = 15;

await runLong("soak", { help: HELP, readOptions, run });

async function run(options: Options, { interrupted }: Circumstances): Promise<Outcome> {
  const { seed, minutes, clients, subscriptions, storm, isJson } = options;
  const report = await runSoak({
    ...{ seed, clients, subscriptions, storm },
    seconds: minutes * SECONDS_PER_MINUTE,
    // Draws of their own: how many clients there are does not change when upstream goes away.
    drops: drawDrops(seededRandom(seed + 1)),
    memoryEverySeconds: MEMORY_EVERY_SECONDS,
    onProgress: (progress) => say(progressText(progress)),
    signal: interrupted,
  });
  return {
    report: isJson ? renderJson(report) : renderReport(report),
    isClean: report.faults.length === 0 && report.books > 0 && report.ticks > 0,
  };
}
