// After a restore the engine numbers orders anew from where the backup was, and what is derived of these numbers has been sent to
// venues before: a copy that went on would take an order of its past for the one that it has to send. So live copies are stopped. A
// new copy has an id of its own, and with it client ids of its own.
import type { Kysely } from "kysely";
import type { CopyReason } from "../../domain/copying.ts";
import type { Tables } from "../schema.ts";

const REASON: CopyReason = "RESTORED";
const NOT_DONE = "The server was restored from a backup before this was done.";

/** Stops the copies that are live, finishes what was asked of any, and answers how many were stopped. `at` is wall time, Unix ms. */
export async function stopCopies(db: Kysely<Tables>, at: number): Promise<number> {
  await db
    .updateTable("copy_requests")
    .set({ done_at: at, failure: JSON.stringify(NOT_DONE) })
    .where("done_at", "is", null)
    .execute();
  const { numUpdatedRows } = await db
    .updateTable("copies")
    .set((copy) => ({
      status: "STOPPED",
      reason: REASON,
      ended_at: at,
      revision: copy("revision", "+", 1),
    }))
    .where("status", "<>", "STOPPED")
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
