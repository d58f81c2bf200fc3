// Leads: strategies that may be followed, listed newest first for copiers, their journal entries and the
// actions that these were turned into. `claims.ts` adds actions.
import { type Kysely, sql, type Transaction } from "kysely";
import type { Account, StrategyStatus, StrategyType } from "../../domain/account.ts";
import {
  BETWEEN_ORDERS,
  decodeAccount,
  decodeEvents,
  decodeOrders,
  encodeOrder,
  encodeState,
} from "../codec.ts";
import { contains, isAfter } from "../dialect.ts";
import { auditedIf } from "../people/audit.ts";
import { isShutOut } from "../people/persons.ts";
import type { OfferFilter } from "../ports/leads.ts";
import { keyOfEntry } from "../rows.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { decodeAction } from "./codec.ts";

/** Entries, and actions, that are pruned at a time, and in one statement. */
const PRUNED_MAX = 5_000;
const PARAMETERS_MAX = 500;

export function leadQueries(db: Kysely<Tables>) {
  return {
    async setOpenToCopiers(strategyId, isOpen, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const strategy = await transaction
          .selectFrom("strategies")
          .select("owner_id")
          .where("id", "=", strategyId)
          .executeTakeFirst();
        const owner = strategy?.owner_id ?? null;
        if (isOpen && owner !== null && (await isShutOut(transaction, owner))) return false;
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
        return true;
      });
    },

    async isOpenToCopiers(strategyId) {
      const row = await db
        .selectFrom("strategies")
        .select("is_open_to_copiers")
        .where("id", "=", strategyId)
        .executeTakeFirst();
      return row?.is_open_to_copiers === 1;
    },

    async revisionOfLead(strategyId) {
      const row = await db
        .selectFrom("leads")
        .select("revision")
        .where("strategy_id", "=", strategyId)
        .executeTakeFirst();
      return row?.revision ?? 0;
    },

    async findLead(strategyId) {
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
        version: row.version,
        seq: row.seq,
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
        version: row.version,
        key: keyOfEntry(row.key),
        at: row.at,
        events: decodeEvents(row.events),
      }));
    },

    async pruneLead(strategyId, { kept }) {
      const lead = await db
        .selectFrom("leads")
        .select(["seq", "version"])
        .where("strategy_id", "=", strategyId)
        .executeTakeFirst();
      if (lead === undefined) return;
      const oldest = await db
        .selectFrom("lead_entries")
        .select(({ fn }) => fn.min("version").as("version"))
        .where("strategy_id", "=", strategyId)
        .executeTakeFirst();
      if (oldest?.version != null) {
        await db
          .deleteFrom("lead_entries")
          .where("strategy_id", "=", strategyId)
          .where("version", "<=", Math.min(lead.version, oldest.version + PRUNED_MAX))
          .execute();
      }
      const live = await db
        .selectFrom("copies")
        .select(["done_seq", "from_version"])
        .where("strategy_id", "=", strategyId)
        .where("status", "<>", "STOPPED")
        .execute();
      const last = live.reduce((least, copy) => Math.min(least, copy.done_seq), lead.seq - kept);
      const rows = await db
        .selectFrom("lead_actions")
        .select(["seq", "version"])
        .where("strategy_id", "=", strategyId)
        .where("seq", "<=", last)
        .orderBy("seq")
        .limit(PRUNED_MAX + live.length)
        .execute();
      const pruned = withoutFirsts(
        rows,
        live.map((copy) => copy.from_version),
      );
      for (let from = 0; from < pruned.length; from += PARAMETERS_MAX) {
        await db
          .deleteFrom("lead_actions")
          .where("strategy_id", "=", strategyId)
          .where("seq", "in", pruned.slice(from, from + PARAMETERS_MAX))
          .execute();
      }
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
      let query = db
        .selectFrom("lead_actions")
        .select(["seq", "version", "body"])
        .where("strategy_id", "=", strategyId);
      if (kinds !== undefined) query = query.where("kind", "in", kinds);
      const rows = await query.orderBy("seq", "desc").limit(limit).execute();
      return rows.map(actionOfRow);
    },

    async listOpenStrategies({ after, limit, ...filter }) {
      let query = openStrategies(db, filter)
        .select(["s.id", "s.type", "s.status", "s.name", "s.owner_id", "s.created_at"])
        .select(({ selectFrom }) =>
          selectFrom("copies")
            .select(({ fn }) => fn.countAll<number>().as("copies"))
            .whereRef("copies.strategy_id", "=", "s.id")
            .where("copies.status", "<>", sql.lit("STOPPED"))
            .as("copies"),
        );
      if (after !== undefined) {
        query = query.where(isAfter({ time: "s.created_at", order: "desc", id: "s.id" }, after));
      }
      const rows = await query.orderBy("s.created_at", "desc").orderBy("s.id").limit(limit).execute();
      return rows.map(({ id, type, status, name, owner_id, created_at, copies }) => ({
        strategyId: id,
        type,
        status,
        name,
        ownerId: owner_id ?? "",
        createdAt: created_at,
        copies: copies ?? 0,
      }));
    },

    async countOpenStrategies(filter) {
      const { count } = await openStrategies(db, filter)
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },
  } satisfies Partial<CopyStore>;
}

function openStrategies(db: Kysely<Tables>, { type, search }: OfferFilter) {
  let query = db
    .selectFrom("strategies as s")
    .where("s.is_open_to_copiers", "=", sql.lit(1))
    .where("s.status", "=", "LIVE")
    .where("s.owner_id", "is not", null);
  if (type !== undefined) query = query.where("s.type", "=", type);
  if (search !== undefined) query = query.where(contains("s.name", search));
  return query;
}

/**
 * Of actions, oldest first, those that are the first of no copy. `fromVersions`: the strategy's versions when
 * copies began.
 */
function withoutFirsts(
  actions: readonly { readonly seq: number; readonly version: number }[],
  fromVersions: readonly number[],
): readonly number[] {
  const begun = [...fromVersions].sort((one, other) => one - other);
  let next = 0;
  return actions.flatMap(({ seq, version }) => {
    const before = next;
    while ((begun[next] ?? version) < version) next += 1;
    return next > before ? [] : [seq];
  });
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

/**
 * A lead's account as one text, with all that a strategy has in several tables: its status, state and open
 * orders.
 */
export function encodeLeadAccount(account: Account): string {
  const orders = [...account.openOrders.values()].map(encodeOrder);
  return [account.status, encodeState(account), ...orders].join(BETWEEN_ORDERS);
}

function decodeLeadAccount(lead: { strategyId: string; type: StrategyType }, text: string): Account {
  const [status, state = "", ...orders] = text.split(BETWEEN_ORDERS);
  const row = { id: lead.strategyId, type: lead.type, status: status as StrategyStatus, state };
  return decodeAccount(row, orders.flatMap(decodeOrders));
}

/** An action as its row has it. */
export function actionOfRow({ seq, version, body }: { seq: number; version: number; body: string }) {
  return decodeAction({ seq, version }, body);
}
