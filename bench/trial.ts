// One server under one sender: loads it, holds it to good answers, and keeps count of the orders it
// acknowledged.

import type { Sender } from "./processes/processes.ts";
import type { Loaded } from "./run.ts";
import type { Overloaded } from "./wire/overload.ts";
import type { RequestKind, Target } from "./wire/requests.ts";
import type { Pace, SenderAnswer } from "./wire/sender.ts";

/** A measurement that is no figure, and why. */
export class MeasurementFailed extends Error {}

const SATURATING_CONNECTIONS = 96;
/** Enough that a request that is due never waits for a connection, unless the server stalls. */
const SCHEDULED_CONNECTIONS = 256;
/** More connections than a server that answers in time ever leaves waiting. */
export const OVERLOAD_CONNECTIONS = 4_096;

/** Counted requests take no longer. */
const COUNT_SECONDS_MAX = 300;

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
  async saturate(kind: RequestKind, seconds: number): Promise<Loaded> {
    const pace: Pace = { name: "SATURATE" };
    return loadedOf(await this.#run(kind, pace, { connections: SATURATING_CONNECTIONS, seconds }));
  }

  /** Open loop at a rate that the server can carry. */
  async schedule(kind: RequestKind, seconds: number, perSecond: number): Promise<Loaded> {
    const pace: Pace = { name: "SCHEDULE", perSecond };
    return loadedOf(await this.#run(kind, pace, { connections: SCHEDULED_CONNECTIONS, seconds }));
  }

  /** Orders in an open loop at a rate that the server cannot carry. */
  async overload(
    length: { readonly seconds: number; readonly warmSeconds: number },
    perSecond: number,
  ): Promise<Overloaded> {
    const pace: Pace = { name: "OVERLOAD", perSecond };
    const { seconds, warmSeconds } = length;
    const connections = OVERLOAD_CONNECTIONS;
    const { overloaded } = await this.#run("orders", pace, { connections, seconds, warmSeconds });
    if (overloaded === null) throw new Error("an overload is measured");
    return overloaded;
  }

  /** This many requests, each with the key that was idle longest. */
  async count(kind: RequestKind, requests: number): Promise<void> {
    const pace: Pace = { name: "COUNT", requests };
    await this.#run(kind, pace, { connections: SATURATING_CONNECTIONS, seconds: COUNT_SECONDS_MAX });
  }

  async #run(
    kind: RequestKind,
    pace: Pace,
    {
      warmSeconds = this.#warmSeconds,
      ...load
    }: { connections: number; seconds: number; warmSeconds?: number },
  ): Promise<SenderAnswer> {
    const { port } = this.server;
    const answer = await this.#sender.run({ ...load, warmSeconds, port, target: this.#target, kind, pace });
    if (kind === "signals") this.signalsAcknowledged += answer.goodCount;
    else if (kind !== "reads") this.ordersAcknowledged += answer.goodCount;
    if (answer.failure !== null) {
      const gone = this.server.isRunning() ? "" : " (it has stopped)";
      throw new MeasurementFailed(`${this.#name}, ${kind}, ${paceText(pace)}: ${answer.failure}${gone}`);
    }
    return answer;
  }
}

function loadedOf({ loaded }: SenderAnswer): Loaded {
  if (loaded === null) throw new Error("a load is measured");
  return loaded;
}

function paceText(pace: Pace): string {
  switch (pace.name) {
    case "SATURATE":
      return "at saturation";
    case "SCHEDULE":
      return `at ${Math.round(pace.perSecond)}/s`;
    case "OVERLOAD":
      return `overloaded with ${Math.round(pace.perSecond)}/s`;
    case "COUNT":
      return `${pace.requests} of them`;
  }
}
