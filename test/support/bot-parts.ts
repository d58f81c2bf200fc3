// The dependencies of a test's own gateway for the bot routes, without observability.
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import type { Timers } from "../../src/concurrency/time.ts";
import type { Desk } from "../../src/desk/desk.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { TradingPairs } from "../../src/market/pairs.ts";
import { UNOBSERVED } from "../../src/observability/sighting.ts";
import { Signals } from "../../src/signals/signals.ts";
import type { Store } from "../../src/store/store.ts";

export function botParts(parts: {
  readonly desk: Desk;
  readonly store: Store;
  readonly market: MarketFeed;
  readonly wallNow: () => number;
  /** The system's timers unless said. */
  readonly after?: Timers["after"];
}) {
  const { desk, store, market, wallNow, after } = parts;
  const log = pino({ level: "silent" });
  return {
    signals: new Signals({ desk, store, wallNow, newSignalId: randomUUID, log, ...(after && { after }) }),
    pairs: new TradingPairs({ market, wallNow }),
    observer: UNOBSERVED,
  };
}
