// What orders under `strict` would have done on other terms, stored once and summed by the database.
import { type Kysely, sql } from "kysely";
import { ALTERNATIVES, type Counterfactual, type CounterfactualRow } from "../domain/counterfactual.ts";
import type { Amount } from "../money/decimal.ts";
import { type Execute, overRows } from "./dialect.ts";
import type { Tables } from "./schema.ts";
import type { Store } from "./store.ts";
import { decoded, encoded, type Form } from "./stored-forms.ts";

const ROW: Form<CounterfactualRow> = {
  executedQuantity: "DECIMAL",
  executedQuote: "DECIMAL",
  fee: "DECIMAL",
  difference: "DECIMAL",
};

/** The columns of the alternatives, in their order. */
const COLUMNS = ["standard", "strict_0", "strict_50", "strict_250"] as const;

export function counterfactualQueries(db: Kysely<Tables>, execute: Execute) {
  const insert = overRows(
    db,
    {
      strategy_id: "text",
      order_id: "bigint",
      symbol: "text",
      quote_asset: "text",
      completed_at: "bigint",
      standard: "bigint",
      strict_0: "bigint",
      strict_50: "bigint",
      strict_250: "bigint",
      body: "text",
    },
    (given) => sql`
      INSERT INTO counterfactuals (strategy_id, order_id, symbol, quote_asset, completed_at, standard, strict_0,
        strict_50, strict_250, body)
      SELECT strategy_id, order_id, symbol, quote_asset, completed_at, standard, strict_0, strict_50, strict_250,
        body FROM ${given} WHERE true
      ON CONFLICT (strategy_id, order_id) DO NOTHING`,
  );
  return {
    async storeCounterfactuals(counterfactuals) {
      if (counterfactuals.length > 0) await execute([insert(counterfactuals.map(rowOf))]);
    },

    async findCounterfactual(strategyId, orderId) {
      const row = await db
        .selectFrom("counterfactuals")
        .selectAll()
        .where("strategy_id", "=", strategyId)
        .where("order_id", "=", orderId)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { symbol, quote_asset: quoteAsset, completed_at: completedAt, body } = row;
      const rows: CounterfactualRow[] = decoded(body, ROW);
      return { strategyId, orderId, symbol, quoteAsset, completedAt: Number(completedAt), rows };
    },

    async sumCounterfactuals(strategyId, since) {
      const sums = COLUMNS.map((column) => {
        const name = sql.ref(column);
        // As text, since a sum may be beyond 2^53.
        return sql`COUNT(${name}) AS ${sql.ref(`${column}_count`)},
          CAST(COALESCE(SUM(${name}), 0) AS text) AS ${sql.ref(`${column}_sum`)}`;
      });
      const { rows } = await sql<Record<string, string | number>>`
        SELECT quote_asset, COUNT(*) AS orders, ${sql.join(sums)} FROM counterfactuals
        WHERE strategy_id = ${strategyId} AND completed_at >= ${since}
        GROUP BY quote_asset ORDER BY quote_asset`.execute(db);
      return rows.map((row) => ({
        quoteAsset: String(row.quote_asset),
        orderCount: Number(row.orders),
        alternatives: COLUMNS.map((column) => ({
          orderCount: Number(row[`${column}_count`]),
          difference: BigInt(row[`${column}_sum`] ?? 0) as Amount,
        })),
      }));
    },
  } satisfies Partial<Store>;
}

function rowOf({ strategyId, orderId, symbol, quoteAsset, completedAt, rows }: Counterfactual) {
  const [standard = null, strict_0 = null, strict_50 = null, strict_250 = null] = ALTERNATIVES.map(
    ({ profile, latencyMs }) =>
      unitsOf(rows.find((row) => row.profile === profile && row.latencyMs === latencyMs)?.difference ?? null),
  );
  return {
    strategy_id: strategyId,
    order_id: orderId,
    symbol,
    quote_asset: quoteAsset,
    completed_at: completedAt,
    ...{ standard, strict_0, strict_50, strict_250 },
    body: encoded(rows, ROW),
  };
}

/**
 * Null also for what no whole number holds exactly: such an order is left out of sums, and counted as that.
 */
function unitsOf(difference: Amount | null): number | null {
  const units = difference === null ? null : Number(difference);
  return units !== null && Number.isSafeInteger(units) ? units : null;
}
