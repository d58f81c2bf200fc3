// The symbols that the market streams for this watcher, and what of them was not heard: it is asked for as soon as a symbol
// has been heard of, and of those who are learned of late once a while.
import type { Quote } from "../domain/market.ts";
import type { Price } from "../money/decimal.ts";
import type { Attention, LookedAt } from "./looked-at.ts";
import type { WatchedMarket } from "./watched-market.ts";

/** Is told what was heard of a symbol. */
export type Hearer = {
  quote(symbol: string, quote: Quote): void;
  trade(symbol: string, price: Price): void;
  markPrice(symbol: string, price: Price): void;
  /** What happened between these market times was not heard. */
  missed(symbol: string, from: number, to: number): void;
};

export class Listening {
  readonly #market: Pick<WatchedMarket, "now" | "watch">;
  readonly #lookedAt: LookedAt;
  readonly #hearer: Hearer;
  readonly #mayLook: (symbol: string) => boolean;
  /** How to end it, by symbol. */
  readonly #releases = new Map<string, () => void>();

  constructor(parts: {
    market: Pick<WatchedMarket, "now" | "watch">;
    lookedAt: LookedAt;
    hearer: Hearer;
    /** Whether everybody is known for whom the past of a symbol is to be looked at. */
    mayLook: (symbol: string) => boolean;
  }) {
    this.#market = parts.market;
    this.#lookedAt = parts.lookedAt;
    this.#hearer = parts.hearer;
    this.#mayLook = parts.mayLook;
  }

  symbols(): Iterable<string> {
    return this.#releases.keys();
  }

  begin(symbol: string): void {
    if (this.#releases.has(symbol)) return;
    this.#releases.set(symbol, () => release());
    const attention = this.#lookedAt.begin(symbol);
    const release = this.#market.watch(symbol, {
      quote: (quote) => {
        this.#hear(symbol, attention);
        this.#hearer.quote(symbol, quote);
      },
      trade: (price) => {
        this.#hear(symbol, attention);
        this.#hearer.trade(symbol, price);
      },
      markPrice: (price) => {
        this.#hear(symbol, attention);
        this.#hearer.markPrice(symbol, price);
      },
      gap: (from, to) => {
        this.#hear(symbol, attention);
        attention.wholeSince = this.#market.now();
        this.#hearer.missed(symbol, from, to);
      },
    });
  }

  end(symbol: string): void {
    this.#releases.get(symbol)?.();
    this.#releases.delete(symbol);
    this.#lookedAt.end(symbol);
  }

  /** Has what nobody has looked at asked for: once a while, since there may be much of it with many orders. */
  lookAtUnseen(isSilent: (symbol: string) => boolean): void {
    for (const symbol of this.#releases.keys()) {
      const attention = this.#lookedAt.of(symbol);
      if (attention !== undefined && attention.wholeSince !== null && !isSilent(symbol)) {
        this.#lookAt(symbol, attention);
      }
    }
  }

  close(): void {
    for (const release of this.#releases.values()) release();
    this.#releases.clear();
  }

  /** The first word of a symbol ends what was not seen of it before. */
  #hear(symbol: string, attention: Attention): void {
    if (attention.wholeSince !== null) return;
    attention.wholeSince = this.#market.now();
    this.#lookAt(symbol, attention);
  }

  #lookAt(symbol: string, attention: Attention): void {
    const { unseenSince } = attention;
    if (unseenSince === null || !this.#mayLook(symbol)) return;
    attention.unseenSince = null;
    this.#hearer.missed(symbol, unseenSince, this.#market.now());
  }
}
