// Spot pairs that the test controls: rows as the exchange publishes them, prices as the test sets them.
// Source: reference exchange, section 6.
import { MarketStub } from "../../../engine/testing/market-stub.ts";
import type { UpstreamAnswer } from "../../../market/client/rest/rest.ts";
import type { ExchangeInfoBody } from "../../../market/client/rules/listings.ts";
import { parseSymbolRules } from "../../../market/client/rules/symbol-rules.ts";
import { decimal, formatDecimal } from "../../../money/decimal.ts";

export class OwnPairs extends MarketStub {
  readonly #rows = new Map<string, ReturnType<typeof pairRow>>();
  #version = 0;

  constructor(symbols: readonly string[], now: () => number) {
    super([], now);
    for (const symbol of symbols) this.list(pairRow(symbol));
  }

  /** Publishes a row, in place of the one that there was. */
  list(row: ReturnType<typeof pairRow>): void {
    const parsed = parseSymbolRules(row);
    if (!("rules" in parsed)) throw new Error(`a row of the test's own parses: ${JSON.stringify(parsed)}`);
    this.setRules(parsed.rules);
    this.#rows.set(row.symbol, row);
    this.#version += 1;
  }

  override delist(symbol: string): void {
    super.delist(symbol);
    this.#rows.delete(symbol);
    this.#version += 1;
  }

  /** Best bid and best ask; the last price is the ask. */
  show(symbol: string, bid: string, ask: string): void {
    this.setQuote(symbol, { bid: decimal(bid), ask: decimal(ask) });
    this.setLastPrice(symbol, decimal(ask));
    this.setAveragePrice(symbol, decimal(ask));
  }

  /** There is no price any more: the venue answers 503. */
  silence(symbol: string): void {
    this.setQuote(symbol, null);
  }

  readonly exchangeInfo = (): ExchangeInfoBody => ({
    head: { timezone: "UTC" },
    symbols: new Map(this.#rows),
    version: this.#version,
  });

  /** The last prices, as the market's own route answers them. */
  readonly query = async (): Promise<UpstreamAnswer> => {
    const rows = [...this.lastPrices].map(([symbol, price]) => ({ symbol, price: formatDecimal(price) }));
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
