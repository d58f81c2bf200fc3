// The thread that checks a whole database, so that the main thread can log the progress. The file is opened
// read-only: damage stays as it was found.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { BUSY_TIMEOUT_MS, isDamage, isReadOnly } from "./database.ts";

/** What is wrong with the database, in SQLite's words; nothing if it is sound. */
export type CheckResult = readonly string[];

/** What SQLite writes above its findings. */
const HEADING = /^\*\*\* in database main \*\*\*\n/;

parentPort?.postMessage(findings() satisfies CheckResult);

function findings(): string[] {
  try {
    return quickCheck({ readOnly: true });
  } catch (error) {
    if (isDamage(error)) return [error instanceof Error ? error.message : String(error)];
    // A power cut while the file was made leaves a transaction to undo, before the write-ahead log was on.
    if (isReadOnly(error)) return quickCheck({ readOnly: false });
    throw error;
  }
}

function quickCheck({ readOnly }: { readonly readOnly: boolean }): string[] {
  const database = new DatabaseSync(workerData.file, { readOnly, timeout: BUSY_TIMEOUT_MS });
  try {
    const rows = database.prepare("PRAGMA quick_check(1)").all();
    const findings = rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
    return findings.map((text) => text.replace(HEADING, "").replaceAll("\n", "; "));
  } finally {
    database.close();
  }
}
