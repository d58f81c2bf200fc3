// Closing prices of markets: candles, requested once and cached, since an ended candle does not change.
// Contracts are valued at their mark price; where the market has no candles of it, at the price of their
// trades. Bounds: `SERIES_MAX` cached series with the newest `CANDLES_MAX` each, and `QUESTIONS_MAX`
// concurrent requests per report.
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { StrategyType } from "../domain/account.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import { type Kline, readKlines } from "../market/client/symbols/kline.ts";
import { decimal, type Price } from "../money/decimal.ts";
import { type Candles, endedBy, type Span } from "./span.ts";

/** Candles of one question, and of one series that is kept. */
const CANDLES_MAX = 1_000;
/** Candles before a span that are requested too: a market with few trades may lack some. */
const CANDLES_BEFORE = 20;
const SERIES_MAX = 500;
const QUESTIONS_MAX = 4;
/** A candle may still change in the moment after its end. */
const FINAL_AFTER_MS = 5_000;

const PATHS: { readonly [T in StrategyType]: readonly string[] } = {
  SPOT: ["/api/v3/klines"],
  FUTURES: ["/fapi/v1/markPriceKlines", "/fapi/v1/klines"],
};

export type ClosesMarkets = { readonly [T in StrategyType]: Pick<MarketFeed, "query"> };

/** The closes of one symbol, ascending. */
export type Closes = readonly { readonly endedAt: number; readonly price: Price }[];

type Series = {
  readonly path: string;
  /** Everything that has ended since, up to the last one that is kept, is here. */
  readonly from: number;
  readonly closes: Closes;
};

export class CandleCloses {
  readonly #markets: ClosesMarkets;
  /** The last used are last. */
  readonly #kept = new BoundedMap<string, Series>(SERIES_MAX);

  constructor(markets: ClosesMarkets) {
    this.#markets = markets;
  }

  /**
   * The closes of symbols over a span, with the last ones before it; symbols without data are missing. If
   * `wantsNewest`, the present candle is the last, at its present close. `late` are the symbols whose closes
   * until the end of the span could not be had now: those that are here may end before it.
   */
  async of(
    type: StrategyType,
    symbols: readonly string[],
    span: Span,
    wantsNewest: (symbol: string) => boolean,
  ): Promise<{ readonly closes: ReadonlyMap<string, Closes>; readonly late: ReadonlySet<string> }> {
    const found = new Map<string, Closes>();
    const late = new Set<string>();
    const waiting = [...symbols];
    const work = async () => {
      for (let symbol = waiting.pop(); symbol !== undefined; symbol = waiting.pop()) {
        const { closes, isLate } = await this.#closesOf(type, symbol, span, wantsNewest(symbol));
        found.set(symbol, closes);
        if (isLate) late.add(symbol);
      }
    };
    await Promise.all(Array.from({ length: QUESTIONS_MAX }, work));
    return { closes: found, late };
  }

  async #closesOf(
    type: StrategyType,
    symbol: string,
    { from, to, candles }: Span,
    wantsNewest: boolean,
  ): Promise<{ readonly closes: Closes; readonly isLate: boolean }> {
    const name = `${type} ${symbol} ${candles.interval}`;
    const first = endedBy(from, candles) - CANDLES_BEFORE * candles.lengthMs;
    const kept = this.#kept.get(name);
    const keptUntil = kept?.closes.at(-1)?.endedAt ?? 0;
    // The result of one request must lead from the cached candles to the end of the span.
    const known = kept !== undefined && kept.from <= first && keptUntil >= first ? kept : null;
    const knownUntil = known === null ? first : keptUntil;
    if (known !== null && !wantsNewest && knownUntil >= endedBy(to, candles)) {
      this.#keep(name, known);
      return { closes: known.closes, isLate: false };
    }
    // Whether mark prices could not be had now: last prices in their place are not kept.
    let isReplaced = false;
    for (const path of known === null ? PATHS[type] : [known.path]) {
      const klines = await this.#ask(type, path, { symbol, candles, startTime: knownUntil });
      if (klines === null) isReplaced = true;
      if (klines === null || (klines.length === 0 && known === null)) continue;
      const asked = closesOf(klines);
      const closes = [...(known?.closes ?? []), ...asked.filter(({ endedAt }) => endedAt > knownUntil)];
      const final = closes.filter(({ endedAt }) => endedAt <= to - FINAL_AFTER_MS).slice(-CANDLES_MAX);
      const isCut = final.length === CANDLES_MAX;
      const from = isCut ? (final[0]?.endedAt ?? first) : (known?.from ?? first);
      if (!isReplaced) this.#keep(name, { path, from, closes: final });
      return { closes, isLate: false };
    }
    return { closes: known?.closes ?? [], isLate: isReplaced };
  }

  async #ask(
    type: StrategyType,
    path: string,
    question: { readonly symbol: string; readonly candles: Candles; readonly startTime: number },
  ): Promise<readonly Kline[] | null> {
    const { symbol, candles, startTime } = question;
    const search = new URLSearchParams({
      symbol,
      interval: candles.interval,
      startTime: `${Math.max(startTime, 0)}`,
      limit: `${CANDLES_MAX}`,
    });
    return readKlines(await this.#markets[type].query(path, search));
  }

  #keep(name: string, series: Series): void {
    this.#kept.set(name, series);
  }
}

function closesOf(klines: readonly Kline[]): Closes {
  return klines.map(({ closeTime, close }) => ({ endedAt: closeTime + 1, price: decimal<Price>(close) }));
}
