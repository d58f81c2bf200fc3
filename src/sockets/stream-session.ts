// One client's connection of streams: its control messages and its subscriptions, raw or combined. Market
// streams are shared by all clients; the owner of the session may add names of its own, such as a listen key.
// Own streams are open before the handshake or the answer to SUBSCRIBE is sent, so the client gets the events
// of all that happens after it. Source: reference sockets, section 3.
import type { Cancel } from "../concurrency/time.ts";
import { answerTo, type Controlled, type SubscribeFault } from "../market/exchange/control-messages.ts";
import type { Connection, ConnectionHandler } from "./connection.ts";
import { STREAMS_PER_CONNECTION_MAX } from "./limits.ts";
import type { Serve } from "./server.ts";
import type { SharedStreams, StreamClient } from "./shared-streams.ts";

/** What a stream of the owner does with the client: sends it payloads, as JSON text, or closes it. */
export type OwnClient = Pick<Connection, "send" | "close">;
/** A stream that is open: begins to send to a client, until released. */
export type OwnStream = (client: OwnClient) => Cancel;
/** Opens the stream of a name that the owner serves, within seconds; null for any other name. */
export type OwnNames = (name: string) => Promise<OwnStream> | null;
type Opening = Promise<readonly [name: string, stream: OwnStream]>;

export type StreamSessionParts = {
  readonly connection: Pick<Connection, "send" | "sendFrame" | "close" | "pause" | "resume">;
  /** The client's network address, as budgets count it: `addressHolder` of it. */
  readonly address: string;
  /** Whether messages begin in the wrapper that names their stream; the client may change it. */
  readonly isCombined: boolean;
  /** Null for a connection without market streams. */
  readonly market: SharedStreams | null;
  readonly ownNames?: OwnNames;
};

/** Serves the streams that an address names, and those that the client subscribes to. */
export function serveStreams(
  names: readonly string[],
  parts: Omit<StreamSessionParts, "connection">,
): Serve | Promise<Serve> {
  const serve =
    (opened: ReadonlyMap<string, OwnStream>): Serve =>
    (connection) => {
      const session = new StreamSession({ ...parts, connection });
      const fault = session.subscribe(names, opened);
      if (fault !== null) connection.close(1_008, fault);
      return session;
    };
  const opening = [...new Set(names)].flatMap((name) => openingOf(name, parts) ?? []);
  if (opening.length === 0) return serve(new Map());
  return Promise.all(opening).then((opened) => serve(new Map(opened)));
}

function openingOf(name: string, { ownNames }: Pick<StreamSessionParts, "ownNames">): Opening | null {
  return ownNames?.(name)?.then((stream) => [name, stream] as const) ?? null;
}

export class StreamSession implements ConnectionHandler, Controlled, StreamClient {
  readonly countsMessages = true;
  isCombined: boolean;
  readonly address: string;
  readonly #parts: StreamSessionParts;
  /** How each subscription is ended, in the order of the subscriptions. */
  readonly #subscriptions = new Map<string, Cancel>();
  /** Own streams that the message at hand subscribes to. */
  readonly #opening: Opening[] = [];
  #isClosed = false;

  constructor(parts: StreamSessionParts) {
    this.#parts = parts;
    this.isCombined = parts.isCombined;
    this.address = parts.address;
  }

  onMessage(text: string): void | Promise<void> {
    // A connection that was paused gives its last messages after its end.
    if (this.#isClosed) return;
    const answer = answerTo(this, text);
    if (this.#opening.length > 0) return this.#answerWhenOpen(answer);
    this.#parts.connection.send(answer);
  }

  onClosed(): void {
    this.#isClosed = true;
    this.unsubscribe([...this.#subscriptions.keys()]);
  }

  shutdownNotice(at: number): string {
    const event = `{"e":"serverShutdown","E":${at}}`;
    return this.isCombined ? `{"stream":"!serverShutdown","data":${event}}` : event;
  }

  /** Own streams among them that are not `opened` are begun with the answer to the message. */
  subscribe(names: readonly string[], opened?: ReadonlyMap<string, OwnStream>): SubscribeFault | null {
    const { market } = this.#parts;
    const added = [...new Set(names)].filter((name) => !this.#subscriptions.has(name));
    if (this.#subscriptions.size + added.length > STREAMS_PER_CONNECTION_MAX)
      return `too many streams: a connection takes ${STREAMS_PER_CONNECTION_MAX}`;
    const full = market?.whyFull(added, this.address) ?? null;
    if (full !== null) return full;
    for (const name of added) {
      this.#subscriptions.set(name, () => {});
      const own = opened?.get(name);
      const opening = own === undefined ? openingOf(name, this.#parts) : null;
      if (own !== undefined) this.#begin(name, own);
      else if (opening !== null) this.#opening.push(opening);
      else if (market !== null) this.#subscriptions.set(name, market.join(name, this));
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

  /** Answers when the own streams of a message are open, and reads no other message before. */
  async #answerWhenOpen(answer: string): Promise<void> {
    const { connection } = this.#parts;
    connection.pause();
    const opened = await Promise.all(this.#opening.splice(0));
    connection.send(answer);
    for (const [name, stream] of opened) this.#begin(name, stream);
    connection.resume();
  }

  #begin(name: string, stream: OwnStream): void {
    // The client may have left while the stream was opened.
    if (this.#isClosed) return;
    const { connection } = this.#parts;
    const client: OwnClient = {
      send: (payload) =>
        connection.send(this.isCombined ? `{"stream":${JSON.stringify(name)},"data":${payload}}` : payload),
      close: (code, reason) => connection.close(code, reason),
    };
    this.#subscriptions.set(name, stream(client));
  }
}
