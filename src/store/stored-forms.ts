// The forms in which domain values are written as JSON: as they are, with text for every decimal, no longer than it needs
// to be.

import type { Position } from "../domain/account.ts";
import type { AttachedLeg, FiredLeg, Leg } from "../domain/leg.ts";
import type { AttachedLegs, Order, Trade } from "../domain/order.ts";
import { type Decimal, decimal, formatBriefly, type Product } from "../money/decimal.ts";
import type { Posting } from "../money/posting.ts";

/** A domain value with text in the place of every bigint. */
export type Stored<T> = T extends bigint
  ? string
  : T extends object
    ? { readonly [K in keyof T]: Stored<T[K]> }
    : T;

/** Orders from before there were stops lack what only stops need. */
type StoredOrder = Omit<Stored<Order>, "stopPrice" | "workingAt"> &
  Partial<Pick<Stored<Order>, "stopPrice" | "workingAt">>;

export function storedOrder(order: Order): Stored<Order> {
  const { legs, attached } = order;
  return {
    ...order,
    price: formatBriefly(order.price),
    stopPrice: formatBriefly(order.stopPrice),
    quantity: formatBriefly(order.quantity),
    quoteQuantity: formatBriefly(order.quoteQuantity),
    executedQuantity: formatBriefly(order.executedQuantity),
    executedQuote: formatBriefly(order.executedQuote),
    reserved: formatBriefly(order.reserved),
    ...(legs !== undefined && { legs: legs.map(storedAttachedLeg) }),
    ...(attached !== undefined && { attached: storedAttached(attached) }),
  } as Stored<Order>;
}

export function reviveOrder(stored: StoredOrder): Order {
  const { stopPrice = "0", workingAt = stored.placedAt, legs, attached } = stored;
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
    ...(legs !== undefined && { legs: legs.map(reviveAttachedLeg) }),
    ...(attached !== undefined && { attached: reviveAttached(attached) }),
  } as Order;
}

export function storedTrade(trade: Trade): Stored<Trade> {
  const { realizedPnl } = trade;
  return {
    ...trade,
    price: formatBriefly(trade.price),
    quantity: formatBriefly(trade.quantity),
    quoteQuantity: formatBriefly(trade.quoteQuantity),
    fee: formatBriefly(trade.fee),
    ...(realizedPnl !== undefined && { realizedPnl: formatBriefly(realizedPnl) }),
  } as Stored<Trade>;
}

export function reviveTrade(stored: Stored<Trade>): Trade {
  const { realizedPnl } = stored;
  return {
    ...stored,
    price: decimal(stored.price),
    quantity: decimal(stored.quantity),
    quoteQuantity: decimal(stored.quoteQuantity),
    fee: decimal(stored.fee),
    ...(realizedPnl !== undefined && { realizedPnl: decimal(realizedPnl) }),
  } as Trade;
}

export function storedLeg(leg: Leg): Stored<Leg> {
  return {
    ...leg,
    triggerPrice: formatBriefly(leg.triggerPrice),
    fired: leg.fired === null ? null : storedFiring(leg.fired),
  };
}

export function reviveLeg(stored: Stored<Leg>): Leg {
  return {
    ...stored,
    triggerPrice: decimal(stored.triggerPrice),
    fired: stored.fired === null ? null : reviveFiring(stored.fired),
  };
}

export function storedFiring(fired: FiredLeg): Stored<FiredLeg> {
  return { ...fired, price: formatBriefly(fired.price), quantity: formatBriefly(fired.quantity) };
}

export function reviveFiring(stored: Stored<FiredLeg>): FiredLeg {
  return { ...stored, price: decimal(stored.price), quantity: decimal(stored.quantity) };
}

export function storedPosition(position: Position): Stored<Position> {
  return {
    ...position,
    quantity: formatBriefly(position.quantity),
    // A product has more digits than decimals are written with: it is the whole number of its units of 1e-16.
    entryValue: String(position.entryValue),
    isolatedWallet: formatBriefly(position.isolatedWallet),
    burden: formatBriefly(position.burden),
  };
}

export function revivePosition(stored: Stored<Position>): Position {
  return {
    ...stored,
    quantity: decimal(stored.quantity),
    entryValue: BigInt(stored.entryValue) as Product,
    isolatedWallet: decimal(stored.isolatedWallet),
    burden: decimal(stored.burden),
  };
}

export function storedPosting(posting: Posting): Stored<Posting> {
  return { ...posting, amount: formatBriefly(posting.amount) };
}

export function revivePosting(stored: Stored<Posting>): Posting {
  return { ...stored, amount: decimal(stored.amount) };
}

function storedAttachedLeg(leg: AttachedLeg): Stored<AttachedLeg> {
  return { ...leg, triggerPrice: formatBriefly(leg.triggerPrice) };
}

function reviveAttachedLeg(stored: Stored<AttachedLeg>): AttachedLeg {
  return { ...stored, triggerPrice: decimal(stored.triggerPrice) };
}

function storedAttached({ takeProfitPrice, stopLossPrice }: AttachedLegs): Stored<AttachedLegs> {
  return { takeProfitPrice: textOrNull(takeProfitPrice), stopLossPrice: textOrNull(stopLossPrice) };
}

function reviveAttached({ takeProfitPrice, stopLossPrice }: Stored<AttachedLegs>): AttachedLegs {
  return { takeProfitPrice: decimalOrNull(takeProfitPrice), stopLossPrice: decimalOrNull(stopLossPrice) };
}

function textOrNull(value: Decimal | null): string | null {
  return value === null ? null : formatBriefly(value);
}

function decimalOrNull<D extends Decimal>(text: string | null): D | null {
  return text === null ? null : decimal(text);
}
