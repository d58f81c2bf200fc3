// What a strategy has behind it and has open: its orders, trades, legs, incomes and journal, found and
// listed.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { placementKey } from "../domain/command.ts";
import type { Order } from "../domain/order.ts";
import type { JournalEntry } from "../domain/strategy.ts";
import { decodeEvents, decodeLeg, decodeOrder, decodeTrade } from "./codec.ts";
import type { IncomeQuery, LegQuery, OrderQuery, TradeQuery } from "./ports/trading.ts";
import { FIRST_ENTRY, incomeOfRow, keyOfEntry } from "./rows.ts";
import type { Tables } from "./schema.ts";
import type { Store } from "./store.ts";

type HistoryQueries = Pick<
  Store,
  | "findOrder"
  | "listOpenOrders"
  | "listOrders"
  | "listTrades"
  | "listTradedSymbols"
  | "findLeg"
  | "listLegs"
  | "listIncomes"
  | "findOpeningTime"
  | "listEntries"
  | "newestPosition"
  | "listJournalAfter"
>;

export function historyQueries(db: Kysely<Tables>): HistoryQueries {
  return {
    async findOrder(strategyId, order) {
      const ofStrategy = db.selectFrom("orders").select("body").where("strategy_id", "=", strategyId);
      if ("orderId" in order) {
        // Without its symbol an order is looked for among all orders of the strategy.
        const { orderId, symbol } = order;
        const byId = ofStrategy.where("order_id", "=", orderId);
        const query = symbol === undefined ? byId : byId.where("symbol", "=", symbol);
        return orderOfRow(await query.executeTakeFirst());
      }
      const { clientOrderId } = order;
      const entry = await db
        .selectFrom("journal")
        .select("events")
        .where("strategy_id", "=", strategyId)
        .where("key", "=", placementKey(clientOrderId))
        .executeTakeFirst();
      const placed = decodeEvents(entry?.events ?? "[]").find(({ type }) => type === "OrderPlaced");
      if (placed?.type !== "OrderPlaced") {
        return orderOfRow(await ofStrategy.where("client_order_id", "=", clientOrderId).executeTakeFirst());
      }
      const { orderId, symbol } = placed.order;
      return orderOfRow(
        await ofStrategy.where("order_id", "=", orderId).where("symbol", "=", symbol).executeTakeFirst(),
      );
    },

    async listOpenOrders(strategyId, symbol) {
      const rows = await db
        .selectFrom("orders")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("is_open", "=", 1)
        .orderBy("order_id")
        .execute();
      const open = rows.map(({ body }) => decodeOrder(body));
      // Asked of the database, the symbol would have it go through all orders that there ever were of it.
      return symbol === null ? open : open.filter((order) => order.symbol === symbol);
    },

    async listOrders(strategyId, query: OrderQuery) {
      const bodies = await listBodies(db, "orders", strategyId, { ...query, from: query.fromOrderId });
      return bodies.map(decodeOrder);
    },

    async listTrades(strategyId, query: TradeQuery) {
      const { symbol, orderId } = query;
      const ofOrder = sql`FROM orders WHERE strategy_id = ${strategyId} AND symbol = ${symbol} AND order_id = ${orderId}`;
      const range = { ...query, from: query.fromTradeId };
      const isOfOrder = [
        sql`order_id = ${orderId}`,
        sql`trade_id >= (SELECT first_trade_id ${ofOrder})`,
        sql`trade_id <= (SELECT last_trade_id ${ofOrder})`,
      ];
      const further = orderId === undefined ? [] : isOfOrder;
      const bodies = await listBodies(db, "trades", strategyId, range, further);
      return bodies.map(decodeTrade);
    },

    async listTradedSymbols(strategyId) {
      // From one symbol to the next: a plain DISTINCT would go through all trades.
      const { rows } = await sql<{ symbol: string }>`
        WITH RECURSIVE traded(symbol) AS (
          SELECT MIN(symbol) FROM trades WHERE strategy_id = ${strategyId}
          UNION ALL
          SELECT (
            SELECT MIN(t.symbol) FROM trades t WHERE t.strategy_id = ${strategyId} AND t.symbol > traded.symbol
          ) FROM traded WHERE traded.symbol IS NOT NULL
        )
        SELECT symbol FROM traded WHERE symbol IS NOT NULL
      `.execute(db);
      return rows.map(({ symbol }) => symbol).sort();
    },

    async findLeg(strategyId, leg) {
      const ofStrategy = db.selectFrom("legs").select("body").where("strategy_id", "=", strategyId);
      const query =
        "legId" in leg
          ? ofStrategy.where("leg_id", "=", leg.legId)
          : ofStrategy.where("client_leg_id", "=", leg.clientLegId);
      const row = await query.executeTakeFirst();
      return row === undefined ? null : decodeLeg(row.body);
    },

    async listLegs(strategyId, query: LegQuery) {
      const bodies = await listBodies(db, "legs", strategyId, { ...query, from: query.fromLegId });
      return bodies.map(decodeLeg);
    },

    async listIncomes(strategyId, { symbol, type, startTime, endTime, limit, offset }: IncomeQuery) {
      let query = db.selectFrom("incomes").selectAll().where("strategy_id", "=", strategyId);
      if (symbol !== undefined) query = query.where("symbol", "=", symbol);
      if (type !== undefined) query = query.where("type", "=", type);
      if (startTime !== undefined) query = query.where("at", ">=", startTime);
      if (endTime !== undefined) query = query.where("at", "<=", endTime);
      const rows = await query.orderBy("at").orderBy("income_id").limit(limit).offset(offset).execute();
      return rows.map(incomeOfRow);
    },

    async findOpeningTime(strategyId) {
      const row = await db
        .selectFrom("journal")
        .select("at")
        .where("strategy_id", "=", strategyId)
        .where("key", "=", FIRST_ENTRY)
        .executeTakeFirst();
      return row === undefined ? null : Number(row.at);
    },

    async listEntries(strategyId) {
      const rows = await db
        .selectFrom("journal")
        .selectAll()
        .where("strategy_id", "=", strategyId)
        .orderBy("version")
        .execute();
      return rows.map(entryOfRow);
    },

    async newestPosition() {
      const row = await db
        .selectFrom("journal")
        .select(({ fn }) => fn.max("position").as("newest"))
        .executeTakeFirst();
      return Number(row?.newest ?? 0);
    },

    async listJournalAfter(strategyId, version, { behind, limit }) {
      const later = db
        .selectFrom("journal")
        .select(["version", "key", "at", "events"])
        .where("version", ">", version);
      // An expression of the strategy has no index, so the few entries behind the position are read instead.
      const wanted =
        behind === undefined
          ? later.where("strategy_id", "=", strategyId).orderBy("version")
          : later
              .where(sql<boolean>`${sql.ref("position")} > ${behind}`)
              .where(sql<string>`strategy_id || ''`, "=", strategyId)
              .orderBy("position");
      const rows = await wanted.limit(limit).execute();
      return rows.map(entryOfRow);
    },
  };
}

type EntryRow = {
  readonly version: number;
  readonly key: string;
  readonly at: number;
  readonly events: string;
};

function entryOfRow({ version, key, at, events }: EntryRow): JournalEntry {
  return { version: Number(version), key: keyOfEntry(key), at: Number(at), events: decodeEvents(events) };
}

function orderOfRow(row: { body: string } | undefined): Order | null {
  return row === undefined ? null : decodeOrder(row.body);
}

/** Tables with ascending ids: the columns of their ids and of their times. */
const NUMBERED = {
  orders: { number: "order_id", time: "placed_at" },
  trades: { number: "trade_id", time: "at" },
  legs: { number: "leg_id", time: "placed_at" },
} as const;

type RangeQuery = Omit<TradeQuery, "fromTradeId" | "orderId"> & { readonly from: number | undefined };

/**
 * The bodies in a range, ascending by number. Of a range longer than its limit, `keeps` says which end stays;
 * without it the oldest stay if the range has a lower bound. `further` are more conditions.
 */
async function listBodies(
  db: Kysely<Tables>,
  table: keyof typeof NUMBERED,
  strategyId: string,
  { symbol, from, startTime, endTime, limit, keeps }: RangeQuery,
  further: readonly RawBuilder<unknown>[] = [],
): Promise<string[]> {
  const number = sql.ref(NUMBERED[table].number);
  const time = sql.ref(NUMBERED[table].time);
  const conditions = [sql`strategy_id = ${strategyId}`, sql`symbol = ${symbol}`, ...further];
  if (from !== undefined) conditions.push(sql`${number} >= ${from}`);
  if (startTime !== undefined) conditions.push(sql`${time} >= ${startTime}`);
  if (endTime !== undefined) conditions.push(sql`${time} <= ${endTime}`);
  const isAscending = keeps === undefined ? (from ?? startTime) !== undefined : keeps === "OLDEST";
  const { rows } = await sql<{ body: string }>`
    SELECT body FROM ${sql.table(table)} WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${number} ${sql.raw(isAscending ? "ASC" : "DESC")} LIMIT ${limit}`.execute(db);
  const bodies = rows.map(({ body }) => body);
  return isAscending ? bodies : bodies.reverse();
}
