// The smallest client of the bot family: it signs `timestamp + METHOD + target + body` and sends exactly
// those bytes. Source: specification 5.2.

import { exchange, hmacHex, type RawAnswer } from "./raw.ts";
import type { Credentials } from "./servers/gateway.ts";

export type BotOrder = Readonly<Record<string, unknown>>;

export type BotRequestOptions = {
  /** Goes into `idempotency-key`. */
  readonly idempotencyKey?: string;
  /** Unix ms as text; now unless said. */
  readonly timestamp?: string;
  /** Sent besides, or instead of those that the client sends. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type BotClient = ReturnType<typeof botClient>;

/** How far timestamps of a burst may run ahead of the clock, ms. */
const BURST_MS_MAX = 10_000;
/** When each key signed last, Unix ms. */
const stampedAt = new Map<string, number>();

/** The time, Unix ms, and never the same twice under a key: a signature is good for one idempotency key. */
function stamp(apiKey: string, now: number): string {
  const last = stampedAt.get(apiKey) ?? 0;
  const at = now <= last && last - now < BURST_MS_MAX ? last + 1 : now;
  stampedAt.set(apiKey, at);
  return String(at);
}

/** What a key signs with, and where it sends. `now` is the wall clock that requests are stamped by. */
export function botClient(
  url: string,
  credentials: Pick<Credentials, "apiKey" | "apiSecret">,
  now: () => number = Date.now,
) {
  /** Sends a body of text as it is, anything else as JSON, and none if it is undefined. */
  const call = (method: string, path: string, body?: unknown, options: BotRequestOptions = {}) => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const timestamp = options.timestamp ?? stamp(credentials.apiKey, now());
    return exchange(url, {
      method,
      path,
      ...(text === undefined ? {} : { body: text }),
      headers: {
        ...botHeaders(credentials, { timestamp, method, path, body: text ?? "" }),
        ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
        ...options.headers,
      },
    });
  };
  const get = (path: string, options?: BotRequestOptions): Promise<RawAnswer> =>
    call("GET", path, undefined, options);
  const post = (path: string, body?: unknown, options?: BotRequestOptions): Promise<RawAnswer> =>
    call("POST", path, body, options);
  return {
    get,
    post,
    submit: (order: BotOrder | string, idempotencyKey: string) =>
      post("/bot/v1/spot/orders", order, { idempotencyKey }),
    signal: (signalId: string) => get(`/bot/v1/spot/signals/${signalId}`),
    signals: () => get("/bot/v1/spot/orders"),
    pairs: () => get("/bot/v1/spot/pairs"),
    test: (body?: unknown) => post("/bot/v1/spot/test", body),
    cancel: (collectiveId: string) => post("/bot/v1/spot/orders/cancel", { collectiveId }),
    close: () => post("/bot/v1/spot/strategy/close", {}),
  };
}

/** The three headers of a signed request; `path` is the request target, with its query if it has one. */
export function botHeaders(
  { apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">,
  { timestamp, method, path, body }: Readonly<Record<"timestamp" | "method" | "path" | "body", string>>,
): Readonly<Record<string, string>> {
  return {
    "x-bot-api-key": apiKey,
    "x-bot-timestamp": timestamp,
    "x-bot-signature": hmacHex(apiSecret, timestamp + method + path + body),
  };
}
