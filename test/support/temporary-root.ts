// One folder for everything that a test run leaves on disk, gone when the run is over however its workers ended.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs once, before the workers start; they and what they spawn inherit the environment. */
export function setup(): () => void {
  const root = mkdtempSync(join(tmpdir(), "lyrebird-tests-"));
  process.env.TMPDIR = root;
  return () => rmSync(root, { recursive: true, force: true });
}
