// One client: it connects, subscribes to all that it wants, holds every message to its ledger, and comes back
// when it was cut off, as a stock client does: after a second or so, then ever later; subscribing to
// everything again.
import type { CandleTopic, DepthTopic, MarketData, OrderBook } from "../../../src/streams/topics.ts";
import { MARKET, type StreamCredentials } from "../../support/sockets/stream-client.ts";
import { candleLedger, depthLedger, type Ledger } from "./ledgers.ts";
import { type Link, type LinkMake, openLink } from "./links.ts";
import type { Oracle } from "./oracle.ts";
import { type Plan, TIMEFRAMES } from "./plan.ts";

export type SubscriberParts = {
  readonly name: string;
  readonly url: string;
  readonly credentials: StreamCredentials;
  readonly plan: Plan;
  readonly make: LinkMake;
  readonly oracle: Oracle;
  /** In [0, 1). */
  readonly draw: () => number;
};

type Subscription = {
  readonly name: string;
  readonly topic: object;
  readonly take: Ledger<unknown>["take"];
  readonly beginAnew: () => void;
  isActive: boolean;
  /** When it last received a message, or became active, ms. */
  heardAt: number;
  /** Messages since it became active. */
  heard: number;
};

/** Source: specification 8.3. */
const RECONNECT_MS = 1_000;
const RECONNECT_MS_MAX = 30_000;
const RANDOMIZATION = 0.5;

export class Subscriber {
  readonly #parts: SubscriberParts;
  readonly #subscriptions: ReadonlyMap<string, Subscription>;
  #link: Link | null = null;
  /** Counts connections: what an earlier one still says is not heeded. */
  #attempt = 0;
  #failures = 0;
  #active = 0;
  #isRefused = false;
  #timer: NodeJS.Timeout | null = null;
  #unavailable = { outages: 0, count: 0 };
  /** When all of its subscriptions were last confirmed, ms; null while they are not. */
  completeAt: number | null = null;

  constructor(parts: SubscriberParts) {
    this.#parts = parts;
    this.#subscriptions = new Map(subscriptionsOf(parts).map((each) => [each.name, each]));
  }

  connect(): void {
    this.#timer = null;
    this.#attempt += 1;
    const attempt = this.#attempt;
    const { url, credentials, plan, make } = this.#parts;
    const { namespace } = plan;
    this.#isRefused = false;
    this.#link = openLink(
      make,
      { url, namespace, credentials },
      {
        onJoined: () => this.#subscribe(),
        onEvent: (name, payload) => {
          if (attempt === this.#attempt) this.#heed(name, payload);
        },
        onEnded: (reason) => {
          if (attempt === this.#attempt) this.#ended(reason);
        },
      },
    );
  }

  /** Cuts the connection, and comes back: at once, or after the time that stock clients take. */
  cut(isBackAtOnce: boolean): void {
    this.#forget();
    this.#attempt += 1;
    this.#link?.cut();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.connect(), isBackAtOnce ? 0 : this.#delayMs());
  }

  close(): void {
    this.#attempt += 1;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#link?.close();
  }

  /** Whether every subscription has had a message since it was made. */
  get hasHeardAll(): boolean {
    return this.completeAt !== null && [...this.#subscriptions.values()].every(({ heard }) => heard > 0);
  }

  /** Holds the silences that last until now to their bound. */
  heedSilences(): void {
    const { name, oracle } = this.#parts;
    for (const { name: topic, isActive, heardAt } of this.#subscriptions.values()) {
      if (isActive) oracle.heedSilence(`${name}, ${topic}`, heardAt, oracle.now());
    }
  }

  #subscribe(): void {
    for (const { topic } of this.#subscriptions.values()) this.#link?.send("subscribe", topic);
  }

  #heed(event: string, payload: unknown): void {
    switch (event) {
      case "marketData":
      case "orderBook":
        this.#heedData(event, payload as MarketData | OrderBook);
        break;
      case "subscribed":
        this.#confirm(payload as CandleTopic | DepthTopic);
        break;
      case "error":
        this.#heedError(payload as { code: string; message: string });
        break;
      default:
        this.#fault("UNASKED", `${event} ${JSON.stringify(payload)}`);
    }
  }

  #heedData(event: "marketData" | "orderBook", message: MarketData | OrderBook): void {
    const { oracle } = this.#parts;
    const subscription = this.#subscriptions.get(nameOf(message));
    if (subscription === undefined || !subscription.isActive) {
      return void this.#fault("UNASKED", `${event} of ${nameOf(message)}`);
    }
    const now = oracle.now();
    oracle.heedSilence(`${this.#parts.name}, ${subscription.name}`, subscription.heardAt, now);
    subscription.heardAt = now;
    subscription.heard += 1;
    if (event === "orderBook") oracle.books += 1;
    else {
      oracle.ticks += 1;
      if ((message as MarketData).candle.isFinal) oracle.finals += 1;
    }
    const found = subscription.take(message);
    if (found !== null) oracle.fault(found.kind, found.what);
  }

  #confirm(topic: CandleTopic | DepthTopic): void {
    const { oracle } = this.#parts;
    const subscription = this.#subscriptions.get(nameOf(topic));
    if (subscription === undefined) return void this.#fault("UNASKED", `subscribed to ${nameOf(topic)}`);
    if (subscription.isActive) return void this.#fault("UNASKED", `subscribed to ${nameOf(topic)} twice`);
    subscription.isActive = true;
    subscription.heardAt = oracle.now();
    subscription.heard = 0;
    this.#active += 1;
    if (this.#active < this.#subscriptions.size) return;
    this.#failures = 0;
    this.completeAt = oracle.now();
  }

  #heedError({ code, message }: { readonly code: string; readonly message: string }): void {
    const { oracle } = this.#parts;
    const { outages } = oracle;
    if (code === "UPSTREAM_UNAVAILABLE") {
      if (this.#unavailable.outages !== outages.count)
        this.#unavailable = { outages: outages.count, count: 0 };
      this.#unavailable.count += 1;
      oracle.unavailable += 1;
      const isExcused = outages.isAway(oracle.now()) && this.#unavailable.count <= this.#subscriptions.size;
      if (!isExcused) this.#fault("UNASKED", `${code}: ${message}`);
    } else if (code === "RATE_LIMITED" && this.#active === 0) {
      // Its connection before this one has not ended yet, as the server sees it.
      oracle.turnedAway += 1;
      this.#isRefused = true;
    } else this.#fault("REFUSED", `${code}: ${message}`);
  }

  #ended(reason: string): void {
    if (!this.#isRefused) this.#fault("CUT_OFF", reason);
    this.#attempt += 1;
    this.#link?.cut();
    this.#forget();
    this.#timer = setTimeout(() => this.connect(), this.#delayMs());
  }

  #forget(): void {
    this.completeAt = null;
    this.#active = 0;
    for (const subscription of this.#subscriptions.values()) {
      subscription.isActive = false;
      subscription.heard = 0;
      subscription.beginAnew();
    }
  }

  #delayMs(): number {
    const delayMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS * 2 ** this.#failures);
    this.#failures += 1;
    const spread = 1 - RANDOMIZATION + 2 * RANDOMIZATION * this.#parts.draw();
    return Math.min(RECONNECT_MS_MAX, delayMs * spread);
  }

  #fault(kind: Parameters<Oracle["fault"]>[0], what: string): void {
    const { name, oracle } = this.#parts;
    oracle.fault(kind, `${name}: ${what}`);
  }
}

function subscriptionsOf({ name, plan }: SubscriberParts): Subscription[] {
  const rest = { isActive: false, heardAt: 0, heard: 0 };
  if (plan.namespace === MARKET) {
    return plan.topics.map((topic) => {
      const full = `${name}, ${nameOf(topic)}`;
      const ledger = candleLedger(full, TIMEFRAMES.get(topic.timeframe) ?? Number.NaN);
      const take = (message: unknown) => ledger.take(message as MarketData);
      return { ...rest, name: nameOf(topic), topic, take, beginAnew: () => ledger.beginAnew() };
    });
  }
  return plan.topics.map((topic) => {
    const ledger = depthLedger(`${name}, ${nameOf(topic)}`);
    const take = (message: unknown) => ledger.take(message as OrderBook);
    return { ...rest, name: nameOf(topic), topic, take, beginAnew: () => ledger.beginAnew() };
  });
}

function nameOf(topic: CandleTopic | DepthTopic): string {
  return "timeframe" in topic
    ? `${topic.pair} ${topic.timeframe}`
    : `${topic.pair} ${topic.levels} ${topic.speed}`;
}
