// The listeners of each stream, and the delivery of messages to them. A stream is wanted from its first
// listener until `lingerMs` after its last one left (the grace period), so that a bot which reads once a
// second does not make it come and go. At most `lingeringMax` streams are in their grace period; the longest
// idle one goes first. When all connections are full, these make room; without any the stream is refused and
// logged, its listeners stay, and it is subscribed once there is room.
// A message that may be a repeat from another socket is delivered only if its id, or else its time, is higher
// than the last one's. Messages by a connection that the stream has left are dropped.
import type { Cancel, Clock } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";
import type { Announcer, Listener } from "./announce.ts";
import type { Carrier, Connections } from "./connections.ts";

export const lingerMs = 30_000;
export const lingeringMax = 256;

type Stream = {
  readonly name: string;
  listeners: readonly Listener<unknown>[];
  isWanted: boolean;
  /** Position of the last message, where it has one. */
  position: number;
};

export type Streams = {
  /** Calls back with the `data` of every message of a stream such as `btcusdt@kline_1m`, until released. */
  subscribe(stream: string, listener: Listener<unknown>): Cancel;
  /** Whether upstream has confirmed all of these. */
  areConfirmed(names: readonly string[]): boolean;
  /** Whether the connections of all of these are open. */
  areOpen(names: readonly string[]): boolean;
  /** Whether one of these streams was refused for want of room, so its messages are missing. */
  isAnyRefused(names: readonly string[]): boolean;
  /** A message as received; `mayRepeat` when another socket may have brought it already. */
  receive(text: string, mayRepeat: boolean, from: Carrier): void;
  /** Ends expired grace periods. Call it every second or so. */
  sweep(now: number): void;
  /** Messages that could not be understood. */
  malformed(): number;
};

export type StreamsOptions = {
  readonly connections: Pick<Connections, "want" | "unwant" | "isConfirmed" | "isOpenFor">;
  readonly announcer: Announcer;
  readonly wallClock: Clock;
  readonly log: Log;
  /** Receives the event time of every message that has one, Unix ms by the exchange's clock. */
  readonly onEventTime?: (eventAt: number) => void;
};

/**
 * Announces that upstream is about to end the connection. Sent without a subscription. Source: reference
 * exchange, section 17.1.
 */
const shutdownStream = "!serverShutdown";
/** Its messages are of one symbol each, and ids of different symbols say nothing about each other. */
const tickersOfAll = "!bookTicker";

export function createStreams(options: StreamsOptions): Streams {
  const { connections, announcer, wallClock, log, onEventTime } = options;
  const streams = new Map<string, Stream>();
  /** Streams without a listener and since when, the longest idle first. */
  const idleSince = new Map<string, number>();
  const refused = new Set<string>();
  let malformed = 0;

  function subscribe(name: string, listener: Listener<unknown>): Cancel {
    let stream = streams.get(name);
    if (stream === undefined) {
      stream = { name, listeners: [], isWanted: false, position: Number.NEGATIVE_INFINITY };
      streams.set(name, stream);
    }
    idleSince.delete(name);
    // A function of its own, since one listener may subscribe twice.
    const own = (data: unknown) => listener(data);
    stream.listeners = [...stream.listeners, own];
    if (!stream.isWanted) want(stream);
    return () => leave(name, own);
  }

  function leave(name: string, own: Listener<unknown>): void {
    const stream = streams.get(name);
    if (stream === undefined || !stream.listeners.includes(own)) return;
    stream.listeners = stream.listeners.filter((listener) => listener !== own);
    if (stream.listeners.length > 0) return;
    idleSince.set(name, wallClock.now());
    if (!stream.isWanted) drop(name);
    if (idleSince.size > lingeringMax) dropLongestIdle();
  }

  function want(stream: Stream): void {
    stream.isWanted = connections.want(stream.name) || (dropLongestIdle() && connections.want(stream.name));
    if (stream.isWanted) {
      refused.delete(stream.name);
    } else if (!refused.has(stream.name)) {
      refused.add(stream.name);
      log.error({ stream: stream.name }, "the market connections are full: a stream is refused");
    }
  }

  function dropLongestIdle(): boolean {
    for (const name of idleSince.keys()) {
      drop(name);
      return true;
    }
    return false;
  }

  function drop(name: string): void {
    idleSince.delete(name);
    streams.delete(name);
    refused.delete(name);
    connections.unwant(name);
  }

  function receive(text: string, mayRepeat: boolean, from: Carrier): void {
    const message = parse(text);
    if (message === null) {
      malformed += 1;
    } else if (message.stream === shutdownStream) {
      from.renew();
    } else if (typeof message.stream === "string") {
      const stream = streams.get(message.stream);
      // A stream that is unknown, or not on this connection, was unsubscribed there a moment ago.
      if (stream !== undefined && from.carries(stream.name)) handOn(stream, message.data, mayRepeat);
    } else if ("error" in message || "code" in message) {
      log.warn({ answer: message }, "upstream refused a subscription");
    } else if (!("id" in message)) {
      malformed += 1;
    }
  }

  function handOn(stream: Stream, data: unknown, mayRepeat: boolean): void {
    if (onEventTime !== undefined) {
      const eventAt = eventTimeOf(data);
      if (eventAt !== null) onEventTime(eventAt);
    }
    const position = stream.name === tickersOfAll ? null : positionOf(data);
    if (position !== null) {
      if (mayRepeat && position <= stream.position) return;
      stream.position = position;
    }
    announcer.announce(stream.listeners, data);
  }

  return {
    subscribe,
    areConfirmed: (names) => names.every((name) => connections.isConfirmed(name)),
    areOpen: (names) => names.every((name) => connections.isOpenFor(name)),
    isAnyRefused: (names) => names.some((name) => refused.has(name)),
    receive,
    sweep(now) {
      for (const [name, since] of idleSince) {
        if (now - since < lingerMs) break;
        drop(name);
      }
      for (const name of refused) {
        const stream = streams.get(name);
        if (stream !== undefined) want(stream);
      }
    },
    malformed: () => malformed,
  };
}

/** A payload's position in its stream: its update id or trade id, else its event time. */
function positionOf(data: unknown): number | null {
  if (typeof data !== "object" || data === null) return null;
  const { lastUpdateId, u, t, a, E } = data as Readonly<Record<string, unknown>>;
  for (const place of [lastUpdateId, u, t, a, E]) if (typeof place === "number") return place;
  return null;
}

function eventTimeOf(data: unknown): number | null {
  if (typeof data !== "object" || data === null || !("E" in data)) return null;
  return typeof data.E === "number" ? data.E : null;
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" && message !== null
      ? (message as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
