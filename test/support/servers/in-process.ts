// A gateway in the test's own process: real sockets and a real database, while the market is the test's and
// each request is sent a minute of wall time after the one before, so that no budget is ever spent.
import type { Timers } from "../../../src/concurrency/time.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { FillProfile } from "../../../src/domain/fill-profile.ts";
import type { Market } from "../../../src/domain/market.ts";
import type { MarketFeed } from "../../../src/market/client/feed.ts";
import type { Store } from "../../../src/store/store.ts";
import { type BotClient, botClient } from "../bot-client.ts";
import { signed, type WireAnswer } from "../signed-client.ts";
import type { Credentials } from "./gateway.ts";
import { openOwnGateway } from "./own-gateway.ts";

/** Only the part of a feed that a test needs: whatever else is asked of it fails. */
export type OwnMarket = Market & Pick<MarketFeed, "now" | "sequence" | "prepare"> & Partial<MarketFeed>;

export type Call = (
  method: string,
  path: string,
  parameters?: Readonly<Record<string, string | number>>,
) => Promise<WireAnswer>;

export type InProcessGateway = Awaited<ReturnType<typeof openInProcess>>;

/**
 * Opens a gateway on a new database; a type without a market of its own has that of the other. `between`
 * may stand before the store, and `after` is what submissions are timed with.
 */
export async function openInProcess(
  markets: { readonly [T in StrategyType]?: OwnMarket },
  options: { readonly between?: (opened: Store) => Store; readonly after?: Timers["after"] } = {},
) {
  const feeds = {
    SPOT: (markets.SPOT ?? markets.FUTURES) as MarketFeed,
    FUTURES: (markets.FUTURES ?? markets.SPOT) as MarketFeed,
  };
  let wallTime = Date.UTC(2026, 0, 1);
  const own = await openOwnGateway(feeds, () => wallTime, options);
  const { server, url } = await own.serve();
  return {
    url,
    desk: own.gateway.desk,
    store: own.gateway.store,
    /**
     * Another strategy, seeded at the market time of now; under `standard` unless another profile is given.
     */
    seed: (type: StrategyType, profile?: FillProfile): Promise<Credentials> => own.seed(type, profile),
    /** Signed requests of a strategy. */
    callsOf:
      (strategy: Credentials): Call =>
      (method, path, parameters) => {
        wallTime += 60_000;
        return signed(url, strategy, method, path, { ...parameters, timestamp: wallTime });
      },
    /** Those of the bot family. */
    botOf: (strategy: Credentials): BotClient =>
      botClient(url, strategy, () => {
        wallTime += 60_000;
        return wallTime;
      }),
    async close(): Promise<void> {
      await server.close();
      await own.close();
    },
  };
}
