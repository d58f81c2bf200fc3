// `npm run fuzz`: random requests over all routes to the real program, and what must never happen counted.
import { runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import { HELP, readOptions } from "./options.ts";
import { renderReport } from "./report.ts";
import { run } from "./run.ts";

await runLong("fuzz", {
  help: HELP,
  readOptions,
  endsAtOnce: true,
  async run(options, { directory }) {
    const report = await run({ ...options, dataDir: directory, say });
    return { report: renderReport(report), isClean: report.tally.faultCount() === 0 };
  },
});
