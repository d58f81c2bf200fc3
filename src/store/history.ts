// What a strategy has behind it and has open: its orders, trades, legs, incomes and journal, found and
// listed.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { DISORDER_MS_MAX } from "../domain/account.ts";
import type { Order } from "../domain/order.ts";
import type { JournalEntry } from "../domain/strategy.ts";
import { decodeEvents, decodeLeg, decodeOrder, decodeTimeOrder, decodeTrade } from "./codec.ts";
import { areTexts } from "./dialect.ts";
import type { IncomeQuery, LegQuery, OrderQuery, TradeQuery } from "./ports/trading.ts";
import { FIRST_ENTRY, incomeOfRow, keyOfEntry, placementKeysOf } from "./rows.ts";
import type { Tables } from "./schema.ts";
import type { Store } from "./store.ts";

/** The keyed reads by which orders are found: each store has its own. */
type OrderReads = Pick<Store, "findEntry"> & {
  /** The body of an order's row; null if there is none. */
  findBody(strategyId: string, symbol: string, orderId: number): Promise<string | null>;
};

/** Finds orders: with the symbol, or by the client id of a placement or of a signal, by keyed reads alone. */
export function orderFinder(db: Kysely<Tables>, { findEntry, findBody }: OrderReads): Store["findOrder"] {
  return async (strategyId, order) => {
    if ("orderId" in order) {
      const { orderId, symbol } = order;
      if (symbol !== undefined) {
        return areTexts(symbol) ? orderOf(await findBody(strategyId, symbol, orderId)) : null;
      }
      const open = await bodyWhere(db, strategyId, sql`order_id = ${orderId} AND is_open = 1`);
      return orderOf(open ?? (await findInEachSymbol(db, strategyId, orderId)));
    }
    const { clientOrderId } = order;
    if (!areTexts(clientOrderId)) return null;
    for (const key of placementKeysOf(clientOrderId)) {
      const entry = await findEntry(strategyId, key);
      const placed = entry?.events.find(({ type }) => type === "OrderPlaced");
      if (placed?.type !== "OrderPlaced") continue;
      const { orderId, symbol } = placed.order;
      return orderOf(await findBody(strategyId, symbol, orderId));
    }
    // Rows of signals from before their entries were looked for, and orders that no entry's key names.
    return orderOf(await bodyWhere(db, strategyId, sql`client_order_id = ${clientOrderId}`));
  };
}

export function historyQueries(db: Kysely<Tables>) {
  return {
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
      const { rows } = await sql<{ symbol: string }>`
        ${withSymbolsOf("trades", strategyId)} SELECT symbol FROM symbols WHERE symbol IS NOT NULL`.execute(
        db,
      );
      return rows.map(({ symbol }) => symbol).sort();
    },

    async findLeg(strategyId, leg) {
      if ("clientLegId" in leg && !areTexts(leg.clientLegId)) return null;
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
      if (!areTexts(symbol ?? "")) return [];
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
      return row?.at ?? null;
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
      return row?.newest ?? 0;
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
  } satisfies Partial<Store>;
}

type EntryRow = {
  readonly version: number;
  readonly key: string;
  readonly at: number;
  readonly events: string;
};

function entryOfRow({ version, key, at, events }: EntryRow): JournalEntry {
  return { version, key: keyOfEntry(key), at, events: decodeEvents(events) };
}

/** Begins a query with the table `symbols`: those of which a strategy has rows, and at the end null. */
function withSymbolsOf(table: "orders" | "trades", strategyId: string): RawBuilder<unknown> {
  const rows = sql.table(table);
  // From one symbol to the next by the primary key: a plain DISTINCT would go through all rows.
  return sql`
    WITH RECURSIVE symbols(symbol) AS (
      SELECT MIN(symbol) FROM ${rows} WHERE strategy_id = ${strategyId}
      UNION ALL
      SELECT (
        SELECT MIN(r.symbol) FROM ${rows} r WHERE r.strategy_id = ${strategyId} AND r.symbol > symbols.symbol
      ) FROM symbols WHERE symbols.symbol IS NOT NULL
    )`;
}

/** The row of an order whose symbol is not known. A closed one has no index without the symbol. */
async function findInEachSymbol(
  db: Kysely<Tables>,
  strategyId: string,
  orderId: number,
): Promise<string | null> {
  const { rows } = await sql<{ body: string | null }>`
    ${withSymbolsOf("orders", strategyId)}
    SELECT (
      SELECT o.body FROM orders o
      WHERE o.strategy_id = ${strategyId} AND o.symbol = symbols.symbol AND o.order_id = ${orderId}
    ) AS body FROM symbols`.execute(db);
  return rows.find((row) => row.body !== null)?.body ?? null;
}

async function bodyWhere(
  db: Kysely<Tables>,
  strategyId: string,
  condition: RawBuilder<unknown>,
): Promise<string | null> {
  const { rows } = await sql<{ body: string }>`
    SELECT body FROM orders WHERE strategy_id = ${strategyId} AND ${condition} LIMIT 1`.execute(db);
  return rows[0]?.body ?? null;
}

function orderOf(body: string | null): Order | null {
  return body === null ? null : decodeOrder(body);
}

/** Tables with ascending ids: the columns of their ids and of their times, and from which id these ascend. */
const NUMBERED = {
  orders: { number: "order_id", time: "placed_at", ascends: "orderId" },
  trades: { number: "trade_id", time: "at", ascends: "tradeId" },
  legs: { number: "leg_id", time: "placed_at", ascends: "orderId" },
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
  { from, limit, keeps, ...range }: RangeQuery,
  further: readonly RawBuilder<unknown>[] = [],
): Promise<string[]> {
  const { symbol, startTime, endTime } = range;
  if (!areTexts(symbol)) return [];
  const number = sql.ref(NUMBERED[table].number);
  const time = sql.ref(NUMBERED[table].time);
  const conditions = [sql`strategy_id = ${strategyId}`, sql`symbol = ${symbol}`, ...further];
  if (from !== undefined) conditions.push(sql`${number} >= ${from}`);
  if (startTime !== undefined) conditions.push(sql`${time} >= ${startTime}`);
  if (endTime !== undefined) conditions.push(sql`${time} <= ${endTime}`);
  const isAscending = keeps === undefined ? (from ?? startTime) !== undefined : keeps === "OLDEST";
  // Those of one order are few, and their ids are known.
  const isByTime = (startTime ?? endTime) !== undefined && further.length === 0;
  const spans = isByTime ? await spansOf(db, table, strategyId, range) : [EVERYTHING];
  const bodies: string[] = [];
  for (const { first, end } of isAscending ? spans : spans.toReversed()) {
    if (bodies.length >= limit) break;
    const bounds = [sql`${number} >= ${first}`];
    if (end !== null) bounds.push(sql`${number} < ${end}`);
    const { rows } = await sql<{ body: string }>`
      SELECT body FROM ${sql.table(table)} WHERE ${sql.join([...conditions, ...bounds], sql` AND `)}
      ORDER BY ${number} ${sql.raw(isAscending ? "ASC" : "DESC")} LIMIT ${limit - bodies.length}`.execute(db);
    bodies.push(...rows.map(({ body }) => body));
  }
  return isAscending ? bodies : bodies.reverse();
}

/** Ids from `first` on, below `end`; null for no end. */
type Span = { readonly first: number; readonly end: number | null };

const EVERYTHING: Span = { first: 0, end: null };

/**
 * The spans of ids, ascending, that contain every row with a time in the range. There is no index of times,
 * which every order would have to be written to. Where times ascend, bisection finds their ids by the primary
 * key; rows before that are all visited.
 */
async function spansOf(
  db: Kysely<Tables>,
  table: keyof typeof NUMBERED,
  strategyId: string,
  { symbol, startTime, endTime }: Pick<RangeQuery, "symbol" | "startTime" | "endTime">,
): Promise<Span[]> {
  const strategy = await db
    .selectFrom("strategies")
    .select("state")
    .where("id", "=", strategyId)
    .executeTakeFirst();
  if (strategy === undefined) return [];
  const ascends = decodeTimeOrder(strategy.state)[NUMBERED[table].ascends];
  const rows = { db, table, strategyId, symbol, from: ascends };
  const first = startTime === undefined ? ascends : await findId(rows, startTime - DISORDER_MS_MAX);
  const end = endTime === undefined ? null : await findId(rows, endTime + DISORDER_MS_MAX + 1);
  const found: Span[] = end !== null && end <= first ? [] : [{ first, end }];
  return ascends > 1 ? [{ first: 0, end: ascends }, ...found] : found;
}

/**
 * The id at which a bisection over rows from an id on ends: before it, it has seen only times before `at`,
 * and from it on only others. Each step reads the first row from the middle on.
 */
async function findId(
  rows: {
    readonly db: Kysely<Tables>;
    readonly table: keyof typeof NUMBERED;
    readonly strategyId: string;
    readonly symbol: string;
    readonly from: number;
  },
  at: number,
): Promise<number> {
  const { table, strategyId, symbol, from } = rows;
  const number = sql.ref(NUMBERED[table].number);
  const time = sql.ref(NUMBERED[table].time);
  const ofSymbol = sql`FROM ${sql.table(table)} WHERE strategy_id = ${strategyId} AND symbol = ${symbol}`;
  // The id after the row that is read if its time is earlier, else null.
  const afterEarlier = (low: RawBuilder<unknown>, high: RawBuilder<unknown>) => sql`(
    SELECT CASE WHEN ${time} < ${at} THEN ${number} + 1 END ${ofSymbol}
    AND ${number} >= (${low} + ${high}) / 2 ORDER BY ${number} LIMIT 1
  )`;
  const low = sql`COALESCE(after_earlier, low)`;
  const high = sql`CASE WHEN after_earlier IS NULL THEN (low + high) / 2 ELSE high END`;
  const bounds = sql`
    SELECT CAST(${from} AS bigint) AS low, (SELECT COALESCE(MAX(${number}), 0) + 1 ${ofSymbol}) AS high`;
  const { rows: found } = await sql<{ low: number }>`
    WITH RECURSIVE search(low, high, after_earlier) AS (
      SELECT low, high, ${afterEarlier(sql`low`, sql`high`)} FROM (${bounds}) bounds
      UNION ALL
      SELECT ${low}, ${high}, ${afterEarlier(low, high)} FROM search WHERE low < high
    )
    SELECT low FROM search WHERE low >= high`.execute(rows.db);
  return found[0]?.low ?? from;
}
