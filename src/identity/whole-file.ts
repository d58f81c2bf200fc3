// Files that appear whole or not at all, and last through a power cut.
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file that appears whole and synced or not at all, unless there is one of that name already. */
export function writeWhole(file: string, text: string, mode: number): void {
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, text, { mode, flag: "wx", flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another process was faster; what it has written is the one.
    if (!existsSync(file)) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(file));
}

/** Makes the names in a folder last through a power cut. */
export function syncFolder(folder: string): void {
  // Windows has no folders to sync.
  if (process.platform === "win32") return;
  const opened = openSync(folder, "r");
  fsyncSync(opened);
  closeSync(opened);
}
