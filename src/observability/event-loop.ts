// The delay of the event loop over the last one or two minutes, as the runtime measures it.
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Timers } from "../concurrency/time.ts";

/** How often the delay is measured, ms. */
const RESOLUTION_MS = 20;
/** The length of a period, ms. Until a period has enough measurements, `delay` reports the one before. */
export const EVENT_LOOP_PERIOD_MS = 60_000;
const MEASUREMENTS_MIN = 50;
const NANOSECONDS_PER_MS = 1_000_000;

/** ms. */
export type EventLoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };

export class EventLoop {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #stop: () => void;
  #before: EventLoopDelay = { p50: 0, p99: 0, max: 0 };

  constructor(every: Timers["every"]) {
    this.#histogram.enable();
    this.#stop = every(EVENT_LOOP_PERIOD_MS, () => {
      this.#before = this.#measured();
      this.#histogram.reset();
    });
  }

  delay(): EventLoopDelay {
    return this.#histogram.count < MEASUREMENTS_MIN && this.#before.max > 0 ? this.#before : this.#measured();
  }

  close(): void {
    this.#stop();
    this.#histogram.disable();
  }

  #measured(): EventLoopDelay {
    if (this.#histogram.count === 0) return this.#before;
    return {
      p50: delayMs(this.#histogram.percentile(50)),
      p99: delayMs(this.#histogram.percentile(99)),
      max: delayMs(this.#histogram.max),
    };
  }
}

/** What is measured is the time between two runs of the timer: the delay is what is beyond its interval. */
function delayMs(nanoseconds: number): number {
  const delay = nanoseconds / NANOSECONDS_PER_MS - RESOLUTION_MS;
  return Math.max(0, Math.round(delay * 100) / 100);
}
