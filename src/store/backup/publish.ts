// A file that has been written whole gets its name, and keeps it through a power cut.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** What file systems without second names for a file answer. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Gives a draft, which is synced, its name. Throws if there is a file of that name. */
export function publishFile(draft: string, file: string): void {
  try {
    // Unlike a renaming, it never takes the place of a file that has appeared meanwhile.
    linkSync(draft, file);
    rmSync(draft);
  } catch (error) {
    if (existsSync(file)) throw new Error(`${file} exists by now, and is left as it is`, { cause: error });
    if (!(error instanceof Error && "code" in error && NO_LINKS.includes(String(error.code)))) throw error;
    renameSync(draft, file);
  }
  // Windows has no folders to sync.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
