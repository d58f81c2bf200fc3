// What programs that run long have in common: a directory of their own that nothing is left of, and an end that can be asked
// for.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
export function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (interrupted.signal.aborted) process.exit(1);
      interrupted.abort();
    });
  }
  return interrupted.signal;
}
