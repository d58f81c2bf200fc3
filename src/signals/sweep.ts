// Finishes signals that were received and not executed: those whose market was silent, and those of a process
// that died between recording and executing. Once a second it claims what is due, drives it, and repeats
// until nothing is due. A server sweeps the slots that it owns. Claims avoid concurrent work on a signal,
// such as by the request that it came with, and the desk's key prevents a second execution. Known limit: if
// an operator sets the clock back, pending signals wait that much longer. Source: specification 3.1 and 8.2
// (swept within about two minutes).
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import { type Timers, waitAtMost } from "../concurrency/time.ts";
import type { Signal } from "../domain/signal.ts";
import type { SignalStore } from "../store/ports/signals.ts";
import { budgetRefusal, CLAIM_MS, type Signals } from "./signals.ts";

/** Interval of the sweep, ms. */
export const SWEEP_MS = 1_000;
/** Signals that are claimed at a time. */
export const CLAIMED_MAX = 100;
/**
 * Maximum wait of the sweep for the signals that it has claimed, ms: those of a slow strategy are then driven
 * further beside the next ones. The queues of the desk bound their number.
 */
export const DRIVING_WAIT_MS_MAX = 1_000;

export function createSignalSweep({
  signals,
  store,
  slots,
  wallNow,
  every,
  after,
  log,
}: {
  readonly signals: Pick<Signals, "drive">;
  readonly store: Pick<SignalStore, "claimSignals">;
  /** The slots of this server; undefined where it owns all. */
  readonly slots?: (() => ReadonlySet<number>) | undefined;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly every: Timers["every"];
  readonly after: Timers["after"];
  readonly log: Pick<Logger, "error">;
}): Pick<PeriodicTask, "run" | "close"> {
  /** By signal: what is driven now. */
  const driving = new Map<string, Promise<void>>();

  async function claim(): Promise<readonly Signal[]> {
    const now = wallNow();
    return await store.claimSignals({ now, until: now + CLAIM_MS, limit: CLAIMED_MAX, slots: slots?.() });
  }

  async function drive(signal: Signal): Promise<void> {
    try {
      // It was counted as a placement when it was submitted. If that is what failed, it counts as one of now.
      await signals.drive(signal, budgetRefusal(signal) === null ? undefined : wallNow());
    } catch (error) {
      const { signalId, strategyId } = signal;
      log.error({ err: error, signalId, strategyId }, "a signal could not be driven; it is tried again");
    }
  }

  /** A signal whose claim has run out while it is driven is not driven twice at the same time. */
  function start(signal: Signal): Promise<void> | null {
    const { signalId } = signal;
    if (driving.has(signalId)) return null;
    const driven = drive(signal).finally(() => driving.delete(signalId));
    driving.set(signalId, driven);
    return driven;
  }

  const sweep: PeriodicTask = new PeriodicTask({
    every,
    intervalMs: SWEEP_MS,
    async task() {
      for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) {
        const started = Promise.all(claimed.map(start)).then(() => {});
        await waitAtMost({ after }, DRIVING_WAIT_MS_MAX, started);
        if (sweep.isClosed || claimed.length < CLAIMED_MAX) return;
      }
    },
    onError: (error) => log.error({ err: error }, "pending signals could not be claimed; it is tried again"),
  });
  return {
    run: () => sweep.run(),
    async close() {
      await sweep.close();
      await Promise.all(driving.values());
    },
  };
}
