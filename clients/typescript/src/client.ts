// A client of Lyrebird's bot family: signals, and the streams that belong to them.

import { type Backoff, backoffMs } from "./backoff.ts";
import { type CandleHandlers, CandleStream } from "./candle-stream.ts";
import { type Environment, environmentOf, type Fetch, type Timers } from "./environment.ts";
import { LyrebirdError, LyrebirdPendingError } from "./errors.ts";
import { type Fields, fieldsOf } from "./fields.ts";
import { type OrderBookHandlers, OrderBookStream } from "./order-book-stream.ts";
import type { TradingPairs } from "./pairs.ts";
import { Requests } from "./requests.ts";
import { ServerClock } from "./server-clock.ts";
import {
  type BotOrder,
  isSettled,
  type ListedSignal,
  type SettledSignal,
  type Signal,
  type SpotOrder,
  type SubmittedSignal,
} from "./signal.ts";
import type { Credentials } from "./signing.ts";

export type LyrebirdClientOptions = {
  /** Where the server is: an origin such as `https://lyrebird.example`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** The origin of its streams; by default the server's. */
  readonly streamUrl?: string;
  /**
   * REST origin for books and candles while a stream is silent: it serves `/api/v3/depth` and
   * `/api/v3/klines` of the same market, such as the exchange's own. Default: the server itself.
   */
  readonly upstreamRestUrl?: string;
  /** How long a request is retried while its outcome is open, ms; default a minute. */
  readonly retryMsMax?: number;
  /** By default the platform's own. */
  readonly fetch?: Fetch;
  /** This machine's wall clock, Unix ms. */
  readonly now?: () => number;
  /** Timers; for tests. */
  readonly timers?: Timers;
  /** In [0, 1), spreads retries; for tests. */
  readonly random?: () => number;
};

/** Whose signature the server accepted. */
export type Tested = {
  readonly message: string;
  readonly apiKeyId: string;
  readonly userId: string;
  /** Unix ms. */
  readonly serverTime: number;
};

export type CancelResult = {
  /** The result, or that it was filled or canceled already. */
  readonly message: string;
  readonly order: SpotOrder;
};

export type CloseResult = { readonly message: string; readonly strategyId: string; readonly status: string };

const RETRY_MS_MAX = 60_000;
/** Delays between queries of a pending signal. */
const POLLS: Backoff = { firstMs: 250, longestMs: 2_000 };
/** The server finishes every pending signal within two minutes. Source: specification 3.1. */
const WAIT_MS_MAX = 150_000;
/** Printable, and without spaces at its ends, which HTTP would cut off. */
const IDEMPOTENCY_KEY = /^[!-~]([ -~]{0,126}[!-~])?$/;

const ORDERS = "/bot/v1/spot/orders";

const WHERE_FROM =
  "set it where the client is made; with the lines of the README, set LYREBIRD_KEY and LYREBIRD_SECRET in the environment";

export class LyrebirdClient {
  readonly #credentials: Credentials;
  readonly #streamUrl: string;
  readonly #upstreamRestUrl: string;
  readonly #environment: Environment;
  readonly #clock: ServerClock;
  readonly #requests: Requests;
  readonly #streams = new Set<{ close(): void }>();
  readonly #closing = new AbortController();

  /** Throws a `TypeError` for options that cannot be right. Opens nothing. */
  constructor(options: LyrebirdClientOptions) {
    const { apiKey, apiSecret } = options;
    if (!apiKey) throw new TypeError(`apiKey is empty: ${WHERE_FROM}`);
    if (!/^[!-~]+$/.test(apiKey)) {
      throw new TypeError("apiKey must be an API key of Lyrebird, without spaces or line breaks");
    }
    if (!apiSecret) throw new TypeError(`apiSecret is empty: ${WHERE_FROM}`);
    const origin = originOf("baseUrl", options.baseUrl);
    this.#credentials = { apiKey, apiSecret };
    this.#streamUrl = originOf("streamUrl", options.streamUrl ?? options.baseUrl);
    this.#upstreamRestUrl = originOf("upstreamRestUrl", options.upstreamRestUrl ?? options.baseUrl);
    this.#environment = environmentOf(options);
    this.#clock = new ServerClock(origin, this.#environment);
    this.#requests = new Requests({
      origin,
      credentials: this.#credentials,
      clock: this.#clock,
      environment: this.#environment,
      retryMsMax: options.retryMsMax ?? RETRY_MS_MAX,
      closing: this.#closing.signal,
    });
  }

  /** The tradable pairs, and the timeframes of candles. The server's answer may be half an hour old. */
  async pairs(): Promise<TradingPairs> {
    const { data } = await this.#get("/bot/v1/spot/pairs");
    return data as TradingPairs;
  }

  /** Finds out whether key, secret and clock are right. Nothing is executed. */
  async test(): Promise<Tested> {
    const { message, data } = await this.#post("/bot/v1/spot/test", {});
    return { ...(data as Omit<Tested, "message">), message: String(message) };
  }

  /**
   * Submits an order as a signal, which is executed exactly once however often it is submitted under its key.
   * While the outcome is open (the connection breaks, the server is down or overloaded), it is submitted
   * again under the same key.
   *
   * The outcome is a value: see `status`. RECEIVED and FAILED are still pending; `waitFor` waits for the end.
   * Rejects with `LyrebirdHttpError` if the server does not take the signal, and with
   * `LyrebirdUnreachableError` if the outcome is unknown: then submit it again with the same order and key,
   * whenever that is possible.
   */
  async submit(order: BotOrder, options: { readonly idempotencyKey: string }): Promise<SubmittedSignal> {
    const { idempotencyKey } = options;
    if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
      throw new TypeError("idempotencyKey must be 1 to 128 printable characters without spaces at its ends");
    }
    const answer = await this.#requests.send({ method: "POST", path: ORDERS, body: order, idempotencyKey });
    return signalOf<SubmittedSignal>(fieldsOf(answer));
  }

  /**
   * The present state of a signal. One that is not this strategy's is a `LyrebirdHttpError` of status 404.
   */
  async signal(signalId: string): Promise<Signal> {
    return signalOf<Signal>(await this.#get(`/bot/v1/spot/signals/${encodeURIComponent(signalId)}`));
  }

  /** The strategy's newest signals, newest first, 500 at most. */
  async signals(): Promise<readonly ListedSignal[]> {
    const { data } = await this.#get(ORDERS);
    if (!Array.isArray(data)) throw new LyrebirdError("the list of signals is no list");
    return data.map((row) => signalOf<ListedSignal>(fieldsOf(row)));
  }

  /**
   * Waits until a signal is EXECUTED or REJECTED. Rejects with `LyrebirdPendingError` if it is not within
   * `waitMsMax`, by default somewhat more than the two minutes within which the server finishes it. With many
   * waits at once each polls less often, since the client's reads share one pace, and may end that much
   * later.
   */
  async waitFor(signalId: string, { waitMsMax = WAIT_MS_MAX } = {}): Promise<SettledSignal> {
    const { random, timers } = this.#environment;
    const over = new AbortController();
    const cancel = timers.after(waitMsMax, () => over.abort());
    try {
      for (let polls = 0; ; polls += 1) {
        const signal = await this.signal(signalId);
        if (isSettled(signal)) return signal;
        if (over.signal.aborted) throw new LyrebirdPendingError(signal);
        await this.#requests.pause(backoffMs(POLLS, polls, random()), over.signal);
      }
    } finally {
      cancel();
    }
  }

  /**
   * Cancels the order that a signal has placed. One that is filled or cancelled already is answered with that
   * message.
   */
  async cancel(collectiveId: string): Promise<CancelResult> {
    const { message, data } = await this.#post("/bot/v1/spot/orders/cancel", { collectiveId });
    return { message: String(message), order: data as SpotOrder };
  }

  /** Closes the key's strategy permanently: its orders are canceled, its holdings sold. May be repeated. */
  async closeStrategy(): Promise<CloseResult> {
    const { message, data } = await this.#post("/bot/v1/spot/strategy/close", {});
    const { strategyId, status } = fieldsOf(data);
    return { message: String(message), strategyId: String(strategyId), status: String(status) };
  }

  /** Opens a connection for candles. Subscribe to what is wanted; it stays so until the stream is closed. */
  candles(handlers: CandleHandlers = {}): CandleStream {
    return this.#opened(new CandleStream(this.#streamParts(), handlers));
  }

  /**
   * Opens a connection for order books. Subscribe to what is wanted; it stays so until the stream is closed.
   */
  orderBooks(handlers: OrderBookHandlers = {}): OrderBookStream {
    return this.#opened(new OrderBookStream(this.#streamParts(), handlers));
  }

  /**
   * Closes all streams and aborts requests in flight. Nothing of the client stays open, or keeps a process
   * alive.
   */
  close(): void {
    this.#closing.abort();
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  #streamParts() {
    return {
      streamUrl: this.#streamUrl,
      upstreamRestUrl: this.#upstreamRestUrl,
      credentials: this.#credentials,
      clock: this.#clock,
      environment: this.#environment,
    };
  }

  #opened<Stream extends { close(): void }>(stream: Stream): Stream {
    if (this.#closing.signal.aborted) stream.close();
    else this.#streams.add(stream);
    return stream;
  }

  async #get(path: string): Promise<Fields> {
    return fieldsOf(await this.#requests.send({ method: "GET", path }));
  }

  async #post(path: string, body: object): Promise<Fields> {
    return fieldsOf(await this.#requests.send({ method: "POST", path, body }));
  }
}

const STATUSES: readonly unknown[] = ["RECEIVED", "EXECUTED", "REJECTED", "FAILED"];

/** Checks the fields that the client itself relies on; the others are passed on as received. */
function signalOf<Kind extends Signal>(fields: Fields): Kind {
  if (typeof fields.signalId !== "string" || !STATUSES.includes(fields.status)) {
    throw new LyrebirdError("the server's answer is no signal");
  }
  return fields as Kind;
}

function originOf(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "") {
    throw new TypeError(`${option} must be an origin such as https://lyrebird.example`);
  }
  return url.origin;
}
