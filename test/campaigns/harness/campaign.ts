// A campaign: a program that runs long, with actors that do as much as they can and an oracle that says what
// must never be found. All campaigns share their flags, seeds, stores, interruption, report and exit code.
import { randomInt } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forgetSettings } from "../../support/servers/settings.ts";
import {
  aSwitch,
  type Flags,
  flagLines,
  number,
  OptionError,
  oneOf,
  readFlags,
  type Values,
} from "./flags.ts";
import { STORES, type StoreName } from "./stores.ts";

export type Environment = {
  /** Aborted when the run is to be broken off. */
  readonly interrupted: AbortSignal;
  /** Where everything temporary lies. */
  readonly directory: string;
};

export type Outcome = {
  /** What is counted and found, as JSON and as text. */
  readonly report: unknown;
  readonly text: string;
  /** Whether something was examined and nothing was found. */
  readonly isClean: boolean;
};

export type Campaign<Table extends Flags = Flags> = {
  /** What `npm run` calls it by. */
  readonly name: string;
  /** What `--help` begins with. */
  readonly about: string;
  readonly flags: Table;
  readonly run: (values: Values<Table>, environment: Environment) => Promise<Outcome>;
  /** Whether an interruption ends it at once, with no report. */
  readonly endsAtOnce?: boolean;
};

/** Helps the compiler to the types of the flags. */
export function campaign<const Table extends Flags>(given: Campaign<Table>): Campaign<Table> {
  return given;
}

export const SEED_MAX = 2 ** 31 - 1;
/** The flags that most campaigns have. */
export const SEED = number("what is drawn", {
  ...{ usual: () => randomInt(SEED_MAX), least: 0, most: SEED_MAX },
  usualText: "a random one, which is printed",
});
export const JSON_REPORT = aSwitch("the report as JSON");
export const STORE = oneOf(
  [...STORES, "both"],
  "sqlite, postgres or both   (both; without PostgreSQL's programs, sqlite alone)",
);

const EXIT_USAGE = 2;
/** A database that is being ended may still write while its files are removed. */
const REMOVALS_MAX = 5;

export function helpOf({ name, about, flags }: Pick<Campaign, "name" | "about" | "flags">): string {
  return `Usage: npm run ${name} -- [options]

${about.trim()}

Options:
${flagLines(flags)}
Progress goes to standard error, the report to standard output. Exits 0, 1 if something was found, 2 on a
bad flag.
`;
}

/**
 * Runs a campaign as a program. Its exit code is 0, 1 if something was found or it was broken off, 2 on a bad
 * flag.
 */
export async function runCampaign<Table extends Flags>(given: Campaign<Table>): Promise<void> {
  const { name, flags, run, endsAtOnce = false } = given;
  const directory = keepTemporaryIn(name);
  forgetSettings();
  const interrupted = interruption();
  if (endsAtOnce) interrupted.addEventListener("abort", () => process.exit(1));
  await runProgram(name, async () => {
    const values = readFlags(process.argv.slice(3), flags);
    if (values === "help") {
      process.stdout.write(helpOf(given as unknown as Campaign));
      return 0;
    }
    if ("seed" in values) say(`seed ${values.seed}`);
    const { report, text, isClean } = await run(values, { interrupted, directory });
    const isJson = "json" in values && values.json === true;
    process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : text);
    if (interrupted.aborted) say("broken off");
    return isClean && !interrupted.aborted ? 0 : 1;
  });
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

/**
 * Makes a directory in which everything temporary of this process lies from now on; it is removed at the
 * exit.
 */
export function keepTemporaryIn(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `lyrebird-${name}-`));
  // A database's server runs as a user of its own and has to get through to its directory.
  chmodSync(directory, 0o711);
  process.env.TMPDIR = directory;
  process.on("exit", () => rmSync(directory, { recursive: true, force: true, maxRetries: REMOVALS_MAX }));
  return directory;
}

/** Is aborted by SIGINT and SIGTERM; a second one does not wait for work in flight. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (interrupted.signal.aborted) process.exit(1);
      interrupted.abort();
    });
  }
  return interrupted.signal;
}

/**
 * The reports of a run on each store that `--store` names, until it is interrupted. `run` answers null if the
 * store's programs are missing.
 */
export async function onEachStore<Report>(
  chosen: StoreName | "both" | null,
  interrupted: AbortSignal,
  run: (store: StoreName) => Promise<Report | null>,
): Promise<Report[]> {
  const stores = chosen === null || chosen === "both" ? STORES : [chosen];
  const reports: Report[] = [];
  for (const store of stores) {
    if (interrupted.aborted) break;
    const report = await run(store);
    if (report !== null) reports.push(report);
    else if (store === chosen) {
      throw new Error(
        `${store} needs PostgreSQL's programs (initdb, postgres): install Debian's package postgresql`,
      );
    } else say(`${store} is left out: PostgreSQL's programs are not installed (Debian: postgresql)`);
  }
  return reports;
}
