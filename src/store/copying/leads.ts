// Leads, and what these did. Who claims a lead, and moves it on, each store writes in its own
// way.
import type { Kysely, Transaction } from "kysely";
import type { StrategyStatus, StrategyType } from "../../domain/account.ts";
import { decodeEvents } from "../codec.ts";
import type { ClaimedLead, CopyStore } from "../copy-store.ts";
import { audited } from "../people/audit.ts";
import { keyOfEntry } from "../rows.ts";
import type { Tables } from "../schema.ts";
import { areTexts } from "../texts.ts";
import { decodeAction } from "./codec.ts";
import { decodeLeadAccount } from "./lead-accounts.ts";

type LeadQueries = Pick<
  CopyStore,
  | "setOpenToCopiers"
  | "isOpenToCopiers"
  | "listClaimed"
  | "findLead"
  | "revisionOfLead"
  | "listEntriesAfter"
  | "listActions"
  | "listRecentActions"
>;

export function leadQueries(db: Kysely<Tables>): LeadQueries {
  return {
    async setOpenToCopiers(strategyId, isOpen, audit) {
      if (!areTexts(strategyId)) return false;
      return await audited(db, async (transaction, record) => {
        const { numUpdatedRows } = await transaction
          .updateTable("strategies")
          .set({ is_open_to_copiers: isOpen ? 1 : 0, is_lead: 1 })
          .where("id", "=", strategyId)
          .where("is_open_to_copiers", "=", isOpen ? 0 : 1)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        const begun = await transaction
          .insertInto("leads")
          .values({ strategy_id: strategyId, version: 0, seq: 0, lease_until: 0, revision: 1 })
          .onConflict((conflict) => conflict.column("strategy_id").doNothing())
          .returning("strategy_id")
          .executeTakeFirst();
        // What is committed from now on is listed by its commit, which waits for the strategy's row.
        if (begun !== undefined) await listEarlierEntries(transaction, strategyId);
        await record(audit);
        return true;
      });
    },

    async isOpenToCopiers(strategyId) {
      if (!areTexts(strategyId)) return false;
      const row = await db
        .selectFrom("strategies")
        .select("is_open_to_copiers")
        .where("id", "=", strategyId)
        .executeTakeFirst();
      return Number(row?.is_open_to_copiers ?? 0) === 1;
    },

    async listClaimed(holder) {
      const rows = await db
        .selectFrom("leads")
        .innerJoin("strategies", "strategies.id", "leads.strategy_id")
        .select(["strategies.id", "strategies.type", "strategies.status", "strategies.version"])
        .select("leads.revision")
        .where("leads.holder", "=", holder)
        .orderBy("strategies.id")
        .execute();
      return rows.map(claimedLeadOfRow);
    },

    async revisionOfLead(strategyId) {
      const row = await db
        .selectFrom("leads")
        .select("revision")
        .where("strategy_id", "=", strategyId)
        .executeTakeFirst();
      return Number(row?.revision ?? 0);
    },

    async findLead(strategyId) {
      if (!areTexts(strategyId)) return null;
      const row = await db
        .selectFrom("leads")
        .innerJoin("strategies", "strategies.id", "leads.strategy_id")
        .leftJoin("lead_accounts", "lead_accounts.strategy_id", "leads.strategy_id")
        .select(["leads.version", "leads.seq", "strategies.type", "lead_accounts.account"])
        .where("leads.strategy_id", "=", strategyId)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { type, account } = row;
      return {
        strategyId,
        type,
        account: account === null ? null : decodeLeadAccount({ strategyId, type }, account),
        version: Number(row.version),
        seq: Number(row.seq),
      };
    },

    async listEntriesAfter(strategyId, version, limit) {
      const rows = await db
        .selectFrom("lead_entries")
        .innerJoin("journal", "journal.position", "lead_entries.position")
        .select(["journal.version", "journal.key", "journal.at", "journal.events"])
        .where("lead_entries.strategy_id", "=", strategyId)
        .where("lead_entries.version", ">", version)
        .orderBy("lead_entries.version")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        version: Number(row.version),
        key: keyOfEntry(row.key),
        at: Number(row.at),
        events: decodeEvents(row.events),
      }));
    },

    async listActions(strategyId, { afterSeq, limit }) {
      const rows = await db
        .selectFrom("lead_actions")
        .select(["seq", "version", "body"])
        .where("strategy_id", "=", strategyId)
        .where("seq", ">", afterSeq)
        .orderBy("seq")
        .limit(limit)
        .execute();
      return rows.map(actionOfRow);
    },

    async listRecentActions(strategyId, { kinds, limit }) {
      if (!areTexts(strategyId)) return [];
      let query = db
        .selectFrom("lead_actions")
        .select(["seq", "version", "body"])
        .where("strategy_id", "=", strategyId);
      if (kinds !== undefined) query = query.where("kind", "in", kinds);
      const rows = await query.orderBy("seq", "desc").limit(limit).execute();
      return rows.map(actionOfRow);
    },
  };
}

async function listEarlierEntries(transaction: Transaction<Tables>, strategyId: string): Promise<void> {
  await transaction
    .insertInto("lead_entries")
    .columns(["strategy_id", "version", "position"])
    .expression((journal) =>
      journal
        .selectFrom("journal")
        .select(["strategy_id", "version", "position"])
        .where("strategy_id", "=", strategyId),
    )
    .execute();
}

export type ClaimedLeadRow = {
  readonly id: string;
  readonly type: StrategyType;
  readonly status: StrategyStatus;
  readonly version: number | string;
  readonly revision: number | string;
};

export function claimedLeadOfRow({ id, type, status, version, revision }: ClaimedLeadRow): ClaimedLead {
  return { strategyId: id, type, status, version: Number(version), revision: Number(revision) };
}

function actionOfRow({ seq, version, body }: { seq: number; version: number; body: string }) {
  return decodeAction({ seq: Number(seq), version: Number(version) }, body);
}
