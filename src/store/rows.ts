// Domain values as the rows of the tables, one by one or a group of commits at a time.
import { placementKey } from "../domain/command-key.ts";
import { isOpen, type Order, type Trade } from "../domain/order.ts";
import { encodeEvents, encodeOrder, encodeState, encodeTrade } from "./codec.ts";
import {
  type Columns,
  columnNames,
  type GroupColumns,
  type GroupTable,
  type Value,
} from "./group-columns.ts";
import type { Commit, JournalEntry } from "./store.ts";

/** Begins what an entry without a key is kept under: its version. The keys of commands begin with a letter. */
const NO_KEY = "#";

export function journalRow(strategyId: string, { version, key, at, events }: JournalEntry) {
  return {
    strategy_id: strategyId,
    version,
    key: key ?? `${NO_KEY}${version}`,
    at,
    events: encodeEvents(events),
  };
}

/** The key that an entry was committed with; null if it had none. */
export function keyOfEntry(stored: string): string | null {
  return stored.startsWith(NO_KEY) ? null : stored;
}

/** The row of an order that a commit touched. */
export function orderRow(
  strategyId: string,
  order: Order,
  { entry, trades }: Pick<Commit, "entry" | "trades">,
) {
  const { clientOrderId } = order;
  const own = trades.filter(({ orderId }) => orderId === order.orderId);
  return {
    strategy_id: strategyId,
    order_id: order.orderId,
    symbol: order.symbol,
    client_order_id: entry.key === placementKey(clientOrderId) ? null : clientOrderId,
    is_open: isOpen(order) ? 1 : 0,
    placed_at: order.placedAt,
    first_trade_id: own[0]?.tradeId ?? null,
    last_trade_id: own.at(-1)?.tradeId ?? null,
    body: encodeOrder(order),
  };
}

export function tradeRow(strategyId: string, trade: Trade) {
  return {
    strategy_id: strategyId,
    trade_id: trade.tradeId,
    symbol: trade.symbol,
    order_id: trade.orderId,
    at: trade.at,
    body: encodeTrade(trade),
  };
}

export function groupColumns(group: readonly Commit[]): GroupColumns {
  const rows: Record<GroupTable, Record<string, Value>[]> = {
    strategies: [],
    journal: [],
    orders: [],
    trades: [],
  };
  for (const commit of group) {
    const { account, entry, orders, trades } = commit;
    const { strategyId, status } = account;
    rows.strategies.push({ id: strategyId, status, version: entry.version, state: encodeState(account) });
    rows.journal.push(journalRow(strategyId, entry));
    for (const order of orders) rows.orders.push(orderRow(strategyId, order, commit));
    for (const trade of trades) rows.trades.push(tradeRow(strategyId, trade));
  }
  return {
    strategies: columnsOf("strategies", rows.strategies),
    journal: columnsOf("journal", rows.journal),
    orders: columnsOf("orders", rows.orders),
    trades: columnsOf("trades", rows.trades),
  };
}

function columnsOf(table: GroupTable, rows: readonly Readonly<Record<string, Value>>[]): Columns {
  return columnNames(table).map((column) => rows.map((row) => row[column] ?? null));
}
