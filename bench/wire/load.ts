// One run of requests over connections to one server, in one of four paces. SATURATE: a connection sends its
// next request when the last one is answered, which finds the most that the server can do. SCHEDULE: requests
// are due at times that do not depend on the answers (exponential gaps), and latency counts from those, so it
// includes waiting behind a stall. OVERLOAD: SCHEDULE beyond what the server can carry; a request that finds
// no idle connection is not sent. COUNT: as SATURATE, until a number of answers were good.
import type { EventLoopUtilization } from "node:perf_hooks";
import { countCores } from "../processes/machine.ts";
import { SocketConnection } from "../sockets/wire.ts";
import { quantile, Samples } from "../statistics.ts";
import { type OnLost, WireConnection } from "./wire.ts";

export type Pace =
  | { readonly name: "SATURATE" }
  | { readonly name: "SCHEDULE" | "OVERLOAD"; readonly perSecond: number }
  | { readonly name: "COUNT"; readonly requests: number };

/** Carries one request at a time. */
export type RequestConnection = Pick<WireConnection, "send" | "close">;

/** Sends one request and passes on whether its answer was good, and its status. */
export type Exchange = (
  connection: RequestConnection,
  onDone: (isGood: boolean, status: number) => void,
) => void;

export type Load = {
  readonly port: number;
  /** The process of the server. */
  readonly pid: number;
  /** The path of the WebSocket API that requests are sent to; HTTP if there is none. */
  readonly socketPath?: string;
  readonly connections: number;
  readonly seconds: number;
  /** Load before the measurement, not counted. */
  readonly warmSeconds: number;
};

/** Counts and latencies are of the requests of the measured time. */
export type Loaded = Awaited<ReturnType<Run["result"]>>;

/** An order that is acknowledged later than this after it was due has come too late, ms. */
export const IN_TIME_MS = 1_000;
/** A run ends at the latest this long after its last request, ms. */
const ANSWERS_WAIT_MS = 10_000;
/** Connections opened at once: the server's queue of new connections holds them. */
const OPENING_MAX = 256;
/** Answers are read after this many requests. */
const SENT_AT_ONCE_MAX = 64;
/** A server that is further behind a SCHEDULE does not carry it, ms: nothing more is sent. */
export const BACKLOG_MS_MAX = 2_000;

export async function run(load: Load, pace: Pace, exchange: Exchange): Promise<Loaded> {
  const measured = await Run.open(load);
  if (pace.name === "SATURATE" || pace.name === "COUNT") closedLoop(measured, pace, exchange);
  else openLoop(measured, pace, exchange);
  return await measured.result();
}

function closedLoop(
  run: Run,
  pace: Pace & { readonly name: "SATURATE" | "COUNT" },
  exchange: Exchange,
): void {
  run.measureProcessors();
  let left = pace.name === "COUNT" ? pace.requests : Number.POSITIVE_INFINITY;
  let inFlight = 0;
  const next = (connection: RequestConnection): void => {
    const sentAt = performance.now();
    if (left === 0 || (pace.name === "SATURATE" && sentAt >= run.until)) {
      if (inFlight === 0) run.end();
      return;
    }
    left -= 1;
    inFlight += 1;
    exchange(connection, (isGood, status) => {
      inFlight -= 1;
      if (!isGood) left += 1;
      const now = performance.now();
      if (run.counts(now)) run.add(isGood, status, now - sentAt);
      next(connection);
    });
  };
  for (const connection of run.connections) next(connection);
}

function openLoop(
  run: Run,
  { name, perSecond }: Pace & { readonly perSecond: number },
  exchange: Exchange,
): void {
  const idle = [...run.connections];
  const gap = exponentialGaps(1_000 / perSecond);
  let nextAt = performance.now();
  let inFlight = 0;
  /** When a request last waited for a connection: the delay of requests due before is not the sender's. */
  let waitedAt = 0;
  const send = (connection: RequestConnection, dueAt: number): void => {
    const isCounted = run.counts(dueAt);
    if (isCounted && dueAt > waitedAt) run.senderLate.add(performance.now() - dueAt);
    inFlight += 1;
    run.hasWorked = true;
    exchange(connection, (isGood, status) => {
      inFlight -= 1;
      run.hasWorked = true;
      idle.push(connection);
      if (isCounted) run.add(isGood, status, performance.now() - dueAt);
    });
  };
  const poll = (): void => {
    if (run.hasEnded) return;
    const now = performance.now();
    run.noteIdleTime(now);
    let sent = 0;
    while (sent < SENT_AT_ONCE_MAX && nextAt <= now && nextAt < run.until) {
      const connection = idle.pop();
      if (connection === undefined && name === "SCHEDULE") {
        waitedAt = now;
        break;
      }
      const isCounted = run.counts(nextAt);
      if (isCounted) run.due += 1;
      if (connection !== undefined) {
        send(connection, nextAt);
        sent += 1;
      } else if (isCounted) run.unsent += 1;
      nextAt += gap();
    }
    if (nextAt >= run.until && inFlight === 0) run.end();
    else {
      if (name === "SCHEDULE" && now - nextAt > BACKLOG_MS_MAX && nextAt < run.until) {
        run.isBehind = true;
        nextAt = run.until;
      }
      setImmediate(poll);
    }
  };
  poll();
}

/** Gaps of a Poisson process with this mean, the same ones at every run (mulberry32). */
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

/** The connections of a run, the time in which it counts, what it counted, and how busy the sender was. */
class Run {
  readonly connections: readonly RequestConnection[];
  readonly senderLate = new Samples();
  due = 0;
  unsent = 0;
  isBehind = false;
  readonly from: number;
  readonly until: number;
  hasEnded = false;
  /** Whether anything was sent or received since the last `noteIdleTime`. */
  hasWorked = false;
  readonly #good = new Samples();
  readonly #shedLatencies = new Samples();
  readonly #shed: Record<string, number> = {};
  #inTime = 0;
  #loopAtStart: EventLoopUtilization | null = null;
  #coresUsed: () => number | null = () => null;
  readonly #pid: number;
  readonly #ended: PromiseWithResolvers<void>;
  readonly #seconds: number;
  readonly #deadline: NodeJS.Timeout;
  #notedAt: number;
  #idleMs = 0;

  private constructor(
    load: Load,
    connections: readonly RequestConnection[],
    ended: PromiseWithResolvers<void>,
  ) {
    this.connections = connections;
    this.#ended = ended;
    this.#seconds = load.seconds;
    this.#pid = load.pid;
    this.from = performance.now() + load.warmSeconds * 1_000;
    this.until = this.from + load.seconds * 1_000;
    const runMs = this.until - performance.now();
    this.#deadline = setTimeout(() => this.fail("answers were missing"), runMs + ANSWERS_WAIT_MS);
    this.#notedAt = this.from;
  }

  static async open(load: Load): Promise<Run> {
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => {});
    const lost = (reason: string) => ended.reject(new Error(reason));
    const connections: RequestConnection[] = [];
    while (connections.length < load.connections) {
      const count = Math.min(OPENING_MAX, load.connections - connections.length);
      const opening = Array.from({ length: count }, () => open(load, lost));
      connections.push(...(await Promise.all(opening)));
    }
    return new Run(load, connections, ended);
  }

  /** A sender that waits for answers sleeps: the event loop measures how busy it is. */
  measureProcessors(): void {
    const start = () => {
      this.#loopAtStart = performance.eventLoopUtilization();
      this.#coresUsed = countCores(this.#pid);
    };
    start();
    setTimeout(start, this.from - performance.now());
  }

  /**
   * A sender that polls never sleeps: an iteration of the event loop without sending and receiving was idle.
   */
  noteIdleTime(now: number): void {
    if (now <= this.from || now >= this.until) return;
    if (!this.hasWorked) this.#idleMs += now - this.#notedAt;
    this.hasWorked = false;
    this.#notedAt = now;
  }

  /** Whether this time is in the measured time. */
  counts(at: number): boolean {
    return at >= this.from && at < this.until;
  }

  add(isGood: boolean, status: number, tookMs: number): void {
    if (isGood) {
      this.#good.add(tookMs);
      if (tookMs <= IN_TIME_MS) this.#inTime += 1;
    } else {
      this.#shed[status] = (this.#shed[status] ?? 0) + 1;
      this.#shedLatencies.add(tookMs);
    }
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
  async result() {
    let serverCores: number | null = null;
    try {
      await this.#ended.promise;
    } finally {
      this.hasEnded = true;
      serverCores = this.#coresUsed();
      clearTimeout(this.#deadline);
      for (const connection of this.connections) connection.close();
    }
    const good = this.#good.values();
    const shed = this.#shedLatencies.values();
    return {
      /** Good answers per second. */
      perSecond: good.length / this.#seconds,
      /** Good answers within `IN_TIME_MS` per second. */
      goodPerSecond: this.#inTime / this.#seconds,
      /** Open loop: requests that were due. */
      due: this.due,
      offeredPerSecond: this.due / this.#seconds,
      inTime: this.#inTime,
      /** Good, but too late. */
      late: good.length - this.#inTime,
      /** OVERLOAD: every connection waited for an answer when they were due. */
      unsent: this.unsent,
      /** SCHEDULE: the server did not carry it. There is no figure. */
      isBehind: this.isBehind,
      /** Rejected for the time being, by status. */
      shed: this.#shed,
      shedShare: shed.length / Math.max(1, good.length + shed.length),
      /** Of good answers. */
      p50Ms: quantile(good, 0.5),
      p99Ms: quantile(good, 0.99),
      shedP99Ms: quantile(shed, 0.99),
      /** The share of its time in which the sender had something to do. */
      senderBusy:
        this.#loopAtStart === null
          ? 1 - this.#idleMs / (this.#seconds * 1_000)
          : performance.eventLoopUtilization(this.#loopAtStart).utilization,
      /**
       * Closed loop: cores that the server used in the measured time; null where the system does not tell.
       */
      serverCores,
      /** Open loop: by how much the sender itself was late, ms. */
      senderLateP99Ms: this.senderLate.count === 0 ? 0 : quantile(this.senderLate.values(), 0.99),
    };
  }
}

function open({ port, socketPath }: Load, onLost: OnLost): Promise<RequestConnection> {
  if (socketPath === undefined) return WireConnection.open(port, onLost);
  const onMessage = () => onLost("the server sent what was not requested");
  return SocketConnection.open({ port, path: socketPath }, { onMessage, onLost });
}
