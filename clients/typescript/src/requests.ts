// Signed requests to the bot API, each repeated until there is an answer or its time has run out.
// Every route may be sent twice: reads are harmless, a cancel and a close report what is done already, and a
// submission carries its idempotency key. So everything that leaves the outcome open is retried: a broken
// connection, a truncated answer, 429, 503 and any other server failure. A final refusal is thrown at once. A
// refused timestamp is retried once, by the server's clock.
// Reads are paced: the server bans a key whose clients keep exceeding its limit.
import { type Backoff, backoffMs } from "./backoff.ts";
import type { Environment } from "./environment.ts";
import { LyrebirdClosedError, LyrebirdHttpError, LyrebirdUnreachableError } from "./errors.ts";
import { fetchText, type TextAnswer } from "./fetch-text.ts";
import { readFields } from "./fields.ts";
import type { ServerClock } from "./server-clock.ts";
import { type Credentials, signRequest } from "./signing.ts";

export type BotRequest = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly idempotencyKey?: string;
};

const RETRIES: Backoff = { firstMs: 500, longestMs: 10_000 };
/**
 * How far timestamps of a burst of requests may run ahead of the clock, ms: the server takes those within 30
 * seconds.
 */
const BURST_MS_MAX = 10_000;
/**
 * Reads that are sent in READS_WINDOW_MS; further ones wait. The server takes 60 of a key in that time
 * (specification 8.2); the rest is for `test`, which counts as one, and for what is delayed on the way.
 */
const READS_MAX = 50;
const READS_WINDOW_MS = 10_000;
/** Source: specification 5.2. */
const TIMESTAMP_REFUSED = "Request timestamp outside the allowed window";

type Parts = {
  readonly origin: string;
  readonly credentials: Credentials;
  readonly clock: ServerClock;
  readonly environment: Environment;
  readonly retryMsMax: number;
  readonly closing: AbortSignal;
};

export class Requests {
  readonly #parts: Parts;
  #stampedAt = 0;
  /** When the last READS_MAX reads were sent, oldest first, Unix ms. */
  readonly #readsAt: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The JSON of the answer. Rejects with one of this client's errors. */
  async send(request: BotRequest): Promise<unknown> {
    const { random, timers } = this.#parts.environment;
    // The time for retries begins when it may be sent.
    if (request.method === "GET") await this.#paceRead();
    const over = new AbortController();
    const cancel = timers.after(this.#parts.retryMsMax, () => over.abort());
    let wasClockMeasured = false;
    try {
      for (let failures = 0; ; failures += 1) {
        const outcome = await this.#attempt(request);
        if ("json" in outcome) return outcome.json;
        const { error } = outcome;
        if (!wasClockMeasured && isTimestampRefused(error)) {
          wasClockMeasured = true;
          await this.#parts.clock.measure(this.#parts.closing);
          continue;
        }
        const waitMs = Math.max(backoffMs(RETRIES, failures, random()), retryAfterMs(error));
        if (isFinal(error) || waitMs > this.#parts.retryMsMax) throw error;
        await this.pause(waitMs, over.signal);
        if (over.signal.aborted) throw error;
        if (request.method === "GET") await this.#paceRead();
      }
    } finally {
      cancel();
    }
  }

  /** Resolves after a time, or when `over` is aborted; rejects when the client is closed first. */
  async pause(waitMs: number, over?: AbortSignal): Promise<void> {
    const closing = this.#parts.closing;
    if (closing.aborted) throw new LyrebirdClosedError();
    if (over?.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        cancel();
        closing.removeEventListener("abort", end);
        over?.removeEventListener("abort", end);
        if (closing.aborted) reject(new LyrebirdClosedError());
        else resolve();
      };
      const cancel = this.#parts.environment.timers.after(waitMs, end);
      closing.addEventListener("abort", end);
      over?.addEventListener("abort", end);
    });
  }

  /** Resolves when a read may be sent, and counts it. Rejects when the client is closed first. */
  async #paceRead(): Promise<void> {
    for (;;) {
      const now = this.#parts.environment.now();
      const oldest = this.#readsAt[0] ?? 0;
      const isFull = this.#readsAt.length === READS_MAX;
      // What lies in the future was sent before the clock was set back.
      if (!isFull || oldest > now || now >= oldest + READS_WINDOW_MS) {
        if (isFull) this.#readsAt.shift();
        this.#readsAt.push(now);
        return;
      }
      await this.pause(oldest + READS_WINDOW_MS - now);
    }
  }

  /**
   * Server time, Unix ms, and never the same twice: what is signed does not hold the idempotency key, so the
   * server takes a signature for one key only.
   */
  #stamp(): number {
    const now = this.#parts.clock.now();
    // A clock that was set back, or measured again, is followed.
    const isBurst = now <= this.#stampedAt && this.#stampedAt - now < BURST_MS_MAX;
    this.#stampedAt = isBurst ? this.#stampedAt + 1 : now;
    return this.#stampedAt;
  }

  async #attempt({ method, path, body, idempotencyKey }: BotRequest): Promise<Outcome> {
    const { origin, credentials, environment, closing } = this.#parts;
    if (closing.aborted) throw new LyrebirdClosedError();
    const text = body === undefined ? "" : JSON.stringify(body);
    const signed = signRequest(credentials, { method, path, body: text }, this.#stamp());
    const headers = {
      ...signed.headers,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    const request = { method, headers, ...(body === undefined ? {} : { body: text }) };
    try {
      const answer = await fetchText(environment, origin + path, request, closing);
      return answer.status < 300
        ? { json: JSON.parse(answer.text) }
        : { error: httpError(answer, signed.messageSha256) };
    } catch (cause) {
      if (closing.aborted) throw new LyrebirdClosedError();
      const message = `${method} ${path} at ${origin} has no complete answer: ${reasonOf(cause)}`;
      return { error: new LyrebirdUnreachableError(message, { cause }) };
    }
  }
}

type Failure = LyrebirdHttpError | LyrebirdUnreachableError;
type Outcome = { readonly json: unknown } | { readonly error: Failure };

function httpError({ status, text, retryAfterMs }: TextAnswer, signedSha256: string): LyrebirdHttpError {
  const { message, msg, messageSha256 } = readFields(text);
  const said = [message, msg].find((part) => typeof part === "string");
  return new LyrebirdHttpError(said ?? `the server answered ${status}`, {
    status,
    retryAfterMs,
    messageSha256: typeof messageSha256 === "string" ? messageSha256 : null,
    signedSha256,
  });
}

/** Whether the answer would be the same again. */
function isFinal(error: Failure): boolean {
  return error instanceof LyrebirdHttpError && error.status < 500 && error.status !== 429;
}

function isTimestampRefused(error: Failure): boolean {
  return error instanceof LyrebirdHttpError && error.status === 401 && error.message === TIMESTAMP_REFUSED;
}

function retryAfterMs(error: Failure): number {
  return error instanceof LyrebirdHttpError ? (error.retryAfterMs ?? 0) : 0;
}

/** The reason of a `fetch` error is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
