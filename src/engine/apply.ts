// How an event changes an account. Total and without rules: an event says all that it moves, so whoever applies the
// journal of an account from its first event gets the account.
import type { Account } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import { isOpen, type Order, type OrderStatus } from "../domain/order.ts";
import { withPlacement } from "../domain/order-counts.ts";
import { type Amount, add, subtract, ZERO } from "../money/decimal.ts";
import { type Posting, post } from "../money/posting.ts";

/**
 * Applies one event to the account it is given, which is changed in place: an account belongs to whoever applies.
 * Returns the order that the event concerns as it now stands, or null if it concerns none.
 */
export function apply(account: Account, event: DomainEvent): Order | null {
  for (const posting of event.postings) post(account.balances, posting);
  account.updatedAt = event.at;
  switch (event.type) {
    case "StrategyOpened":
      return null;
    case "OrderPlaced":
      account.nextOrderId = event.order.orderId + 1;
      if (event.admittedAt !== undefined) {
        account.orderCounts = withPlacement(account.orderCounts, event.admittedAt);
      }
      return keep(account, event.order);
    case "OrderFilled": {
      const { trade } = event;
      account.nextTradeId = trade.tradeId + 1;
      const order = openOrder(account, trade.orderId);
      const executedQuantity = add(order.executedQuantity, trade.quantity);
      return keep(account, {
        ...order,
        executedQuantity,
        executedQuote: add(order.executedQuote, trade.quoteQuantity),
        reserved: subtract(order.reserved, unlocked(event.postings)),
        status: executedQuantity === order.quantity ? "FILLED" : "PARTIALLY_FILLED",
        updatedAt: event.at,
      });
    }
    case "OrderCanceled":
      return end(account, event.orderId, "CANCELED", event.at);
    case "OrderTriggered": {
      const order = openOrder(account, event.orderId);
      return keep(account, { ...order, workingAt: event.at, updatedAt: event.at });
    }
    case "OrderExpired":
      return end(account, event.orderId, "EXPIRED", event.at);
    case "StrategyClosing":
      account.status = "CLOSING";
      return null;
    case "StrategyClosed":
      account.status = "CLOSED";
      return null;
  }
}

function end(account: Account, orderId: number, status: OrderStatus, at: number): Order {
  return keep(account, { ...openOrder(account, orderId), reserved: ZERO, status, updatedAt: at });
}

function keep(account: Account, order: Order): Order {
  if (isOpen(order)) account.openOrders.set(order.orderId, order);
  else account.openOrders.delete(order.orderId);
  return order;
}

function openOrder(account: Account, orderId: number): Order {
  const order = account.openOrders.get(orderId);
  if (order === undefined) throw new Error(`an event may only concern an open order: ${orderId} is not open`);
  return order;
}

function unlocked(postings: readonly Posting[]): Amount {
  return postings.reduce(
    (sum, { from, amount }) => (from === "locked" ? add(sum, amount) : sum),
    ZERO as Amount,
  );
}
