// One client's connection of streams: its control messages and its subscriptions, raw or combined. Market
// streams are shared by all clients; the owner of the session may add names of its own, such as a listen key.
// Source: reference sockets, section 3.
import type { Cancel } from "../concurrency/time.ts";
import { answerTo, type Controlled, type SubscribeFault } from "../market/exchange/control-messages.ts";
import type { Connection, ConnectionHandler } from "./connection.ts";
import { STREAMS_PER_CONNECTION_MAX } from "./limits.ts";
import type { SharedStreams, StreamClient } from "./shared-streams.ts";

/** Begins to send payloads, as JSON text, until released. */
export type OwnStream = (send: (payload: string) => void) => Cancel;
/** The stream of a name that the session's owner serves; null for any other name. */
export type OwnNames = (name: string) => OwnStream | null;

export type StreamSessionParts = {
  readonly connection: Pick<Connection, "send" | "sendFrame">;
  /** The client's network address. */
  readonly address: string;
  /** Whether messages begin in the wrapper that names their stream; the client may change it. */
  readonly isCombined: boolean;
  /** Null for a connection without market streams. */
  readonly market: SharedStreams | null;
  readonly ownNames?: OwnNames;
};

export class StreamSession implements ConnectionHandler, Controlled, StreamClient {
  readonly countsMessages = true;
  isCombined: boolean;
  readonly address: string;
  readonly #parts: StreamSessionParts;
  /** How each subscription is ended, in the order of the subscriptions. */
  readonly #subscriptions = new Map<string, Cancel>();

  constructor(parts: StreamSessionParts) {
    this.#parts = parts;
    this.isCombined = parts.isCombined;
    this.address = parts.address;
  }

  onMessage(text: string): void {
    this.#parts.connection.send(answerTo(this, text));
  }

  onClosed(): void {
    this.unsubscribe([...this.#subscriptions.keys()]);
  }

  shutdownNotice(at: number): string {
    const event = `{"e":"serverShutdown","E":${at}}`;
    return this.isCombined ? `{"stream":"!serverShutdown","data":${event}}` : event;
  }

  subscribe(names: readonly string[]): SubscribeFault | null {
    const { market, ownNames } = this.#parts;
    const added = [...new Set(names)].filter((name) => !this.#subscriptions.has(name));
    if (this.#subscriptions.size + added.length > STREAMS_PER_CONNECTION_MAX)
      return `too many streams: a connection takes ${STREAMS_PER_CONNECTION_MAX}`;
    const full = market?.whyFull(added, this.address) ?? null;
    if (full !== null) return full;
    for (const name of added) {
      const own = ownNames?.(name) ?? null;
      const cancel = own === null ? market?.join(name, this) : own((payload) => this.#sendOwn(name, payload));
      this.#subscriptions.set(name, cancel ?? (() => {}));
    }
    return null;
  }

  unsubscribe(names: readonly string[]): void {
    for (const name of names) {
      const cancel = this.#subscriptions.get(name);
      this.#subscriptions.delete(name);
      cancel?.();
    }
  }

  subscriptions(): readonly string[] {
    return [...this.#subscriptions.keys()];
  }

  deliver(frame: Buffer, conflation: string | null): void {
    this.#parts.connection.sendFrame(frame, conflation);
  }

  #sendOwn(name: string, payload: string): void {
    const { connection } = this.#parts;
    connection.send(this.isCombined ? `{"stream":${JSON.stringify(name)},"data":${payload}}` : payload);
  }
}
