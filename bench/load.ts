// Two ways to load a server.
//
//   saturate   closed loop: every connection sends its next request when the last one is answered. Finds the most that
//              the server can do; its latencies say little, since a slow server is asked less.
//   schedule   open loop: requests are due at times that do not depend on the answers, as those of many clients are
//              (exponential gaps). Latency counts from the time a request was due, so a stall is paid for by everything
//              that was due meanwhile.

import { quantile, Samples } from "./statistics.ts";
import { WireConnection } from "./wire.ts";

/** Sends one request and says whether its answer was good. */
export type Exchange = (connection: WireConnection, onDone: (isGood: boolean) => void) => void;

export type Load = {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Load before the measurement, not counted. */
  readonly warmSeconds: number;
};

export type Loaded = {
  /** Good answers per second. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The share of its time in which the sender had something to do. */
  readonly senderBusy: number;
  /** Open loop: by how much the sender itself was late, ms. */
  readonly senderLateP99Ms: number;
};

/** A run ends at the latest this long after its last request, ms. */
const ANSWERS_WAIT_MS = 10_000;
/** An open-loop server that is this far behind cannot carry the load. */
const BACKLOG_MAX = 5_000;

export async function saturate(load: Load, exchange: Exchange): Promise<Loaded> {
  const run = await Run.open(load);
  const { from, until, latencies } = run;
  let underWay = 0;
  const next = (connection: WireConnection): void => {
    const sentAt = performance.now();
    if (sentAt >= until) return;
    underWay += 1;
    exchange(connection, (isGood) => {
      underWay -= 1;
      run.hasWorked = true;
      const now = performance.now();
      if (now >= from && now < until && isGood) latencies.add(now - sentAt);
      if (now < until) next(connection);
      else if (underWay === 0) run.end();
    });
  };
  for (const connection of run.connections) next(connection);
  const poll = (): void => {
    run.heed(performance.now());
    if (!run.hasEnded) setImmediate(poll);
  };
  poll();
  return await run.result(new Samples());
}

export async function schedule(
  load: Load & { readonly perSecond: number },
  exchange: Exchange,
): Promise<Loaded> {
  const run = await Run.open(load);
  const { from, until, latencies } = run;
  const late = new Samples();
  const idle = [...run.connections];
  const gap = exponentialGaps(1_000 / load.perSecond);
  let due: number[] = [];
  let nextAt = performance.now();
  let underWay = 0;

  const send = (connection: WireConnection, dueAt: number): void => {
    underWay += 1;
    exchange(connection, (isGood) => {
      underWay -= 1;
      run.hasWorked = true;
      if (dueAt >= from && isGood) latencies.add(performance.now() - dueAt);
      idle.push(connection);
    });
  };
  const poll = (): void => {
    if (run.hasEnded) return;
    const now = performance.now();
    run.heed(now);
    for (; nextAt <= now && nextAt < until; nextAt += gap()) {
      due.push(nextAt);
      if (nextAt >= from) late.add(now - nextAt);
    }
    let sent = 0;
    for (const dueAt of due) {
      const connection = idle.pop();
      if (connection === undefined) break;
      send(connection, dueAt);
      sent += 1;
    }
    if (sent > 0) {
      due = due.slice(sent);
      run.hasWorked = true;
    }
    if (due.length > BACKLOG_MAX) run.fail(`the server could not carry ${Math.round(load.perSecond)}/s`);
    else if (now >= until && due.length === 0 && underWay === 0) run.end();
    else setImmediate(poll);
  };
  poll();
  return await run.result(late);
}

/** The parts that both have: connections, the measured time, the end. */
class Run {
  readonly connections: readonly WireConnection[];
  readonly latencies = new Samples();
  readonly from: number;
  readonly until: number;
  hasEnded = false;
  /** Whether anything was sent or received since `heed` was called last. */
  hasWorked = false;
  readonly #ended: PromiseWithResolvers<void>;
  readonly #seconds: number;
  readonly #deadline: NodeJS.Timeout;
  #heededAt: number;
  #idleMs = 0;

  private constructor(load: Load, connections: readonly WireConnection[], ended: PromiseWithResolvers<void>) {
    this.connections = connections;
    this.#ended = ended;
    this.#seconds = load.seconds;
    this.from = performance.now() + load.warmSeconds * 1_000;
    this.until = this.from + load.seconds * 1_000;
    const runMs = this.until - performance.now();
    this.#deadline = setTimeout(() => this.fail("answers were missing"), runMs + ANSWERS_WAIT_MS);
    this.#heededAt = this.from;
  }

  /** Called at every turn of the event loop: a turn in which nothing happened was idle. */
  heed(now: number): void {
    if (now <= this.from || now >= this.until) return;
    if (!this.hasWorked) this.#idleMs += now - this.#heededAt;
    this.hasWorked = false;
    this.#heededAt = now;
  }

  static async open(load: Load): Promise<Run> {
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => {});
    const lost = (reason: string) => ended.reject(new Error(reason));
    const opening = Array.from({ length: load.connections }, () => WireConnection.open(load.port, lost));
    return new Run(load, await Promise.all(opening), ended);
  }

  end(): void {
    this.hasEnded = true;
    this.#ended.resolve();
  }

  fail(reason: string): void {
    this.hasEnded = true;
    this.#ended.reject(new Error(reason));
  }

  async result(late: Samples): Promise<Loaded> {
    try {
      await this.#ended.promise;
    } finally {
      this.hasEnded = true;
      clearTimeout(this.#deadline);
      for (const connection of this.connections) connection.close();
    }
    const latencies = this.latencies.values();
    return {
      perSecond: latencies.length / this.#seconds,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      senderBusy: 1 - this.#idleMs / (this.#seconds * 1_000),
      senderLateP99Ms: late.count === 0 ? 0 : quantile(late.values(), 0.99),
    };
  }
}

/** Gaps of a Poisson process, the same ones at every run (mulberry32). */
function exponentialGaps(mean: number): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const uniform = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return -mean * Math.log(1 - uniform);
  };
}
