// The position of open orders in the queues at their limits: what others display in front of an order, what
// trades and cancellations take away of that, and in which order trades and changes of the book count. Pure
// functions; the trigger index keeps the positions. Source: strict fills, section 7.
import type { QueueModel } from "../../domain/fill-profile.ts";
import type { MarketTrade } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { FillCause, QueuePosition } from "../../domain/receipt.ts";
import { add, floorToStep, least, type Price, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { restingSide } from "./walk.ts";

/** A later change of the book must be this much younger before a waiting one counts without a trade, ms. */
export const DIFF_WAITS_MS = 1_000;

/**
 * The time of a trade is at most so much later than that of a trade with a higher id, or than its receipt by
 * our clock, ms. A later one is of another market, whose ids are lower.
 */
export const RECEIVED_AHEAD_MS_MAX = 10_000;

export type Matched = {
  readonly fill: Quantity;
  readonly cause: Extract<FillCause, "TRADE_AT_PRICE" | "TRADE_THROUGH">;
  /** What others display in front of the order after the trade. */
  readonly ahead: Quantity;
};

/** Whether a trade was against the side of an order, at its limit or beyond it. */
export function isTradedBy(order: Pick<Order, "side" | "price">, { side, price }: MarketTrade): boolean {
  if (side !== restingSide(order.side)) return false;
  return order.side === "BUY" ? price <= order.price : price >= order.price;
}

/**
 * What a trade that reaches an order does to it. `left` is what the strategy's orders before it left of the
 * trade. Null if the trade is at the limit and nothing is known of the queue: it may all have gone to others.
 */
export function matchTrade(
  { price: tradePrice }: Pick<MarketTrade, "price">,
  left: Quantity,
  order: { readonly price: Price; readonly remaining: Quantity; readonly ahead: Quantity | null },
  step: Quantity,
): Matched | null {
  if (tradePrice !== order.price) {
    return { fill: least(order.remaining, floorToStep(left, step)), cause: "TRADE_THROUGH", ahead: ZERO };
  }
  const { ahead } = order;
  if (ahead === null) return null;
  const beyond = left > ahead ? subtract(left, ahead) : (ZERO as Quantity);
  return {
    fill: least(order.remaining, floorToStep(beyond, step)),
    cause: "TRADE_AT_PRICE",
    ahead: subtract(ahead, least(ahead, left)),
  };
}

/**
 * The position of an order after a trade that reaches it. Beyond the limit, what was in front and was not
 * traded there counts as canceled.
 */
export function afterTrade(
  { ahead, tradedAtPrice, canceledAhead }: QueuePosition,
  { price: tradePrice, quantity }: Pick<MarketTrade, "price" | "quantity">,
  price: Price,
  matched: Matched | null,
): QueuePosition {
  if (tradePrice === price) {
    return {
      ahead: matched?.ahead ?? ahead,
      tradedAtPrice: add(tradedAtPrice, quantity),
      canceledAhead,
    };
  }
  return { ahead: ZERO, tradedAtPrice, canceledAhead: add(canceledAhead, ahead ?? ZERO) };
}

/** The execution order of open orders that one trade reaches: the better price, then the earlier arrival. */
export function byPriority(one: Order, other: Order): number {
  if (one.price !== other.price) return one.price > other.price === (one.side === "BUY") ? -1 : 1;
  return (one.queue?.since ?? 0) - (other.queue?.since ?? 0) || one.orderId - other.orderId;
}

/**
 * A change of the displayed quantity at a price; `traded` is what was traded there since the change before.
 */
export type LevelChange = {
  readonly before: Quantity;
  readonly after: Quantity;
  readonly traded: Quantity;
};

/**
 * What others display in front of an order after a change of its level. What was not traded was canceled, in
 * front of the order or behind it, which the model decides. Nobody can be in front who is not displayed.
 */
export function aheadAfterChange(model: QueueModel, ahead: Quantity, change: LevelChange): Quantity {
  const { before, after, traded } = change;
  const gone = before - after - traded;
  const power = powerOf(model);
  if (gone <= 0n || power === 0n) return least(ahead, after);
  const front: bigint = ahead;
  const back = positive(before - traded - ahead);
  const all = front + back;
  if (all === 0n) return ZERO;
  const inFront = (gone * front ** power) / all ** power;
  return least(positive(front - inFront) as Quantity, after);
}

function powerOf(model: QueueModel): bigint {
  return model === "trades" ? 0n : BigInt(model.slice("power-".length));
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n;
}

/**
 * Brings trades and changes of the book into the order of the exchange's time: changes often arrive before
 * trades that they contain. A change waits for a trade that is later than it, or for a change that is so much
 * younger that no such trade can be missing any more.
 */
export class ExchangeOrder<Change extends { readonly time: number }> {
  #waiting: Change[] = [];

  /** Adds a change, and returns the changes that count now, in order. Times ascend. */
  change(change: Change): readonly Change[] {
    this.#waiting.push(change);
    return this.#before(change.time - DIFF_WAITS_MS);
  }

  /**
   * The changes that count before a trade of this time, in order. A change of the same time contains the
   * trade.
   */
  trade(time: number): readonly Change[] {
    return this.#before(time);
  }

  #before(time: number): readonly Change[] {
    const count = this.#waiting.findIndex((change) => change.time >= time);
    return this.#waiting.splice(0, count === -1 ? this.#waiting.length : count);
  }
}
