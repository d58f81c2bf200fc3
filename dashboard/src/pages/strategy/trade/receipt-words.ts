// What the evidence of a fill says, in sentences. Nothing is said that the receipt does not have.
import type { ReceiptJson, TradeDetailJson } from "../../../../../src/dashboard-api/schemas.ts";
import { compare, grouped, signOf, subtract, trimZeros } from "../../../ui/figures/decimals.ts";

export type Receipt = ReceiptJson;
type Trade = TradeDetailJson["trade"];
type Level = Receipt["walk"][number];

/** How the fill came about, one idea a sentence. */
export function receiptInWords(trade: Trade, receipt: Receipt): readonly string[] {
  switch (receipt.cause) {
    case "WALK":
    case "LIQUIDATION":
      return walkInWords(trade, receipt);
    case "BOOK_CROSSED":
      return crossingInWords(trade, receipt);
    case "TRADE_AT_PRICE":
    case "TRADE_THROUGH":
      return matchInWords(trade, receipt);
    case "TAKEOVER":
      return [
        `The rest of the position, ${figure(trade.quantity)}, was taken over at the bankruptcy price ${figure(trade.price)}, without the book.`,
      ];
  }
}

function walkInWords(trade: Trade, { walk, remaining, cause }: Receipt): readonly string[] {
  const own = walk.find(({ tradeId }) => tradeId === trade.tradeId);
  if (own === undefined) return [];
  const verb = cause === "LIQUIDATION" ? "The liquidation took" : "Took";
  const isLast = !walk.some(({ index }) => index > own.index);
  const then = isLast
    ? ", and nothing more was available within its bounds."
    : " and went on to the next level.";
  return [
    `${verb} ${figure(own.taken)} at ${figure(own.price)}, ${rankOf(own, trade)}, where ${figure(own.displayed)} was displayed.`,
    ...reductionsOf(own),
    compare(own.available, remaining) < 0
      ? `That was all that was available there; the order had ${figure(remaining)} to fill${then}`
      : `The order had ${figure(remaining)} to fill, so it ended here.`,
  ];
}

/** What made less available than was displayed. */
function reductionsOf(level: Level): readonly string[] {
  return [
    ...(level.fromTicker ? ["The quantity is that of the ticker, which was newer than the book."] : []),
    ...(signOf(level.newerTrades) > 0
      ? [`${figure(level.newerTrades)} that was traded there after the book is subtracted already.`]
      : []),
    ...(signOf(level.ownConsumed) > 0
      ? [
          `Of it ${figure(level.ownConsumed)} counted as consumed by this strategy before, which left ${figure(level.available)}.`,
        ]
      : []),
  ];
}

function crossingInWords(trade: Trade, { walk }: Receipt): readonly string[] {
  const own = walk.find(({ tradeId }) => tradeId === trade.tradeId);
  if (own === undefined) return [];
  const other = trade.side === "BUY" ? "An ask" : "A bid";
  return [
    `${other} of ${figure(own.displayed)} at ${figure(own.price)} reached the order's limit. On the exchange it would have been matched with this order.`,
    ...reductionsOf(own),
    `${figure(own.taken)} was filled at the limit ${figure(trade.price)}, as maker.`,
  ];
}

function matchInWords(trade: Trade, { queue, marketTrade, cause, remaining }: Receipt): readonly string[] {
  if (queue === null || marketTrade === null) return [];
  const taker = trade.side === "BUY" ? "A seller" : "A buyer";
  const before = queue.aheadBefore;
  const placement =
    queue.aheadAtPlacement === null
      ? "When the order joined the queue it was not known what was displayed in front of it."
      : signOf(queue.aheadAtPlacement) === 0
        ? "When the order joined the queue nothing was displayed in front of it."
        : `When the order joined the queue at ${figure(trade.price)}, ${figure(queue.aheadAtPlacement)} was displayed in front of it.`;
  const moved =
    signOf(queue.tradedAtPrice) > 0 || signOf(queue.canceledAhead) > 0
      ? [
          `Before this trade ${figure(queue.tradedAtPrice)} was traded at the price, and ${figure(queue.canceledAhead)} in front counted as canceled.`,
        ]
      : [];
  const isShared = compare(marketTrade.available, marketTrade.quantity) < 0;
  return [
    placement,
    ...moved,
    `${taker} then traded ${figure(marketTrade.quantity)} at ${figure(marketTrade.price)}.`,
    ...(isShared ? [`Earlier orders of this strategy left ${figure(marketTrade.available)} of it.`] : []),
    cause === "TRADE_THROUGH"
      ? `That is beyond the limit, so it would have met this order first: ${figure(trade.quantity)} of ${figure(remaining)} was filled at the limit ${figure(trade.price)}.`
      : `${figure(subtract(before ?? "0", queue.ahead))} went to those in front, and ${figure(trade.quantity)} of ${figure(remaining)} was filled.`,
  ];
}

function rankOf({ index }: Level, { side }: Trade): string {
  const name = side === "BUY" ? "ask" : "bid";
  if (index === 0) return `the best ${name}`;
  return `level ${index + 1} of the ${name}s`;
}

function figure(value: string): string {
  return grouped(trimZeros(value));
}
