// `npm run walk`: a million random commands of each type, and what must always hold checked after every one
// of them.
import type { StrategyType } from "../../../src/domain/account.ts";
import { campaign, SEED, say } from "../harness/campaign.ts";
import { aSwitch, number } from "../harness/flags.ts";
import { columns, count } from "../harness/report.ts";
import { walkDesks } from "./desk-walk.ts";
import { SETUPS } from "./setups.ts";
import { walk } from "./walk.ts";

/** How often progress is printed, ms. */
const PROGRESS_EVERY_MS = 2_000;
/**
 * For every so many commands of each type in memory, one more goes through the desk and a database, where
 * each waits for the disk.
 */
const COMMANDS_PER_DESK_COMMAND = 100;

export const CAMPAIGN = campaign({
  name: "walk",
  about: `
Walks at random through the whole of trading: orders, cancels, closes and a market that moves, gaps, falls
silent and halts; of futures also legs, leverage, funding and liquidations. After every step it checks what
must always hold. First in memory, spot and then futures; then, one command for every
${COMMANDS_PER_DESK_COMMAND} of those, both through two desks on one database, with repeated keys and
restarts. In memory every other strategy has the fill profile strict, with books and queues, and each of its
trades has to follow from its receipt.`,
  flags: {
    commands: number("how many of each type", { usual: 1_000_000, most: 1_000_000_000 }),
    seed: { ...SEED, most: 2 ** 32 - 1 },
    json: aSwitch("the report as JSON"),
  },
  endsAtOnce: true,
  async run({ commands, seed }, { directory }) {
    const inMemory = (type: StrategyType) => {
      const onProgress = progressOf(commands, `of ${type} in memory`);
      return timed(async () => walk(SETUPS[type], seed, commands, { onProgress }));
    };
    const walks = { SPOT: await inMemory("SPOT"), FUTURES: await inMemory("FUTURES") };
    const deskCommands = Math.ceil(commands / COMMANDS_PER_DESK_COMMAND);
    const onProgress = progressOf(deskCommands, "through the desks");
    const atDesks = await timed(() => walkDesks(seed, deskCommands, { directory, onProgress }));
    const text = [
      `seed ${seed}`,
      ...Object.entries(walks).flatMap(([type, { commands: done, seconds, events, refusals }]) => [
        `${type} in memory: ${count(done)} commands in ${seconds.toFixed(1)} s`,
        ...["", ...table("event", events), "", ...table("refusal", refusals), ""],
      ]),
      `through two desks on one database: ${count(atDesks.commands)} commands in ${atDesks.seconds.toFixed(1)} s`,
      ...["", ...table("outcome", atDesks.outcomes), "", "every invariant held after every step", ""],
    ].join("\n");
    // What does not hold is thrown.
    return { report: { seed, inMemory: walks, atDesks }, text, isClean: true };
  },
});

function table(title: string, counts: Readonly<Record<string, number>>): string[] {
  const rows = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return columns([[title, "count"], ...rows.map(([name, each]) => [name, count(each)])]);
}

async function timed<Report>(run: () => Promise<Report>): Promise<Report & { readonly seconds: number }> {
  const began = performance.now();
  const report = await run();
  return { ...report, seconds: (performance.now() - began) / 1_000 };
}

function progressOf(commands: number, where: string): (done: number) => void {
  let printedAt = performance.now();
  return (done) => {
    if (performance.now() - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = performance.now();
    say(`${count(done)} of ${count(commands)} commands ${where}`);
  };
}
