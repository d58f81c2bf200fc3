// Times orders over REST and their events at the socket of the account. It runs in the sender's process, so
// that it does not wait for the sender to sleep.
import { setTimeout as wait } from "node:timers/promises";
import { quantile, Samples } from "../statistics.ts";
import type { Load } from "../wire/load.ts";
import { type Credentials, GOOD_STATUS, PROOF, type Requests } from "../wire/requests.ts";
import { WireConnection } from "../wire/wire.ts";
import { GENTLY, subscribeAll } from "./wire.ts";

/** Times, ms. */
export type Latency = { readonly p50Ms: number; readonly p99Ms: number };
export type Probed = {
  readonly orders: number;
  /** From sending an order to its answer. */
  readonly answer: Latency;
  /** From sending it to the event of its fill. */
  readonly event: Latency;
  /** From the answer to the event: negative if the event came first. */
  readonly eventAfterAnswer: Latency;
};
/** Orders in flight at most, and the pause of each after its event, ms. */
export type ProbeTask = { readonly slots: number; readonly pauseMs: number };

const FILL = Buffer.from('"x":"TRADE"');
/** The last order and its event take no longer, ms. */
const ORDER_MS_MAX = 10_000;

export class Probe {
  readonly #requests: Requests;
  readonly #connections: { close(): void }[] = [];
  /** Who waits for the fill of an account, by its number. */
  readonly #fills = new Map<number, (at: number) => void>();
  readonly #lost = Promise.withResolvers<never>();
  /** Orders that were filled. */
  goodCount = 0;

  private constructor(requests: Requests) {
    this.#requests = requests;
    this.#lost.promise.catch(() => {});
  }

  /** Subscribes all accounts. */
  static async open(port: number, requests: Requests, keys: readonly Credentials[]): Promise<Probe> {
    const probe = new Probe(requests);
    const onEvent = (payload: Buffer, index: number) => {
      if (payload.includes(FILL)) probe.#fills.get(index)?.(performance.now());
    };
    const handlers = { onEvent, onLost: probe.#onLost };
    probe.#connections.push(...(await subscribeAll({ port, keys, atOnce: GENTLY }, handlers)));
    return probe;
  }

  /** Trades on the accounts in turns for as long as a load lasts. */
  async run({ port, seconds, warmSeconds }: Load, { slots, pauseMs }: ProbeTask): Promise<Probed> {
    const [answer, event, eventAfterAnswer] = [new Samples(), new Samples(), new Samples()];
    const from = performance.now() + warmSeconds * 1_000;
    const until = from + seconds * 1_000;
    const slot = async () => {
      const rest = await WireConnection.open(port, this.#onLost);
      this.#connections.push(rest);
      while (performance.now() < until) {
        const { sentAt, answeredAt, reportedAt } = await this.#trade(rest);
        if (pauseMs > 0) await wait(pauseMs);
        if (sentAt < from) continue;
        answer.add(answeredAt - sentAt);
        event.add(reportedAt - sentAt);
        eventAfterAnswer.add(reportedAt - answeredAt);
      }
    };
    const runMs = until - performance.now();
    const deadline = setTimeout(() => this.#onLost("an order or its event is missing"), runMs + ORDER_MS_MAX);
    try {
      await Promise.race([Promise.all(Array.from({ length: slots }, slot)), this.#lost.promise]);
    } finally {
      clearTimeout(deadline);
    }
    const [ofAnswer, ofEvent, between] = [answer, event, eventAfterAnswer].map(latencyOf) as [
      Latency,
      Latency,
      Latency,
    ];
    return { orders: answer.count, answer: ofAnswer, event: ofEvent, eventAfterAnswer: between };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  readonly #onLost = (reason: string): void => this.#lost.reject(new Error(reason));

  /** When an order was sent, answered and reported. */
  async #trade(rest: WireConnection) {
    const ticket = this.#requests.take("orders", "gateway");
    const reported = new Promise<number>((resolve) => this.#fills.set(ticket.key.index, resolve));
    const sentAt = performance.now();
    const answered = new Promise<number>((resolve, reject) =>
      rest.send(ticket.text, (status, body) => {
        const isGood = status === GOOD_STATUS.orders && body.includes(PROOF.gateway.orders);
        if (!isGood) return reject(new Error(`an order was answered with ${status} ${body}`));
        this.goodCount += 1;
        resolve(performance.now());
      }),
    );
    const [answeredAt, reportedAt] = await Promise.all([answered, reported]);
    this.#requests.answered(ticket, "orders", "gateway", true);
    return { sentAt, answeredAt, reportedAt };
  }
}

function latencyOf(samples: Samples): Latency {
  return { p50Ms: quantile(samples.values(), 0.5), p99Ms: quantile(samples.values(), 0.99) };
}
