// Open loop beyond the server's capacity. Requests are due on schedule, regardless of earlier outcomes, each
// from an independent client: one without an idle connection is given up at once, as by a client that still
// waits for its last answer. These clients are the worst case: they ignore Retry-After.

import { type Exchange, type Load, Run } from "../run.ts";
import { quantile, Samples } from "../statistics.ts";
import { exponentialGaps } from "./arrivals.ts";
import type { WireConnection } from "./wire.ts";

/** An order that is acknowledged later than this after it was due has come too late, ms. */
export const IN_TIME_MS = 1_000;
/** Number of requests between two reads of the answers. */
const SENT_AT_ONCE_MAX = 64;

/** Counts are of the requests that were due in the measured time. */
export type Overloaded = {
  readonly offeredPerSecond: number;
  /** Acknowledged in time. */
  readonly goodPerSecond: number;
  readonly due: number;
  readonly inTime: number;
  /** Acknowledged, but too late. */
  readonly late: number;
  /** Every connection waited for an answer when they were due. */
  readonly unsent: number;
  /** Refused for the time being, by status. */
  readonly shed: Readonly<Record<string, number>>;
  /** From due to acknowledged, of all that were, the late ones too; NaN of none. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From due to refused; NaN of none. */
  readonly shedP99Ms: number;
  readonly senderBusy: number;
  /** How long requests that were due with a connection idle waited for the sender, ms. */
  readonly senderLateP99Ms: number;
};

export async function overload(
  load: Load & { readonly perSecond: number },
  exchange: Exchange,
): Promise<Overloaded> {
  const run = await Run.open(load);
  const { until, latencies } = run;
  const idle = new Queue<WireConnection>();
  const shedLatencies = new Samples();
  const senderLate = new Samples();
  const shed: Record<string, number> = {};
  const gap = exponentialGaps(1_000 / load.perSecond);
  let nextAt = performance.now();
  let underWay = 0;
  let due = 0;
  let inTime = 0;
  let unsent = 0;
  for (const connection of run.connections) idle.add(connection);

  const send = (connection: WireConnection, dueAt: number): void => {
    const isCounted = run.counts(dueAt);
    if (isCounted) senderLate.add(performance.now() - dueAt);
    underWay += 1;
    exchange(connection, (isGood, status) => {
      underWay -= 1;
      run.hasWorked = true;
      const now = performance.now();
      idle.add(connection);
      if (!isCounted) return;
      const tookMs = now - dueAt;
      if (!isGood) {
        shed[status] = (shed[status] ?? 0) + 1;
        shedLatencies.add(tookMs);
        return;
      }
      latencies.add(tookMs);
      if (tookMs <= IN_TIME_MS) inTime += 1;
    });
  };
  const poll = (): void => {
    if (run.hasEnded) return;
    const now = performance.now();
    run.heed(now);
    for (let sent = 0; sent < SENT_AT_ONCE_MAX && nextAt <= now && nextAt < until; nextAt += gap()) {
      const isCounted = run.counts(nextAt);
      if (isCounted) due += 1;
      const connection = idle.take();
      if (connection === undefined) {
        if (isCounted) unsent += 1;
        continue;
      }
      send(connection, nextAt);
      sent += 1;
      run.hasWorked = true;
    }
    if (nextAt >= until && underWay === 0) run.end();
    else setImmediate(poll);
  };
  poll();
  await run.whenEnded();
  return {
    offeredPerSecond: due / load.seconds,
    goodPerSecond: inTime / load.seconds,
    due,
    inTime,
    late: latencies.count - inTime,
    unsent,
    shed,
    p50Ms: quantile(latencies.values(), 0.5),
    p99Ms: quantile(latencies.values(), 0.99),
    shedP99Ms: quantile(shedLatencies.values(), 0.99),
    senderBusy: run.senderBusy,
    senderLateP99Ms: quantile(senderLate.values(), 0.99),
  };
}

/** First in, first out; taking costs the same however many there are. */
class Queue<Entry> {
  #entries: Entry[] = [];
  #firstAt = 0;

  get first(): Entry | undefined {
    return this.#entries[this.#firstAt];
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  take(): Entry | undefined {
    const { first } = this;
    if (first === undefined) return undefined;
    this.#firstAt += 1;
    if (this.#firstAt * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#firstAt);
      this.#firstAt = 0;
    }
    return first;
  }
}
