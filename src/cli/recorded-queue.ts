// The queue in front of an open order, followed through a recording from its placement to a trade: the
// messages in the order of their arrival, brought into the exchange's order as a server does it. Source:
// strict fills, section 7.
import type { QueueModel } from "../domain/fill-profile.ts";
import type { MarketTrade } from "../domain/market.ts";
import type { Side } from "../domain/order.ts";
import type { BookStamp, QueuePoint } from "../domain/receipt.ts";
import { aheadAfterChange, ExchangeOrder, isTradedBy } from "../engine/matching/queue.ts";
import { restingSide } from "../engine/matching/walk.ts";
import { add, least, type Price, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import type { RecordedChange, RecordedEvent } from "./recorded-books.ts";

export type FollowedOrder = {
  readonly side: Side;
  readonly price: Price;
  readonly model: QueueModel;
  /** Only later trades concern it, market time in Unix ms. */
  readonly since: number;
  readonly book: BookStamp;
  readonly aheadAtPlacement: Quantity;
};

export type FollowedQueue = {
  readonly aheadBefore: Quantity;
  readonly tradedAtPrice: Quantity;
  readonly canceledAhead: Quantity;
  /** Each position after the one of the placement. */
  readonly points: readonly QueuePoint[];
};

/**
 * The queue before a trade. `givenBefore` is what a trade gave to earlier orders of the strategy.
 */
export function queueBefore(
  aggregateId: number,
  order: FollowedOrder,
  events: Iterable<RecordedEvent>,
  givenBefore: (trade: MarketTrade) => Quantity,
): FollowedQueue {
  const { side, price, model, since, book } = order;
  const own = restingSide(side);
  const inOrder = new ExchangeOrder<RecordedChange>();
  let ahead = order.aheadAtPlacement;
  let displayed = order.aheadAtPlacement;
  let inBook: Quantity | null = null;
  let tradedAtPrice: Quantity = ZERO;
  let canceledAhead: Quantity = ZERO;
  /** Trades at the price that no change has contained yet. */
  let trades: readonly MarketTrade[] = [];
  const points: QueuePoint[] = [];

  const lower = (to: Quantity, eventTime: number) => {
    if (to === ahead) return;
    ahead = to;
    const time = Math.max(points.at(-1)?.time ?? since, eventTime);
    points.push({ time, ahead, tradedAtPrice, canceledAhead });
  };
  const move = (change: RecordedChange) => {
    const quantity = change.quantityAt(own, price);
    // What repeats the quantity that the book has is no change.
    if (quantity === null || quantity === inBook) return;
    inBook = quantity;
    const best = change.ticker?.[own];
    const isLarger = best?.price === price && best.quantity > quantity;
    const after = isLarger ? best.quantity : quantity;
    const contained = trades.filter(({ time }) => time <= change.time);
    const traded = contained.reduce((sum, { quantity }) => add(sum, quantity), ZERO as Quantity);
    const left = aheadAfterChange(model, ahead, { before: displayed, after, traded });
    canceledAhead = add(canceledAhead, subtract(ahead, left));
    lower(left, change.time);
    displayed = after;
    trades = trades.filter(({ time }) => time > change.time);
  };

  for (const event of events) {
    if (event.kind === "change") {
      if (event.change.updateId <= book.lastUpdateId) continue;
      for (const change of inOrder.change(event.change)) move(change);
      continue;
    }
    const { trade } = event;
    if (trade.aggregateId <= (book.lastTradeId ?? -1)) continue;
    for (const change of inOrder.trade(trade.time)) move(change);
    if (trade.aggregateId >= aggregateId) break;
    if (trade.side === own && trade.price === price) trades = [...trades, trade];
    if (trade.time <= since || !isTradedBy(order, trade)) continue;
    if (trade.price === price) {
      tradedAtPrice = add(tradedAtPrice, trade.quantity);
      lower(subtract(ahead, least(ahead, subtract(trade.quantity, givenBefore(trade)))), trade.time);
    } else {
      // What was in front and was not traded is gone.
      canceledAhead = add(canceledAhead, ahead);
      lower(ZERO, trade.time);
    }
  }
  return { aheadBefore: ahead, tradedAtPrice, canceledAhead, points };
}
