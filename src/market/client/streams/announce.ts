// Calls listeners, and isolates an error in one of them from the others and from the feed.
import type { Clock } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";

export type Listener<Value> = (value: Value) => void;

export type Announcer = {
  /** Calls every listener in order. The list must not be changed in place: replace it. */
  announce<Value>(listeners: readonly Listener<Value>[], value: Value): void;
  /** The same for listeners of several calls: `call` makes the one that is due. */
  each<Each>(listeners: readonly Each[], call: (listener: Each) => void): void;
  /** How many calls have thrown. */
  faults(): number;
};

/** A listener that throws at every quote shall not fill the log. */
const logIntervalMs = 10_000;

export function createAnnouncer(log: Log, clock: Clock): Announcer {
  let faults = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function caught(error: unknown): void {
    faults += 1;
    if (clock.now() - loggedAt < logIntervalMs) return;
    loggedAt = clock.now();
    log.error({ err: error, faults }, "a listener of the market feed has thrown");
  }

  function each<Each>(listeners: readonly Each[], call: (listener: Each) => void): void {
    for (const listener of listeners) {
      try {
        call(listener);
      } catch (error) {
        caught(error);
      }
    }
  }

  return {
    announce: (listeners, value) => each(listeners, (listener) => listener(value)),
    each,
    faults: () => faults,
  };
}
