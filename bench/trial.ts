// One server under one sender: loads it, holds it to good answers, and keeps count of the orders it
// acknowledged.

import type { Sender } from "./processes/processes.ts";
import type { Probed } from "./sockets/probe.ts";
import { WS_API_PATH } from "./sockets/wire.ts";
import type { Loaded } from "./wire/load.ts";
import type { RequestKind, Target } from "./wire/requests.ts";
import type { SenderAnswer, SenderTask } from "./wire/sender.ts";

/** A measurement that is no figure, and why. */
export class MeasurementFailed extends Error {}

const SATURATING_CONNECTIONS = 96;
/** Enough that a request that is due never waits for a connection, unless the server stalls. */
const SCHEDULED_CONNECTIONS = 256;
/** More connections than a server that answers in time ever leaves waiting. */
export const OVERLOAD_CONNECTIONS = 4_096;

/** At most 160 orders a second: enough to time, and little beside the load. */
const PROBE_BESIDE_LOAD = { slots: 8, pauseMs: 50 };
/** Counted requests take no longer. */
const COUNT_SECONDS_MAX = 300;

/** How often a rate is tried that a machine busy with something else does not let the server carry. */
const TRIES_MAX = 3;

type TrialLoad = Pick<SenderTask, "connections" | "seconds" | "socketPath" | "probe"> &
  Partial<Pick<SenderTask, "warmSeconds">>;
type Server = { readonly port: number; readonly pid: number; isRunning(): boolean };

export class Trial {
  readonly server: Server;
  readonly #name: string;
  readonly #target: Target;
  readonly #sender: Sender;
  readonly #warmSeconds: number;
  /** Orders that were answered as filled, and signals as executed, those of the warming up included. */
  ordersAcknowledged = 0;
  signalsAcknowledged = 0;
  /** Loads that were repeated, since the server had fallen behind a rate that it can carry. */
  loadsRepeated = 0;

  constructor(parts: {
    name: string;
    target: Target;
    server: Server;
    sender: Sender;
    /** Load before each measurement, not counted. */
    warmSeconds: number;
  }) {
    this.server = parts.server;
    this.#name = parts.name;
    this.#target = parts.target;
    this.#sender = parts.sender;
    this.#warmSeconds = parts.warmSeconds;
  }

  /** The most that the server can do. */
  saturate(kind: RequestKind, seconds: number): Promise<Loaded> {
    return this.#run(kind, { name: "SATURATE" }, { connections: SATURATING_CONNECTIONS, seconds });
  }

  /** The most spot orders that the server can do over the WebSocket API. */
  saturateSockets(seconds: number): Promise<Loaded> {
    const load = { connections: SATURATING_CONNECTIONS, seconds, socketPath: WS_API_PATH };
    return this.#run("orders", { name: "SATURATE" }, load);
  }

  /** Times orders and their events: alone and one at a time, or some beside other orders at a rate. */
  async probe(seconds: number, perSecond: number | null): Promise<Probed> {
    const pace =
      perSecond === null ? ({ name: "IDLE" } as const) : ({ name: "SCHEDULE", perSecond } as const);
    const how = perSecond === null ? { slots: 1, pauseMs: 0 } : PROBE_BESIDE_LOAD;
    const load = { connections: SCHEDULED_CONNECTIONS, seconds, probe: how };
    const { probed } = await this.#answer("orders", pace, load);
    if (probed === null) throw new Error("a probed run is timed");
    return probed;
  }

  /** Open loop at a rate that the server can carry. */
  schedule(kind: RequestKind, seconds: number, perSecond: number): Promise<Loaded> {
    return this.#run(kind, { name: "SCHEDULE", perSecond }, { connections: SCHEDULED_CONNECTIONS, seconds });
  }

  /** Orders in an open loop at a rate that the server cannot carry. */
  overload(
    length: { readonly seconds: number; readonly warmSeconds: number },
    perSecond: number,
  ): Promise<Loaded> {
    const { seconds, warmSeconds } = length;
    const connections = OVERLOAD_CONNECTIONS;
    return this.#run("orders", { name: "OVERLOAD", perSecond }, { connections, seconds, warmSeconds });
  }

  /** A number of requests, each with the key that was idle longest. */
  async count(kind: RequestKind, requests: number): Promise<void> {
    const load = { connections: SATURATING_CONNECTIONS, seconds: COUNT_SECONDS_MAX };
    await this.#run(kind, { name: "COUNT", requests }, load);
  }

  async #run(kind: RequestKind, pace: SenderTask["pace"], load: TrialLoad): Promise<Loaded> {
    const { loaded } = await this.#answer(kind, pace, load);
    if (loaded === null) throw new Error("only an idle run has no load");
    return loaded;
  }

  async #answer(kind: RequestKind, pace: SenderTask["pace"], load: TrialLoad): Promise<SenderAnswer> {
    const { name, ...figures } = pace;
    const failed = (reason: string) => {
      const stopped = this.server.isRunning() ? "" : " (the server has stopped)";
      const rate = Object.values(figures).map(Math.round);
      return new MeasurementFailed(`${this.#name}, ${kind}, ${name} ${rate}: ${reason}${stopped}`);
    };
    const task = { warmSeconds: this.#warmSeconds, ...load, port: this.server.port, pid: this.server.pid };
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const answer = await this.#sender.run({ ...task, target: this.#target, kind, pace });
      if (kind === "signals") this.signalsAcknowledged += answer.goodCount;
      else if (kind !== "reads") this.ordersAcknowledged += answer.goodCount;
      if (answer.failure !== null) throw failed(answer.failure);
      if (answer.loaded?.isBehind !== true) return answer;
      this.loadsRepeated += 1;
    }
    throw failed(`the server could not carry it, ${TRIES_MAX} times`);
  }
}
