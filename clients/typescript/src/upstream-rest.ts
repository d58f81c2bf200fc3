// Books and candles from the market's public REST routes, while a stream does not send them. Source:
// specification 6.4 (fallback and backfill).

import type { Environment } from "./environment.ts";
import { LyrebirdError } from "./errors.ts";
import { fetchText } from "./fetch-text.ts";
import { type BookSnapshot, type Candle, type CandleTopic, readBook, readCandle } from "./messages.ts";

/** As many levels as a stream shows at most. */
const DEPTH_LIMIT = 20;
/** The maximum that the route returns. */
export const KLINES_MAX = 1_000;

/** The source is out of reach, or demands a pause. */
export class UpstreamRestError extends LyrebirdError {
  override name = "UpstreamRestError";
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, cause: unknown) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

export class UpstreamRest {
  readonly #origin: string;
  readonly #environment: Environment;
  readonly #closing: AbortSignal;

  constructor(origin: string, environment: Environment, closing: AbortSignal) {
    this.#origin = origin;
    this.#environment = environment;
    this.#closing = closing;
  }

  /** The best of a pair's book. Rejects with `UpstreamRestError`. */
  async book(pair: string): Promise<BookSnapshot> {
    const query = new URLSearchParams({ symbol: pair, limit: String(DEPTH_LIMIT) });
    const book = readBook(await this.#ask(`/api/v3/depth?${query}`));
    if (book === null) throw new UpstreamRestError(`the answer is no book of ${pair}`, 0, null);
    return book;
  }

  /**
   * A topic's candles from a start time on, Unix ms, oldest first; the newest two if there is none. Each
   * counts as not final: which of them are is for the caller to know. Rejects with `UpstreamRestError`.
   */
  async candles({ pair, timeframe }: CandleTopic, startTime: number | null): Promise<readonly Candle[]> {
    const query = new URLSearchParams({ symbol: pair, interval: timeframe });
    if (startTime === null) query.set("limit", "2");
    else {
      query.set("startTime", String(startTime));
      query.set("limit", String(KLINES_MAX));
    }
    const rows = await this.#ask(`/api/v3/klines?${query}`);
    const candles = Array.isArray(rows) ? rows.map(candleOfRow) : [null];
    if (!candles.every((candle) => candle !== null)) {
      throw new UpstreamRestError(`the answer is no candles of ${pair}`, 0, null);
    }
    return candles;
  }

  async #ask(target: string): Promise<unknown> {
    const url = this.#origin + target;
    try {
      const request = { method: "GET", headers: {} };
      const answer = await fetchText(this.#environment, url, request, this.#closing);
      if (answer.status === 200) return JSON.parse(answer.text);
      throw new UpstreamRestError(`${url} answered ${answer.status}`, answer.retryAfterMs ?? 0, null);
    } catch (cause) {
      if (cause instanceof UpstreamRestError) throw cause;
      throw new UpstreamRestError(`${url} has no complete answer`, 0, cause);
    }
  }
}

function candleOfRow(row: unknown): Candle | null {
  if (!Array.isArray(row)) return null;
  const [startTime, open, high, low, close, volume, closeTime] = row;
  return readCandle({ open, high, low, close, volume, startTime, closeTime, isFinal: false });
}
