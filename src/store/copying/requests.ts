// What is asked of a copy beside its lead's actions. Of each kind one request of a copy is pending at a time:
// the database sees to it.
import type { Kysely, Selectable, Transaction } from "kysely";
import type { CopyRequest } from "../../domain/copying.ts";
import { audited } from "../people/audit.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { noteChange } from "./revisions.ts";

export function requestQueries(db: Kysely<Tables>) {
  return {
    async addRequest(request, audit) {
      for (;;) {
        const isAdded = await (audit === null
          ? db.transaction().execute((transaction) => add(transaction, request))
          : audited(db, async (transaction, record) => {
              const isNew = await add(transaction, request);
              if (isNew) await record(audit);
              return isNew;
            }));
        if (isAdded) return request;
        const pending = await db
          .selectFrom("copy_requests")
          .selectAll()
          .where("copy_id", "=", request.copyId)
          .where("kind", "=", request.kind)
          .where("done_at", "is", null)
          .executeTakeFirst();
        // Else it is done by now.
        if (pending !== undefined) return requestOfRow(pending);
      }
    },

    async listPendingRequests(strategyId) {
      const rows = await db
        .selectFrom("copy_requests as r")
        // In this order on either store: few requests are ever pending, and a strategy may have very many
        // copies.
        .crossJoin("copies")
        .whereRef("copies.id", "=", "r.copy_id")
        .selectAll("r")
        .where("r.done_at", "is", null)
        .where("copies.strategy_id", "=", strategyId)
        .orderBy("r.asked_at")
        .orderBy("r.id")
        .execute();
      return rows.map(requestOfRow);
    },

    async isWithdrawing(personId) {
      const row = await db
        .selectFrom("copy_requests as r")
        .innerJoin("copies as c", "c.id", "r.copy_id")
        .select("r.id")
        .where("r.done_at", "is", null)
        .where("r.kind", "=", "WITHDRAW")
        .where("c.person_id", "=", personId)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    async listRequests(copyId, limit) {
      const rows = await db
        .selectFrom("copy_requests")
        .selectAll()
        .where("copy_id", "=", copyId)
        .orderBy("asked_at", "desc")
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(requestOfRow);
    },
  } satisfies Partial<CopyStore>;
}

async function add(transaction: Transaction<Tables>, request: CopyRequest): Promise<boolean> {
  const isAdded = await addPending(transaction, request);
  if (isAdded) await noteChange(transaction, { copyId: request.copyId });
  return isAdded;
}

/** Adds it without letting it be seen; false if one of its kind is pending. */
export async function addPending(transaction: Transaction<Tables>, request: CopyRequest): Promise<boolean> {
  const added = await transaction
    .insertInto("copy_requests")
    .values({
      id: request.requestId,
      copy_id: request.copyId,
      kind: request.kind,
      may_increase: request.mayIncrease ? 1 : 0,
      asked_at: request.askedAt,
    })
    .onConflict((conflict) => conflict.columns(["copy_id", "kind"]).where("done_at", "is", null).doNothing())
    .returning("id")
    .executeTakeFirst();
  return added !== undefined;
}

function requestOfRow(row: Selectable<Tables["copy_requests"]>): CopyRequest {
  return {
    requestId: row.id,
    copyId: row.copy_id,
    kind: row.kind,
    mayIncrease: row.may_increase === 1,
    askedAt: row.asked_at,
    doneAt: row.done_at,
    failure: row.failure === null ? null : JSON.parse(row.failure),
  };
}
