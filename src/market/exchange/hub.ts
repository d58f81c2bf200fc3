/**
 * The subscribers of one type, and the messages due for them.
 * Streams follow market time: events are sent in the source's order, books and candles at multiples of their
 * period. A candle's last update, `x` true, is sent once, when the next one opens, and replaces the regular
 * update of that instant. Messages of a silenced symbol are dropped.
 */
import type { Faults } from "./faults.ts";
import { openTimeOf } from "./intervals.ts";
import { candleAt } from "./klines.ts";
import {
  aggregatePayload,
  averagePricePayload,
  bookTickerPayload,
  continuousKlinePayload,
  dayTickerUpdate,
  depthPayload,
  depthUpdatePayload,
  klinePayload,
  markPricePayload,
  markPricesPayload,
  miniTickerUpdate,
  tradePayload,
  windowTickerUpdate,
} from "./payloads.ts";
import type { FeedEvent, FeedKind, FuturesSource, Premium, Source } from "./source.ts";
import { meaningOf, type StreamMeaning, type TickerKind, windowMsOf } from "./stream-names.ts";
import { averagePrice, dayTickerOf, type RollingTicker, rollingTicker } from "./tickers.ts";

/** Receives payloads as JSON text. */
type Listener = { send(stream: string, payload: string): void };

type Channel = {
  readonly stream: string;
  readonly meaning: StreamMeaning | undefined;
  readonly listeners: Set<Listener>;
  /** Id of the last book sent, for futures' `pu`. */
  updateId: number;
};

type Message = { readonly at: number; readonly channel: Channel; readonly payload: string };

export type Hub = ReturnType<typeof createHub>;

/**
 * A hub of spot streams, or of futures streams when the source is one. A symbol that `silences` hits is not
 * sent.
 */
export function createHub(source: Source | FuturesSource, silences: Faults) {
  const { type } = source;
  const listed = new Set(source.symbols);
  const channels = new Map<string, Channel>();
  const channelsBySymbol = new Map<string, Set<Channel>>();
  // Those of all symbols at once.
  const channelsOfAll = new Set<Channel>();
  // The newest ticker of each symbol and window, which several streams send.
  const tickers = new Map<string, RollingTicker>();

  return {
    type,
    add(listener: Listener, stream: string) {
      const channel = channels.get(stream) ?? open(stream);
      channel.listeners.add(listener);
    },
    remove(listener: Listener, stream: string) {
      const channel = channels.get(stream);
      if (!channel) return;
      channel.listeners.delete(listener);
      if (channel.listeners.size === 0) drop(channel);
    },
    /** Sends what falls due with `from < time <= until`, Unix ms of market time. */
    send(from: number, until: number) {
      for (const [symbol, ofSymbol] of channelsBySymbol) {
        if (!silences.hits(type, symbol)) sendSymbol(symbol, ofSymbol, from, until);
      }
      if (!silences.hits(type)) sendInOrder(periodicMessages(channelsOfAll, from, until));
    },
    /**
     * Sends a payload of the caller's making to a stream's listeners, silenced or not; text is sent as it is.
     */
    sendRaw(stream: string, data: unknown) {
      const channel = channels.get(stream);
      if (channel) pass(channel, typeof data === "string" ? data : JSON.stringify(data));
    },
  };

  function open(stream: string): Channel {
    const meaning = meaningOf(type, stream);
    const channel = { stream, meaning, listeners: new Set<Listener>(), updateId: 0 };
    channels.set(stream, channel);
    if (meaning && !("symbol" in meaning)) {
      channelsOfAll.add(channel);
    } else if (meaning && listed.has(meaning.symbol)) {
      const ofSymbol = channelsBySymbol.get(meaning.symbol) ?? new Set();
      channelsBySymbol.set(meaning.symbol, ofSymbol.add(channel));
    }
    return channel;
  }

  function drop(channel: Channel): void {
    channels.delete(channel.stream);
    channelsOfAll.delete(channel);
    const symbol = channel.meaning && "symbol" in channel.meaning ? channel.meaning.symbol : "";
    const ofSymbol = channelsBySymbol.get(symbol);
    ofSymbol?.delete(channel);
    if (ofSymbol?.size === 0) channelsBySymbol.delete(symbol);
  }

  function sendSymbol(symbol: string, ofSymbol: ReadonlySet<Channel>, from: number, until: number): void {
    // Events of an instant go before the periodic messages about it.
    sendInOrder([
      ...eventMessages(symbol, ofSymbol, from, until),
      ...periodicMessages(ofSymbol, from, until),
    ]);
  }

  function periodicMessages(some: ReadonlySet<Channel>, from: number, until: number): Message[] {
    const messages: Message[] = [];
    const lastAt = Math.min(until, source.endsAt);
    for (const channel of some) {
      const { meaning } = channel;
      if (!meaning || !("periodMs" in meaning)) continue;
      const { periodMs } = meaning;
      for (let at = (Math.floor(from / periodMs) + 1) * periodMs; at <= lastAt; at += periodMs) {
        const payloads =
          meaning.kind === "touches" ? changedTouches(at, periodMs) : periodicPayload(channel, meaning, at);
        if (typeof payloads === "string") messages.push({ at, channel, payload: payloads });
        else for (const payload of payloads ?? []) messages.push({ at, channel, payload });
      }
    }
    return messages;
  }

  function eventMessages(
    symbol: string,
    ofSymbol: ReadonlySet<Channel>,
    from: number,
    until: number,
  ): Message[] {
    const channelOf = new Map<FeedKind, Channel>();
    for (const channel of ofSymbol) {
      const kind = channel.meaning?.kind;
      if (kind === "bookTicker") channelOf.set("touch", channel);
      if (kind === "trade") channelOf.set("trade", channel);
      if (kind === "aggTrade") channelOf.set("aggregate", channel);
    }
    if (channelOf.size === 0) return [];
    const messages: Message[] = [];
    for (const event of source.feed(symbol, from, until, new Set(channelOf.keys()))) {
      const channel = channelOf.get(event.kind);
      if (channel) messages.push({ at: event.at, channel, payload: eventPayload(symbol, event) });
    }
    return messages;
  }

  function eventPayload(symbol: string, event: FeedEvent): string {
    if ("verbatim" in event && event.verbatim !== undefined) return event.verbatim;
    switch (event.kind) {
      case "touch":
        return bookTickerPayload(type, symbol, event.touch, event.at);
      case "trade":
        return tradePayload(type, symbol, event.trade, event.at);
      case "aggregate":
        return aggregatePayload(type, symbol, event.aggregate, event.at);
    }
  }

  function periodicPayload(channel: Channel, meaning: StreamMeaning, at: number): string | undefined {
    if (meaning.kind === "marks") return marksPayload(at, meaning.periodMs);
    if (meaning.kind === "rollings") return changedTickers(meaning.ticker, at, meaning.periodMs);
    if (!("symbol" in meaning)) return undefined;
    const { symbol } = meaning;
    if (meaning.kind === "depthUpdate") {
      // The ids of periods follow on each other whenever a client begins; a silenced period is missing, and
      // the ids show it.
      const change = source.bookChange(symbol, at - meaning.periodMs, at);
      if (!change) return undefined;
      if (change.bids.length + change.asks.length > 0) {
        return depthUpdatePayload(type, symbol, change, at);
      }
      // Levels that changed and changed back. Some clients refuse a message without any level.
      const bids = source.book(symbol, at, 1)?.bids ?? [];
      return depthUpdatePayload(type, symbol, { ...change, bids }, at);
    }
    if (meaning.kind === "rolling") {
      // A symbol that was never traded has no ticker.
      if (!source.lastTrade(symbol, at)) return undefined;
      return JSON.stringify(tickerUpdate(meaning.ticker, symbol, at));
    }
    if (meaning.kind === "depth") {
      const book = source.book(symbol, at, meaning.levels);
      if (!book) return undefined;
      const previousUpdateId = channel.updateId || book.updateId - 1;
      channel.updateId = book.updateId;
      return depthPayload({ type, symbol, book, at, previousUpdateId });
    }
    if (meaning.kind === "kline" || meaning.kind === "continuousKline") {
      const { interval, zoneMs } = meaning;
      const isFinal = openTimeOf(interval, at, zoneMs) === at;
      const knownAt = isFinal ? at - 1 : at;
      const openTime = openTimeOf(interval, knownAt, zoneMs);
      const candle = candleAt(source, symbol, interval, openTime, knownAt, zoneMs);
      const payload = meaning.kind === "kline" ? klinePayload : continuousKlinePayload;
      return candle && payload({ symbol, interval, candle, isFinal, at });
    }
    if (meaning.kind === "avgPrice") {
      // A pair that was never traded has no average.
      if (!source.lastTrade(symbol, at)) return undefined;
      return averagePricePayload(symbol, averagePrice(source, symbol, at), at);
    }
    if (meaning.kind === "markPrice") {
      const premium = newPremium(symbol, at, meaning.periodMs);
      return premium && markPricePayload(symbol, premium, at);
    }
    return undefined;
  }

  function tickerAt(kind: TickerKind, symbol: string, at: number): RollingTicker {
    const windowMs = windowMsOf(kind);
    const key = `${windowMs ?? ""}/${symbol}`;
    const known = tickers.get(key);
    if (known?.closeTime === at) return known;
    // A shorter window begins on a minute.
    const ticker =
      windowMs === undefined
        ? dayTickerOf(source, symbol, at)
        : rollingTicker(source, symbol, openTimeOf("1m", at - windowMs), at);
    tickers.set(key, ticker);
    return ticker;
  }

  function tickerUpdate(kind: TickerKind, symbol: string, at: number): object {
    const ticker = tickerAt(kind, symbol, at);
    if (kind === "miniTicker") return miniTickerUpdate(type, ticker, at);
    return kind === "ticker" ? dayTickerUpdate(type, ticker, at) : windowTickerUpdate(kind, ticker, at);
  }

  // A ticker has changed where something was traded.
  function changedTickers(kind: TickerKind, at: number, periodMs: number): string | undefined {
    const updates = source.symbols.flatMap((symbol) => {
      const last = silences.hits(type, symbol) ? undefined : source.lastTrade(symbol, at);
      const isChanged = last !== undefined && last.id !== source.lastTrade(symbol, at - periodMs)?.id;
      return isChanged ? [tickerUpdate(kind, symbol, at)] : [];
    });
    return updates.length > 0 ? JSON.stringify(updates) : undefined;
  }

  function changedTouches(at: number, periodMs: number): readonly string[] {
    return source.symbols.flatMap((symbol) => {
      const touch = silences.hits(type, symbol) ? undefined : source.touch(symbol, at);
      return touch && touch.at > at - periodMs ? [bookTickerPayload(type, symbol, touch, at)] : [];
    });
  }

  function marksPayload(at: number, periodMs: number): string | undefined {
    const premiums = new Map<string, Premium>();
    for (const symbol of source.symbols) {
      const premium = silences.hits(type, symbol) ? undefined : newPremium(symbol, at, periodMs);
      if (premium) premiums.set(symbol, premium);
    }
    return premiums.size > 0 ? markPricesPayload(premiums, at) : undefined;
  }

  // A premium that has not changed since the stream's last message is not repeated.
  function newPremium(symbol: string, at: number, periodMs: number): Premium | undefined {
    const premium = "premium" in source ? source.premium(symbol, at) : undefined;
    return premium && premium.at > at - periodMs ? premium : undefined;
  }
}

// The sort is stable: messages of one instant keep their order.
function sendInOrder(messages: readonly Message[]): void {
  for (const { channel, payload } of messages.toSorted((a, b) => a.at - b.at)) pass(channel, payload);
}

function pass(channel: Channel, payload: string): void {
  for (const listener of channel.listeners) listener.send(channel.stream, payload);
}
