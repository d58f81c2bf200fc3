// Times orders over REST and their events at the socket of the account, one order at a time. It runs in the
// sender's process, so that it does not wait for the sender to sleep.
import { quantile, Samples } from "../statistics.ts";
import type { Load } from "../wire/load.ts";
import { type Credentials, GOOD_STATUS, PROOF, type Requests } from "../wire/requests.ts";
import { WireConnection } from "../wire/wire.ts";
import { GENTLY, subscribeAll } from "./subscribe.ts";

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

const FILL = Buffer.from('"x":"TRADE"');
/** The last order and its event take no longer, ms. */
const ORDER_MS_MAX = 10_000;

export class Probe {
  readonly #requests: Requests;
  readonly #connections: readonly { close(): void }[];
  readonly #rest: WireConnection;
  readonly #lost: PromiseWithResolvers<never>;
  readonly #fills: { onFill: (index: number) => void };
  /** Orders that were filled. */
  goodCount = 0;

  private constructor(parts: {
    requests: Requests;
    connections: readonly { close(): void }[];
    rest: WireConnection;
    lost: PromiseWithResolvers<never>;
    fills: { onFill: (index: number) => void };
  }) {
    this.#requests = parts.requests;
    this.#connections = parts.connections;
    this.#rest = parts.rest;
    this.#lost = parts.lost;
    this.#fills = parts.fills;
  }

  /** Subscribes all accounts. */
  static async open(port: number, requests: Requests, keys: readonly Credentials[]): Promise<Probe> {
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    const onLost = (reason: string) => lost.reject(new Error(reason));
    const fills = { onFill: (_index: number) => {} };
    const onEvent = (index: number, payload: Buffer) => {
      if (payload.includes(FILL)) fills.onFill(index);
    };
    const connections = await subscribeAll({ port, keys, atOnce: GENTLY }, { onEvent, onLost });
    const rest = await WireConnection.open(port, onLost);
    return new Probe({ requests, connections, rest, lost, fills });
  }

  /** Trades on the accounts in turns for as long as a load lasts. */
  async run({ seconds, warmSeconds }: Load): Promise<Probed> {
    const answer = new Samples();
    const event = new Samples();
    const eventAfterAnswer = new Samples();
    const from = performance.now() + warmSeconds * 1_000;
    const until = from + seconds * 1_000;
    const deadline = setTimeout(
      () => this.#lost.reject(new Error("an order or its event is missing")),
      until + ORDER_MS_MAX - performance.now(),
    );
    try {
      while (performance.now() < until) {
        const order = await Promise.race([this.#trade(), this.#lost.promise]);
        if (order.sentAt < from) continue;
        answer.add(order.answeredAt - order.sentAt);
        event.add(order.reportedAt - order.sentAt);
        eventAfterAnswer.add(order.reportedAt - order.answeredAt);
      }
    } finally {
      clearTimeout(deadline);
    }
    return {
      orders: answer.count,
      answer: latencyOf(answer),
      event: latencyOf(event),
      eventAfterAnswer: latencyOf(eventAfterAnswer),
    };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
    this.#rest.close();
  }

  /** When an order was sent, answered and reported. */
  async #trade(): Promise<{ sentAt: number; answeredAt: number; reportedAt: number }> {
    const ticket = this.#requests.take("orders", "gateway");
    const reported = new Promise<number>((resolve, reject) => {
      this.#fills.onFill = (index) => {
        if (index === ticket.key.index) resolve(performance.now());
        else reject(new Error("an event came to another account"));
      };
    });
    const sentAt = performance.now();
    const answered = new Promise<number>((resolve, reject) =>
      this.#rest.send(ticket.text, (status, body) => {
        const answeredAt = performance.now();
        const isGood = status === GOOD_STATUS.orders && body.includes(PROOF.gateway.orders);
        this.#requests.answered(ticket, "orders", "gateway", isGood);
        if (!isGood) return reject(new Error(`an order was answered with ${status} ${body}`));
        this.goodCount += 1;
        resolve(answeredAt);
      }),
    );
    const [answeredAt, reportedAt] = await Promise.all([answered, reported]);
    return { sentAt, answeredAt, reportedAt };
  }
}

function latencyOf(samples: Samples): Latency {
  const values = samples.values();
  return { p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99) };
}
