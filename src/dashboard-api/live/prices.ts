// The prices of symbols for those who look at them: best bid and ask, the last trade's, and of a contract the mark, as the market
// feed holds them.
// They are told when they have changed, at most once a second, and now and then although they have not.
//
// The feed knows no quote of a symbol that has been silent for a while: then nothing is told, and soon that it is stale.
import type { Cancel, Clock, Timers } from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import { formatBriefly, type Price } from "../../money/decimal.ts";
import type { Audience, Source } from "../../streams/topics.ts";
import type { PriceJson } from "../schemas/markets.ts";
import { PRICES_REPEATED_AFTER_MS, PRICES_TOLD_EVERY_MS, STALE_AFTER_MS } from "./limits.ts";

export type PricesMarket = Pick<MarketFeed, "now" | "watch" | "quote" | "lastPrice" | "markPrice">;
export type PriceTopic = { readonly symbol: string };

/** A symbol while it is followed. Times are Unix ms of the wall clock. */
type Followed = {
  readonly topic: PriceTopic;
  readonly release: Cancel;
  /** What was told last, without its time. */
  told: string;
  toldAt: number;
  isOut: boolean;
};

const HEARS_NOTHING = { quote() {}, trade() {}, markPrice() {}, gap() {} };

export function createPrices(options: {
  readonly family: StrategyType;
  readonly market: PricesMarket;
  readonly audience: Audience<PriceTopic, PriceJson>;
  readonly wallClock: Clock;
  readonly timers: Timers;
}): Source<PriceTopic> {
  const { family, market, audience, wallClock, timers } = options;
  const followed = new Set<Followed>();
  let cancelSweep: Cancel | null = null;

  function sweep(): void {
    for (const one of followed) tell(one, wallClock.now());
  }

  function tell(one: Followed, now: number): void {
    const { symbol } = one.topic;
    const quote = market.quote(symbol);
    const mark = family === "FUTURES" ? market.markPrice(symbol) : null;
    if (quote === null && mark === null) {
      if (one.isOut || now - one.toldAt < STALE_AFTER_MS) return;
      one.isOut = true;
      audience.unavailable(one.topic);
      return;
    }
    const last = market.lastPrice(symbol);
    const prices = {
      bid: textOf(quote?.bid),
      ask: textOf(quote?.ask),
      last: textOf(last),
      mark: textOf(mark),
    };
    const told = JSON.stringify(prices);
    if (told === one.told && now - one.toldAt < PRICES_REPEATED_AFTER_MS) return;
    one.told = told;
    one.toldAt = now;
    one.isOut = false;
    audience.send(one.topic, { family, symbol, ...prices, at: market.now() });
  }

  function follow(topic: PriceTopic): Cancel {
    const release = market.watch(topic.symbol, HEARS_NOTHING);
    const one: Followed = { topic, release, told: "", toldAt: wallClock.now(), isOut: false };
    followed.add(one);
    cancelSweep ??= timers.every(PRICES_TOLD_EVERY_MS, sweep);
    return () => {
      if (!followed.delete(one)) return;
      release();
      if (followed.size === 0) stop();
    };
  }

  function stop(): void {
    cancelSweep?.();
    cancelSweep = null;
  }

  return {
    follow,
    close() {
      stop();
      for (const { release } of followed) release();
      followed.clear();
    },
  };
}

function textOf(price: Price | null | undefined): string | null {
  return price == null ? null : formatBriefly(price);
}
