// Time as an argument: clocks and timers. Only the edge of the program uses the system's own.

/** A time in Unix ms. */
export type Clock = { now(): number };

/** Takes a callback back; harmless once it has run. */
export type Cancel = () => void;

export type Timers = {
  /** Calls back once, after `delayMs`. */
  after(delayMs: number, callback: () => void): Cancel;
  /** Calls back again and again, every `intervalMs`. */
  every(intervalMs: number, callback: () => void): Cancel;
};

/** How far the wall clock may run ahead of the monotonic one between two readings before it is believed. */
export const jumpMsMax = 5_000;

/**
 * Unix ms that never step back: ages and silences are measured with it, so a correction of the system clock
 * must not affect it.
 *
 * The monotonic clock stops while the machine sleeps, and old quotes would look fresh afterwards. So a wall
 * clock that has jumped ahead of it counts as time passed. Known limit: an operator who sets the clock ahead
 * causes the same: quotes are silent until their next message.
 */
export function createSteadyClock(monotonic: Clock, wall: Clock): Clock {
  let sleptMs = 0;
  let aheadMs = wall.now() - monotonic.now();
  return {
    now() {
      const at = monotonic.now();
      const nowAheadMs = wall.now() - at;
      const leaptMs = nowAheadMs - aheadMs;
      aheadMs = nowAheadMs;
      if (leaptMs > jumpMsMax) sleptMs += leaptMs;
      return Math.trunc(at + sleptMs);
    },
  };
}

export const systemClock: Clock = createSteadyClock(
  { now: () => performance.timeOrigin + performance.now() },
  { now: () => Date.now() },
);

export const systemTimers: Timers = {
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  every(intervalMs, callback) {
    const timer = setInterval(callback, intervalMs);
    return () => clearInterval(timer);
  },
};

/** Resolves with `promise` or after `waitMsMax`, whichever comes first. `promise` must not reject. */
export function waitAtMost(
  { after }: Pick<Timers, "after">,
  waitMsMax: number,
  promise: Promise<void>,
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(waitMsMax, resolve);
    void promise.then(() => {
      cancel();
      resolve();
    });
  });
}
