/**
 * One type of a tape as its server sees it.
 * Best prices and trades are sent as they were recorded, at the market time they arrived. Candles, tickers
 * and lists of trades go by the trades' own times, as on the exchange, so a candle is complete when it closes
 * even if the stream sends its last trade a little later. A type that the tape does not hold lists no
 * symbols.
 */
import type { StrategyType } from "../../domain/account.ts";
import type { Book, FeedEvent, Level, Source, Touch } from "../exchange/source.ts";
import { createTapeBook } from "./book.ts";
import type { Recording } from "./recording.ts";
import type { TapeRules } from "./rules.ts";
import { countUntil, createTapeTrades, lastUntil } from "./trades.ts";

/** The symbols of a type that a tape holds: its own, or none. */
export function symbolsOf({ symbol, lines }: Recording, type: StrategyType): readonly string[] {
  return lines.some((line) => line.type === type) ? [symbol] : [];
}

export function createTapeSource(recording: Recording, type: StrategyType, exchangeInfo: TapeRules): Source {
  const lines = recording.lines.filter((line) => line.type === type);
  const touches = lines.filter((line) => line.kind === "touch");
  const trades = createTapeTrades(lines);
  const book = createTapeBook(lines);
  const events: readonly FeedEvent[] = lines.flatMap((line) =>
    line.kind === "touch" ? [line] : trades.toldBy(line),
  );

  return {
    type,
    symbols: symbolsOf(recording, type),
    endsAt: recording.endsAt,
    listedAt: () => trades.firstAt ?? recording.startsAt,
    exchangeInfo,
    touch: (_symbol, at) => lastUntil(touches, at)?.touch ?? touchOf(book.bookAt(at, 1)),
    book: (_symbol, at, levels) => book.bookAt(at, levels),
    bookChange: (_symbol, from, until) => book.changeBetween(from, until),
    lastTrade: (_symbol, at) => trades.lastTrade(at),
    trades: (_symbol, at, query) => trades.trades(at, query),
    aggregateTrades: (_symbol, at, query) => trades.aggregateTrades(at, query),
    statistics: (_symbol, from, until) => trades.statistics(from, until),
    feed(_symbol, from, until, kinds) {
      return events
        .slice(countUntil(events, from), countUntil(events, until))
        .filter((event) => kinds.has(event.kind));
    },
  };
}

function touchOf(book: Book | undefined): Touch | undefined {
  const [bid]: readonly Level[] = book?.bids ?? [];
  const [ask]: readonly Level[] = book?.asks ?? [];
  return book && bid && ask ? { updateId: book.updateId, at: book.at, bid, ask } : undefined;
}
