// The queues of the open orders of a life under `strict`, one order at a time: what the trigger index keeps
// for all strategies of a server.

import type { Account } from "../../../src/domain/account.ts";
import type { MatchCrossing, MatchTrade } from "../../../src/domain/command.ts";
import type { BookView, MarketTrade } from "../../../src/domain/market.ts";
import type { Order } from "../../../src/domain/order.ts";
import type { BookSide, QueuePosition } from "../../../src/domain/receipt.ts";
import { ordersReached } from "../../../src/engine/matching/evidence.ts";
import { aheadAfterChange, byPriority, matchTrade } from "../../../src/engine/matching/queue.ts";
import { isWithin, restingSide, takenSide } from "../../../src/engine/matching/walk.ts";
import { add, type Price, type Quantity, subtract, ZERO } from "../../../src/money/decimal.ts";
import { isInQueue } from "../../../src/triggers/trigger.ts";

export class Queues {
  readonly #account: Account;
  readonly #positions = new Map<number, QueuePosition>();
  readonly #books = new Map<string, BookView>();
  /** What was traded since the last book, by symbol, side and price. */
  readonly #traded = new Map<string, Quantity>();

  constructor(account: Account) {
    this.#account = account;
  }

  /** What others display in front of an open order; undefined of one that nothing has moved. */
  aheadOf(orderId: number): Quantity | null | undefined {
    return this.#positions.get(orderId)?.ahead;
  }

  /** Moves the queues of a symbol by its next book; answers which orders the book has come to. */
  show(symbol: string, book: BookView): readonly MatchCrossing[] {
    const earlier = this.#books.get(symbol);
    this.#books.set(symbol, book);
    const waiting = this.#waitingOn(symbol);
    for (const order of waiting) this.#moveByBook(order, earlier, book);
    this.#traded.clear();
    return waiting.flatMap(({ orderId, side, price }) => {
      const levels = [...book.displayed(takenSide(side))].filter((level) =>
        isWithin(side, price, level.price),
      );
      return levels.length === 0 ? [] : [{ type: "MatchCrossing", orderId, levels, book } as const];
    });
  }

  /** The command for a trade of the market; `moveByTrade` follows it. */
  match(symbol: string, trade: MarketTrade): MatchTrade {
    const reached = ordersReached(this.#account, symbol, trade);
    const queues = new Map(reached.map((order) => [order.orderId, this.#positionOf(order)]));
    return { type: "MatchTrade", symbol, trade, queues };
  }

  /**
   * Moves the queues by a trade: `reached` are the orders as they were before it, in their execution order.
   */
  moveByTrade(symbol: string, trade: MarketTrade, reached: readonly Order[]): void {
    let left = trade.quantity;
    for (const order of reached) {
      const { price } = order;
      const remaining = subtract(order.quantity, order.executedQuantity);
      const position = this.#positionOf(order);
      const matched = matchTrade(trade, left, { price, remaining, ahead: position.ahead }, ZERO);
      if (matched === null) continue;
      const now = this.#account.openOrders.get(order.orderId);
      const filled = now === undefined ? remaining : subtract(now.executedQuantity, order.executedQuantity);
      left = subtract(left, filled > left ? left : filled);
      const isAtPrice = trade.price === price;
      const tradedAtPrice = isAtPrice ? add(position.tradedAtPrice, trade.quantity) : position.tradedAtPrice;
      this.#positions.set(order.orderId, { ...position, ahead: matched.ahead, tradedAtPrice });
    }
    const level = keyOf(symbol, trade.side, trade.price);
    this.#traded.set(level, add(this.#traded.get(level) ?? ZERO, trade.quantity));
  }

  #moveByBook(order: Order, earlier: BookView | undefined, book: BookView): void {
    const side = restingSide(order.side);
    const before = earlier?.displayedAt(side, order.price) ?? null;
    const after = book.displayedAt(side, order.price);
    if (after === null) return;
    const position = this.#positionOf(order);
    const { ahead } = position;
    if (ahead === null) {
      this.#positions.set(order.orderId, { ...position, ahead: after });
      return;
    }
    const { queue = "trades" } = this.#account.profile.strict ?? {};
    const traded = this.#traded.get(keyOf(order.symbol, side, order.price)) ?? (ZERO as Quantity);
    const change = { before: before ?? ahead, after, traded };
    const now = aheadAfterChange(queue, ahead, change);
    const canceledAhead = add(position.canceledAhead, subtract(ahead, now));
    this.#positions.set(order.orderId, { ...position, ahead: now, canceledAhead });
  }

  #waitingOn(symbol: string): Order[] {
    const open = [...this.#account.openOrders.values()];
    return open.filter((order) => order.symbol === symbol && isInQueue(order)).sort(byPriority);
  }

  #positionOf({ orderId, queue }: Order): QueuePosition {
    const atFirst = { ahead: queue?.ahead ?? null, tradedAtPrice: ZERO, canceledAhead: ZERO };
    return this.#positions.get(orderId) ?? atFirst;
  }
}

function keyOf(symbol: string, side: BookSide, price: Price): string {
  return `${symbol} ${side} ${price}`;
}
