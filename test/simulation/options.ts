// The flags of `npm run walk`.
import { randomInt } from "node:crypto";
import { readFlags, wholeNumber } from "../support/program.ts";

export type Options = { readonly commands: number; readonly seed: number; readonly json: boolean };

const COMMANDS_DEFAULT = 1_000_000;
const COMMANDS_MAX = 1_000_000_000;
const SEED_MAX = 2 ** 32 - 1;

/** For every so many commands of each family in memory, one more goes through the desk and a database, where each waits for the disk. */
export const COMMANDS_PER_DESK_COMMAND = 100;

export const HELP = `Usage: npm run walk -- [options]

Walks at random through the whole of trading: orders, cancels, closes and a market that moves, gaps, falls silent and
halts; of futures also legs, leverage, funding and liquidations. After every step it checks what must always hold. First
in memory, spot and then futures; then, one command for every ${COMMANDS_PER_DESK_COMMAND} of those, both through two desks on
one database, with repeated keys and restarts.

Options:
  --commands N  how many of each family, 1 to ${COMMANDS_MAX}   (${COMMANDS_DEFAULT})
  --seed N      what they are drawn from, 0 to ${SEED_MAX}   (a random one, which is printed)
  --json        the report as one line of JSON
  --help        this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something did not hold, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, { commands: "string", seed: "string", json: "boolean" });
  if (values.help === true) return "help";
  return {
    commands: wholeNumber("--commands", values.commands ?? String(COMMANDS_DEFAULT), {
      least: 1,
      most: COMMANDS_MAX,
    }),
    seed: wholeNumber("--seed", values.seed ?? String(randomInt(SEED_MAX)), { least: 0, most: SEED_MAX }),
    json: values.json === true,
  };
}
