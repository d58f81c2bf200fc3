// One folder for everything that a test run leaves on disk, gone when the run is over however its workers
// ended.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SKIPPED_WITHOUT_DISK } from "../../campaigns/crash/power/recorded-gateway.ts";
import { chooseFreshSeed } from "../seed.ts";
import { KEPT_CLUSTER, postgresTitle } from "./postgres.ts";
import { forgetSettings } from "./settings.ts";

/** Runs once, before the workers start; they and what they spawn inherit the environment. */
export function setup(): () => void {
  const root = mkdtempSync(join(tmpdir(), "lyrebird-tests-"));
  // A database that a test starts runs as a user of its own and has to get through to its directory.
  chmodSync(root, 0o711);
  process.env.TMPDIR = root;
  // Threads and processes are started by the thousand, all of the same modules: what one has compiled the
  // next ones read.
  process.env.NODE_COMPILE_CACHE = join(root, "compiled");
  // It is copied by a program that Windows does not have.
  if (process.platform !== "win32") process.env[KEPT_CLUSTER] = join(root, "cluster");
  forgetSettings();
  chooseFreshSeed();
  for (const title of [postgresTitle("tests on PostgreSQL"), `power cuts${SKIPPED_WITHOUT_DISK}`]) {
    if (title.includes("skipped")) process.stderr.write(`${title}\n`);
  }
  return () => rmSync(root, { recursive: true, force: true });
}
