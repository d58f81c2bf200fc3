// The flags of `npm run fuzz`.
import { randomInt } from "node:crypto";
import { readFlags, wholeNumber } from "../support/program.ts";

export type Options = { readonly requests: number; readonly seed: number };

const REQUESTS_DEFAULT = 200_000;
const REQUESTS_MAX = 10_000_000;
const SEED_MAX = 2 ** 31 - 1;

export const HELP = `Usage: npm run fuzz -- [options]

Sends random requests over all routes to a gateway of its own on the simulated market, and checks that no answer is a
5xx, that every answer is of the catalogue, and that a refused request changes nothing.

Options:
  --requests N  how many, 1 to ${REQUESTS_MAX}   (${REQUESTS_DEFAULT})
  --seed N      what they are drawn from, 0 to ${SEED_MAX}   (a random one, which is printed)
  --help        this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something was found, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, { requests: "string", seed: "string" });
  if (values.help === true) return "help";
  return {
    requests: wholeNumber("--requests", values.requests ?? String(REQUESTS_DEFAULT), {
      least: 1,
      most: REQUESTS_MAX,
    }),
    seed: wholeNumber("--seed", values.seed ?? String(randomInt(SEED_MAX)), { least: 0, most: SEED_MAX }),
  };
}
