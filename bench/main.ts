// `npm run bench`: the real program against bare ceilings, measured on this machine in this minute.
import { keepTemporaryIn, runProgram, say } from "../test/campaigns/harness/campaign.ts";
import { measureAll } from "./measure.ts";
import { HELP, readOptions } from "./options.ts";
import { renderReport } from "./table.ts";

const directory = keepTemporaryIn("bench");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

await runProgram("bench", async () => {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") process.stdout.write(HELP);
  else {
    const report = await measureAll(options, directory, say);
    process.stdout.write(options.isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report));
  }
  return 0;
});
process.exit();
