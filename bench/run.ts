// One run of requests: its connections, the time in which it counts, how busy the sender was, and the end.
// The loads decide when to send.
import type { EventLoopUtilization } from "node:perf_hooks";
import { quantile, Samples } from "./statistics.ts";
import { WireConnection } from "./wire/wire.ts";

/** Sends one request; reports whether its answer was good, and its status. */
export type Exchange = (
  connection: WireConnection,
  onDone: (isGood: boolean, status: number) => void,
) => void;

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
  /** How many of the answers were no good ones but refused for the time being. */
  readonly shedShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The share of its time in which the sender had something to do. */
  readonly senderBusy: number;
  /** Open loop: by how much the sender itself was late, ms. */
  readonly senderLateP99Ms: number;
};

/** A run ends at the latest this long after its last request, ms. */
const ANSWERS_WAIT_MS = 10_000;
/** Number opened at once, so that a server's queue of new connections holds them. */
const OPENING_MAX = 256;

export class Run {
  readonly connections: readonly WireConnection[];
  /** Latencies of good answers. */
  readonly latencies = new Samples();
  shedCount = 0;
  readonly from: number;
  readonly until: number;
  hasEnded = false;
  /** Whether anything was sent or received since `heed` was called last. */
  hasWorked = false;
  #loopAtStart: EventLoopUtilization | null = null;
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

  static async open(load: Load): Promise<Run> {
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => {});
    const lost = (reason: string) => ended.reject(new Error(reason));
    const connections: WireConnection[] = [];
    while (connections.length < load.connections) {
      const count = Math.min(OPENING_MAX, load.connections - connections.length);
      const opening = Array.from({ length: count }, () => WireConnection.open(load.port, lost));
      connections.push(...(await Promise.all(opening)));
    }
    return new Run(load, connections, ended);
  }

  /** For a load that sends when answers come: how busy the sender is, the event loop knows. */
  waitsForAnswers(): void {
    const note = () => {
      this.#loopAtStart = performance.eventLoopUtilization();
    };
    note();
    setTimeout(note, this.from - performance.now());
  }

  /**
   * For a load that sends on time and never sleeps, to be called at every iteration of the event loop: an
   * iteration without work was idle.
   */
  heed(now: number): void {
    if (now <= this.from || now >= this.until) return;
    if (!this.hasWorked) this.#idleMs += now - this.#heededAt;
    this.hasWorked = false;
    this.#heededAt = now;
  }

  /** Whether this time is counted. */
  counts(at: number): boolean {
    return at >= this.from && at < this.until;
  }

  get senderBusy(): number {
    return this.#loopAtStart === null
      ? 1 - this.#idleMs / (this.#seconds * 1_000)
      : performance.eventLoopUtilization(this.#loopAtStart).utilization;
  }

  end(): void {
    this.hasEnded = true;
    this.#ended.resolve();
  }

  fail(reason: string): void {
    this.hasEnded = true;
    this.#ended.reject(new Error(reason));
  }

  /** Resolves at the end, with the connections closed; rejects if the run failed. */
  async whenEnded(): Promise<void> {
    try {
      await this.#ended.promise;
    } finally {
      this.hasEnded = true;
      clearTimeout(this.#deadline);
      for (const connection of this.connections) connection.close();
    }
  }

  async result(late: Samples): Promise<Loaded> {
    await this.whenEnded();
    const latencies = this.latencies.values();
    return {
      perSecond: latencies.length / this.#seconds,
      shedShare: this.shedCount / Math.max(1, latencies.length + this.shedCount),
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      senderBusy: this.senderBusy,
      senderLateP99Ms: late.count === 0 ? 0 : quantile(late.values(), 0.99),
    };
  }
}
