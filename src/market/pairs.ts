// The pairs that bots may trade and subscribe to: the spot pairs that are trading, with upstream's filters as
// text. The list is cached until the listings change, for at most half an hour; the listings are refreshed
// every half hour themselves, so a new pair appears after half an hour and not after twice as long. Orders
// are checked against fresher rules than these. Source: specification 2.7 and 4.4.
import { SPOT_ORDER_TYPES } from "../domain/order.ts";
import { inCapitals } from "../domain/symbol.ts";
import type { MarketFeed } from "./client/feed.ts";

/** Supported candle intervals. Source: specification 2.7. */
export const TIMEFRAMES = [
  "1s",
  "1m",
  "3m",
  "5m",
  "15m",
  "30m",
  "1h",
  "2h",
  "4h",
  "6h",
  "8h",
  "12h",
  "1d",
  "3d",
  "1w",
  "1M",
] as const;

/** How long a list is kept, wall time in ms. Source: specification 4.4. */
export const PAIRS_KEPT_MS = 30 * 60_000;

/** Where each filter of a pair is published: the types that may hold it, and its name there. */
const FILTERS = {
  minPrice: [["PRICE_FILTER"], "minPrice"],
  maxPrice: [["PRICE_FILTER"], "maxPrice"],
  tickSize: [["PRICE_FILTER"], "tickSize"],
  minQty: [["LOT_SIZE"], "minQty"],
  maxQty: [["LOT_SIZE"], "maxQty"],
  stepSize: [["LOT_SIZE"], "stepSize"],
  marketMinQty: [["MARKET_LOT_SIZE"], "minQty"],
  marketMaxQty: [["MARKET_LOT_SIZE"], "maxQty"],
  marketStepSize: [["MARKET_LOT_SIZE"], "stepSize"],
  minNotional: [["NOTIONAL", "MIN_NOTIONAL"], "minNotional"],
  maxNotional: [["NOTIONAL"], "maxNotional"],
} as const satisfies Readonly<Record<string, readonly [types: readonly string[], name: string]>>;

export type PairFilter = keyof typeof FILTERS;
export const PAIR_FILTERS = Object.keys(FILTERS) as readonly PairFilter[];

type Row = Readonly<Record<string, unknown>>;
type Kept = {
  readonly madeAt: number;
  /** The listings that it was made from. */
  readonly rows: ReadonlyMap<string, Row>;
  readonly symbols: ReadonlySet<string>;
  readonly text: string;
};

export class TradingPairs {
  readonly #market: Pick<MarketFeed, "exchangeInfo">;
  readonly #wallNow: () => number;
  #kept: Kept | null = null;

  constructor(parts: { market: Pick<MarketFeed, "exchangeInfo">; wallNow: () => number }) {
    this.#market = parts.market;
    this.#wallNow = parts.wallNow;
  }

  /** The timeframes and the pairs as JSON text. */
  text(): string {
    return this.#list().text;
  }

  /** Whether a pair, in whatever case it is written, is in the list. */
  has(pair: string): boolean {
    return this.#list().symbols.has(inCapitals(pair));
  }

  #list(): Kept {
    const now = this.#wallNow();
    const { symbols: rows } = this.#market.exchangeInfo();
    const ageMs = this.#kept === null ? PAIRS_KEPT_MS : now - this.#kept.madeAt;
    // A clock that was set back would keep the list for longer.
    if (this.#kept?.rows === rows && ageMs >= 0 && ageMs < PAIRS_KEPT_MS) return this.#kept;
    const pairs = [...rows.values()].filter(isServed).map(pairOf);
    this.#kept = {
      madeAt: now,
      rows,
      symbols: new Set(pairs.map(({ symbol }) => String(symbol))),
      text: JSON.stringify({ timeframes: TIMEFRAMES, pairs }),
    };
    return this.#kept;
  }
}

function isServed({ status, isSpotTradingAllowed }: Row): boolean {
  return status === "TRADING" && isSpotTradingAllowed === true;
}

/** A pair as it is shown, from the row that upstream sent. */
function pairOf({ symbol, baseAsset, quoteAsset, status, isSpotTradingAllowed, orderTypes, filters }: Row) {
  const accepted: readonly unknown[] = Array.isArray(orderTypes) ? orderTypes : [];
  const published: readonly (Row | null)[] = Array.isArray(filters) ? filters : [];
  return {
    symbol,
    baseAsset,
    quoteAsset,
    status,
    isSpotTradingAllowed,
    orderTypes: accepted,
    supportedBotOrderTypes: SPOT_ORDER_TYPES.filter((type) => accepted.includes(type)),
    filters: Object.fromEntries(
      Object.entries(FILTERS).map(([shown, [types, name]]) => [shown, publishedIn(published, types, name)]),
    ),
  };
}

/** A decimal string of the first filter that has it, or null. */
function publishedIn(
  filters: readonly (Row | null)[],
  types: readonly string[],
  name: string,
): string | null {
  const values = types.map((type) => filters.find((filter) => filter?.filterType === type)?.[name]);
  const value = values.find((each) => typeof each === "string");
  return typeof value === "string" ? value : null;
}
