// The subscribed streams: their listeners, the connection that carries each, and the messages to pass on.
// Invariants: the streams of one symbol share a connection while it has room, so that a lost connection
// causes gaps of its own symbols only; a message that another socket may have brought is passed on only if it
// is newer than the last one. If all connections are full, streams without a listener make room, the longest
// idle first; without any a stream is rejected and logged, its listeners stay, and each sweep retries it.
import type { Cancel, Clock, Timers } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";
import { streamUrlOf, type UpstreamHosts } from "../rest/hosts.ts";
import { StreamConnection } from "./connection.ts";
import type { MarketProtocol } from "./protocol.ts";
import type { Retries } from "./reconnect.ts";

/** 8,192 streams. */
export const connectionsMaxDefault = 8;
/**
 * Free streams of a connection that are left for the symbols it carries: it takes new symbols beyond that.
 */
export const streamsKeptFree = 64;
/**
 * How long a stream stays subscribed after its last listener left, so that a bot which reads once a second
 * does not make it come and go.
 */
export const graceMs = 30_000;
/** Streams in their grace period; beyond it the longest idle one is unsubscribed. */
export const graceStreamsMax = 256;
/** Minimum interval of the log entries about listeners that throw. */
const faultLogIntervalMs = 10_000;

/**
 * Announces that upstream is about to end the connection. Sent without a subscription. Source: reference
 * exchange, section 17.1.
 */
const shutdownStream = "!serverShutdown";
/** Its messages are of one symbol each, and ids of different symbols say nothing about each other. */
const tickersOfAll = "!bookTicker";

type Listener = (data: unknown) => void;

/** A connection, for callers that only need what it carries. */
export type Carrier = Pick<StreamConnection, "carries">;

type Stream = {
  readonly name: string;
  listeners: readonly Listener[];
  /** Null while there is no room for it. */
  connection: StreamConnection | null;
  /** Position of the last message, where it has one. */
  position: number;
};

/** The connections of a path, and where the streams of each symbol are. */
type Pool = {
  readonly url: string;
  readonly connections: StreamConnection[];
  readonly homes: Map<string, { readonly connection: StreamConnection; streams: number }>;
};

export type SubscriptionsOptions = {
  readonly hosts: UpstreamHosts;
  readonly protocol: Pick<MarketProtocol, "type" | "streamPaths" | "streamPathOf">;
  /** Divided equally among the paths, at least one each. */
  readonly connectionsMax: number;
  readonly announcer: Announcer;
  readonly retries: Retries;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Receives the event time of every message that has one, Unix ms by the exchange's clock. */
  readonly onEventTime?: (eventAt: number) => void;
  /** An open connection is gone: what it carries is missed until it is open again. */
  readonly onLost: (connection: Carrier) => void;
  /** A lost connection is open again: the streams it carries start over. */
  readonly onReconnected: (connection: Carrier) => void;
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions(options: SubscriptionsOptions) {
  const { hosts, protocol, announcer, wallClock, log, onEventTime } = options;
  const { type, streamPaths, streamPathOf } = protocol;
  const poolConnectionsMax = Math.max(1, Math.floor(options.connectionsMax / streamPaths.length));
  const pools = new Map<string, Pool>();
  const streams = new Map<string, Stream>();
  /** Streams without a listener and since when, the longest idle first. */
  const idleSince = new Map<string, number>();
  const refused = new Set<string>();
  let malformedMessages = 0;
  let isOpen = false;
  for (const path of streamPaths) {
    const pool: Pool = { url: streamUrlOf(hosts, type, path), connections: [], homes: new Map() };
    pools.set(path, pool);
    addConnection(pool);
  }

  function addConnection({ url, connections }: Pool): StreamConnection {
    const connection: StreamConnection = new StreamConnection({
      ...options,
      url,
      onMessage: (text, mayRepeat) => receive(text, mayRepeat, connection),
      onOpen() {
        if (connection.connects > 1) options.onReconnected(connection);
      },
      onLost: () => options.onLost(connection),
    });
    connections.push(connection);
    if (isOpen) connection.open();
    return connection;
  }

  function poolOf(stream: string): Pool {
    const pool = pools.get(streamPathOf(stream));
    if (pool === undefined) throw new Error(`a stream must have a path of its type: ${stream}`);
    return pool;
  }

  /** Puts a stream on a connection; false if none has room. */
  function place(stream: Stream): boolean {
    const pool = poolOf(stream.name);
    const symbol = symbolOf(stream.name);
    const home = pool.homes.get(symbol);
    const connection = connectionFor(pool, home?.connection);
    if (connection === undefined) return false;
    connection.want(stream.name);
    stream.connection = connection;
    if (home === undefined) pool.homes.set(symbol, { connection, streams: 1 });
    else home.streams += 1;
    return true;
  }

  /**
   * The symbol's connection; else one with room for more streams of it, else a new one, which stays open. If
   * a symbol has to be on two connections, the loss of either is its gap.
   */
  function connectionFor(pool: Pool, home: StreamConnection | undefined): StreamConnection | undefined {
    if (home?.hasRoom(1)) return home;
    const roomy = pool.connections.find((connection) => connection.hasRoom(1 + streamsKeptFree));
    if (roomy !== undefined) return roomy;
    if (pool.connections.length < poolConnectionsMax) return addConnection(pool);
    return pool.connections.find((connection) => connection.hasRoom(1));
  }

  function subscribe(name: string, listener: Listener): Cancel {
    let stream = streams.get(name);
    if (stream === undefined) {
      stream = { name, listeners: [], connection: null, position: Number.NEGATIVE_INFINITY };
      streams.set(name, stream);
    }
    idleSince.delete(name);
    // A function of its own, since one listener may subscribe twice.
    const own = (data: unknown) => listener(data);
    stream.listeners = [...stream.listeners, own];
    if (stream.connection === null) want(stream);
    return () => leave(name, own);
  }

  function leave(name: string, own: Listener): void {
    const stream = streams.get(name);
    if (stream === undefined || !stream.listeners.includes(own)) return;
    stream.listeners = stream.listeners.filter((listener) => listener !== own);
    if (stream.listeners.length > 0) return;
    idleSince.set(name, wallClock.now());
    if (stream.connection === null) drop(name);
    if (idleSince.size > graceStreamsMax) dropLongestIdle();
  }

  function want(stream: Stream): void {
    if (place(stream) || (dropLongestIdle() && place(stream))) {
      refused.delete(stream.name);
    } else if (!refused.has(stream.name)) {
      refused.add(stream.name);
      log.error({ stream: stream.name }, "the market connections are full: a stream is refused");
    }
  }

  function dropLongestIdle(): boolean {
    const [name] = idleSince.keys();
    if (name !== undefined) drop(name);
    return name !== undefined;
  }

  function drop(name: string): void {
    const connection = streams.get(name)?.connection ?? null;
    idleSince.delete(name);
    streams.delete(name);
    refused.delete(name);
    if (connection === null) return;
    connection.unwant(name);
    const { homes } = poolOf(name);
    const home = homes.get(symbolOf(name));
    if (home === undefined) return;
    home.streams -= 1;
    if (home.streams === 0) homes.delete(symbolOf(name));
  }

  function receive(text: string, mayRepeat: boolean, from: StreamConnection): void {
    const message = parse(text);
    if (message === null) {
      malformedMessages += 1;
    } else if (message.stream === shutdownStream) {
      from.renew();
    } else if (typeof message.stream === "string") {
      const stream = streams.get(message.stream);
      // A stream that is unknown, or not on this connection, was unsubscribed there a moment ago.
      if (stream?.connection === from) deliver(stream, message.data, mayRepeat);
    } else if ("error" in message || "code" in message) {
      log.warn({ answer: message }, "upstream refused a subscription");
    } else if (!("id" in message)) {
      malformedMessages += 1;
    }
  }

  function deliver(stream: Stream, data: unknown, mayRepeat: boolean): void {
    if (onEventTime !== undefined) {
      const eventAt = eventTimeOf(data);
      if (eventAt !== null) onEventTime(eventAt);
    }
    const position = stream.name === tickersOfAll ? null : positionOf(data);
    if (position !== null) {
      if (mayRepeat && position <= stream.position) return;
      stream.position = position;
    }
    announcer.announce(stream.listeners, (listener) => listener(data));
  }

  const connectionsOf = () => [...pools.values()].flatMap(({ connections }) => connections);
  const connectionOf = (name: string) => streams.get(name)?.connection ?? null;

  return {
    /** Opens the connections, and from here on any that is added. */
    open() {
      isOpen = true;
      for (const connection of connectionsOf()) connection.open();
    },
    /** Calls back with the `data` of every message of a stream such as `btcusdt@kline_1m`, until released. */
    subscribe,
    /** Whether upstream has confirmed all of these, on open connections. */
    areConfirmed: (names: readonly string[]): boolean =>
      names.every((name) => connectionOf(name)?.isConfirmed(name)),
    /** Whether the connections of all of these are open. */
    areOpen: (names: readonly string[]): boolean => names.every((name) => connectionOf(name)?.isOpen),
    /** Whether one of these streams was refused for want of room, so its messages are missing. */
    isAnyRefused: (names: readonly string[]): boolean => names.some((name) => refused.has(name)),
    /** Ends expired grace periods. Call it every second or so. */
    sweep(now: number) {
      for (const [name, since] of idleSince) {
        if (now - since < graceMs) break;
        drop(name);
      }
      for (const name of refused) {
        const stream = streams.get(name);
        if (stream !== undefined) want(stream);
      }
    },
    status() {
      const connections = connectionsOf();
      return {
        connected: connections.every((connection) => connection.isOpen),
        lastMessageAt: Math.max(...connections.map(({ lastMessageAt }) => lastMessageAt)),
        connects: sum(connections.map(({ connects }) => connects)),
        streams: sum(connections.map(({ streamCount }) => streamCount)),
        malformedMessages,
      };
    },
    async close(): Promise<void> {
      await Promise.all(connectionsOf().map((connection) => connection.close()));
    },
  };
}

export type Announcer = {
  /**
   * Calls every listener in order; an error in one of them reaches neither the others nor the feed. The list
   * must not be changed in place: replace it.
   */
  announce<Each>(listeners: readonly Each[], call: (listener: Each) => void): void;
  /** How many calls have thrown. */
  faults(): number;
};

export function createAnnouncer(log: Log, clock: Clock): Announcer {
  let faults = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    announce(listeners, call) {
      for (const listener of listeners) {
        try {
          call(listener);
        } catch (error) {
          faults += 1;
          // A listener that throws at every quote must not fill the log.
          if (clock.now() - loggedAt < faultLogIntervalMs) continue;
          loggedAt = clock.now();
          log.error({ err: error, faults }, "a listener of the market feed has thrown");
        }
      }
    },
    faults: () => faults,
  };
}

/** `btcusdt@trade` → `btcusdt`. */
function symbolOf(stream: string): string {
  return stream.split("@", 1)[0] ?? stream;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
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
