// Commands of a strategy under `strict` on their way to the exchange. Placements and cancels arrive the
// latency of the profile after they were received, in the order in which they were sent. Other commands take
// none: triggers, liquidations and closes happen at the exchange. Nothing is stored of a command before it
// has arrived, since nothing was acknowledged. Source: strict fills, section 4.
import type { Cancel, Timers } from "../concurrency/time.ts";
import type { Account } from "../domain/account.ts";
import type { Command } from "../domain/command.ts";
import { LATENCY_MS_MAX, latencyOf } from "../engine/matching/terms.ts";
import { legToCancel, orderToCancel } from "../engine/release.ts";

/** How a command arrives. */
export type Arrival = {
  /** The latency that was drawn, ms. */
  readonly latencyMs: number;
  /** Market time, Unix ms. */
  readonly arrivesAt: number;
};

export class Arrivals<Job> {
  readonly #options: ArrivalOptions<Job>;
  /** In the order of their arrival. */
  readonly #queue: { readonly job: Job; readonly arrivesAt: number }[] = [];
  /** The last arrival, market time in Unix ms. */
  #lastAt = Number.NEGATIVE_INFINITY;
  #cancel: Cancel | null = null;

  constructor(options: ArrivalOptions<Job>) {
    this.#options = options;
  }

  get count(): number {
    return this.#queue.length;
  }

  /** Market time, Unix ms. */
  now(): number {
    return this.#options.now();
  }

  /** When a command arrives that would be there at `at`: not before the command that was sent before it. */
  timeOf(at: number): number {
    this.#lastAt = isBeforeSetBack(this.#lastAt, at) ? at : Math.max(this.#lastAt, at);
    return this.#lastAt;
  }

  add(job: Job, arrivesAt: number): void {
    this.#queue.push({ job, arrivesAt });
    if (this.#queue.length === 1) this.#await(arrivesAt);
  }

  /** Stops all arrivals. Returns the commands that were on their way. */
  end(): readonly Job[] {
    this.#cancel?.();
    return this.#queue.splice(0).map(({ job }) => job);
  }

  #await(arrivesAt: number): void {
    const { now, timers, marketSpeed } = this.#options;
    const delayMs = Math.ceil(Math.max(0, arrivesAt - now()) / marketSpeed);
    this.#cancel = timers.after(delayMs, () => this.#arrive());
  }

  /** A timer may be early by a part of a millisecond. */
  #arrive(): void {
    const at = this.#options.now();
    for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
      if (first.arrivesAt > at && !isBeforeSetBack(first.arrivesAt, at)) {
        this.#await(first.arrivesAt);
        break;
      }
      this.#queue.shift();
      this.#options.arrived(first.job);
    }
  }
}

/** Whether a time of arrival is later than any latency explains: market time was set back since. */
function isBeforeSetBack(arrivesAt: number, at: number): boolean {
  return arrivesAt - at > LATENCY_MS_MAX;
}

type ArrivalOptions<Job> = {
  /** Market time, Unix ms. */
  readonly now: () => number;
  readonly timers: Pick<Timers, "after">;
  /** How many times as fast as the timers market time runs. */
  readonly marketSpeed: number;
  readonly arrived: (job: Job) => void;
};

/** The commands that take the latency of their strategy's profile. */
export const WITH_LATENCY: ReadonlySet<Command["type"]> = new Set([
  "PlaceOrder",
  "PlaceLeg",
  "ExecuteSignal",
  "CancelOrder",
  "CancelOpenOrders",
  "CancelLeg",
  "CancelOpenLegs",
]);

/** The latency of a command with latency under `strict`, ms. */
export function latencyMsOf(account: Account, command: Command): number {
  const { strategyId, profile } = account;
  if (profile.strict === null) return 0;
  return latencyOf(profile.strict.latency, { strategyId, ...drawnBy(account, command) });
}

type Drawn = { readonly clientOrderId: string; readonly action: "place" | "cancel" };

/** What the latency is drawn by. Commands that name no order have the number of the next one in its place. */
function drawnBy(account: Account, command: Command): Drawn {
  switch (command.type) {
    case "PlaceOrder":
      return { clientOrderId: command.clientOrderId, action: "place" };
    case "ExecuteSignal":
      return { clientOrderId: command.order.clientOrderId, action: "place" };
    case "PlaceLeg":
      return { clientOrderId: command.clientLegId, action: "place" };
    case "CancelOrder": {
      const { clientOrderId = `#${command.orderId}` } = orderToCancel(account, command) ?? command;
      return { clientOrderId, action: "cancel" };
    }
    case "CancelLeg": {
      const named = legToCancel(account, command) ?? command;
      const clientOrderId = "clientLegId" in named ? named.clientLegId : `#${named.legId}`;
      return { clientOrderId, action: "cancel" };
    }
    default:
      return { clientOrderId: `#${account.nextOrderId}`, action: "cancel" };
  }
}

/** The command as it arrives: an order is recorded with its latency and its arrival. */
export function arrivedWith(command: Command, { latencyMs, arrivesAt }: Arrival): Command {
  switch (command.type) {
    case "PlaceOrder":
      return { ...command, latencyMs, arrivedAt: arrivesAt };
    case "ExecuteSignal":
      return { ...command, order: { ...command.order, latencyMs, arrivedAt: arrivesAt } };
    default:
      return command;
  }
}
