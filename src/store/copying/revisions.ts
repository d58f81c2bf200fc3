// What people change is seen from afar by revisions: the lead's, which the process that works at it looks at,
// and the copy's, which the dashboard looks at.
//
// Rows are locked in one order everywhere: accounts and what is asked for, leads, copies, and each of these
// in the order of their ids; `progress.ts` does the same. So transactions do not deadlock.
import { type Kysely, sql, type Transaction } from "kysely";
import { isPostgres } from "../dialect.ts";
import type { Tables } from "../schema.ts";

/** Whose live copies a change concerns. */
export type Concerned =
  | { readonly copyId: string }
  | { readonly accountId: string }
  | { readonly personId: string }
  | { readonly strategyId: string }
  | { readonly venue: string };

/** Lets the live copies that are concerned, and their leads, be seen to have changed. */
export async function noteChange(transaction: Transaction<Tables>, concerned: Concerned): Promise<void> {
  const lock = isPostgres(transaction) ? sql`FOR UPDATE` : sql``;
  const leads = liveCopies(transaction, concerned).select("strategy_id");
  await sql`
    UPDATE leads SET revision = revision + 1
    WHERE strategy_id IN (SELECT strategy_id FROM leads WHERE strategy_id IN (${leads}) ORDER BY strategy_id ${lock})
  `.execute(transaction);
  const copies = liveCopies(transaction, concerned).select("id").orderBy("id");
  await sql`UPDATE copies SET revision = revision + 1 WHERE id IN (${copies} ${lock})`.execute(transaction);
}

/** Lets a lead be seen to have changed, and nothing else. */
export async function noteLeadChange(transaction: Transaction<Tables>, strategyId: string): Promise<void> {
  await transaction
    .updateTable("leads")
    .set((lead) => ({ revision: lead("revision", "+", 1) }))
    .where("strategy_id", "=", strategyId)
    .execute();
}

function liveCopies(db: Kysely<Tables>, concerned: Concerned) {
  const live = db.selectFrom("copies").where("status", "<>", sql.lit("STOPPED"));
  if ("copyId" in concerned) return live.where("id", "=", concerned.copyId);
  if ("accountId" in concerned) return live.where("account_id", "=", concerned.accountId);
  if ("personId" in concerned) return live.where("person_id", "=", concerned.personId);
  if ("strategyId" in concerned) return live.where("strategy_id", "=", concerned.strategyId);
  return live.where("account_id", "in", (accounts) =>
    accounts.selectFrom("venue_accounts").select("id").where("venue", "=", concerned.venue),
  );
}
