// Market streams for the gateway's own clients. Invariant: they have connections of their own, opened at the
// first subscription, so that clients take no room, control messages or bandwidth from the streams that
// orders are decided by. A client that keeps a book needs a snapshot by REST that is not older than the first
// change it got. So a request for a book waits until upstream has confirmed the subscribed changes, its
// answer is not reused after another client began to follow them or after a gap, and an answer that is older
// nevertheless, since upstream's REST lags behind its streams, is requested again.
import type { Cancel } from "../../../concurrency/time.ts";
import type { UpstreamAnswer } from "../rest/rest.ts";
import type { MarketProtocol } from "./protocol.ts";
import { createSubscriptions, type SubscriptionsOptions } from "./subscriptions.ts";

/** 4,096 streams of spot, 2,048 of each path of futures. */
export const clientConnectionsMax = 4;
/** How long a question for a book waits for upstream's confirmation, ms. */
export const confirmationWaitMsMax = 1_000;
const confirmationCheckMs = 20;
/** How often a book that is too old is asked for again, and how long after the last answer, ms. */
export const olderBookRetriesMax = 3;
export const olderBookRetryMs = 300;

/** The id of a book, in the text of an answer. */
const lastUpdateIdIn = /"lastUpdateId":\s*(\d+)/u;
/** The changes of a book, complete from one message to the next: `btcusdt@depth`, `btcusdt@depth@100ms`. */
const changesOfBook = /^([^@!]+)@depth(?:@\d+ms)?$/u;

export type ClientStreams = {
  /** Calls back with the `data` of every message of a stream, until released. */
  subscribe(stream: string, listener: (data: unknown) => void): Cancel;
  /** Another client begins to get the messages of a subscribed stream. */
  joined(stream: string): void;
  /** Whether upstream has confirmed a stream on an open connection. */
  isStreaming(stream: string): boolean;
};

export type ClientStreamsOptions = Omit<
  SubscriptionsOptions,
  "protocol" | "connectionsMax" | "onEventTime" | "onReconnected" | "onLost"
> & { readonly protocol: SubscriptionsOptions["protocol"] & Pick<MarketProtocol, "bookPath"> };

export type OwnClientStreams = ClientStreams & {
  /**
   * Which answers serve a request: it may get any answer to the same request and edition. Resolves when the
   * request may be sent.
   */
  editionOf(path: string, search: string): Promise<string> | string;
  /**
   * Whether the answer to a request is a book that is older than the first change that a client got, of those
   * who follow it.
   */
  isTooOld(path: string, search: string, answer: UpstreamAnswer): boolean;
  sweep(now: number): void;
  close(): Promise<void>;
};

export function createClientStreams(options: ClientStreamsOptions): OwnClientStreams {
  const { protocol, wallClock, timers } = options;
  const streams = createSubscriptions({
    ...options,
    connectionsMax: clientConnectionsMax,
    onReconnected: missChanges,
    onLost: missChanges,
  });
  /** Subscribed changes of books, by symbol: the number of subscriptions of each stream. */
  const followed = new Map<string, Map<string, number>>();
  /** How many times somebody began to follow a followed symbol. */
  const joins = new Map<string, number>();
  /** Followed streams of which a client has yet to get its first change. */
  const beginning = new Set<string>();
  /** The first id of the newest change that was the first for a client, by symbol. */
  const firstIds = new Map<string, number>();
  let gaps = 0;
  let joinsOfAll = 0;
  let isOpen = false;

  function joined(stream: string): void {
    const symbol = symbolOfChanges(stream);
    if (symbol === null || !followed.has(symbol)) return;
    joinsOfAll += 1;
    joins.set(symbol, joinsOfAll);
    beginning.add(stream);
  }

  /** After a gap clients begin their books again, and upstream's ids may have begun again too. */
  function missChanges(): void {
    gaps += 1;
    firstIds.clear();
    for (const ofSymbol of followed.values()) for (const stream of ofSymbol.keys()) beginning.add(stream);
  }

  function noteChange(symbol: string, stream: string, { U }: { readonly U?: unknown }): void {
    if (typeof U === "number" && beginning.delete(stream)) firstIds.set(symbol, U);
  }

  function follow(symbol: string, stream: string): Cancel {
    const ofSymbol = followed.get(symbol) ?? new Map<string, number>();
    followed.set(symbol, ofSymbol);
    ofSymbol.set(stream, (ofSymbol.get(stream) ?? 0) + 1);
    joined(stream);
    return () => {
      const left = (ofSymbol.get(stream) ?? 1) - 1;
      if (left > 0) ofSymbol.set(stream, left);
      else {
        ofSymbol.delete(stream);
        beginning.delete(stream);
      }
      if (ofSymbol.size > 0 || followed.get(symbol) !== ofSymbol) return;
      followed.delete(symbol);
      joins.delete(symbol);
      firstIds.delete(symbol);
    };
  }

  /** The symbol of a request for a book that is followed; null for any other request. */
  function followedIn(path: string, search: string): string | null {
    if (path !== protocol.bookPath || followed.size === 0) return null;
    const symbol = new URLSearchParams(search).get("symbol");
    return symbol !== null && followed.has(symbol) ? symbol : null;
  }

  const isSettled = (symbol: string) => streams.areConfirmed([...(followed.get(symbol)?.keys() ?? [])]);

  const editionNow = (symbol: string) => `${gaps}/${joins.get(symbol) ?? 0}`;

  function settled(symbol: string): Promise<string> {
    const deadline = wallClock.now() + confirmationWaitMsMax;
    return new Promise((resolve) => {
      const check = () => {
        if (isSettled(symbol)) return resolve(editionNow(symbol));
        // What upstream has not confirmed may begin at any moment: the answer serves this request alone.
        if (wallClock.now() >= deadline) return resolve(`unsettled ${++joinsOfAll}`);
        timers.after(confirmationCheckMs, check);
      };
      check();
    });
  }

  return {
    subscribe(stream, listener) {
      if (!isOpen) streams.open();
      isOpen = true;
      const symbol = symbolOfChanges(stream);
      const leave = symbol === null ? null : follow(symbol, stream);
      const unsubscribe = streams.subscribe(stream, (data) => {
        if (symbol !== null) noteChange(symbol, stream, data as object);
        listener(data);
      });
      return () => {
        unsubscribe();
        leave?.();
      };
    },
    joined,
    isStreaming: (stream) => streams.areConfirmed([stream]),
    editionOf(path, search) {
      const symbol = followedIn(path, search);
      if (symbol === null) return "";
      return isSettled(symbol) ? editionNow(symbol) : settled(symbol);
    },
    isTooOld(path, search, answer) {
      const firstId = firstIds.get(followedIn(path, search) ?? "");
      if (firstId === undefined || answer.unavailable) return false;
      const [, lastUpdateId] = lastUpdateIdIn.exec(answer.text) ?? [];
      return lastUpdateId !== undefined && Number(lastUpdateId) + 1 < firstId;
    },
    sweep: streams.sweep,
    close: streams.close,
  };
}

function symbolOfChanges(stream: string): string | null {
  return changesOfBook.exec(stream)?.[1]?.toUpperCase() ?? null;
}
