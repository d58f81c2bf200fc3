// The `error` event of both streams: every code and its message. Clients branch on the code, never on the
// message. Source: specification 7.3.

export const STREAM_ERROR_CODES = [
  "AUTH_MISSING_CREDENTIALS",
  "AUTH_TIMESTAMP_OUT_OF_WINDOW",
  "AUTH_INVALID_SIGNATURE",
  "AUTH_KEY_REVOKED",
  "SUB_INVALID_PAYLOAD",
  "SUB_UNSUPPORTED_SYMBOL",
  "SUB_UNSUPPORTED_TIMEFRAME",
  "SUB_LIMIT_EXCEEDED",
  "RATE_LIMITED",
  "UPSTREAM_UNAVAILABLE",
  "INTERNAL",
  "SUB_UNSUPPORTED_LEVELS",
  "SUB_UNSUPPORTED_SPEED",
  "SUB_UNEXPECTED_FIELD",
  "SUB_SPEED_LIMIT_EXCEEDED",
] as const;

export type StreamErrorCode = (typeof STREAM_ERROR_CODES)[number];

type Row = {
  /** On which stream it occurs. */
  readonly stream: "both" | "candles" | "depth";
  /** The message, unless a more exact one is known. */
  readonly message: string;
};

export const STREAM_ERRORS: { readonly [Code in StreamErrorCode]: Row } = {
  AUTH_MISSING_CREDENTIALS: {
    stream: "both",
    message: "The handshake lacks apiKey, timestamp or signature.",
  },
  AUTH_TIMESTAMP_OUT_OF_WINDOW: {
    stream: "both",
    message: "The handshake's timestamp is more than 30 seconds from server time.",
  },
  AUTH_INVALID_SIGNATURE: {
    stream: "both",
    message: "The key is unknown, or the signature is not that of this namespace.",
  },
  AUTH_KEY_REVOKED: { stream: "both", message: "The key has been revoked." },
  SUB_INVALID_PAYLOAD: { stream: "both", message: "The message is not one that this stream takes." },
  SUB_UNSUPPORTED_SYMBOL: { stream: "both", message: "The pair is not in the list of supported pairs." },
  SUB_UNSUPPORTED_TIMEFRAME: {
    stream: "candles",
    message: "The timeframe is not in the list of supported timeframes.",
  },
  SUB_LIMIT_EXCEEDED: { stream: "both", message: "There are too many subscriptions." },
  RATE_LIMITED: { stream: "both", message: "There are too many messages or connections." },
  UPSTREAM_UNAVAILABLE: { stream: "both", message: "The source of the market data is out of reach." },
  INTERNAL: { stream: "both", message: "An unexpected error occurred in the gateway." },
  SUB_UNSUPPORTED_LEVELS: { stream: "depth", message: "levels is not one of 5, 10 and 20." },
  SUB_UNSUPPORTED_SPEED: { stream: "depth", message: "speed is not one of 1000ms and 100ms." },
  SUB_UNEXPECTED_FIELD: { stream: "depth", message: "The message has a field that is not known here." },
  SUB_SPEED_LIMIT_EXCEEDED: { stream: "depth", message: "The key has too many 100ms streams." },
};

/** The payload of an `error` event. */
export type StreamError = {
  readonly status: false;
  readonly code: StreamErrorCode;
  readonly message: string;
  /** Delay until a retry in ms, where that is known. */
  readonly retryAfterMs?: number;
};

/** Maximum length of a client's own text in an answer, characters. */
const REPEATED_LENGTH_MAX = 40;

/** A subscription as messages name it, by its fields: `BTCUSDT 1m`, `BTCUSDT 20 1000ms`. */
export function named(subscription: object): string {
  return Object.values(subscription).map(repeated).join(" ");
}

/** A client's text, cut to that length. */
export function repeated(value: unknown): string {
  return String(value).slice(0, REPEATED_LENGTH_MAX);
}

/** The payload for a code, with what is more exactly known. */
export function streamError(
  code: StreamErrorCode,
  { message = STREAM_ERRORS[code].message, retryAfterMs }: Partial<Omit<StreamError, "status" | "code">> = {},
): StreamError {
  return { status: false, code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
