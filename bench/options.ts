// The flags of `npm run bench`.
import { parseArgs } from "node:util";

export type Options = {
  /** The length of each measurement. */
  readonly seconds: number;
  /** How often each measurement is repeated. */
  readonly rounds: number;
  readonly json: boolean;
};

/** A flag that is wrong, in words for the person who gave it. */
export class OptionError extends Error {}

const SECONDS_DEFAULT = 1.5;
const ROUNDS_DEFAULT = 5;
/** Longer, and keys would run into their own weight limits. */
const SECONDS_MAX = 15;
const ROUNDS_MAX = 100;

export const HELP = `Usage: npm run bench -- [options]

Measures the real program against bare ceilings on this machine and prints a table of ratios.
Takes about 90 seconds and 1 GB in the system's temporary directory (TMPDIR).

Options:
  --seconds N   length of each measurement, 0.2 to ${SECONDS_MAX}   (${SECONDS_DEFAULT})
  --rounds N    repeats of each measurement, 1 to ${ROUNDS_MAX}    (${ROUNDS_DEFAULT})
  --json        JSON instead of the table
  --help        this text

Progress goes to standard error, the result to standard output. Exits 0, 1 if a measurement failed, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = parse(args);
  if (values.help === true) return "help";
  return {
    seconds: number("--seconds", values.seconds ?? String(SECONDS_DEFAULT), {
      least: 0.2,
      most: SECONDS_MAX,
    }),
    rounds: wholeNumber("--rounds", values.rounds ?? String(ROUNDS_DEFAULT), { least: 1, most: ROUNDS_MAX }),
    json: values.json ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seconds: { type: "string" },
        rounds: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error));
  }
}

function number(flag: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= least && value <= most)) {
    throw new OptionError(`${flag} is not a number from ${least} to ${most}: ${JSON.stringify(text)}`);
  }
  return value;
}

function wholeNumber(flag: string, text: string, bounds: { least: number; most: number }): number {
  const value = number(flag, text, bounds);
  if (!Number.isInteger(value))
    throw new OptionError(`${flag} is not a whole number: ${JSON.stringify(text)}`);
  return value;
}
