// The forms in which domain values are written as JSON: as they are, with text for every decimal, no longer than it needs
// to be.

import type { Position } from "../domain/account.ts";
import type { ConsumedLot } from "../domain/consumed.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import type { AttachedLeg, FiredLeg, Leg } from "../domain/leg.ts";
import type { AttachedLegs, Order, QueueEntry, Trade } from "../domain/order.ts";
import type { QueueRecord, Receipt, TakenLevel, TradeRecord } from "../domain/receipt.ts";
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
  const { legs, attached, queue } = order;
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
    ...(queue !== undefined && { queue: storedQueue(queue) }),
  } as Stored<Order>;
}

export function reviveOrder(stored: StoredOrder): Order {
  const { stopPrice = "0", workingAt = stored.placedAt, legs, attached, queue } = stored;
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
    ...(queue !== undefined && { queue: reviveQueue(queue) }),
  } as Order;
}

export function storedTrade(trade: Trade): Stored<Trade> {
  const { realizedPnl, receipt } = trade;
  return {
    ...trade,
    price: formatBriefly(trade.price),
    quantity: formatBriefly(trade.quantity),
    quoteQuantity: formatBriefly(trade.quoteQuantity),
    fee: formatBriefly(trade.fee),
    ...(realizedPnl !== undefined && { realizedPnl: formatBriefly(realizedPnl) }),
    ...(receipt !== undefined && { receipt: storedReceipt(receipt) }),
  } as Stored<Trade>;
}

export function reviveTrade(stored: Stored<Trade>): Trade {
  const { realizedPnl, receipt } = stored;
  return {
    ...stored,
    price: decimal(stored.price),
    quantity: decimal(stored.quantity),
    quoteQuantity: decimal(stored.quoteQuantity),
    fee: decimal(stored.fee),
    ...(realizedPnl !== undefined && { realizedPnl: decimal(realizedPnl) }),
    ...(receipt !== undefined && { receipt: reviveReceipt(receipt) }),
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

// Values of the profile `strict`.

export function storedProfile(profile: FillProfile): Stored<FillProfile> {
  const { makerFee, takerFee } = profile;
  return {
    ...profile,
    makerFee: formatBriefly(makerFee),
    takerFee: formatBriefly(takerFee),
  } as Stored<FillProfile>;
}

export function reviveProfile(stored: Stored<FillProfile>): FillProfile {
  return {
    ...stored,
    makerFee: decimal(stored.makerFee),
    takerFee: decimal(stored.takerFee),
  } as FillProfile;
}

export function storedLot(lot: ConsumedLot): Stored<ConsumedLot> {
  return { ...lot, price: formatBriefly(lot.price), quantity: formatBriefly(lot.quantity) };
}

export function reviveLot(stored: Stored<ConsumedLot>): ConsumedLot {
  return { ...stored, price: decimal(stored.price), quantity: decimal(stored.quantity) };
}

export function storedQueue(queue: QueueEntry): Stored<QueueEntry> {
  return { ...queue, ahead: textOrNull(queue.ahead) };
}

export function reviveQueue(stored: Stored<QueueEntry>): QueueEntry {
  return { ...stored, ahead: decimalOrNull(stored.ahead) };
}

export function storedReceipt(receipt: Receipt): Stored<Receipt> {
  const { remaining, level, queue, marketTrade } = receipt;
  return {
    ...receipt,
    remaining: formatBriefly(remaining),
    level: level && storedLevel(level),
    queue: queue && storedQueueRecord(queue),
    marketTrade: marketTrade && storedTradeRecord(marketTrade),
  };
}

export function reviveReceipt(stored: Stored<Receipt>): Receipt {
  const { remaining, level, queue, marketTrade } = stored;
  return {
    ...stored,
    remaining: decimal(remaining),
    level: level && reviveLevel(level),
    queue: queue && reviveQueueRecord(queue),
    marketTrade: marketTrade && reviveTradeRecord(marketTrade),
  };
}

function storedLevel(level: TakenLevel): Stored<TakenLevel> {
  return {
    ...level,
    price: formatBriefly(level.price),
    displayed: formatBriefly(level.displayed),
    newerTrades: formatBriefly(level.newerTrades),
    ownConsumed: formatBriefly(level.ownConsumed),
    available: formatBriefly(level.available),
    step: formatBriefly(level.step),
  };
}

function reviveLevel(stored: Stored<TakenLevel>): TakenLevel {
  return {
    ...stored,
    price: decimal(stored.price),
    displayed: decimal(stored.displayed),
    newerTrades: decimal(stored.newerTrades),
    ownConsumed: decimal(stored.ownConsumed),
    available: decimal(stored.available),
    step: decimal(stored.step),
  };
}

function storedQueueRecord(queue: QueueRecord): Stored<QueueRecord> {
  return {
    ...queue,
    aheadAtPlacement: textOrNull(queue.aheadAtPlacement),
    tradedAtPrice: formatBriefly(queue.tradedAtPrice),
    canceledAhead: formatBriefly(queue.canceledAhead),
    aheadBefore: textOrNull(queue.aheadBefore),
    ahead: formatBriefly(queue.ahead),
  };
}

function reviveQueueRecord(stored: Stored<QueueRecord>): QueueRecord {
  return {
    ...stored,
    aheadAtPlacement: decimalOrNull(stored.aheadAtPlacement),
    tradedAtPrice: decimal(stored.tradedAtPrice),
    canceledAhead: decimal(stored.canceledAhead),
    aheadBefore: decimalOrNull(stored.aheadBefore),
    ahead: decimal(stored.ahead),
  };
}

function storedTradeRecord(trade: TradeRecord): Stored<TradeRecord> {
  return {
    ...trade,
    price: formatBriefly(trade.price),
    quantity: formatBriefly(trade.quantity),
    available: formatBriefly(trade.available),
    step: formatBriefly(trade.step),
  };
}

function reviveTradeRecord(stored: Stored<TradeRecord>): TradeRecord {
  return {
    ...stored,
    price: decimal(stored.price),
    quantity: decimal(stored.quantity),
    available: decimal(stored.available),
    step: decimal(stored.step),
  };
}
