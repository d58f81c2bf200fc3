// `npm run walk`: a million random commands of each family, and what must always hold checked after every one of them.
import type { StrategyType } from "../../src/domain/account.ts";
import { runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import { walkDesks } from "./desk-walk.ts";
import { FAMILIES } from "./families.ts";
import { COMMANDS_PER_DESK_COMMAND, HELP, type Options, readOptions } from "./options.ts";
import { renderReport } from "./report.ts";
import { walk } from "./walk.ts";

/** How often progress is told, ms. */
const PROGRESS_EVERY_MS = 2_000;

await runLong("walk", {
  help: HELP,
  readOptions,
  endsAtOnce: true,
  async run(options, { directory }) {
    const { seed, commands, json } = options;
    const inMemory = {
      SPOT: await walkInMemory("SPOT", options),
      FUTURES: await walkInMemory("FUTURES", options),
    };
    const deskCommands = Math.ceil(commands / COMMANDS_PER_DESK_COMMAND);
    const onProgress = progressOf(deskCommands, "through the desks");
    const atDesks = await timed(() => walkDesks(seed, deskCommands, { directory, onProgress }));
    const report = { seed, inMemory, atDesks };
    // What does not hold is thrown.
    return { report: json ? `${JSON.stringify(report)}\n` : renderReport(report), isClean: true };
  },
});

function walkInMemory(type: StrategyType, { seed, commands }: Options) {
  const onProgress = progressOf(commands, `of ${type} in memory`);
  return timed(async () => walk(FAMILIES[type], seed, commands, { onProgress }));
}

async function timed<Report>(run: () => Promise<Report>): Promise<Report & { readonly seconds: number }> {
  const began = performance.now();
  const report = await run();
  return { ...report, seconds: (performance.now() - began) / 1_000 };
}

function progressOf(commands: Options["commands"], where: string): (done: number) => void {
  let toldAt = performance.now();
  return (done) => {
    if (performance.now() - toldAt < PROGRESS_EVERY_MS) return;
    toldAt = performance.now();
    say(`${done.toLocaleString("en-US")} of ${commands.toLocaleString("en-US")} commands ${where}`);
  };
}
