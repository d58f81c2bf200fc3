// A fixture with a feed on a test's upstream, and a stream on which every message is known to have arrived.

import { createFixture, type Fixture, pass } from "../../market/client/testing/feed.ts";
import { until } from "../../market/client/testing/upstream.ts";
import { type AwaitedMarket, awaitedMarket } from "./awaited-market.ts";

export type StreamFixture = Fixture & {
  readonly market: AwaitedMarket;
  /** Resolves when what is followed is subscribed and confirmed upstream. */
  streaming(stream: string): Promise<void>;
  /** Sends a message on a stream; resolves when all its listeners have received it. */
  say(stream: string, data: unknown): Promise<void>;
  /** Advances time on a live connection; resolves when the requests of that time have been answered. */
  pass(ms: number): Promise<void>;
  /** Cuts the connection; resolves when the feed knows. */
  cut(stream: string): Promise<void>;
};

/** BTCUSDT and ETHUSDT are listed; the feed is started. Closed after the test. */
export async function streamFixture(): Promise<StreamFixture> {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"]);
  const { feed, time, upstream } = fixture;
  await feed.start();
  const market = awaitedMarket(feed);
  return {
    ...fixture,
    market,
    async streaming(stream) {
      await until(() => {
        // Control messages and attempts to connect wait for their time.
        if (!upstream.subscribed().includes(stream)) time.advance(1);
        return feed.isStreaming(stream);
      });
    },
    async say(stream, data) {
      let isHeard = false;
      const release = feed.subscribe(stream, () => {
        isHeard = true;
      });
      upstream.send(stream, data);
      await until(() => isHeard);
      release();
    },
    async pass(ms) {
      await pass(fixture, ms);
      await market.answered();
    },
    async cut(stream) {
      upstream.dropConnections();
      await until(() => !feed.isStreaming(stream));
    },
  };
}
