// How an event changes an account. Total and without rules: an event contains all that it moves, so applying
// an account's journal from its first event gives the account.
import { type Account, type HeldBefore, type Position, timeOrderAfter } from "../domain/account.ts";
import { type ConsumedLot, withLot } from "../domain/consumed.ts";
import type { DomainEvent } from "../domain/event.ts";
import { afterSettlement, withChange } from "../domain/held-before.ts";
import { type Income, incomesOf } from "../domain/income.ts";
import type { Leg, LegStatus } from "../domain/leg.ts";
import type { ExpiryReason } from "../domain/order.ts";
import { isOpen, type Order, type OrderStatus } from "../domain/order.ts";
import { withPlacement } from "../domain/order-counts.ts";
import { type Amount, add, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import { type Posting, post } from "../money/posting.ts";

/** The rows that an event concerns, after it. */
export type Applied = {
  readonly order: Order | null;
  readonly leg: Leg | null;
  readonly incomes: readonly Income[];
};

const NO_INCOMES: readonly Income[] = [];
const NOTHING_CONSUMED: readonly ConsumedLot[] = [];
const NOTHING_HELD: readonly HeldBefore[] = [];

/**
 * Applies one event to the given account in place; the caller owns the account. Returns the order, the leg
 * and the incomes that the event concerns.
 */
export function apply(account: Account, event: DomainEvent): Applied {
  for (const posting of event.postings) post(account.balances, posting);
  // A signal that is rejected is no change of the account.
  if (event.type !== "SignalRejected") {
    account.ascendsFrom = timeOrderAfter(account, event.at);
    account.updatedAt = event.at;
  }
  const touched = carryOut(account, event);
  const incomes = account.type === "SPOT" ? NO_INCOMES : numbered(account, event);
  if (touched === null) return { order: null, leg: null, incomes };
  return "legId" in touched ? { order: null, leg: touched, incomes } : { order: touched, leg: null, incomes };
}

function carryOut(account: Account, event: DomainEvent): Order | Leg | null {
  switch (event.type) {
    // The order of a signal has events of its own.
    case "SignalExecuted":
    case "SignalRejected":
      return null;
    case "StrategyOpened":
      if (event.profile !== undefined) account.profile = event.profile;
      return null;
    case "OrderPlaced":
      account.nextOrderId = event.order.orderId + 1;
      count(account, event.admittedAt);
      return keep(account, event.order);
    case "OrderFilled": {
      const { trade, position } = event;
      account.nextTradeId = trade.tradeId + 1;
      if (position !== undefined) {
        remember(account, trade.symbol, position, event.heldFrom ?? event.at);
        hold(account, trade.symbol, position);
      }
      if (event.consumed !== undefined) consume(account, trade.symbol, event.consumed);
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
    case "OrderRested":
      return keep(account, { ...openOrder(account, event.orderId), queue: event.queue });
    case "OrderCanceled":
      return end(account, event.orderId, "CANCELED", event.at);
    case "OrderTriggered": {
      const order = openOrder(account, event.orderId);
      return keep(account, { ...order, workingAt: event.at, updatedAt: event.at });
    }
    case "OrderExpired":
      return expire(account, event.orderId, event.reason, event.at);
    case "OrderReserveChanged": {
      const order = openOrder(account, event.orderId);
      return keep(account, { ...order, reserved: event.reserved });
    }
    case "LegPlaced":
      account.nextOrderId = event.leg.legId + 1;
      count(account, event.admittedAt);
      return keepLeg(account, event.leg);
    case "LegArmed":
      return keepLeg(account, { ...openLeg(account, event.legId), status: "NEW", updatedAt: event.at });
    case "LegFired":
      return { ...endLeg(account, event.legId, "FINISHED", event.at), fired: event.fired };
    case "LegCanceled":
      return withReason(endLeg(account, event.legId, "CANCELED", event.at), event.reason);
    case "LegExpired":
      return withReason(endLeg(account, event.legId, "EXPIRED", event.at), event.reason);
    case "LeverageChanged":
      account.leverages = withEntry(account.leverages, event.symbol, event.leverage);
      return null;
    case "FundingSettled":
      forget(account, event.symbol, event.fundingTime);
      account.fundedUntil = withEntry(account.fundedUntil, event.symbol, event.fundingTime);
      hold(account, event.symbol, event.position);
      return null;
    case "StrategyClosing":
      account.status = "CLOSING";
      return null;
    case "StrategyClosed":
      account.status = "CLOSED";
      return null;
  }
}

function numbered(account: Account, event: DomainEvent): readonly Income[] {
  const incomes = incomesOf(event);
  if (incomes.length === 0) return NO_INCOMES;
  const first = account.nextIncomeId;
  account.nextIncomeId += incomes.length;
  return incomes.map((income, index) => ({ incomeId: first + index, ...income }));
}

function count(account: Account, admittedAt: number | undefined): void {
  if (admittedAt !== undefined) account.orderCounts = withPlacement(account.orderCounts, admittedAt);
}

function end(account: Account, orderId: number, status: OrderStatus, at: number): Order {
  return keep(account, { ...openOrder(account, orderId), reserved: ZERO, status, updatedAt: at });
}

/** The quantity of an order by quote amount that the book could not fill is what was executed. */
function expire(account: Account, orderId: number, expiryReason: ExpiryReason, at: number): Order {
  const order = openOrder(account, orderId);
  const quantity = order.quoteQuantity > 0n ? order.executedQuantity : order.quantity;
  const expired = {
    ...order,
    quantity,
    reserved: ZERO,
    status: "EXPIRED",
    expiryReason,
    updatedAt: at,
  } as const;
  return keep(account, expired);
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

function keepLeg(account: Account, leg: Leg): Leg {
  account.openLegs = withEntry(account.openLegs, leg.legId, leg);
  return leg;
}

function endLeg(account: Account, legId: number, status: LegStatus, at: number): Leg {
  const leg = openLeg(account, legId);
  account.openLegs = withoutEntry(account.openLegs, legId);
  return { ...leg, status, updatedAt: at };
}

function withReason(leg: Leg, endReason: Leg["endReason"]): Leg {
  return endReason === undefined ? leg : { ...leg, endReason };
}

function openLeg(account: Account, legId: number): Leg {
  const leg = account.openLegs.get(legId);
  if (leg === undefined) throw new Error(`an event may only concern an open leg: ${legId} is not open`);
  return leg;
}

function hold(account: Account, symbol: string, position: Position | null): void {
  account.positions =
    position === null
      ? withoutEntry(account.positions, symbol)
      : withEntry(account.positions, symbol, position);
}

/** Records the quantity held until the change to this position. */
function remember(account: Account, symbol: string, position: Position | null, changedAt: number): void {
  const before = account.positions.get(symbol)?.quantity ?? (ZERO as Quantity);
  const after = position?.quantity ?? (ZERO as Quantity);
  const remembered = account.heldBefore.get(symbol) ?? NOTHING_HELD;
  const changed = withChange(remembered, { changedAt, before, after });
  if (changed !== remembered) account.heldBefore = withEntry(account.heldBefore, symbol, changed);
}

function forget(account: Account, symbol: string, fundingTime: number): void {
  const kept = afterSettlement(account.heldBefore.get(symbol) ?? NOTHING_HELD, fundingTime);
  account.heldBefore =
    kept.length === 0
      ? withoutEntry(account.heldBefore, symbol)
      : withEntry(account.heldBefore, symbol, kept);
}

function withEntry<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  key: Key,
  value: Value,
): ReadonlyMap<Key, Value> {
  return new Map(map).set(key, value);
}

function withoutEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  if (!map.has(key)) return map;
  const others = new Map(map);
  others.delete(key);
  return others;
}

function consume(account: Account, symbol: string, lot: ConsumedLot): void {
  const lots = account.consumed.get(symbol) ?? NOTHING_CONSUMED;
  const { refreshMs = 0 } = account.profile.strict ?? {};
  account.consumed = withEntry(account.consumed, symbol, withLot(lots, lot, refreshMs));
}

function unlocked(postings: readonly Posting[]): Amount {
  return postings.reduce(
    (sum, { from, amount }) => (from === "locked" ? add(sum, amount) : sum),
    ZERO as Amount,
  );
}
