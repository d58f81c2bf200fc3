// The quotes of the symbols in use: kept streaming, kept honest about silence, handed to whoever watches.
//
// A symbol is *warm* from its first use until `warmMs` after its last one, or as long as it is watched. Becoming warm, it
// is subscribed and at the same time asked for by REST, and what comes first is its first quote.
//
// Liveness. A symbol whose best prices stand still sends no `bookTicker`, so silence there proves nothing. Two things do:
// - `depth20` comes every second whether or not anything changed, where upstream keeps to a schedule. The simulated
//   exchange and the tape do, and there a symbol without messages is dead, whatever REST may say.
// - The reference exchange is not known to repeat an unchanged book. With `asksAboutQuietSymbols`, symbols without news
//   for `quietAfterMs` are asked for in one REST request: an answer is news, no answer lets the silence stand. It counts
//   only while the stream connection is open, since without one "nothing was sent" does not mean "nothing changed".
import type { Quote } from "../../domain/market.ts";
import type { Announcer, Listener } from "./announce.ts";
import { createBatcher } from "./batcher.ts";
import {
  type Book,
  createBook,
  forgetIds,
  isSilent,
  takeDepth,
  takeRestTicker,
  takeTicker,
  type Verdict,
} from "./book.ts";
import type { Extremes } from "./extremes.ts";
import { bodyOf, type Rest } from "./rest.ts";
import type { Streams } from "./streams.ts";
import { type Cancel, type Clock, type Timers, waitAtMost } from "./time.ts";

/** How long an order waits for the first quote of a symbol that nobody used before. */
export const quoteWaitMsMax = 800;
export const quietAfterMs = 2_000;
export const warmMs = 5 * 60_000;
/** Two streams each; the rest of the connection is for candles and books. */
export const warmSymbolsMax = 400;
const symbolsPerQuestionMax = 100;
const questionsAtATimeMax = 2;
const askDeadlineMs = 3_000;
const path = "/api/v3/ticker/bookTicker";

type Warm = {
  readonly symbol: string;
  readonly book: Book;
  listeners: readonly Listener<Quote>[];
  usedAt: number;
  readonly arrived: PromiseWithResolvers<void>;
  /** What the first users wait for; null once the first quote is there or has been waited for. */
  firstQuote: Promise<void> | null;
  readonly release: Cancel;
};

export type QuoteCounts = Readonly<Record<Verdict, number>>;

export type Quotes = {
  /** Null while the symbol is silent or not warm. */
  quote(symbol: string): Quote | null;
  /** Keeps a symbol warm; a promise only while its first quote is awaited. */
  prepare(symbol: string, now: number): Promise<void> | undefined;
  watch(symbol: string, listener: Listener<Quote>): Cancel;
  /** A point in the order of quotes, for `extremesSince`. */
  mark(): number;
  extremesSince(symbol: string, mark: number): Extremes | null;
  /** The stream connection was replaced: ids begin anew, and what was missed meanwhile is asked for. */
  reconnected(): void;
  sweep(now: number): void;
  symbols(): Iterable<string>;
  symbolCount(): number;
  counts(): QuoteCounts;
  /** Lets nobody wait any longer. */
  close(): void;
};

export type QuotesOptions = {
  readonly streams: Streams;
  readonly isConnected: () => boolean;
  readonly rest: Rest;
  readonly announcer: Announcer;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly asksAboutQuietSymbols: boolean;
};

export function createQuotes(options: QuotesOptions): Quotes {
  const { streams, isConnected, rest, announcer, wallClock, timers, asksAboutQuietSymbols } = options;
  const warmSymbols = new Map<string, Warm>();
  const counts: Record<Verdict, number> = { accepted: 0, alive: 0, stale: 0, crossed: 0, malformed: 0 };
  let sequence = 0;
  let isAskingQuiet = false;

  const askFirst = createBatcher(ask, { keysMax: symbolsPerQuestionMax, concurrentMax: questionsAtATimeMax });

  function warm(symbol: string, now: number): Warm {
    const known = warmSymbols.get(symbol);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    if (warmSymbols.size >= warmSymbolsMax) coolLongestUnused();
    const book = createBook();
    const name = symbol.toLowerCase();
    const releases = [
      streams.subscribe(`${name}@bookTicker`, (data) => take(made, takeTicker(book, data, wallClock.now()))),
      streams.subscribe(`${name}@depth20`, (data) => take(made, takeDepth(book, data, wallClock.now()))),
    ];
    const made: Warm = {
      symbol,
      book,
      listeners: [],
      usedAt: now,
      arrived: Promise.withResolvers<void>(),
      firstQuote: null,
      release: () => {
        for (const release of releases) release();
      },
    };
    warmSymbols.set(symbol, made);
    made.firstQuote = waitAtMost(timers, quoteWaitMsMax, made.arrived.promise).then(() => {
      made.firstQuote = null;
    });
    askFirst(symbol);
    return made;
  }

  function coolLongestUnused(): void {
    let longest: Warm | null = null;
    for (const candidate of warmSymbols.values()) {
      if (candidate.listeners.length === 0 && (longest === null || candidate.usedAt < longest.usedAt))
        longest = candidate;
    }
    if (longest !== null) cool(longest);
  }

  function cool(unused: Warm): void {
    warmSymbols.delete(unused.symbol);
    unused.release();
    unused.arrived.resolve();
  }

  function take(from: Warm, verdict: Verdict): void {
    counts[verdict] += 1;
    const { quote, history } = from.book;
    if (verdict !== "accepted" || quote === null) return;
    sequence += 1;
    history.push(sequence, quote, wallClock.now());
    from.arrived.resolve();
    announcer.announce(from.listeners, quote);
  }

  /** Asks by REST; an answer that a streamed quote has overtaken is not taken. */
  async function ask(symbols: readonly string[]): Promise<void> {
    const asked = new Map<string, { readonly warm: Warm; readonly streamedCount: number }>();
    for (const symbol of symbols) {
      const known = warmSymbols.get(symbol);
      if (known !== undefined) asked.set(symbol, { warm: known, streamedCount: known.book.streamedCount });
    }
    for (const row of await rowsFor([...asked.keys()])) {
      const question = typeof row.symbol === "string" ? asked.get(row.symbol) : undefined;
      if (question === undefined || question.warm.book.streamedCount !== question.streamedCount) continue;
      take(question.warm, takeRestTicker(question.warm.book, row, wallClock.now()));
    }
  }

  async function rowsFor(symbols: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const [first] = symbols;
    if (first === undefined) return [];
    const isForAll = symbols.length > symbolsPerQuestionMax;
    const some =
      symbols.length === 1
        ? `symbol=${encodeURIComponent(first)}`
        : `symbols=${encodeURIComponent(JSON.stringify(symbols))}`;
    let answer = await rest.ask(path, isForAll ? "" : some, askDeadlineMs);
    // One name that is no longer listed makes the exchange refuse the whole question; asking for all costs the same.
    if (!answer.unavailable && answer.status === 400 && symbols.length > 1)
      answer = await rest.ask(path, "", askDeadlineMs);
    const body = bodyOf(answer);
    const rows: readonly unknown[] = Array.isArray(body) ? body : [body];
    return rows.filter(
      (row): row is Readonly<Record<string, unknown>> => typeof row === "object" && row !== null,
    );
  }

  async function askQuiet(now: number): Promise<void> {
    const quiet = [...warmSymbols.values()].filter(({ book }) => now - book.newsAt >= quietAfterMs);
    if (quiet.length === 0) return;
    isAskingQuiet = true;
    await ask(quiet.map(({ symbol }) => symbol));
    isAskingQuiet = false;
  }

  return {
    quote(symbol) {
      const book = warmSymbols.get(symbol)?.book;
      return book === undefined || isSilent(book, wallClock.now()) ? null : book.quote;
    },
    prepare: (symbol, now) => warm(symbol, now).firstQuote ?? undefined,
    watch(symbol, listener) {
      const watched = warm(symbol, wallClock.now());
      const own = (quote: Quote) => listener(quote);
      watched.listeners = [...watched.listeners, own];
      return () => {
        watched.listeners = watched.listeners.filter((other) => other !== own);
        watched.usedAt = wallClock.now();
      };
    },
    mark: () => sequence,
    extremesSince: (symbol, mark) => warmSymbols.get(symbol)?.book.history.since(mark) ?? null,
    reconnected() {
      for (const { book } of warmSymbols.values()) forgetIds(book);
      ask([...warmSymbols.keys()]);
    },
    sweep(now) {
      for (const candidate of warmSymbols.values()) {
        if (candidate.listeners.length === 0 && now - candidate.usedAt >= warmMs) cool(candidate);
        else candidate.book.history.forget(now);
      }
      if (asksAboutQuietSymbols && isConnected() && !isAskingQuiet) askQuiet(now);
    },
    symbols: () => warmSymbols.keys(),
    symbolCount: () => warmSymbols.size,
    counts: () => ({ ...counts }),
    close() {
      for (const { arrived } of warmSymbols.values()) arrived.resolve();
    },
  };
}
