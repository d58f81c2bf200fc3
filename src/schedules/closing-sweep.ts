// Finishes closings: a strategy that could not be closed at once, since a market of its holdings was silent,
// is closed as soon as that market is back, also after a restart.
// Each sweep reads them from the store and tries those in slots of this server. Two servers that try the same
// one do no harm: one of them closes it, and the other is refused.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Desk } from "../desk/desk.ts";
import type { TradingStore } from "../store/ports/trading.ts";

/** How often the strategies that are being closed are tried again, ms. */
const INTERVAL_MS = 2_000;

export function createClosingSweep({
  desk,
  store,
  owns,
  every,
  log,
}: {
  readonly desk: Pick<Desk, "execute">;
  readonly store: Pick<TradingStore, "listClosingStrategies">;
  /** Whether a strategy is in a slot of this server. */
  readonly owns: (strategyId: string) => boolean;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "error">;
}): PeriodicTask {
  async function tryToClose(strategyId: string): Promise<void> {
    try {
      await desk.execute(strategyId, { type: "CloseStrategy" });
    } catch (error) {
      log.error({ err: error, strategyId }, "a strategy could not be closed; it is tried again");
    }
  }

  const sweep: PeriodicTask = new PeriodicTask({
    every,
    intervalMs: INTERVAL_MS,
    async task() {
      for (const strategyId of await store.listClosingStrategies()) {
        if (!sweep.isClosed && owns(strategyId)) await tryToClose(strategyId);
      }
    },
    onError: (error) =>
      log.error({ err: error }, "strategies that are being closed could not be listed; it is tried again"),
  });
  return sweep;
}
