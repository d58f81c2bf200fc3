// How domain values are written into rows, for every store alike. Decimals are decimal text, no longer than they need: no
// integer column holds the quantities that some coins trade in, and a person can read the row.
import { type Account, emptyAccount, type StrategyStatus, type StrategyType } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Order, Trade } from "../domain/order.ts";
import { NO_ORDERS, type OrderCounts } from "../domain/order-counts.ts";
import { decimal, formatBriefly } from "../money/decimal.ts";
import { emptyPockets, type Pocket, type Pockets, type Posting } from "../money/posting.ts";
import type { Ban, BudgetEntry } from "./store.ts";

export function encodeOrder(order: Order): string {
  return JSON.stringify(storedOrder(order));
}

export function encodeTrade(trade: Trade): string {
  return JSON.stringify(storedTrade(trade));
}

export function encodeEvents(events: readonly DomainEvent[]): string {
  return JSON.stringify(events.map(storedEvent));
}

export function decodeOrder(text: string): Order {
  return reviveOrder(JSON.parse(text));
}

export function decodeTrade(text: string): Trade {
  return reviveTrade(JSON.parse(text));
}

export function decodeEvents(text: string): DomainEvent[] {
  return JSON.parse(text).map(reviveEvent);
}

/** Charges are many and short-lived, so they are written without the names of their fields. */
export function encodeBudgets({ charges, bans }: Pick<BudgetEntry, "charges" | "bans">): string {
  return JSON.stringify({
    charges: charges.map(({ holder, tenSeconds, weight, orders, failures, refusedAt }) => [
      holder,
      tenSeconds,
      weight,
      orders,
      failures,
      refusedAt,
    ]),
    bans,
  });
}

export function decodeBudgets(text: string): Pick<BudgetEntry, "charges" | "bans"> {
  const { charges, bans } = JSON.parse(text) as { charges: StoredCharge[]; bans: Ban[] };
  return {
    charges: charges.map(([holder, tenSeconds, weight, orders, failures, refusedAt]) => ({
      holder,
      tenSeconds,
      weight,
      orders,
      failures,
      refusedAt,
    })),
    bans,
  };
}

type StoredCharge = [
  holder: string,
  tenSeconds: number,
  weight: number,
  orders: number,
  failures: number,
  refusedAt: number[],
];

/** The part of an account that its row carries; open orders are rows of their own. */
export function encodeState(account: Account): string {
  const { balances, nextOrderId, nextTradeId, orderCounts, updatedAt } = account;
  const stored: Record<string, Stored<Pockets>> = {};
  for (const [asset, { free, locked, seed, market, fees }] of balances) {
    stored[asset] = {
      free: formatBriefly(free),
      locked: formatBriefly(locked),
      seed: formatBriefly(seed),
      market: formatBriefly(market),
      fees: formatBriefly(fees),
    };
  }
  return JSON.stringify({ balances: stored, nextOrderId, nextTradeId, orderCounts, updatedAt });
}

export type StrategyRow = { id: string; type: StrategyType; status: StrategyStatus; state: string };

export function decodeAccount(row: StrategyRow, openOrders: readonly Order[]): Account {
  const state = JSON.parse(row.state) as {
    balances: Record<string, Record<Pocket, string>>;
    nextOrderId: number;
    nextTradeId: number;
    /** Absent in a row from before there were counts. */
    orderCounts?: OrderCounts;
    updatedAt: number;
  };
  const account = emptyAccount(row.id, row.type);
  account.status = row.status;
  account.nextOrderId = state.nextOrderId;
  account.nextTradeId = state.nextTradeId;
  account.orderCounts = state.orderCounts ?? NO_ORDERS;
  account.updatedAt = state.updatedAt;
  for (const [asset, stored] of Object.entries(state.balances)) {
    const pockets = emptyPockets();
    for (const pocket of Object.keys(stored) as Pocket[]) pockets[pocket] = decimal(stored[pocket]);
    account.balances.set(asset, pockets);
  }
  for (const order of openOrders) account.openOrders.set(order.orderId, order);
  return account;
}

type Stored<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] };

function storedOrder(order: Order): Stored<Order> {
  return {
    ...order,
    price: formatBriefly(order.price),
    stopPrice: formatBriefly(order.stopPrice),
    quantity: formatBriefly(order.quantity),
    quoteQuantity: formatBriefly(order.quoteQuantity),
    executedQuantity: formatBriefly(order.executedQuantity),
    executedQuote: formatBriefly(order.executedQuote),
    reserved: formatBriefly(order.reserved),
  };
}

/** Orders from before there were stops lack what only stops need. */
type StoredOrder = Omit<Stored<Order>, "stopPrice" | "workingAt"> &
  Partial<Pick<Stored<Order>, "stopPrice" | "workingAt">>;

function reviveOrder(stored: StoredOrder): Order {
  const { stopPrice = "0", workingAt = stored.placedAt } = stored;
  return {
    ...stored,
    price: decimal(stored.price),
    stopPrice: decimal(stopPrice),
    workingAt,
    quantity: decimal(stored.quantity),
    quoteQuantity: decimal(stored.quoteQuantity),
    executedQuantity: decimal(stored.executedQuantity),
    executedQuote: decimal(stored.executedQuote),
    reserved: decimal(stored.reserved),
  };
}

function storedTrade(trade: Trade): Stored<Trade> {
  return {
    ...trade,
    price: formatBriefly(trade.price),
    quantity: formatBriefly(trade.quantity),
    quoteQuantity: formatBriefly(trade.quoteQuantity),
    fee: formatBriefly(trade.fee),
  };
}

function reviveTrade(stored: Stored<Trade>): Trade {
  return {
    ...stored,
    price: decimal(stored.price),
    quantity: decimal(stored.quantity),
    quoteQuantity: decimal(stored.quoteQuantity),
    fee: decimal(stored.fee),
  };
}

type StoredEvent = {
  at: number;
  type: DomainEvent["type"];
  postings: Stored<Posting>[];
  order?: Stored<Order>;
  trade?: Stored<Trade>;
};

function storedEvent(event: DomainEvent): StoredEvent {
  return {
    ...event,
    postings: event.postings.map((posting) => ({ ...posting, amount: formatBriefly(posting.amount) })),
    ...("order" in event ? { order: storedOrder(event.order) } : {}),
    ...("trade" in event ? { trade: storedTrade(event.trade) } : {}),
  } as StoredEvent;
}

function reviveEvent(stored: StoredEvent): DomainEvent {
  return {
    ...stored,
    postings: stored.postings.map((posting) => ({ ...posting, amount: decimal(posting.amount) })),
    ...(stored.order === undefined ? {} : { order: reviveOrder(stored.order) }),
    ...(stored.trade === undefined ? {} : { trade: reviveTrade(stored.trade) }),
  } as DomainEvent;
}
