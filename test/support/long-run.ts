// What programs that run long have in common: flags and a seed, a directory of their own that nothing is left of, an end that can
// be asked for, a report, and how they exit.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, say } from "./program.ts";
import { forgetSettings } from "./settings.ts";

export type Circumstances = {
  /** Aborted when the run is to be broken off. */
  readonly interrupted: AbortSignal;
  /** Where everything temporary lies. */
  readonly directory: string;
};

export type Outcome = {
  /** For standard output. */
  readonly report: string;
  /** Whether something was looked at and nothing was found. */
  readonly isClean: boolean;
};

type LongRun<Options> = {
  /** What `--help` says. */
  readonly help: string;
  /** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
  readonly readOptions: (args: readonly string[]) => Options | "help";
  readonly run: (options: Options, circumstances: Circumstances) => Promise<Outcome>;
  /** Whether an interruption ends it at once, with no report. */
  readonly endsAtOnce?: boolean;
};

/**
 * Runs the program that `npm run <name>` calls. Its exit code is 0, 1 if something was found or it was broken off, 2 on a bad
 * flag.
 */
export async function runLong<Options extends { readonly seed: number }>(
  name: string,
  { help, readOptions, run, endsAtOnce = false }: LongRun<Options>,
): Promise<void> {
  const directory = keepTemporaryIn(name);
  forgetSettings();
  const interrupted = interruption();
  if (endsAtOnce) interrupted.addEventListener("abort", () => process.exit(1));
  await runProgram(name, async () => {
    const options = readOptions(process.argv.slice(2));
    if (options === "help") {
      process.stdout.write(help);
      return 0;
    }
    say(`seed ${options.seed}`);
    const { report, isClean } = await run(options, { interrupted, directory });
    process.stdout.write(report);
    if (interrupted.aborted) say("broken off");
    return isClean && !interrupted.aborted ? 0 : 1;
  });
}

/** Makes a directory in which everything temporary of this process lies from now on; it is removed at the exit. */
export function keepTemporaryIn(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `lyrebird-${name}-`));
  // A database's server runs as a user of its own and has to get through to its directory.
  chmodSync(directory, 0o711);
  process.env.TMPDIR = directory;
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Is aborted by SIGINT and SIGTERM; a second one does not wait for the end of what is under way. */
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
