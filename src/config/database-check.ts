// Checks the embedded database before a server uses it. After a clean end that is immediate: the server
// leaves a mark beside the file, and removes it at its next start. Without the mark every page is read
// (`PRAGMA quick_check`).
// A page that was replaced by another sound one is not found: SQLite has no page checksums unless its
// checksum VFS is built in, which it is not in Node.js. The write-ahead log has checksums, but a missing end
// looks like commits never made.
import { readFileSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Timers } from "../concurrency/time.ts";
import { syncFolder } from "../keys/master-key.ts";
import type { CheckResult } from "../store/sqlite/check-worker.ts";

/** Interval of the progress messages, ms. */
const PROGRESS_MS = 5_000;
const BYTES_PER_MIB = 1_048_576;

type CheckLog = { info(fields: object, message: string): void; warn(fields: object, message: string): void };

/**
 * Reads the whole database unless it was closed cleanly the last time, and logs its progress. Call it before
 * the file is opened, with the directory's lock held. If the database is damaged, throws with what was found
 * and what to do next.
 */
export async function checkUnlessClosed(
  file: string,
  { every, log }: { readonly every: Timers["every"]; readonly log: CheckLog },
): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false });
  const wasClosed = takeMark(file, found);
  // An empty file is what a first start leaves that was cut off.
  if (found === undefined || found.size === 0 || wasClosed) return;
  const mebibytes = Math.ceil(found.size / BYTES_PER_MIB);
  const readBefore = bytesRead();
  log.warn({ mebibytes }, "the database was not closed in order; all of it is checked before the start");
  const end = every(PROGRESS_MS, () => {
    const percent = percentOf(bytesRead() - readBefore, found.size);
    log.info(Number.isNaN(percent) ? { mebibytes } : { mebibytes, percent }, "the database is being checked");
  });
  try {
    const [finding] = await quickCheck(file);
    if (finding !== undefined) throw new Error(damageOf(file, finding));
  } finally {
    end();
  }
  log.info({ mebibytes }, "the database was checked and is sound");
}

/**
 * Writes the mark of a clean shutdown; to be called when every connection is closed, with the directory's
 * lock held.
 */
export function markClosed(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  // The log of a database that another program still has open is copied back by that program.
  if (found === undefined || hasLog(file)) return;
  writeFileSync(markOf(file), looksOf(found), { mode: 0o600 });
}

/** The advice to the operator about an unreliable database. */
function damageOf(file: string, finding: string): string {
  return `${file} is damaged: ${finding}. Nothing was changed. Move it and the files beside it of the same name to another place, check the disk, then restore the newest backup with "npm run -s lyrebird -- restore FILE" (docs/backup.md)`;
}

/**
 * Whether the file is unchanged since it was closed. Removes the mark, since the file changes from now on.
 */
function takeMark(file: string, found: Stats | undefined): boolean {
  let mark: string;
  try {
    mark = readFileSync(markOf(file), "utf8");
  } catch {
    return false;
  }
  rmSync(markOf(file));
  syncFolder(dirname(file));
  return found !== undefined && mark === looksOf(found) && !hasLog(file);
}

function markOf(file: string): string {
  return `${file}.closed`;
}

function looksOf({ size, mtimeMs }: Stats): string {
  return `${size} ${mtimeMs}\n`;
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

async function quickCheck(file: string): Promise<CheckResult> {
  const worker = new Worker(new URL("../store/sqlite/check-worker.ts", import.meta.url), {
    workerData: { file },
  });
  return await new Promise<CheckResult>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error(`the check of ${file} ended without a result`)));
  });
}

/** Bytes that the process has read so far; NaN where the system does not report it. */
function bytesRead(): number {
  try {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  } catch {
    return Number.NaN;
  }
}

function percentOf(part: number, whole: number): number {
  return Math.min(99, Math.floor((100 * part) / whole));
}
