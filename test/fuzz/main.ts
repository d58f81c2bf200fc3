// `npm run fuzz`: random requests over all routes to the real program, and what must never happen counted.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forgetSettings } from "../support/settings.ts";
import { HELP, OptionError, readOptions } from "./options.ts";
import { renderReport } from "./report.ts";
import { run } from "./run.ts";

const EXIT_USAGE = 2;

const directory = mkdtempSync(join(tmpdir(), "lyrebird-fuzz-"));
forgetSettings();
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`fuzz: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof OptionError) process.stderr.write('Try "npm run fuzz -- --help".\n');
  process.exitCode = error instanceof OptionError ? EXIT_USAGE : 1;
}

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

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
