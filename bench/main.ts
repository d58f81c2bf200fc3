// `npm run bench`: the real program against bare ceilings, measured on this machine in this minute.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureAll } from "./measure.ts";
import { HELP, OptionError, readOptions } from "./options.ts";
import { renderReport } from "./table.ts";

const EXIT_USAGE = 2;
/** A database that is being ended may still write while its files are removed. */
const REMOVALS_MAX = 5;

const directory = mkdtempSync(join(tmpdir(), "lyrebird-bench-"));
// Whatever a part of the run puts aside goes with it; PostgreSQL's own user has to get through to its
// cluster.
chmodSync(directory, 0o711);
process.env.TMPDIR = directory;
process.on("exit", () => rmSync(directory, { recursive: true, force: true, maxRetries: REMOVALS_MAX }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

try {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") process.stdout.write(HELP);
  else {
    const report = await measureAll(options, directory, (text) => process.stderr.write(`${text}\n`));
    process.stdout.write(options.isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report));
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof OptionError) process.stderr.write('Try "npm run bench -- --help".\n');
  process.exit(error instanceof OptionError ? EXIT_USAGE : 1);
}
