// How long a connection waits before its next attempt to connect, and how many attempts there may be.
import { createPacer } from "../../../concurrency/pacer.ts";
import type { Clock, Timers } from "../../../concurrency/time.ts";

const firstRetryMs = 100;
const baseDelayMs = 1_000;
/** Most outages are short, and every market order waits for the end of one. */
const earlyOutageMs = 120_000;
const earlyDelayMsMax = 3_000;
const delayMsMax = 30_000;
/**
 * A delay is spread over ± this share of itself, so that a thousand clients do not come back in one instant.
 */
const randomisation = 0.5;

type ReconnectOptions = {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
};

/**
 * The delays of one connection. The first retry after a connection that had been good is quick, since a
 * single drop is usually nothing. The next delays double from one second: up to 3 seconds in the first two
 * minutes of an outage, up to 30 seconds after that. The bound depends on the age of the outage.
 */
export class ReconnectDelays {
  readonly #options: ReconnectOptions;
  /** When the outage began; null while the connection is good. */
  #since: number | null = null;
  /** Without its spread. */
  #delayMs = 0;

  constructor(options: ReconnectOptions) {
    this.#options = options;
  }

  /** The delay in ms after a connection was lost, or an attempt has failed. */
  next(): number {
    const now = this.#options.clock.now();
    const share = 1 - randomisation + 2 * randomisation * this.#options.random();
    if (this.#since === null) {
      this.#since = now;
      this.#delayMs = firstRetryMs;
      return Math.round(firstRetryMs * share);
    }
    const maxMs = now - this.#since < earlyOutageMs ? earlyDelayMsMax : delayMsMax;
    this.#delayMs = Math.min(maxMs, Math.max(baseDelayMs, this.#delayMs * 2));
    return Math.min(maxMs, Math.round(this.#delayMs * share));
  }

  /** Whether a connection was lost, or an attempt failed, since one that lasted. */
  get isInOutage(): boolean {
    return this.#since !== null;
  }

  /** The connection has lasted: its next loss begins another outage. */
  reset(): void {
    this.#since = null;
  }
}

/** How many retries follow each other at once after a quiet time, and the pause between later ones, ms. */
type RetryPace = { readonly atOnce: number; readonly pauseMs: number };

/**
 * The pace of all connections to one host, apart for those of trading, which clients must not delay: at most
 * 171 and 52 retries in five minutes. The exchange takes 300 attempts; first connections and change-overs, of
 * which twelve connections make at most 72, have the rest. Source: reference exchange, section 17.1.
 */
export const retryPaces = {
  trading: { atOnce: 21, pauseMs: 2_000 },
  clients: { atOnce: 12, pauseMs: 7_500 },
} as const satisfies Readonly<Record<string, RetryPace>>;

/** Begins retries of connections at a pace. */
export type Retries = { readonly begin: (connect: () => Promise<void>) => void; readonly close: () => void };

export function createRetries({ atOnce, pauseMs }: RetryPace, wallClock: Clock, timers: Timers): Retries {
  const pacer = createPacer({
    atATimeMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY, // One retry a connection.
    burstMs: (atOnce - 1) * pauseMs,
    wallClock,
    timers,
  });
  return { begin: (connect) => void pacer.run(connect, pauseMs), close: pacer.close };
}
