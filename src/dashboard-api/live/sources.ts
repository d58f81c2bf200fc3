// The sources of the topics of both markets: candles and books are made as for the bots' streams, and prices
// come from the market feeds.
import type { Clock, Timers } from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import type { Log } from "../../market/client/log.ts";
import { createCandles } from "../../streams/candles.ts";
import { createDepth } from "../../streams/depth.ts";
import type {
  Audience,
  CandleTopic,
  DepthTopic,
  MarketData,
  OrderBook,
  Source,
} from "../../streams/topics.ts";
import type { Topic } from "../schemas/live.ts";
import type { PriceJson } from "../schemas/markets.ts";
import { WEIGHT_PER_MINUTE } from "./limits.ts";
import { createPrices, type PricesMarket, type PriceTopic } from "./prices.ts";
import type { Topics } from "./topics.ts";

export type SourcesParts = {
  readonly markets: {
    readonly [T in StrategyType]: PricesMarket & Pick<MarketFeed, "subscribe" | "query" | "isStreaming">;
  };
  /** As for the feeds: whether upstream limits requests, and whether a live stream may be silent. */
  readonly isMetered: boolean;
  readonly asksAboutQuietSymbols: boolean;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
};

export type Sources = {
  follow(topic: Topic): () => void;
  close(): void;
};

/** Creates the sources of both strategy types. They send their data to `topics`. */
export function createSources(parts: SourcesParts, topics: () => Topics): Sources {
  const byType = { SPOT: sourcesOf("SPOT", parts, topics), FUTURES: sourcesOf("FUTURES", parts, topics) };
  return {
    follow(topic) {
      const { candles, depth, prices } = byType[topic.family];
      const { symbol } = topic;
      if (topic.kind === "candles") return candles.follow({ pair: symbol, timeframe: topic.interval });
      if (topic.kind === "depth") return depth.follow({ pair: symbol, levels: 20, speed: "1000ms" });
      return prices.follow({ symbol });
    },
    close() {
      for (const each of Object.values(byType)) for (const source of Object.values(each)) source.close();
    },
  };
}

function sourcesOf(
  type: StrategyType,
  { markets, ...parts }: SourcesParts,
  topics: () => Topics,
): { candles: Source<CandleTopic>; depth: Source<DepthTopic>; prices: Source<PriceTopic> } {
  const shared = {
    ...parts,
    market: markets[type],
    type,
    weightPerMinute: WEIGHT_PER_MINUTE,
  } as const;
  return {
    candles: createCandles({ ...shared, audience: candleAudience(type, topics) }),
    depth: createDepth({ ...shared, audience: depthAudience(type, topics) }),
    prices: createPrices({ ...shared, type, audience: priceAudience(type, topics) }),
  };
}

function candleAudience(type: StrategyType, topics: () => Topics): Audience<CandleTopic, MarketData> {
  const topicOf = ({ pair, timeframe }: CandleTopic): Topic => ({
    kind: "candles",
    family: type,
    symbol: pair,
    interval: timeframe,
  });
  return {
    ...outagesOf(topicOf, topics),
    send(topic, { candle: { startTime, closeTime: _closeTime, ...candle } }) {
      const { pair: symbol, timeframe: interval } = topic;
      const payload = { family: type, symbol, interval, candle: { openTime: startTime, ...candle } };
      topics().send(topicOf(topic), "candle", payload, { isFinal: candle.isFinal });
    },
  };
}

function depthAudience(type: StrategyType, topics: () => Topics): Audience<DepthTopic, OrderBook> {
  const topicOf = ({ pair }: DepthTopic): Topic => ({ kind: "depth", family: type, symbol: pair });
  return {
    ...outagesOf(topicOf, topics),
    send: (topic, { lastUpdateId, bids, asks }) =>
      topics().send(topicOf(topic), "book", { family: type, symbol: topic.pair, lastUpdateId, bids, asks }),
  };
}

function priceAudience(type: StrategyType, topics: () => Topics): Audience<PriceTopic, PriceJson> {
  const topicOf = ({ symbol }: PriceTopic): Topic => ({ kind: "prices", family: type, symbol });
  return {
    ...outagesOf(topicOf, topics),
    send: (topic, price) => topics().send(topicOf(topic), "price", price),
  };
}

function outagesOf<Own>(
  topicOf: (topic: Own) => Topic,
  topics: () => Topics,
): Omit<Audience<Own, unknown>, "send"> {
  return {
    unavailable: (topic) => topics().stale(topicOf(topic)),
    available: (topic) => topics().available(topicOf(topic)),
    broken: (topic) => topics().restart(topicOf(topic)),
  };
}
