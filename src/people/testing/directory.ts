// Directories for tests.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new directory; all of them are gone when the test run is over. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "lyrebird-"));
}
