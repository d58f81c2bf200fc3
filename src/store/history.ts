// What a strategy has behind it and has open: its orders, trades, legs, incomes and journal, found and listed.
import { type Kysely, sql } from "kysely";
import { placementKey } from "../domain/command.ts";
import type { Order } from "../domain/order.ts";
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

    async listOrders(strategyId, { symbol, fromOrderId, startTime, endTime, limit, keeps }: OrderQuery) {
      let query = db
        .selectFrom("orders")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("symbol", "=", symbol);
      if (fromOrderId !== undefined) query = query.where("order_id", ">=", fromOrderId);
      if (startTime !== undefined) query = query.where("placed_at", ">=", startTime);
      if (endTime !== undefined) query = query.where("placed_at", "<=", endTime);
      const keepsOldest = keepsTheOldest(keeps, fromOrderId ?? startTime);
      const rows = await query
        .orderBy("order_id", keepsOldest ? "asc" : "desc")
        .limit(limit)
        .execute();
      return ascending(rows, keepsOldest).map(({ body }) => decodeOrder(body));
    },

    async listTrades(strategyId, query: TradeQuery) {
      const { symbol, orderId, fromTradeId, startTime, endTime, limit, keeps } = query;
      let trades = db
        .selectFrom("trades")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("symbol", "=", symbol);
      if (orderId !== undefined) {
        const ofOrder = db
          .selectFrom("orders")
          .where("strategy_id", "=", strategyId)
          .where("symbol", "=", symbol)
          .where("order_id", "=", orderId);
        trades = trades
          .where("order_id", "=", orderId)
          .where("trade_id", ">=", ofOrder.select("first_trade_id"))
          .where("trade_id", "<=", ofOrder.select("last_trade_id"));
      }
      if (fromTradeId !== undefined) trades = trades.where("trade_id", ">=", fromTradeId);
      if (startTime !== undefined) trades = trades.where("at", ">=", startTime);
      if (endTime !== undefined) trades = trades.where("at", "<=", endTime);
      const keepsOldest = keepsTheOldest(keeps, fromTradeId ?? startTime);
      const rows = await trades
        .orderBy("trade_id", keepsOldest ? "asc" : "desc")
        .limit(limit)
        .execute();
      return ascending(rows, keepsOldest).map(({ body }) => decodeTrade(body));
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

    async listLegs(strategyId, { symbol, fromLegId, startTime, endTime, limit, keeps }: LegQuery) {
      let query = db
        .selectFrom("legs")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("symbol", "=", symbol);
      if (fromLegId !== undefined) query = query.where("leg_id", ">=", fromLegId);
      if (startTime !== undefined) query = query.where("placed_at", ">=", startTime);
      if (endTime !== undefined) query = query.where("placed_at", "<=", endTime);
      const keepsOldest = keepsTheOldest(keeps, fromLegId ?? startTime);
      const rows = await query
        .orderBy("leg_id", keepsOldest ? "asc" : "desc")
        .limit(limit)
        .execute();
      return ascending(rows, keepsOldest).map(({ body }) => decodeLeg(body));
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
      return rows.map((row) => ({
        version: Number(row.version),
        key: keyOfEntry(row.key),
        at: Number(row.at),
        events: decodeEvents(row.events),
      }));
    },
  };
}

function orderOfRow(row: { body: string } | undefined): Order | null {
  return row === undefined ? null : decodeOrder(row.body);
}

/** Which end of a range stays if it is longer than its limit: the query says it, or whether it has a lower bound. */
function keepsTheOldest(keeps: OrderQuery["keeps"], lowerBound: number | undefined): boolean {
  return keeps === undefined ? lowerBound !== undefined : keeps === "OLDEST";
}

function ascending<Row>(rows: Row[], isAscending: boolean): Row[] {
  return isAscending ? rows : rows.reverse();
}
