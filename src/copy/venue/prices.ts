// The prices that balances are valued at, of all symbols at once: of spot pairs the last prices, of contracts the mark prices.
// Asked for when somebody wants them and those that are known are too old, one question at a time for all.
// Source: reference exchange, sections 5.7 and 9.
import type { StrategyType } from "../../domain/account.ts";
import { type Price, parseDecimal } from "../../money/decimal.ts";
import { mapped } from "./answers.ts";
import { rowsOf } from "./bodies.ts";
import type { RestCall } from "./signed-rest.ts";
import type { VenueAnswer } from "./venue.ts";
import { WEIGHTS } from "./weights.ts";

export const PRICES_AGE_MAX_MS = 2_000;
/** After they could not be had they are not asked for again at once, ms. */
const PRICES_RETRY_MS = 500;

export type Prices = ReadonlyMap<string, Price>;

const ROUTES = {
  SPOT: { path: "/api/v3/ticker/price", weight: WEIGHTS.SPOT.prices, key: "price" },
  FUTURES: { path: "/fapi/v1/premiumIndex", weight: WEIGHTS.FUTURES.prices, key: "markPrice" },
} as const;

export class VenuePrices {
  readonly #family: StrategyType;
  readonly #wallNow: () => number;
  readonly #ask: (call: RestCall) => Promise<VenueAnswer<unknown>>;
  #last: { readonly answer: VenueAnswer<Prices>; readonly askAgainAt: number } | null = null;
  #underWay: Promise<VenueAnswer<Prices>> | null = null;

  constructor(parts: {
    readonly family: StrategyType;
    readonly wallNow: () => number;
    readonly ask: (call: RestCall) => Promise<VenueAnswer<unknown>>;
  }) {
    this.#family = parts.family;
    this.#wallNow = parts.wallNow;
    this.#ask = parts.ask;
  }

  async all(): Promise<VenueAnswer<Prices>> {
    if (this.#last !== null && this.#wallNow() < this.#last.askAgainAt) return this.#last.answer;
    this.#underWay ??= this.#asked().finally(() => {
      this.#underWay = null;
    });
    return await this.#underWay;
  }

  async #asked(): Promise<VenueAnswer<Prices>> {
    const { path, weight, key } = ROUTES[this.#family];
    const askedAt = this.#wallNow();
    const body = await this.#ask({ method: "GET", path, weight, placesOrder: false, priority: "REDUCE" });
    const answer = mapped(body, (value) => pricesOf(value, key));
    const askAgainAt = answer.kind === "OK" ? askedAt + PRICES_AGE_MAX_MS : this.#wallNow() + PRICES_RETRY_MS;
    this.#last = { answer, askAgainAt };
    return answer;
  }
}

/** What has no price, or none that can be read, is left out. */
function pricesOf(value: unknown, key: string): Prices {
  const prices = new Map<string, Price>();
  for (const row of rowsOf(value)) {
    const text = row[key];
    const price = typeof text === "string" ? parseDecimal(text) : 0n;
    if (typeof row.symbol === "string" && typeof price === "bigint" && price > 0n) {
      prices.set(row.symbol, price as Price);
    }
  }
  return prices;
}
