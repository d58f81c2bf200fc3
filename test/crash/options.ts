// The flags of `npm run crash`.
import { randomInt } from "node:crypto";
import { readFlags, wholeNumber } from "../support/program.ts";
import { type ChosenStores, chosenStores } from "./stores.ts";

export type Options = ChosenStores & {
  readonly cycles: number;
  readonly seed: number;
  readonly isJson: boolean;
};

const CYCLES_DEFAULT = 100;
const CYCLES_MAX = 100_000;
const SEED_MAX = 2 ** 31 - 1;

export const HELP = `Usage: npm run crash -- [options]

Trades on a gateway of its own and kills it under load, over and over: kill -9 of the gateway; where the store is a server
of its own also of that, or of both at once. After each restart every book is checked: what was acknowledged is there,
once, and all balances are what the trades make them.

Options:
  --cycles N    kills per store, 1 to ${CYCLES_MAX}   (${CYCLES_DEFAULT})
  --store NAME  sqlite, postgres or both   (both; without PostgreSQL's programs, sqlite alone)
  --seed N      what is drawn, 0 to ${SEED_MAX}   (a random one, which is printed)
  --json        the report as JSON
  --help        this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something was found, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, { cycles: "string", store: "string", seed: "string", json: "boolean" });
  if (values.help === true) return "help";
  return {
    cycles: wholeNumber("--cycles", values.cycles ?? String(CYCLES_DEFAULT), { least: 1, most: CYCLES_MAX }),
    seed: wholeNumber("--seed", values.seed ?? String(randomInt(SEED_MAX)), { least: 0, most: SEED_MAX }),
    ...chosenStores(values.store),
    isJson: values.json === true,
  };
}
