// Sessions: one for each connection of a key to a namespace, and the key's use of its budget on both
// namespaces together. A stream that several sessions of a key are subscribed to counts once. Source:
// specification 8.3.
import type { Socket } from "socket.io";
import { type StreamError, streamError } from "./errors.ts";
import { encode, Line } from "./fan-out.ts";
import {
  CONNECTION_RETRY_MS,
  CONNECTION_WEIGHT_MAX,
  CONNECTIONS_MAX,
  FAST_STREAM_WEIGHT,
  KEY_CONNECTIONS_MAX,
  KEY_FAST_STREAMS_MAX,
  KEY_STREAMS_MAX,
  MESSAGES_PER_MINUTE,
  MINUTE_MS,
  SlidingWindow,
  SUBSCRIPTION_MESSAGES_PER_MINUTE,
} from "./limits.ts";

/** A stream as budgets see it. */
export type Charge = {
  /** Unique over both namespaces. */
  readonly name: string;
  /** Its weight on a connection. */
  readonly weight: number;
  /** Its description in messages to the client. */
  readonly title: string;
  /** Whether it is one of those that a key may have few of. */
  readonly isFast: boolean;
};

/** The resources in use by a key. */
type Usage = {
  readonly sessions: Set<Session>;
  /** How many sessions are subscribed to each stream, by its name. */
  readonly streams: Map<string, number>;
  fastCount: number;
};

export class Session {
  readonly apiKey: string;
  readonly line: Line;
  readonly #socket: Socket;
  readonly #usage: Usage;
  readonly #messages = new SlidingWindow(MESSAGES_PER_MINUTE, MINUTE_MS);
  readonly #subscriptionMessages = new SlidingWindow(SUBSCRIPTION_MESSAGES_PER_MINUTE, MINUTE_MS);
  #weight = 0;

  constructor(apiKey: string, socket: Socket, usage: Usage) {
    this.apiKey = apiKey;
    this.#socket = socket;
    this.#usage = usage;
    // A client that does not read would not read the reason either: its connection is closed.
    this.line = new Line(socket.conn, () => socket.conn.request.socket.destroy());
  }

  /** Counts a message, and answers why it may not be handled. */
  admit(name: string, now: number): StreamError | null {
    const waitMs =
      this.#messages.admit(now) ??
      (SUBSCRIPTION_MESSAGES.has(name) ? this.#subscriptionMessages.admit(now) : null);
    return waitMs === null ? null : streamError("RATE_LIMITED", { retryAfterMs: waitMs });
  }

  /** Takes a stream that it does not have on its budgets, or answers which of them it exceeds. */
  charge({ name, title, weight, isFast }: Charge): StreamError | null {
    const { streams, fastCount } = this.#usage;
    const isNewToKey = !streams.has(name);
    const weightAfter = this.#weight + weight;
    if (weightAfter > CONNECTION_WEIGHT_MAX) {
      return streamError("SUB_LIMIT_EXCEEDED", {
        message:
          `A connection may have subscriptions that weigh ${CONNECTION_WEIGHT_MAX} (a 100ms book weighs ` +
          `${FAST_STREAM_WEIGHT}): with ${title} they would weigh ${weightAfter}.`,
      });
    }
    if (isNewToKey && streams.size >= KEY_STREAMS_MAX) {
      return streamError("SUB_LIMIT_EXCEEDED", {
        message: `A key may have ${KEY_STREAMS_MAX} streams: ${title} is one too many.`,
      });
    }
    if (isNewToKey && isFast && fastCount >= KEY_FAST_STREAMS_MAX) {
      return streamError("SUB_SPEED_LIMIT_EXCEEDED", {
        message: `A key may have ${KEY_FAST_STREAMS_MAX} books every 100 ms: ${title} is one too many.`,
      });
    }
    this.#weight = weightAfter;
    streams.set(name, (streams.get(name) ?? 0) + 1);
    if (isNewToKey && isFast) this.#usage.fastCount += 1;
    return null;
  }

  /** Gives back what was charged for a stream. */
  release({ name, weight, isFast }: Charge): void {
    const { streams } = this.#usage;
    this.#weight -= weight;
    const left = (streams.get(name) ?? 0) - 1;
    if (left > 0) {
      streams.set(name, left);
      return;
    }
    streams.delete(name);
    if (isFast) this.#usage.fastCount -= 1;
  }

  /** Sends an event that is for this client alone. */
  answer(event: string, payload: object): void {
    this.line.sendKept(null, encode(this.#socket.nsp.name, event, payload));
  }

  /** Sends the reason and ends the session; a stock client does not reconnect. */
  end(error: StreamError): void {
    this.line.sendLast(encode(this.#socket.nsp.name, "error", error));
    this.#socket.disconnect();
  }

  /** Ends the connection as a network would: a stock client comes back and subscribes again. */
  drop(): void {
    this.#socket.conn.close(true);
  }
}

const SUBSCRIPTION_MESSAGES: ReadonlySet<string> = new Set(["subscribe", "unsubscribe"]);

export class Sessions {
  readonly #usages = new Map<string, Usage>();
  #count = 0;

  /** Takes a connection on, or answers why not. */
  open(apiKey: string, socket: Socket): Session | StreamError {
    if (this.#count >= CONNECTIONS_MAX) {
      return noPlace("The server has all the connections that it takes.");
    }
    const known = this.#usages.get(apiKey);
    const usage = known ?? { sessions: new Set(), streams: new Map(), fastCount: 0 };
    if (usage.sessions.size >= KEY_CONNECTIONS_MAX) {
      return noPlace(`A key may have ${KEY_CONNECTIONS_MAX} connections.`);
    }
    const session = new Session(apiKey, socket, usage);
    usage.sessions.add(session);
    this.#usages.set(apiKey, usage);
    this.#count += 1;
    return session;
  }

  /** Forgets a session that has ended and released its streams. */
  close(session: Session): void {
    session.line.end();
    const usage = this.#usages.get(session.apiKey);
    if (usage === undefined || !usage.sessions.delete(session)) return;
    this.#count -= 1;
    if (usage.sessions.size === 0) this.#usages.delete(session.apiKey);
  }
}

function noPlace(message: string): StreamError {
  return streamError("RATE_LIMITED", { message, retryAfterMs: CONNECTION_RETRY_MS });
}
