// A market that a test tells what to show. It stands at 99 to 100 for BTC and at 50 to 51 for ETH, has last traded at the
// bid, and says nothing by itself.
import type { DeskMarket } from "../../desk/desk.ts";
import type { Quote } from "../../domain/market.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { unfilteredRules } from "../../engine/testing/market-stub.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import type { TradedSpan } from "../gap-filler.ts";
import type { Extremes, SymbolListener, WatchedMarket } from "../watcher.ts";

type Shown =
  | { readonly symbol: string; readonly quote: Quote }
  | { readonly symbol: string; readonly trade: Price };

export class StubMarket implements DeskMarket, WatchedMarket {
  readonly halted = new Set<string>();
  /** Every question for what was traded, in order. */
  readonly asked: { readonly symbol: string; readonly from: number; readonly to: number }[] = [];
  readonly #now: () => number;
  readonly #silent = new Set<string>();
  readonly #lastPrices = new Map<string, Price>();
  readonly #remembered = new Map<string, Extremes>();
  readonly #shown: Shown[] = [];
  /** What is answered to the next questions; when all is given, nothing was traded. */
  readonly #answers: (readonly TradedSpan[] | null)[] = [];
  #watchers: { readonly symbol: string; readonly listener: SymbolListener }[] = [];

  /** `now` tells market time, Unix ms. */
  constructor(now: () => number) {
    this.#now = now;
    for (const [symbol, bid, ask] of [
      ["BTCUSDT", "99", "100"],
      ["ETHUSDT", "50", "51"],
    ] as const) {
      this.show(symbol, bid, ask);
      this.#lastPrices.set(symbol, decimal(bid));
    }
  }

  /** The symbol's book moves. One that was silent is heard again. */
  show(symbol: string, bid: string | null, ask: string | null): void {
    const quote = {
      bid: bid === null ? null : decimal<Price>(bid),
      ask: ask === null ? null : decimal<Price>(ask),
    };
    this.#shown.push({ symbol, quote });
    this.#silent.delete(symbol);
    this.#tell(symbol, (listener) => listener.quote(quote));
  }

  /** Somebody trades. */
  trade(symbol: string, price: string): void {
    const trade = decimal<Price>(price);
    this.#shown.push({ symbol, trade });
    this.#lastPrices.set(symbol, trade);
    this.#tell(symbol, (listener) => listener.trade(trade));
  }

  /** From now on the symbol's last quote is no price, until another is shown. */
  silence(symbol: string): void {
    this.#silent.add(symbol);
  }

  /** Quotes and trades between these times may have been missed. */
  miss(symbol: string, from: number, to: number): void {
    this.#tell(symbol, (listener) => listener.gap(from, to));
  }

  /** What the next question for what was traded is answered with; null if that cannot be told. */
  answer(spans: readonly TradedSpan[] | null): void {
    this.#answers.push(spans);
  }

  /** The symbols that are watched, one entry a watcher. */
  watched(): string[] {
    return this.#watchers.map(({ symbol }) => symbol).sort();
  }

  watch(symbol: string, listener: SymbolListener): () => void {
    const watcher = { symbol, listener };
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((other) => other !== watcher);
    };
  }

  async tradedBetween(symbol: string, from: number, to: number): Promise<readonly TradedSpan[] | null> {
    this.asked.push({ symbol, from, to });
    const answer = this.#answers.shift();
    return answer === undefined ? [] : answer;
  }

  /** From now on these are the symbol's extremes since any mark, whatever was shown. */
  remember(symbol: string, extremes: Partial<Extremes>): void {
    const nothing = { highestBid: null, lowestAsk: null, highestTrade: null, lowestTrade: null };
    this.#remembered.set(symbol, { ...nothing, ...extremes });
  }

  extremesSince(symbol: string, mark: number): Extremes | null {
    const remembered = this.#remembered.get(symbol);
    if (remembered !== undefined) return remembered;
    const since = this.#shown.slice(mark).filter((shown) => shown.symbol === symbol);
    if (since.length === 0) return null;
    const quotes = since.flatMap((shown) => ("quote" in shown ? [shown.quote] : []));
    const trades = since.flatMap((shown) => ("trade" in shown ? [shown.trade] : []));
    return {
      highestBid: highestOf(quotes.map(({ bid }) => bid)),
      lowestAsk: lowestOf(quotes.map(({ ask }) => ask)),
      highestTrade: highestOf(trades),
      lowestTrade: lowestOf(trades),
    };
  }

  mark(): number {
    return this.#shown.length;
  }

  quote(symbol: string): Quote | null {
    if (this.#silent.has(symbol)) return null;
    const last = this.#shown.findLast((shown) => shown.symbol === symbol && "quote" in shown);
    return last !== undefined && "quote" in last ? last.quote : null;
  }

  lastPrice(symbol: string): Price | null {
    return this.#lastPrices.get(symbol) ?? null;
  }

  averagePrice(): null {
    return null;
  }

  rules(symbol: string): SymbolRules {
    return unfilteredRules(symbol, { status: this.halted.has(symbol) ? "BREAK" : "TRADING" });
  }

  now(): number {
    return this.#now();
  }

  prepare(): undefined {
    return undefined;
  }

  #tell(symbol: string, tell: (listener: SymbolListener) => void): void {
    for (const watcher of this.#watchers) if (watcher.symbol === symbol) tell(watcher.listener);
  }
}

function highestOf(prices: readonly (Price | null)[]): Price | null {
  return prices.reduce(
    (best, price) => (best === null || (price !== null && price > best) ? price : best),
    null,
  );
}

function lowestOf(prices: readonly (Price | null)[]): Price | null {
  return prices.reduce(
    (best, price) => (best === null || (price !== null && price < best) ? price : best),
    null,
  );
}
