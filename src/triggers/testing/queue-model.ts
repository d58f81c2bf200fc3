// The naive version of queues under `strict`: it computes what open orders get from all trades, in order.
// Bids only, and 0.05 displayed in front of each order at its placement.
import type { MarketTrade } from "../../domain/market.ts";
import { matchTrade } from "../../engine/matching/queue.ts";
import { decimal, formatBriefly, type Price, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import type { Store } from "../../store/store.ts";

export const thousandths = (value: number) => formatBriefly(decimal<Quantity>("0.001") * BigInt(value));

/** What each trade of the market has filled, by order. */
export async function filledBy(store: Store): Promise<string[]> {
  const trades = await store.listTrades("one", { symbol: "BTCUSDT", limit: 1_000 });
  return trades.map(({ orderId, quantity, receipt }) =>
    wordsOf(orderId, receipt?.marketTrade?.aggregateId ?? 0, quantity),
  );
}

/** An order: its limit, its quantity in thousandths, and how many trades were made before it. */
export type ModelOrder = { readonly price: number; readonly quantity: number; readonly after?: number };

/** What each trade fills of orders, which are numbered from 1 in their order. */
export function modelOf(orders: readonly ModelOrder[], trades: readonly MarketTrade[]): string[] {
  const open = orders
    .map(({ price, quantity, after = 0 }, index) => ({
      orderId: index + 1,
      after,
      price: decimal<Price>(String(price)),
      remaining: decimal<Quantity>(thousandths(quantity)),
      ahead: decimal<Quantity>("0.05"),
    }))
    .sort((one, other) =>
      one.price === other.price ? one.orderId - other.orderId : one.price > other.price ? -1 : 1,
    );
  const words: string[] = [];
  for (const [index, trade] of trades.entries()) {
    let left = trade.quantity;
    for (const each of open) {
      if (index < each.after || trade.price > each.price || each.remaining === 0n) continue;
      const matched = matchTrade(trade, left, each, ZERO);
      if (matched === null) continue;
      each.ahead = matched.ahead;
      each.remaining = subtract(each.remaining, matched.fill);
      left = subtract(left, matched.fill);
      if (matched.fill > 0n) words.push(wordsOf(each.orderId, trade.aggregateId, matched.fill));
    }
  }
  return words;
}

function wordsOf(orderId: number, tradeId: number, quantity: Quantity): string {
  return `trade ${tradeId}: ${formatBriefly(quantity)} of order ${orderId}`;
}
