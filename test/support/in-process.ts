// A gateway in the test's own process: real sockets and a real database, while the market is the test's and each request is
// sent a minute of wall time after the one before, so that no budget is ever spent.
import { randomUUID } from "node:crypto";
import pino from "pino";
import type { Timers } from "../../src/concurrency/time.ts";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { STANDARD } from "../../src/domain/fill-profile.ts";
import type { Market } from "../../src/domain/market.ts";
import { createServer } from "../../src/http/server.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import type { Store } from "../../src/store/store.ts";
import { type BotClient, botClient } from "./bot-client.ts";
import { botParts } from "./bot-parts.ts";
import { type Credentials, newDirectory } from "./gateway.ts";
import { signed, type WireAnswer } from "./signed-client.ts";

/** Only the part of a feed that a test needs: whatever else is asked of it fails. */
export type OwnMarket = Market & Pick<MarketFeed, "now" | "sequence" | "prepare"> & Partial<MarketFeed>;

export type Call = (
  method: string,
  path: string,
  parameters?: Readonly<Record<string, string | number>>,
) => Promise<WireAnswer>;

export type InProcessGateway = {
  readonly url: string;
  readonly desk: Desk;
  readonly store: Store;
  /** Another strategy, seeded at the market time of now. */
  seed(type: StrategyType): Promise<Credentials>;
  /** Signed requests of a strategy. */
  callsOf(strategy: Credentials): Call;
  /** Those of the bot family. */
  botOf(strategy: Credentials): BotClient;
  close(): Promise<void>;
};

/**
 * Opens a gateway on a new database; a family without a market of its own has that of the other. `between` may stand before the store,
 * and `after` is what submissions are timed with.
 */
export async function openInProcess(
  markets: { readonly [T in StrategyType]?: OwnMarket },
  {
    between = (opened) => opened,
    after,
  }: {
    readonly between?: (opened: Store) => Store;
    readonly after?: Timers["after"];
  } = {},
): Promise<InProcessGateway> {
  const { store: opened, master } = await openDataDirectory(newDirectory(), null);
  const store = between(opened);
  const log = pino({ level: "silent" });
  const feeds = {
    SPOT: (markets.SPOT ?? markets.FUTURES) as MarketFeed,
    FUTURES: (markets.FUTURES ?? markets.SPOT) as MarketFeed,
  };
  let wallTime = Date.UTC(2026, 0, 1);
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  const parts = { store, markets: feeds, profiles: STANDARD };
  const desk = new Desk({ ...parts, onStoreFailure, log });
  const server = createServer(
    {
      ...parts,
      desk,
      master,
      budgets: new Budgets(),
      ...botParts({ desk, store, market: feeds.SPOT, wallNow: () => wallTime, ...(after && { after }) }),
      wallNow: () => wallTime,
      newClientOrderId: randomUUID,
    },
    { log },
  );
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  return {
    url,
    desk,
    store,
    async seed(type) {
      const [seeded] = await seedStrategies(store, master, [type], wallTime, {
        marketNow: feeds[type].now(),
      });
      if (seeded === undefined) throw new Error("one strategy was asked for");
      return seeded;
    },
    callsOf: (strategy) => (method, path, parameters) => {
      wallTime += 60_000;
      return signed(url, strategy, method, path, { ...parameters, timestamp: wallTime });
    },
    botOf: (strategy) =>
      botClient(url, strategy, () => {
        wallTime += 60_000;
        return wallTime;
      }),
    async close() {
      await server.close();
      await desk.drain();
      await store.close();
    },
  };
}
