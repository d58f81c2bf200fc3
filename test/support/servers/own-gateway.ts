// What a gateway in the test's own process is made of: a real database, a desk and a server on the test's
// markets and clock.
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import type { Timers } from "../../../src/concurrency/time.ts";
import { openDataDirectory } from "../../../src/config/data-directory.ts";
import { Desk, type OnSent } from "../../../src/desk/desk.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { FillProfile } from "../../../src/domain/fill-profile.ts";
import type { Gateway } from "../../../src/http/pipeline.ts";
import { createServer } from "../../../src/http/server.ts";
import { seedStrategies } from "../../../src/keys/seed.ts";
import { TradingPairs } from "../../../src/market/pairs.ts";
import { UNOBSERVED } from "../../../src/observability/request-context.ts";
import { Budgets } from "../../../src/rate-limits/budgets.ts";
import { Signals } from "../../../src/signals/signals.ts";
import type { Store } from "../../../src/store/store.ts";
import { newDirectory } from "./gateway.ts";

const SILENT = pino({ level: "silent" });

/**
 * On a new data directory unless said. `between` may stand before the store; `after` is what submissions are
 * timed with, and `timers` what latencies are.
 */
export async function openOwnGateway(
  markets: Gateway["markets"],
  wallNow: () => number,
  {
    dataDir = newDirectory(),
    databaseUrl = null,
    log = SILENT,
    counterfactuals = { isRunning: () => false },
    onSent,
    between = (opened) => opened,
    after,
    timers,
  }: {
    readonly dataDir?: string;
    readonly databaseUrl?: string | null;
    readonly log?: typeof SILENT;
    readonly counterfactuals?: Gateway["counterfactuals"];
    readonly onSent?: OnSent | undefined;
    readonly between?: (opened: Store) => Store;
    readonly after?: Timers["after"] | undefined;
    readonly timers?: Timers | undefined;
  } = {},
) {
  const { store: opened, master } = await openDataDirectory(dataDir, null, databaseUrl);
  const store = between(opened);
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  const more = { ...(onSent !== undefined && { onSent }), ...(timers !== undefined && { timers }) };
  const desk = new Desk({ store, markets, onStoreFailure, ...more, log });
  const timed = after === undefined ? {} : { after };
  const gateway: Gateway = {
    ...{ store, desk, markets, counterfactuals, master, wallNow, budgets: new Budgets() },
    signals: new Signals({ desk, store, wallNow, newSignalId: randomUUID, log: SILENT, ...timed }),
    pairs: new TradingPairs({ market: markets.SPOT, wallNow }),
    observer: UNOBSERVED,
    newClientOrderId: randomUUID,
  };
  return {
    gateway,
    dataDir,
    log,
    /** A new strategy, at the market time of now; under `standard` unless another profile is given. */
    async seed(type: StrategyType, profile?: FillProfile) {
      const marketNow = markets[type].now();
      const [seeded] = await seedStrategies(store, master, [type], wallNow(), { marketNow, profile });
      if (seeded === undefined) throw new Error("one strategy was asked for");
      return seeded;
    },
    /** Its server, and where that listens. */
    async serve(options: Partial<Parameters<typeof createServer>[1]> = {}) {
      const server = createServer(gateway, { log, ...options });
      return { server, url: await server.listen({ port: 0, host: "127.0.0.1" }) };
    },
    /** Once no server asks it any more. */
    async close() {
      await desk.drain();
      await store.close();
    },
  };
}
