// The funding of the walk's contracts: settled every one, four or eight hours with either sign. It is
// published a few milliseconds after its time: at once, late, or several at a time, for one contract always
// in the order of time.
import type { Settlement } from "../../../../src/domain/market.ts";
import { MINUTE_MS } from "../../../../src/domain/order-counts.ts";
import type { Rate } from "../../../../src/money/decimal.ts";
import { happens } from "../chance.ts";
import type { RandomMarket } from "./market.ts";

const HOUR_MS = 60 * MINUTE_MS;
/** In hours, of the first contract, the second and so on. */
const INTERVALS = [8, 4, 1, 1];
const PUBLISHED_AFTER_MS_MAX = 20;
/** The highest rate, in units of 1e-8: 2 %. */
const RATE_MAX = 2_000_000;

export class RandomFunding {
  readonly #random: () => number;
  readonly #market: RandomMarket;
  readonly #contracts: {
    readonly symbol: string;
    readonly intervalMs: number;
    due: number;
    unheard: Settlement[];
  }[];

  /** `from` is the market time at the start, Unix ms. An earlier settlement is published too. */
  constructor(random: () => number, market: RandomMarket, from: number) {
    this.#random = random;
    this.#market = market;
    this.#contracts = market.symbols
      .filter((symbol) => market.rules(symbol)?.contract)
      .map((symbol, index) => {
        const intervalMs = (INTERVALS[index] ?? 1) * HOUR_MS;
        return { symbol, intervalMs, due: from - (from % intervalMs), unheard: [] };
      });
  }

  /** The settlements that are published at a market time, Unix ms. */
  heardAt(at: number): readonly Settlement[] {
    return this.#contracts.flatMap((contract) => {
      for (; contract.due <= at; contract.due += contract.intervalMs)
        contract.unheard.push(this.#settle(contract.symbol, contract.due));
      return happens(this.#random, 0.3) ? contract.unheard.splice(0) : [];
    });
  }

  #settle(symbol: string, due: number): Settlement {
    const rate = (BigInt(Math.round((this.#random() * 2 - 1) ** 5 * RATE_MAX)) || 1n) as Rate;
    return {
      symbol,
      fundingTime: due + Math.floor(this.#random() * PUBLISHED_AFTER_MS_MAX),
      rate,
      markPrice: this.#market.markPrice(symbol) ?? this.#market.middle(symbol),
    };
  }
}
