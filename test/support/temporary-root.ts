// One folder for everything that a test run leaves on disk, gone when the run is over however its workers ended.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SKIPPED_WITHOUT_DISK } from "../crash/power/recorded-gateway.ts";
import { postgresTitle } from "./postgres.ts";
import { forgetSettings } from "./settings.ts";

/** Runs once, before the workers start; they and what they spawn inherit the environment. */
export function setup(): () => void {
  const root = mkdtempSync(join(tmpdir(), "lyrebird-tests-"));
  // A database that a test starts runs as a user of its own and has to get through to its directory.
  chmodSync(root, 0o711);
  process.env.TMPDIR = root;
  forgetSettings();
  for (const title of [postgresTitle("tests on PostgreSQL"), `power cuts${SKIPPED_WITHOUT_DISK}`]) {
    if (title.includes("skipped")) process.stderr.write(`${title}\n`);
  }
  return () => rmSync(root, { recursive: true, force: true });
}
