// `npm run walk`: a million random commands of each family, and what must always hold checked after every one of them.
import type { StrategyType } from "../../src/domain/account.ts";
import { keepTemporaryIn } from "../support/long-run.ts";
import { runProgram, say } from "../support/program.ts";
import { walkDesks } from "./desk-walk.ts";
import { FAMILIES } from "./families.ts";
import { COMMANDS_PER_DESK_COMMAND, HELP, type Options, readOptions } from "./options.ts";
import { renderReport } from "./report.ts";
import { walk } from "./walk.ts";

/** How often progress is told, ms. */
const PROGRESS_EVERY_MS = 2_000;

const directory = keepTemporaryIn("walk");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

await runProgram("walk", main);

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  const { seed, commands, json } = options;
  say(`seed ${seed}`);
  const inMemory = {
    SPOT: await walkInMemory("SPOT", options),
    FUTURES: await walkInMemory("FUTURES", options),
  };
  const deskCommands = Math.ceil(commands / COMMANDS_PER_DESK_COMMAND);
  const atDesks = await timed(() =>
    walkDesks(seed, deskCommands, { directory, onProgress: progressOf(deskCommands, "through the desks") }),
  );
  const report = { seed, inMemory, atDesks };
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : renderReport(report));
  return 0;
}

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
