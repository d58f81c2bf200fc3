// Domain values as the rows of the tables, one by one or a group of commits at a time.
import type { Selectable } from "kysely";
import type { Account } from "../domain/account.ts";
import { placementKey, signalKey } from "../domain/command.ts";
import type { Income } from "../domain/income.ts";
import type { Leg } from "../domain/leg.ts";
import { isOpen, type Order, type Trade } from "../domain/order.ts";
import type { JournalEntry } from "../domain/strategy.ts";
import { decimal, formatBriefly } from "../money/decimal.ts";
import { encodeEvents, encodeLeg, encodeOrder, encodeState, encodeTrade } from "./codec.ts";
import type { GroupRows, GroupTable, Value } from "./group-columns.ts";
import type { Commit, CreatedStrategy } from "./ports/trading.ts";
import type { Tables } from "./schema.ts";
import { recordingRow, settlementRow } from "./signal-rows.ts";

/** Begins the stored key of an entry without a key, its version. The keys of commands begin with a letter. */
const NO_KEY = "#";
/** The stored key of a strategy's first entry, which has no key. */
export const FIRST_ENTRY = `${NO_KEY}1`;

/** The row of a strategy after a commit. */
export function strategyRow({ account, entry }: Pick<Commit, "account" | "entry">) {
  return {
    id: account.strategyId,
    type: account.type,
    status: account.status,
    version: entry.version,
    is_exposed: isExposed(account) ? 1 : 0,
    state: encodeState(account),
  };
}

/** The row of a strategy that is created. `createdAt` is wall time, Unix ms. */
export function createdRow({
  first,
  ownerId,
  name,
  createdAt,
}: Pick<CreatedStrategy, "first" | "ownerId" | "name"> & { readonly createdAt: number }) {
  return { ...strategyRow(first), owner_id: ownerId, name, created_at: createdAt };
}

/** Whether the market can still reach an account, or a settlement of funding an earlier position of it. */
function isExposed({ openOrders, positions, openLegs, heldBefore }: Account): boolean {
  return openOrders.size > 0 || positions.size > 0 || openLegs.size > 0 || heldBefore.size > 0;
}

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

/**
 * The row of an order that a commit touched. An order that was placed under the key of its client id is found
 * by its journal entry: its row has no client id, and so no place in the index of client ids.
 */
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
    client_order_id: placementKeysOf(clientOrderId).includes(entry.key ?? "") ? null : clientOrderId,
    is_open: isOpen(order) ? 1 : 0,
    placed_at: order.placedAt,
    first_trade_id: own[0]?.tradeId ?? null,
    last_trade_id: own.at(-1)?.tradeId ?? null,
    body: encodeOrder(order),
  };
}

/** The keys of entries that may have placed the order with this client id: its own, or that of its signal. */
export function placementKeysOf(clientOrderId: string): readonly string[] {
  return [placementKey(clientOrderId), signalKey(clientOrderId)];
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

export function legRow(strategyId: string, leg: Leg) {
  return {
    strategy_id: strategyId,
    leg_id: leg.legId,
    symbol: leg.symbol,
    client_leg_id: leg.clientLegId,
    placed_at: leg.placedAt,
    body: encodeLeg(leg),
  };
}

export function incomeRow(strategyId: string, income: Income) {
  return {
    strategy_id: strategyId,
    income_id: income.incomeId,
    type: income.type,
    symbol: income.symbol,
    asset: income.asset,
    amount: formatBriefly(income.amount),
    at: income.at,
    trade_id: income.tradeId,
  };
}

export function incomeOfRow(row: Selectable<Tables["incomes"]>): Income {
  const { type, symbol, asset } = row;
  return {
    incomeId: row.income_id,
    type,
    symbol,
    asset,
    amount: decimal(row.amount),
    at: row.at,
    tradeId: row.trade_id,
  };
}

/** All rows of a group of commits. */
export function groupRows(group: readonly Commit[]): GroupRows {
  const rows: Record<GroupTable, Readonly<Record<string, Value>>[]> = {
    strategies: [],
    journal: [],
    orders: [],
    trades: [],
    legs: [],
    incomes: [],
    signals: [],
    received: [],
  };
  for (const commit of group) {
    const { entry, orders, trades, legs, incomes, signals } = commit;
    const { strategyId } = commit.account;
    rows.strategies.push(strategyRow(commit));
    rows.journal.push(journalRow(strategyId, entry));
    for (const order of orders) rows.orders.push(orderRow(strategyId, order, commit));
    for (const trade of trades) rows.trades.push(tradeRow(strategyId, trade));
    for (const leg of legs) rows.legs.push(legRow(strategyId, leg));
    for (const income of incomes) rows.incomes.push(incomeRow(strategyId, income));
    for (const signal of signals) {
      const settled = settlementRow(strategyId, signal);
      if (signal.received === undefined) rows.signals.push(settled);
      else rows.received.push({ ...recordingRow(signal.received), ...settled });
    }
  }
  return rows;
}
