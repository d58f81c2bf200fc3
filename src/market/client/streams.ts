// Who listens to which stream, and the messages that go to them.
//
// A stream is wanted from its first listener until `lingerMs` after its last one has gone, so that a bot which looks in
// once a second does not make it come and go. At most `lingeringMax` streams linger, the longest idle one goes first.
// When the connection is full, lingering streams make room; when none is left the stream is refused: that is logged,
// its listeners stay, and it is wanted as soon as there is room.
import type { Announcer, Listener } from "./announce.ts";
import { type StreamConnection, streamsPerConnectionMax } from "./connection.ts";
import type { Log } from "./log.ts";
import type { Cancel, Clock } from "./time.ts";

export const lingerMs = 30_000;
export const lingeringMax = 256;

type Stream = { readonly name: string; listeners: readonly Listener<unknown>[]; isWanted: boolean };

export type Streams = {
  /** Calls back with the `data` of every message of a stream such as `btcusdt@kline_1m`, until released. */
  subscribe(stream: string, listener: Listener<unknown>): Cancel;
  /** A message as received. */
  receive(text: string): void;
  /** Ends what has lingered long enough. Call it every second or so. */
  sweep(now: number): void;
  /** Messages that could not be understood. */
  malformed(): number;
};

export type StreamsOptions = {
  readonly connection: Pick<StreamConnection, "want" | "unwant">;
  readonly announcer: Announcer;
  readonly wallClock: Clock;
  readonly log: Log;
};

export function createStreams({ connection, announcer, wallClock, log }: StreamsOptions): Streams {
  const streams = new Map<string, Stream>();
  /** Streams without a listener and since when, the longest idle first. */
  const idleSince = new Map<string, number>();
  const refused = new Set<string>();
  let malformed = 0;

  function subscribe(name: string, listener: Listener<unknown>): Cancel {
    let stream = streams.get(name);
    if (stream === undefined) {
      stream = { name, listeners: [], isWanted: false };
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
    if (idleSince.size > lingeringMax) dropLongestIdle();
  }

  function want(stream: Stream): void {
    stream.isWanted = connection.want(stream.name) || (dropLongestIdle() && connection.want(stream.name));
    if (stream.isWanted) {
      refused.delete(stream.name);
    } else if (!refused.has(stream.name)) {
      refused.add(stream.name);
      log.error(
        { stream: stream.name, streamsPerConnectionMax },
        "the market connection is full: a stream is refused",
      );
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
    connection.unwant(name);
  }

  function receive(text: string): void {
    const message = parse(text);
    if (message === null) {
      malformed += 1;
    } else if (typeof message.stream === "string") {
      const stream = streams.get(message.stream);
      // A stream that nobody knows was given up a moment ago.
      if (stream !== undefined) announcer.announce(stream.listeners, message.data);
    } else if ("error" in message || "code" in message) {
      log.warn({ answer: message }, "upstream refused a subscription");
    } else if (!("id" in message)) {
      malformed += 1;
    }
  }

  return {
    subscribe,
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
