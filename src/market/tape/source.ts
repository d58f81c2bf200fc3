/**
 * A tape as its server sees it.
 *
 * Best prices and trades are passed on as they were recorded, at the market time they arrived. Candles, tickers and
 * lists of trades go by the trades' own times, as on the exchange itself, so a candle is complete when it closes even if
 * the stream tells of its last trade a little later. Aggregate trades are put together from trades of one instant, price
 * and side, and numbered from 1.
 */

import { decimal, formatDecimal } from "../../money/decimal.ts";
import type {
  AggregateTrade,
  FeedEvent,
  Level,
  Source,
  Statistics,
  Touch,
  Trade,
  TradeQuery,
} from "../exchange/source.ts";
import { createTapeBook } from "./book.ts";
import type { Recording, TapeTrade } from "./recording.ts";

/** Answers `exchangeInfo`, as `Source.exchangeInfo` does. */
export type TapeRules = Source["exchangeInfo"];

type Amounts = { readonly quantity: bigint; readonly quote: bigint; readonly price: bigint };

export function createTapeSource(recording: Recording, exchangeInfo: TapeRules): Source {
  const { symbol, lines, endsAt } = recording;
  const recorded = lines.filter((line) => line.kind === "trade");
  const trades = recorded.map(wireTrade);
  const amounts = trades.map(amountsOf);
  const touches = lines.filter((line) => line.kind === "touch");
  const { aggregates, events } = gather(recording, trades);
  const book = createTapeBook(lines);
  const listedAt = trades[0]?.at ?? recording.startsAt;

  return {
    family: "spot",
    symbols: [symbol],
    endsAt,
    listedAt: () => listedAt,
    exchangeInfo,
    touch(_symbol, at): Touch | undefined {
      return touches[countUntil(touches, at) - 1]?.touch ?? touchOf(book.bookAt(at, 1));
    },
    book: (_symbol, at, levels) => book.bookAt(at, levels),
    lastTrade: (_symbol, at) => trades[countUntil(trades, at) - 1],
    trades: (_symbol, at, query) => select(trades, at, query),
    aggregateTrades: (_symbol, at, query) => select(aggregates, at, query),
    statistics(_symbol, from, until) {
      const first = countUntil(trades, from - 1);
      const end = countUntil(trades, until - 1);
      return first < end ? statisticsOf(trades.slice(first, end), amounts.slice(first, end)) : undefined;
    },
    feed(_symbol, from, until, kinds) {
      return events
        .slice(countUntil(events, from), countUntil(events, until))
        .filter((event) => kinds.has(event.kind));
    },
  };
}

function wireTrade({ trade }: TapeTrade): Trade {
  const { price, quantity } = trade;
  return { ...trade, quoteQuantity: formatDecimal(product(decimal(price), decimal(quantity))) };
}

// Aggregates in order, and everything that is sent in order; an aggregate goes out with its last trade.
function gather(recording: Recording, trades: readonly Trade[]) {
  const aggregates: AggregateTrade[] = [];
  const events: FeedEvent[] = [];
  let group: Trade[] = [];
  let tradeIndex = 0;
  for (const line of recording.lines) {
    if (line.kind === "touch") events.push(line);
    const trade = line.kind === "trade" ? trades[tradeIndex] : undefined;
    if (line.kind !== "trade" || !trade) continue;
    const { at, verbatim } = line;
    events.push({ kind: "trade", at, trade, verbatim });
    group.push(trade);
    tradeIndex += 1;
    const following = trades[tradeIndex];
    if (following && isSameTake(trade, following)) continue;
    const aggregate = aggregateOf(group, aggregates.length + 1);
    aggregates.push(aggregate);
    events.push({ kind: "aggregate", at, aggregate });
    group = [];
  }
  return { aggregates, events };
}

function isSameTake(a: Trade, b: Trade): boolean {
  return a.at === b.at && a.price === b.price && a.isBuyerMaker === b.isBuyerMaker;
}

function aggregateOf(group: readonly Trade[], id: number): AggregateTrade {
  const [first] = group;
  const last = group.at(-1);
  if (!first || !last) throw new Error("an aggregate of no trades");
  const quantity = group.reduce((total, trade) => total + decimal(trade.quantity), 0n);
  const { at, price, isBuyerMaker } = first;
  return {
    id,
    firstTradeId: first.id,
    lastTradeId: last.id,
    at,
    price,
    quantity: formatDecimal(quantity),
    isBuyerMaker,
  };
}

// From an id or a start onwards, or the newest up to the end.
function select<Row extends { readonly id: number; readonly at: number }>(
  rows: readonly Row[],
  at: number,
  query: TradeQuery,
): readonly Row[] {
  const { fromId = 0, startTime = -Infinity, endTime = at, limit } = query;
  const known = rows.slice(0, countUntil(rows, Math.min(at, endTime)));
  if (query.fromId === undefined && query.startTime === undefined) return known.slice(-limit);
  return known.filter((row) => row.id >= fromId && row.at >= startTime).slice(0, limit);
}

function statisticsOf(trades: readonly Trade[], amounts: readonly Amounts[]): Statistics | undefined {
  const [first] = trades;
  const last = trades.at(-1);
  if (!first || !last) return undefined;
  let [high, low] = [amounts[0]?.price ?? 0n, amounts[0]?.price ?? 0n];
  let [volume, quote, buyVolume, buyQuote] = [0n, 0n, 0n, 0n];
  for (const [index, amount] of amounts.entries()) {
    if (amount.price > high) high = amount.price;
    if (amount.price < low) low = amount.price;
    volume += amount.quantity;
    quote += amount.quote;
    if (trades[index]?.isBuyerMaker) continue;
    buyVolume += amount.quantity;
    buyQuote += amount.quote;
  }
  return {
    open: first.price,
    high: formatDecimal(high),
    low: formatDecimal(low),
    close: last.price,
    volume: formatDecimal(volume),
    quoteVolume: formatDecimal(quote / eightDigits),
    takerBuyVolume: formatDecimal(buyVolume),
    takerBuyQuoteVolume: formatDecimal(buyQuote / eightDigits),
    tradeCount: trades.length,
    firstTradeId: first.id,
    lastTradeId: last.id,
  };
}

const eightDigits = 100_000_000n;

// Quote amounts are kept in full, in units of 1e-16, and cut once they are added up.
function amountsOf(trade: Trade): Amounts {
  const price = decimal(trade.price);
  const quantity = decimal(trade.quantity);
  return { price, quantity, quote: price * quantity };
}

function product(a: bigint, b: bigint): bigint {
  return (a * b) / eightDigits;
}

function touchOf(book: ReturnType<Source["book"]>): Touch | undefined {
  const [bid]: readonly Level[] = book?.bids ?? [];
  const [ask]: readonly Level[] = book?.asks ?? [];
  return book && bid && ask ? { updateId: book.updateId, at: book.at, bid, ask } : undefined;
}

// How many of the rows, which ascend in time, lie at or before a time.
function countUntil(rows: readonly { readonly at: number }[], at: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.at ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
