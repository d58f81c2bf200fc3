// Reads the newest orders, trades, legs, incomes and signals of a strategy, newest first and a page at a
// time, for people; `before` names the last row of the page before. Orders and trades are indexed by symbol
// alone, as bots query them (decision 14). Their numbers rise over all symbols, so the newest of all are
// found by going down from the highest number in ranges of a few pages, each a short query of every symbol.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { decodeLeg, decodeOrder, decodeTrade } from "./codec.ts";
import { areTexts } from "./dialect.ts";
import type { RecentQuery } from "./ports/trading.ts";
import { incomeOfRow } from "./rows.ts";
import type { Tables } from "./schema.ts";
import { SIGNAL_COLUMNS, signalOfRow } from "./signal-rows.ts";
import type { Store } from "./store.ts";

/**
 * How many numbers are gone through at first for a row that is wanted, and how much further each time there
 * were too few.
 */
const NUMBERS_PER_ROW = 4;
const WIDER = 8;

export function recentQueries(db: Kysely<Tables>) {
  return {
    async listRecentOrders(strategyId, { isDone = false, ...query }) {
      const condition = isDone ? sql`k.is_open = 0` : ALL;
      const rows = await newest(db, { table: "orders", number: "order_id", condition }, strategyId, query);
      return rows.map(decodeOrder);
    },

    async listRecentTrades(strategyId, query) {
      const rows = await newest(
        db,
        { table: "trades", number: "trade_id", condition: ALL },
        strategyId,
        query,
      );
      return rows.map(decodeTrade);
    },

    async listRecentLegs(strategyId, { symbol, before, limit }) {
      if (!areTexts(symbol ?? "")) return [];
      let query = db.selectFrom("legs").select("body").where("strategy_id", "=", strategyId);
      if (symbol !== undefined) query = query.where("symbol", "=", symbol);
      if (before !== undefined) query = query.where("leg_id", "<", before);
      const rows = await query.orderBy("leg_id", "desc").limit(limit).execute();
      return rows.map(({ body }) => decodeLeg(body));
    },

    async listRecentIncomes(strategyId, { before, limit }) {
      let query = db.selectFrom("incomes").selectAll().where("strategy_id", "=", strategyId);
      if (before !== undefined) {
        const { at, incomeId } = before;
        query = query.where(({ eb, and, or }) =>
          or([eb("at", "<", at), and([eb("at", "=", at), eb("income_id", "<", incomeId)])]),
        );
      }
      const rows = await query.orderBy("at", "desc").orderBy("income_id", "desc").limit(limit).execute();
      return rows.map(incomeOfRow);
    },

    async listRecentSignals(strategyId, { before, limit }) {
      let query = db.selectFrom("signals").select(SIGNAL_COLUMNS).where("strategy_id", "=", strategyId);
      if (before !== undefined) {
        const ofThat = db
          .selectFrom("signals")
          .select("position")
          .where("strategy_id", "=", strategyId)
          .where("signal_id", "=", before);
        query = query.where("position", "<", ofThat);
      }
      const rows = await query.orderBy("position", "desc").limit(limit).execute();
      return rows.map(signalOfRow);
    },
  } satisfies Partial<Store>;
}

type Kept = {
  readonly table: "orders" | "trades";
  readonly number: "order_id" | "trade_id";
  /** Which rows of it, as `k`, are wanted. */
  readonly condition: RawBuilder<unknown>;
};

const ALL = sql`1 = 1`;

async function newest(
  db: Kysely<Tables>,
  kept: Kept,
  strategyId: string,
  query: RecentQuery,
): Promise<readonly string[]> {
  const { symbol, limit } = query;
  if (!areTexts(symbol ?? "")) return [];
  const symbols = symbol === undefined ? symbolsOf(kept, strategyId) : sql`SELECT CAST(${symbol} AS TEXT)`;
  let above = query.before ?? (await highest(db, kept, strategyId, symbols)) + 1;
  const found: string[] = [];
  for (let span = limit * NUMBERS_PER_ROW; found.length < limit && above > 1; span *= WIDER) {
    const from = Math.max(1, above - span);
    const { rows } = await sql<{ body: string }>`
      WITH RECURSIVE ${symbolsNamed(symbols)}
      SELECT k.body FROM named JOIN ${sql.table(kept.table)} k
        ON k.strategy_id = ${strategyId} AND k.symbol = named.symbol
        AND k.${sql.ref(kept.number)} >= ${from} AND k.${sql.ref(kept.number)} < ${above} AND ${kept.condition}
      ORDER BY k.${sql.ref(kept.number)} DESC LIMIT ${limit - found.length}
    `.execute(db);
    found.push(...rows.map(({ body }) => body));
    above = from;
  }
  return found;
}

/** The highest number that there is, zero if there is none. */
async function highest(
  db: Kysely<Tables>,
  { table, number }: Kept,
  strategyId: string,
  symbols: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql<{ highest: number | null }>`
    WITH RECURSIVE ${symbolsNamed(symbols)}
    SELECT MAX((
      SELECT MAX(k.${sql.ref(number)}) FROM ${sql.table(table)} k
      WHERE k.strategy_id = ${strategyId} AND k.symbol = named.symbol
    )) AS highest FROM named
  `.execute(db);
  return rows[0]?.highest ?? 0;
}

function symbolsNamed(symbols: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`named(symbol) AS (${symbols})`;
}

/**
 * From one symbol to the next: a plain DISTINCT would go through all rows. The last row is null, and joins
 * nothing.
 */
function symbolsOf({ table }: Kept, strategyId: string): RawBuilder<unknown> {
  return sql`
    SELECT MIN(symbol) FROM ${sql.table(table)} WHERE strategy_id = ${strategyId}
    UNION ALL
    SELECT (
      SELECT MIN(k.symbol) FROM ${sql.table(table)} k
      WHERE k.strategy_id = ${strategyId} AND k.symbol > named.symbol
    ) FROM named WHERE named.symbol IS NOT NULL
  `;
}
