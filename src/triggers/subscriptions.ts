// The market-data subscriptions of this watcher. Requests what a symbol's market did before its first message
// arrived, as soon as that arrives, and periodically what triggers that became known late may have missed.
import type { Quote } from "../domain/market.ts";
import type { LiveMarket } from "../market/feed.ts";
import type { Price } from "../money/decimal.ts";
import type { CoverageLog, SymbolCoverage } from "./coverage-log.ts";

/** Handles the market data of subscribed symbols. */
export type MarketHandler = {
  quote(symbol: string, quote: Quote): void;
  trade(symbol: string, price: Price): void;
  markPrice(symbol: string, price: Price): void;
  /** Market data between these market times is missing. */
  missed(symbol: string, from: number, to: number): void;
};

export class Subscriptions {
  readonly #market: Pick<LiveMarket, "now" | "watch">;
  readonly #coverage: CoverageLog;
  readonly #handler: MarketHandler;
  readonly #mayRequest: (symbol: string) => boolean;
  /** Unsubscribe functions, by symbol. */
  readonly #releases = new Map<string, () => void>();

  constructor(parts: {
    market: Pick<LiveMarket, "now" | "watch">;
    coverage: CoverageLog;
    handler: MarketHandler;
    /** Whether all triggers that the history of a symbol concerns are known. */
    mayRequest: (symbol: string) => boolean;
  }) {
    this.#market = parts.market;
    this.#coverage = parts.coverage;
    this.#handler = parts.handler;
    this.#mayRequest = parts.mayRequest;
  }

  symbols(): Iterable<string> {
    return this.#releases.keys();
  }

  begin(symbol: string): void {
    if (this.#releases.has(symbol)) return;
    this.#releases.set(symbol, () => release());
    const coverage = this.#coverage.begin(symbol);
    const release = this.#market.watch(symbol, {
      quote: (quote) => {
        this.#receive(symbol, coverage);
        this.#handler.quote(symbol, quote);
      },
      trade: (price) => {
        this.#receive(symbol, coverage);
        this.#handler.trade(symbol, price);
      },
      markPrice: (price) => {
        this.#receive(symbol, coverage);
        this.#handler.markPrice(symbol, price);
      },
      gap: (from, to) => {
        this.#receive(symbol, coverage);
        coverage.completeSince = this.#market.now();
        this.#handler.missed(symbol, from, to);
      },
    });
  }

  end(symbol: string): void {
    this.#releases.get(symbol)?.();
    this.#releases.delete(symbol);
    this.#coverage.end(symbol);
  }

  /** Requests uncovered intervals, periodically, since many orders may add many of them. */
  requestUncovered(isSilent: (symbol: string) => boolean): void {
    for (const symbol of this.#releases.keys()) {
      const coverage = this.#coverage.of(symbol);
      if (coverage !== undefined && coverage.completeSince !== null && !isSilent(symbol)) {
        this.#request(symbol, coverage);
      }
    }
  }

  close(): void {
    for (const release of this.#releases.values()) release();
    this.#releases.clear();
  }

  /** The first message of a symbol ends its uncovered interval. */
  #receive(symbol: string, coverage: SymbolCoverage): void {
    if (coverage.completeSince !== null) return;
    coverage.completeSince = this.#market.now();
    this.#request(symbol, coverage);
  }

  #request(symbol: string, coverage: SymbolCoverage): void {
    const { uncoveredSince } = coverage;
    if (uncoveredSince === null || !this.#mayRequest(symbol)) return;
    coverage.uncoveredSince = null;
    this.#handler.missed(symbol, uncoveredSince, this.#market.now());
  }
}
