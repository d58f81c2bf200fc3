// Copies: begun, changed by people, listed and counted. What the process that works at them records of them
// each store writes in its own way.
import { type Kysely, type Selectable, sql } from "kysely";
import type { Copy } from "../../domain/copying.ts";
import { inParts } from "../dialect.ts";
import { audited, auditedIf } from "../people/audit.ts";
import { isShutOut } from "../people/persons.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { decodeBook, decodeSettings, encodeBook, encodeSettings } from "./codec.ts";
import { addPending } from "./requests.ts";
import { noteChange, noteLeadChange } from "./revisions.ts";

/** Of those that a person has stopped the newest are listed. */
export const STOPPED_LISTED_MAX = 100;

export function copyQueries(db: Kysely<Tables>) {
  return {
    async createCopy(copy, audit, asks) {
      const { copyId, personId, strategyId, accountId, type } = copy;
      return await audited(db, async (transaction, record) => {
        const followable = () =>
          transaction
            .selectFrom("strategies")
            .innerJoin("leads", "leads.strategy_id", "strategies.id")
            .select(["strategies.version", "strategies.type", "leads.seq"])
            .where("strategies.id", "=", strategyId)
            .where("strategies.status", "=", "LIVE")
            .where("strategies.is_open_to_copiers", "=", 1)
            .executeTakeFirst();
        const ofLead = (await followable())?.type;
        if (ofLead === undefined) return "NOT_OPEN";
        const account = await transaction
          .selectFrom("venue_accounts")
          .select("family")
          .where("id", "=", accountId)
          .where("person_id", "=", personId)
          .where("status", "=", "CONNECTED")
          .executeTakeFirst();
        if (account?.family !== ofLead || type !== ofLead) return "TAKEN";
        if (await isShutOut(transaction, personId)) return "TAKEN";
        // It locks the lead: no action is added until this has ended, and each there is was of the version
        // that is read now.
        await noteLeadChange(transaction, strategyId);
        const strategy = await followable();
        if (strategy === undefined) return "NOT_OPEN";
        const added = await transaction
          .insertInto("copies")
          .values({
            id: copyId,
            person_id: personId,
            strategy_id: strategyId,
            account_id: accountId,
            family: type,
            settings: encodeSettings(copy.settings),
            status: copy.status,
            reason: copy.reason,
            started_at: copy.startedAt,
            ended_at: copy.endedAt,
            from_version: strategy.version,
            done_seq: strategy.seq,
            revision: 1,
            book: encodeBook(copy.book),
          })
          .onConflict((conflict) => conflict.doNothing())
          .returning("id")
          .executeTakeFirst();
        if (added === undefined) return "TAKEN";
        if (asks !== undefined) await addPending(transaction, asks);
        await record(audit);
        return "CREATED";
      });
    },

    async findCopy(copyId) {
      const row = await db.selectFrom("copies").selectAll().where("id", "=", copyId).executeTakeFirst();
      return row === undefined ? null : copyOfRow(row);
    },

    async listCopiesOf(personId) {
      const own = db.selectFrom("copies").selectAll().where("person_id", "=", personId);
      // Between two statements a copy may be stopped, which it is for good: it is in either, or in both.
      const live = await own.where("status", "<>", sql.lit("STOPPED")).execute();
      const stopped = await own
        .where("status", "=", sql.lit("STOPPED"))
        .orderBy("started_at", "desc")
        .orderBy("id")
        .limit(STOPPED_LISTED_MAX)
        .execute();
      const known = new Set(stopped.map(({ id }) => id));
      return [...live.filter(({ id }) => !known.has(id)), ...stopped].map(copyOfRow).sort(newestFirst);
    },

    async listCopiesOfStrategy(strategyId, { isLive }) {
      let query = db.selectFrom("copies").selectAll().where("strategy_id", "=", strategyId);
      if (isLive) query = query.where("status", "<>", sql.lit("STOPPED"));
      const rows = await query.orderBy("started_at").orderBy("id").execute();
      return rows.map(copyOfRow);
    },

    async listControls(strategyId, since) {
      const rows = await db
        .selectFrom("copies")
        .select(["id", "status", "reason", "settings"])
        .where("strategy_id", "=", strategyId)
        .where(({ eb, or }) => or([eb("status", "<>", "STOPPED"), eb("ended_at", ">=", since)]))
        .orderBy("id")
        .execute();
      return rows.map(({ id, status, reason, settings }) => ({
        copyId: id,
        status,
        reason,
        settings: decodeSettings(settings),
      }));
    },

    async tallyCopies(of) {
      let query = db
        .selectFrom("copies")
        .select(["status", "reason", ({ fn }) => fn.countAll<number>().as("count")]);
      if ("strategyId" in of) query = query.where("strategy_id", "=", of.strategyId);
      return await query.groupBy(["status", "reason"]).orderBy("status").orderBy("reason").execute();
    },

    async changeCopy({ copyId, from, status, reason, at, asks }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const there = await transaction
          .selectFrom("copies")
          .select("person_id")
          .where("id", "=", copyId)
          .where("status", "in", from)
          .executeTakeFirst();
        if (there === undefined) return false;
        if (status === "FOLLOWING" && (await isShutOut(transaction, there.person_id))) return false;
        await noteChange(transaction, { copyId });
        const { numUpdatedRows } = await transaction
          .updateTable("copies")
          .set({ status, reason, ...(status === "STOPPED" && { ended_at: at }) })
          .where("id", "=", copyId)
          .where("status", "in", from)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        if (asks !== undefined) await addPending(transaction, asks);
        return true;
      });
    },

    async changeSettings(copyId, { from, to }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const row = await transaction
          .selectFrom("copies")
          .select("settings")
          .where("id", "=", copyId)
          .where("status", "<>", "STOPPED")
          .executeTakeFirst();
        // Encoded again: an earlier version may have written them with other fields.
        if (row === undefined || encodeSettings(decodeSettings(row.settings)) !== encodeSettings(from))
          return false;
        await noteChange(transaction, { copyId });
        const { numUpdatedRows } = await transaction
          .updateTable("copies")
          .set({ settings: encodeSettings(to) })
          .where("id", "=", copyId)
          .where("status", "<>", "STOPPED")
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      });
    },

    async revisionsOf(copyIds) {
      const revisions = new Map<string, number>();
      for (const some of inParts(copyIds)) {
        const rows = await db
          .selectFrom("copies")
          .select(["id", "revision"])
          .where("id", "in", some)
          .execute();
        for (const { id, revision } of rows) revisions.set(id, revision);
      }
      return revisions;
    },
  } satisfies Partial<CopyStore>;
}

function newestFirst(one: Copy, other: Copy): number {
  return other.startedAt - one.startedAt || (one.copyId < other.copyId ? -1 : 1);
}

function copyOfRow(row: Selectable<Tables["copies"]>): Copy {
  return {
    copyId: row.id,
    personId: row.person_id,
    strategyId: row.strategy_id,
    accountId: row.account_id,
    type: row.family,
    settings: decodeSettings(row.settings),
    status: row.status,
    reason: row.reason,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    fromVersion: row.from_version,
    doneSeq: row.done_seq,
    book: decodeBook(row.book),
    revision: row.revision,
  };
}
