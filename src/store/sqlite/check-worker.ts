// The thread that checks a whole database, so that the main thread can log the progress. The file is opened read-only: damage
// stays as it was found.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { BUSY_TIMEOUT_MS, isDamage } from "./database.ts";

/** What is wrong with the database, in SQLite's words; nothing if it is sound. */
export type CheckResult = readonly string[];

/** What SQLite writes above its findings. */
const HEADING = /^\*\*\* in database main \*\*\*\n/;

parentPort?.postMessage(findings() satisfies CheckResult);

function findings(): string[] {
  try {
    const database = new DatabaseSync(workerData.file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      const rows = database.prepare("PRAGMA quick_check(1)").all();
      const findings = rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
      return findings.map((text) => text.replace(HEADING, "").replaceAll("\n", "; "));
    } finally {
      database.close();
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [error instanceof Error ? error.message : String(error)];
  }
}
