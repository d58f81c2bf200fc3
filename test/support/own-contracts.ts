// Perpetual contracts in the test's own hands: rows and brackets as the exchange publishes them, prices as
// the test says. Source: reference exchange, sections 10.1 and 15 (the brackets of the worked examples).
import type { Settlement } from "../../src/domain/market.ts";
import { MarketStub } from "../../src/engine/testing/market-stub.ts";
import { readBrackets } from "../../src/market/brackets/read.ts";
import { parseContractRules } from "../../src/market/client/rules/contract-rules.ts";
import type { ExchangeInfoBody } from "../../src/market/client/rules/listings.ts";
import { decimal, type Price, type Rate } from "../../src/money/decimal.ts";
import type { OwnMarket } from "./servers/in-process.ts";

const TIERS = [
  [125, 0, 50_000, 0.004, 0],
  [100, 50_000, 600_000, 0.005, 50],
  [75, 600_000, 3_000_000, 0.0065, 950],
  [50, 3_000_000, 12_000_000, 0.01, 11_450],
] as const;

const brackets = TIERS.map(([initialLeverage, notionalFloor, notionalCap, maintMarginRatio, cum], index) => ({
  bracket: index + 1,
  initialLeverage,
  notionalCap,
  notionalFloor,
  maintMarginRatio,
  cum,
}));

/** A row of exchangeInfo with every filter that the exchange publishes now. */
export function contractRow(symbol: string, changed: Readonly<Record<string, unknown>> = {}) {
  return {
    symbol,
    pair: symbol,
    contractType: "PERPETUAL",
    deliveryDate: 4_133_404_800_000,
    onboardDate: 1_567_965_300_000,
    status: "TRADING",
    baseAsset: symbol.replace(/USDT$/, ""),
    quoteAsset: "USDT",
    marginAsset: "USDT",
    pricePrecision: 2,
    quantityPrecision: 3,
    liquidationFee: "0.012500",
    marketTakeBound: "0.05",
    filters: [
      { filterType: "PRICE_FILTER", minPrice: "556.80", maxPrice: "4529764", tickSize: "0.10" },
      { filterType: "LOT_SIZE", minQty: "0.001", maxQty: "1000", stepSize: "0.001" },
      { filterType: "MARKET_LOT_SIZE", minQty: "0.001", maxQty: "120", stepSize: "0.001" },
      { filterType: "MAX_NUM_ORDERS", limit: 3 },
      { filterType: "MIN_NOTIONAL", notional: "50" },
      {
        filterType: "PERCENT_PRICE",
        multiplierUp: "1.2000",
        multiplierDown: "0.8000",
        multiplierDecimal: "4",
      },
    ],
    orderTypes: ["LIMIT", "MARKET", "STOP_MARKET", "TAKE_PROFIT_MARKET"],
    ...changed,
  };
}

export class OwnContracts extends MarketStub implements OwnMarket {
  readonly #silent = new Set<string>();
  readonly #rows = new Map<string, ReturnType<typeof contractRow>>();
  #version = 0;

  constructor(rows: readonly ReturnType<typeof contractRow>[], clock: (() => number) | null = null) {
    super([], clock);
    for (const row of rows) this.list(row);
  }

  /** Publishes a row, in place of the one that there was. */
  list(row: ReturnType<typeof contractRow>): void {
    const table = readBrackets(JSON.stringify([{ symbol: row.symbol, brackets }]));
    const parsed = parseContractRules(row, table);
    if (!("rules" in parsed)) throw new Error(`a row of the test's own parses: ${JSON.stringify(parsed)}`);
    this.setRules(parsed.rules);
    this.#rows.set(row.symbol, row);
    this.#version += 1;
  }

  /** Best bid, best ask, and the mark price, which is the ask unless said. */
  show(symbol: string, bid: string, ask: string, mark = ask): void {
    this.setQuote(symbol, { bid: decimal(bid), ask: decimal(ask) });
    this.setMarkPrice(symbol, decimal(mark));
    this.#silent.delete(symbol);
  }

  /** There is no quote any more, and the last mark price grows old. */
  silence(symbol: string): void {
    this.setQuote(symbol, null);
    this.#silent.add(symbol);
  }

  /** There is no quote and no mark price, as after a restart. */
  forget(symbol: string): void {
    this.silence(symbol);
    this.setMarkPrice(symbol, null);
  }

  /** A settlement of funding at the market time of now. */
  settlement(symbol: string, rate: string): Settlement {
    const markPrice = this.lastMarkPrice(symbol) ?? decimal<Price>("0");
    return { symbol, fundingTime: this.now(), rate: decimal<Rate>(rate), markPrice };
  }

  override markPrice(symbol: string): Price | null {
    return this.#silent.has(symbol) ? null : this.lastMarkPrice(symbol);
  }

  readonly exchangeInfo = (): ExchangeInfoBody => ({
    head: { timezone: "UTC", futuresType: "U_MARGINED" },
    symbols: new Map(this.#rows),
    version: this.#version,
  });
}
