// Spot pairs that the test controls: rows as the exchange publishes them, prices as the test sets them.
// Source: reference exchange, section 6.
import type { Quote } from "../../../domain/market.ts";
import type { SymbolRules } from "../../../domain/symbol.ts";
import type { UpstreamAnswer } from "../../../market/client/rest/rest.ts";
import type { ExchangeInfoBody } from "../../../market/client/rules/listings.ts";
import { parseSymbolRules } from "../../../market/client/rules/symbol-rules.ts";
import { decimal, formatDecimal, type Price } from "../../../money/decimal.ts";

export class OwnPairs {
  readonly now: () => number;
  readonly #rules = new Map<string, SymbolRules>();
  readonly #quotes = new Map<string, Quote>();
  readonly #lastPrices = new Map<string, Price>();
  readonly #rows = new Map<string, ReturnType<typeof pairRow>>();
  #version = 0;

  constructor(symbols: readonly string[], now: () => number) {
    this.now = now;
    for (const symbol of symbols) this.list(pairRow(symbol));
  }

  /** Publishes a row, in place of the one that there was. */
  list(row: ReturnType<typeof pairRow>): void {
    const parsed = parseSymbolRules(row);
    if (!("rules" in parsed)) throw new Error(`a row of the test's own parses: ${JSON.stringify(parsed)}`);
    this.#rules.set(row.symbol, parsed.rules);
    this.#rows.set(row.symbol, row);
    this.#version += 1;
  }

  delist(symbol: string): void {
    this.#rules.delete(symbol);
    this.#rows.delete(symbol);
    this.#version += 1;
  }

  /** Best bid and best ask; the last price is the ask. */
  show(symbol: string, bid: string, ask: string): void {
    this.#quotes.set(symbol, { bid: decimal(bid), ask: decimal(ask) });
    this.#lastPrices.set(symbol, decimal(ask));
  }

  /** There is no price any more: the venue answers 503. */
  silence(symbol: string): void {
    this.#quotes.delete(symbol);
  }

  readonly sequence = () => 0;
  readonly prepare = () => undefined;
  readonly book = () => null;
  readonly untradable = () => null;
  readonly delisted = (symbol: string) => (this.#rules.has(symbol) ? null : { lastMark: null });
  readonly rules = (symbol: string) => this.#rules.get(symbol) ?? null;
  readonly quote = (symbol: string) => this.#quotes.get(symbol) ?? null;
  readonly markPrice = () => null;
  readonly lastMarkPrice = () => null;
  readonly lastPrice = (symbol: string) => this.#lastPrices.get(symbol) ?? null;
  readonly averagePrice = (symbol: string) => this.#lastPrices.get(symbol) ?? null;
  readonly exchangeInfo = (): ExchangeInfoBody => ({
    head: { timezone: "UTC" },
    symbols: new Map(this.#rows),
    version: this.#version,
  });

  /** The last prices, as the market's own route answers them. */
  readonly query = async (): Promise<UpstreamAnswer> => {
    const rows = [...this.#lastPrices].map(([symbol, price]) => ({ symbol, price: formatDecimal(price) }));
    return { unavailable: false, status: 200, text: JSON.stringify(rows) };
  };
}

/** `step`: of LOT_SIZE, and its least quantity. */
export function pairRow(symbol: string, { step = "0.00001000" }: { readonly step?: string } = {}) {
  return {
    symbol,
    status: "TRADING",
    baseAsset: symbol.replace(/USDT$/, ""),
    quoteAsset: "USDT",
    orderTypes: ["LIMIT", "MARKET", "STOP_LOSS", "STOP_LOSS_LIMIT"],
    isSpotTradingAllowed: true,
    filters: [
      {
        filterType: "PRICE_FILTER",
        minPrice: "0.01000000",
        maxPrice: "1000000.00000000",
        tickSize: "0.01000000",
      },
      { filterType: "LOT_SIZE", minQty: step, maxQty: "9000.00000000", stepSize: step },
      {
        filterType: "NOTIONAL",
        minNotional: "5.00000000",
        applyMinToMarket: true,
        maxNotional: "9000000.00000000",
        applyMaxToMarket: false,
        avgPriceMins: 5,
      },
      { filterType: "MAX_NUM_ORDERS", maxNumOrders: 200 },
      { filterType: "MAX_NUM_ALGO_ORDERS", maxNumAlgoOrders: 5 },
    ],
  };
}
