// What the long-running programs of the tests share: their flags, and how they end.
import { parseArgs } from "node:util";

/** A flag that is wrong, in words for the person who gave it. */
export class OptionError extends Error {}

const EXIT_USAGE = 2;

/** Reads the values of flags of a type each, `--help` among them. Throws OptionError. */
export function readFlags<const Types extends Readonly<Record<string, "string" | "boolean">>>(
  args: readonly string[],
  types: Types,
): { readonly [Name in keyof Types]?: Types[Name] extends "string" ? string : boolean } & {
  readonly help?: boolean;
} {
  const options = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { ...options, help: { type: "boolean", short: "h" } },
    });
    return values as ReturnType<typeof readFlags<Types>>;
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error));
  }
}

/** Reads a whole number between two, both included. Throws OptionError. */
export function wholeNumber(
  flag: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new OptionError(`${flag} is not a whole number from ${least} to ${most}: ${JSON.stringify(text)}`);
}

/** Runs the program that `npm run <name>` calls, and leaves what it answers as the exit code. */
export async function runProgram(name: string, main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof OptionError) process.stderr.write(`Try "npm run ${name} -- --help".\n`);
    process.exitCode = error instanceof OptionError ? EXIT_USAGE : 1;
  }
}

/** Says something on standard error, where progress goes. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
