// `npm run fuzz`: random requests over all routes to the real program, and what must never happen counted.
import { keepTemporaryIn } from "../support/long-run.ts";
import { runProgram, say } from "../support/program.ts";
import { forgetSettings } from "../support/settings.ts";
import { HELP, readOptions } from "./options.ts";
import { renderReport } from "./report.ts";
import { run } from "./run.ts";

const directory = keepTemporaryIn("fuzz");
forgetSettings();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

await runProgram("fuzz", main);

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  say(`seed ${options.seed}`);
  const report = await run({ ...options, dataDir: directory, say });
  process.stdout.write(renderReport(report));
  return report.tally.faultCount() === 0 ? 0 : 1;
}
