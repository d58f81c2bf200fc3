// The prices of symbols from the market feed: best bid and ask, last trade price, and the mark price of a
// contract. A price is sent when it has changed, at most once a second, and repeated after a few seconds if
// it has not. The feed drops the quote of a symbol that is silent for a while: then no price is sent, and
// after `STALE_AFTER_MS` the topic is reported as unavailable.
import type { Cancel, Clock, Timers } from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import { formatBriefly, type Price } from "../../money/decimal.ts";
import type { Audience, Source } from "../../streams/topics.ts";
import type { PriceJson } from "../schemas/markets.ts";
import { PRICES_REPEATED_AFTER_MS, PRICES_TOLD_EVERY_MS, STALE_AFTER_MS } from "./limits.ts";

export type PricesMarket = Pick<MarketFeed, "now" | "watch" | "quote" | "lastPrice" | "markPrice">;
export type PriceTopic = { readonly symbol: string };

/** A symbol with a subscription. Times are Unix ms of the wall clock. */
type Followed = {
  readonly topic: PriceTopic;
  readonly release: Cancel;
  /** The prices sent last, without their time. */
  told: string;
  toldAt: number;
  isOut: boolean;
};

const HEARS_NOTHING = { quote() {}, trade() {}, markPrice() {}, gap() {} };

export function createPrices(options: {
  readonly type: StrategyType;
  readonly market: PricesMarket;
  readonly audience: Audience<PriceTopic, PriceJson>;
  readonly wallClock: Clock;
  readonly timers: Timers;
}): Source<PriceTopic> {
  const { type, market, audience, wallClock, timers } = options;
  const followed = new Set<Followed>();
  let cancelSweep: Cancel | null = null;

  function sweep(): void {
    for (const one of followed) tell(one, wallClock.now());
  }

  function tell(one: Followed, now: number): void {
    const { symbol } = one.topic;
    const quote = market.quote(symbol);
    const mark = type === "FUTURES" ? market.markPrice(symbol) : null;
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
    audience.send(one.topic, { family: type, symbol, ...prices, at: market.now() });
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
