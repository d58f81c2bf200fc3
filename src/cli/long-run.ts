// Progress messages and orderly interruption for commands that may take long.

const PROGRESS_EVERY_MS = 5_000;

export type LongRun = {
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Prints on standard error how many rows are done, at most once per interval. */
  onProgress(rows: number): void;
};

/**
 * Runs it. Throws in plain words if it was interrupted, by SIGINT (Ctrl+C) or SIGTERM: what that has left.
 */
export async function runLong<Result>(
  name: string,
  work: (run: LongRun) => Promise<Result>,
  left = "has left nothing behind",
): Promise<Result> {
  const interruption = new AbortController();
  const interrupt = () => {
    // A second signal exits at once.
    if (interruption.signal.aborted) process.exit(1);
    interruption.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  let toldAt = performance.now();
  try {
    return await work({
      signal: interruption.signal,
      onProgress(rows) {
        if (performance.now() - toldAt < PROGRESS_EVERY_MS) return;
        toldAt = performance.now();
        process.stderr.write(`lyrebird: ${name}: ${rows.toLocaleString("en-US")} rows so far\n`);
      },
    });
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    throw new Error(`the ${name} was interrupted and ${left}`, { cause: error });
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
  }
}

/** How many rows of how many tables, for a person. */
export function totalOf(rows: Readonly<Record<string, number>>): string {
  const counts = Object.values(rows);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return `${total.toLocaleString("en-US")} rows of ${counts.length} tables`;
}
