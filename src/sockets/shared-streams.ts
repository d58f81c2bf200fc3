// The market streams of one type for all clients: one upstream subscription per stream while it has
// clients, and one encoding of each message per form, raw or combined.
import type { Cancel } from "../concurrency/time.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import { textFrame } from "../streams/fan-out.ts";
import { MARKET_STREAMS_MAX, MARKET_STREAMS_PER_ADDRESS_MAX } from "./limits.ts";
import { conflationKey, isMarketStream } from "./stream-names.ts";

/** A client of streams. */
export type StreamClient = {
  readonly isCombined: boolean;
  /** The client's network address, as budgets count it: `addressHolder` of it. */
  readonly address: string;
  /** `conflation` is what a newer message replaces this one under; null if it must not be replaced. */
  deliver(frame: Buffer, conflation: string | null): void;
};

export type StreamsMarket = Pick<MarketFeed, "type" | "clientStreams" | "exchangeInfo">;

type Channel = { readonly clients: Set<StreamClient>; readonly unsubscribe: Cancel };

export class SharedStreams {
  readonly #market: StreamsMarket;
  readonly #channels = new Map<string, Channel>();

  constructor(market: StreamsMarket) {
    this.#market = market;
  }

  /** Streams that are subscribed upstream at present. */
  get count(): number {
    return this.#channels.size;
  }

  /**
   * Why a client of an address cannot join all of these, by `MARKET_STREAMS_MAX` and
   * `MARKET_STREAMS_PER_ADDRESS_MAX`; null if it can.
   */
  whyFull(names: readonly string[], address: string): string | null {
    const added = new Set(names.filter((name) => !this.#channels.has(name) && this.#isServed(name))).size;
    if (added === 0) return null;
    if (this.#channels.size + added > MARKET_STREAMS_MAX)
      return `too many streams: all clients together take ${MARKET_STREAMS_MAX}, try again later`;
    let alone = 0;
    for (const { clients } of this.#channels.values()) if (isOf(clients, address)) alone += 1;
    return alone + added > MARKET_STREAMS_PER_ADDRESS_MAX
      ? `too many streams: an address takes ${MARKET_STREAMS_PER_ADDRESS_MAX} that nobody else has`
      : null;
  }

  /** Sends a client the messages of a stream until released. A name that means nothing stays silent. */
  join(name: string, client: StreamClient): Cancel {
    const known = this.#channels.get(name);
    if (known !== undefined) {
      known.clients.add(client);
      this.#market.clientStreams.joined(name);
    } else if (this.#isServed(name)) {
      this.#open(name, client);
    }
    return () => this.#leave(name, client);
  }

  #isServed(name: string): boolean {
    const { type, exchangeInfo } = this.#market;
    return isMarketStream(type, name, (symbol) => exchangeInfo().symbols.has(symbol));
  }

  #open(name: string, client: StreamClient): void {
    const clients = new Set([client]);
    const opening = `{"stream":${JSON.stringify(name)},"data":`;
    const unsubscribe = this.#market.clientStreams.subscribe(name, (data) => {
      const text = JSON.stringify(data);
      const key = conflationKey(name, data);
      let raw: Buffer | undefined;
      let combined: Buffer | undefined;
      for (const one of clients) {
        if (one.isCombined) combined ??= textFrame(`${opening}${text}}`);
        else raw ??= textFrame(text);
        one.deliver((one.isCombined ? combined : raw) as Buffer, key);
      }
    });
    this.#channels.set(name, { clients, unsubscribe });
  }

  #leave(name: string, client: StreamClient): void {
    const channel = this.#channels.get(name);
    if (channel === undefined || !channel.clients.delete(client) || channel.clients.size > 0) return;
    this.#channels.delete(name);
    channel.unsubscribe();
  }
}

/** Whether all clients are of one address. */
function isOf(clients: ReadonlySet<StreamClient>, address: string): boolean {
  for (const client of clients) if (client.address !== address) return false;
  return true;
}
