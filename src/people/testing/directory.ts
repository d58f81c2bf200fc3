// Directories for tests.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new directory, which the end of the test run removes. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "lyrebird-"));
}
