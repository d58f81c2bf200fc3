// A market feed whose answers a test can wait for, so that no deadline passes while they are in flight.
import type { MarketFeed } from "../../market/client/feed.ts";
import { until } from "../../market/client/testing/upstream.ts";

export type AwaitedMarket = Pick<MarketFeed, "subscribe" | "query" | "isStreaming"> & {
  /** Resolves when all requests have been answered and the answers processed. */
  answered(): Promise<void>;
};

export function awaitedMarket(feed: MarketFeed): AwaitedMarket {
  let underWay = 0;
  return {
    subscribe: feed.subscribe,
    isStreaming: feed.isStreaming,
    async query(path, search) {
      underWay += 1;
      const answer = await feed.query(path, search);
      underWay -= 1;
      return answer;
    },
    answered: () => until(() => underWay === 0),
  };
}
