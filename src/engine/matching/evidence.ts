// Receipts: the evidence of a fill under `strict`, as it is written with the trade.
import type { Account } from "../../domain/account.ts";
import type { KnownQueue, MatchTrade } from "../../domain/command.ts";
import type { ConsumedLot } from "../../domain/consumed.ts";
import type { OrderExpired, OrderRested } from "../../domain/event.ts";
import type { BookView, MarketTrade } from "../../domain/market.ts";
import type { Order, QueueEntry } from "../../domain/order.ts";
import type { BookStamp, FillCause, QueuePoint, Receipt, TakenLevel } from "../../domain/receipt.ts";
import type { Quantity } from "../../money/decimal.ts";
import { subtract, ZERO } from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import { expired } from "../release.ts";
import { afterTrade, byPriority, isTradedBy, type Matched, RECEIVED_AHEAD_MS_MAX } from "./queue.ts";
import { isWorking, oppositeOrders, ownOrdersReached, restingSide, type Walk } from "./walk.ts";

/** What is recorded of a fill under `strict`. */
export type Evidence = { readonly receipt: Receipt; readonly consumed: ConsumedLot | null };

/**
 * A fill that took displayed quantity: by a walk, by a liquidation, or because the book crossed an open
 * order.
 */
export function takenFrom(
  { profile }: Account,
  order: Order,
  {
    level,
    quantity,
    cause,
    book,
    at,
    remaining = remainingOf(order),
  }: {
    readonly level: TakenLevel;
    readonly quantity: Quantity;
    readonly cause: Extract<FillCause, "WALK" | "LIQUIDATION" | "BOOK_CROSSED">;
    readonly book: BookStamp;
    readonly at: number;
    /** What can be filled of the order, where that is less than what is left of it. */
    readonly remaining?: Quantity;
  },
): Evidence {
  const { side, price } = level;
  return {
    receipt: { ...receiptOf(profile.version, order, cause), remaining, book: stampOf(book), level },
    consumed: { side, price, quantity, at },
  };
}

/**
 * A fill of an open order by a trade of the market. `available` is what earlier orders left of the trade,
 * `remaining` what could be filled of the order.
 */
export function matchedBy(
  { profile }: Account,
  order: Order,
  { trade, queues }: MatchTrade,
  matched: Matched,
  { available, remaining, step }: Record<"available" | "remaining" | "step", Quantity>,
): Evidence {
  const { aggregateId, price, quantity, time } = trade;
  const { cause, ahead } = matched;
  const position = queues.get(order.orderId);
  const queue = {
    aheadAtPlacement: order.queue?.ahead ?? null,
    bookAtPlacement: order.queue?.book ?? null,
    tradedAtPrice: position?.tradedAtPrice ?? ZERO,
    canceledAhead: position?.canceledAhead ?? ZERO,
    aheadBefore: aheadIn(queues, order),
    ahead,
    ...historyOf(position, order, trade, matched),
  };
  const marketTrade = { aggregateId, price, quantity, time, available, step };
  return {
    receipt: { ...receiptOf(profile.version, order, cause), remaining, queue, marketTrade },
    consumed: null,
  };
}

/** How the queue has moved, this trade included if it moves it. */
function historyOf(
  position: KnownQueue | undefined,
  { price }: Order,
  trade: MarketTrade,
  matched: Matched,
): { readonly history?: readonly QueuePoint[] } {
  const { history } = position ?? {};
  if (position === undefined || history === undefined) return {};
  if (position.ahead === matched.ahead) return { history };
  const time = Math.max(history.at(-1)?.time ?? 0, trade.time);
  return { history: [...history, { time, ...afterTrade(position, trade, price, matched) }] };
}

/** A fill without a counterparty in the book. */
export function takenOver({ profile }: Account, order: Order): Evidence {
  return { receipt: receiptOf(profile.version, order, "TAKEOVER"), consumed: null };
}

/**
 * What is known to be in front of an order: as the command says, or as it was when the order joined the
 * queue.
 */
export function aheadIn(queues: MatchTrade["queues"], order: Order): Quantity | null {
  const position = queues.get(order.orderId);
  return position === undefined ? (order.queue?.ahead ?? null) : position.ahead;
}

/** The open orders of an account that a trade of the market reaches, in their execution order. */
export function ordersReached({ openOrders }: Account, symbol: string, trade: MarketTrade): Order[] {
  return [...openOrders.values()]
    .filter((order) => {
      const { queue } = order;
      if (order.symbol !== symbol || queue === undefined || !isWorking(order)) return false;
      // Earlier trades were matched with the orders of others.
      return !isBefore(trade, queue) && isTradedBy(order, trade);
    })
    .sort(byPriority);
}

/** Whether a trade was made before an order joined the queue, or was received before. */
function isBefore({ aggregateId, time }: MarketTrade, { since, book }: QueueEntry): boolean {
  if (time <= since) return true;
  return aggregateId <= (book?.lastTradeId ?? -1) && time <= since + RECEIVED_AHEAD_MS_MAX;
}

/**
 * The order joins the queue at its limit. Only trades after the decision fill it: `book` has the earlier
 * ones, also those after an arrival that waited for its turn or for the book.
 */
export function rested(order: Order, book: BookView | null, at: number): OrderRested {
  const { orderId, side, price } = order;
  const queue: QueueEntry = {
    since: at,
    ahead: book === null ? null : book.displayedAt(restingSide(side), price),
    book: book && stampOf(book),
  };
  return { type: "OrderRested", at, orderId, queue, postings: [] };
}

/** What an order takes while the book is not known. */
export function noWalk({ quantity }: Order): Walk {
  return { takes: [], left: quantity };
}

/** The own orders that a walk reaches expire before it. */
export function expiredByWalk(
  account: Account,
  order: Order,
  walk: Walk,
  { aheadOf, at }: Pick<Circumstances, "aheadOf" | "at">,
): OrderExpired[] {
  const own = oppositeOrders(account, order.symbol, order.side);
  if (own.length === 0) return [];
  const inFrontOf = (of: Order) => {
    const now = aheadOf?.(of.orderId);
    return (now === undefined ? of.queue?.ahead : now) ?? (ZERO as Quantity);
  };
  const quantity = walk.takes.reduce((sum, take) => sum + take.quantity, walk.left as bigint) as Quantity;
  const limit = order.price === 0n ? null : order.price;
  const reached = ownOrdersReached(own, quantity, walk, { side: order.side, limit }, inFrontOf);
  return reached.map((each) => expired(each, "SELF_TRADE", at));
}

function receiptOf(version: number, order: Order, cause: FillCause): Receipt {
  const arrival = order.arrival ?? null;
  const evidence = { book: null, level: null, queue: null, marketTrade: null };
  return { version, cause, arrival, remaining: remainingOf(order), ...evidence };
}

function remainingOf({ quantity, executedQuantity }: Order): Quantity {
  return subtract(quantity, executedQuantity);
}

/** Which book it is now, as a value. */
export function stampOf({
  lastUpdateId,
  eventTime,
  receivedAt,
  tickerUpdateId,
  lastTradeId,
}: BookStamp): BookStamp {
  return { lastUpdateId, eventTime, receivedAt, tickerUpdateId, lastTradeId };
}
