// The last known prices of what strategies hold, and when they were heard: for showing what something is
// worth, also of a market that is silent. Never waits for a market; of a symbol that nobody follows yet,
// following is begun, so that the next look has it.

import { presentPrice } from "../analytics/prices.ts";
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { StrategyType } from "../domain/account.ts";
import type { Gateway } from "../http/pipeline.ts";
import type { Price } from "../money/decimal.ts";

/** A price, and when it was heard: market time, Unix ms. */
export type KnownPrice = { readonly price: Price; readonly at: number };

/**
 * Symbols of which a price is remembered, more than a type lists; those that were heard first are
 * forgotten.
 */
const REMEMBERED_MAX = 20_000;

export class LastPrices {
  readonly #markets: Gateway["markets"];
  readonly #known = new BoundedMap<string, KnownPrice>(REMEMBERED_MAX);
  /** Nothing was heard before, by market time. */
  readonly #since: { readonly [T in StrategyType]: number };

  constructor(markets: Gateway["markets"]) {
    this.#markets = markets;
    this.#since = { SPOT: markets.SPOT.now(), FUTURES: markets.FUTURES.now() };
  }

  /**
   * On spot the price of the last trade, of a contract the mark price, as reports take them; null if none was
   * ever heard.
   */
  of(type: StrategyType, symbol: string): KnownPrice | null {
    const market = this.#markets[type];
    const name = `${type} ${symbol}`;
    const before = this.#known.get(name) ?? null;
    const present = presentPrice(type, symbol, market);
    const isSilent = present === null;
    if (isSilent) void market.prepare(symbol);
    const price = present ?? (type === "SPOT" ? market.lastPrice(symbol) : market.lastMarkPrice(symbol));
    if (price === null) return before;
    // One that was silent before anybody looked may be as old as all this: older is safer said than younger.
    const known = { price, at: isSilent ? (before?.at ?? this.#since[type]) : market.now() };
    this.#known.set(name, known);
    return known;
  }
}
