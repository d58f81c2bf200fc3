// `npm run soak`: many clients on the streams of the real program for a while, every message held to the rules.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, say } from "../support/program.ts";
import { seededRandom } from "../support/random.ts";
import { forgetSettings } from "../support/settings.ts";
import { drawDrops } from "./drops.ts";
import { HELP, readOptions } from "./options.ts";
import { progressText, renderJson, renderReport } from "./report.ts";
import { runSoak } from "./soak.ts";

const SECONDS_PER_MINUTE = 60;
const MEMORY_EVERY_SECONDS = 15;

const directory = mkdtempSync(join(tmpdir(), "lyrebird-soak-"));
process.env.TMPDIR = directory;
forgetSettings();
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const broken = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second one does not wait for the gateway's end.
    if (broken.signal.aborted) process.exit(1);
    broken.abort();
  });
}

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
    signal: broken.signal,
  });
  process.stdout.write(isJson ? renderJson(report) : renderReport(report));
  if (broken.signal.aborted) say("broken off");
  const isClean = report.faults.length === 0 && report.books > 0 && report.ticks > 0;
  return isClean && !broken.signal.aborted ? 0 : 1;
}
