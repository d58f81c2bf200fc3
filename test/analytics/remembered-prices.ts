// The prices of a random market as candles, as its exchange would tell them: of trades and of marks, now and
// then one missing.
import type { UpstreamAnswer } from "../../src/market/client/rest/rest.ts";
import { formatDecimal, type Price } from "../../src/money/decimal.ts";
import { happens } from "../campaigns/walk/chance.ts";
import type { RandomMarket } from "../campaigns/walk/random/market.ts";

const MISSING = 0.03;
const LENGTHS_MS: Readonly<Record<string, number>> = {
  "1m": 60_000,
  "3m": 180_000,
  "5m": 300_000,
  "15m": 900_000,
  "30m": 1_800_000,
  "1h": 3_600_000,
  "2h": 7_200_000,
};

type Candle = { readonly openTime: number; readonly close: Price };

export class RememberedPrices {
  readonly #market: RandomMarket;
  readonly #random: () => number;
  readonly #seen = new Map<string, { readonly at: number; readonly price: Price }[]>();
  /** Made once each, so that what is missing stays missing. */
  readonly #candles = new Map<string, Candle>();
  asked = 0;
  #last = 0;

  constructor(market: RandomMarket, random: () => number) {
    this.#market = market;
    this.#random = random;
  }

  remember(at: number): void {
    this.#last = at;
    for (const symbol of this.#market.symbols) {
      this.#note(`klines ${symbol}`, at, this.#market.middle(symbol));
      const mark = this.#market.markPrice(symbol);
      if (mark !== null) this.#note(`markPriceKlines ${symbol}`, at, mark);
    }
  }

  /** The close of the last candle there is that ended by a time; null if none. `kind` is that of the path. */
  closeBy(kind: string, symbol: string, interval: string, time: number): Price | null {
    const candles = this.#candlesOf(kind, symbol, interval, 0);
    const lengthMs = LENGTHS_MS[interval] ?? Number.NaN;
    return candles.findLast(({ openTime }) => openTime + lengthMs <= time)?.close ?? null;
  }

  /** The price that was seen last. */
  newest(kind: string, symbol: string): Price | null {
    return this.#seen.get(`${kind} ${symbol}`)?.at(-1)?.price ?? null;
  }

  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer> {
    this.asked += 1;
    const asked = new URLSearchParams(search);
    const kind = path.split("/").at(-1) ?? "";
    const interval = asked.get("interval") ?? "";
    const lengthMs = LENGTHS_MS[interval] ?? Number.NaN;
    const from = Number(asked.get("startTime"));
    const rows = this.#candlesOf(kind, asked.get("symbol") ?? "", interval, from)
      .slice(0, Number(asked.get("limit")))
      .map(({ openTime, close }) => {
        const text = formatDecimal(close);
        return [openTime, text, text, text, text, "0", openTime + lengthMs - 1];
      });
    return Promise.resolve({ unavailable: false, status: 200, text: JSON.stringify(rows) });
  }

  #note(name: string, at: number, price: Price): void {
    const seen = this.#seen.get(name) ?? [];
    seen.push({ at, price });
    this.#seen.set(name, seen);
  }

  #candlesOf(kind: string, symbol: string, interval: string, from: number): Candle[] {
    const lengthMs = LENGTHS_MS[interval];
    if (lengthMs === undefined) throw new Error(`there is no interval ${interval}`);
    const seen = this.#seen.get(`${kind} ${symbol}`) ?? [];
    const first = seen[0]?.at ?? Number.POSITIVE_INFINITY;
    const found: Candle[] = [];
    const begin = Math.floor(Math.max(from + lengthMs - 1, first) / lengthMs) * lengthMs;
    let index = 0;
    for (let openTime = begin; openTime <= this.#last; openTime += lengthMs) {
      while ((seen[index + 1]?.at ?? Number.POSITIVE_INFINITY) < openTime + lengthMs) index += 1;
      const price = seen[index]?.price;
      if (price === undefined) break;
      const name = `${kind} ${symbol} ${interval} ${openTime}`;
      const isForming = openTime + lengthMs > this.#last;
      const candle =
        this.#candles.get(name) ??
        ({
          openTime,
          close: happens(this.#random, isForming ? 0 : MISSING) ? (0n as Price) : price,
        } as const);
      this.#candles.set(name, candle);
      if (candle.close !== 0n) found.push(candle);
    }
    return found;
  }
}
