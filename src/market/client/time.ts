// Time as an argument: what tells it and what waits for it. Only the edge of the program uses the system's own.

/** Tells a time in Unix ms. */
export type Clock = { now(): number };

/** Takes a callback back; harmless once it has run. */
export type Cancel = () => void;

export type Timers = {
  /** Calls back once, after `delayMs`. */
  after(delayMs: number, callback: () => void): Cancel;
  /** Calls back again and again, every `intervalMs`. */
  every(intervalMs: number, callback: () => void): Cancel;
};

/** Unix ms that never step back: ages and silences are measured with it, so a corrected system clock must not bend it. */
export const systemClock: Clock = { now: () => Math.trunc(performance.timeOrigin + performance.now()) };

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
export function waitAtMost(timers: Timers, waitMsMax: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.after(waitMsMax, resolve);
    promise.then(() => {
      cancel();
      resolve();
    });
  });
}
