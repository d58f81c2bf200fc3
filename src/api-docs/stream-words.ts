// What the document of the streams says in words: how to connect, how to consume, every code and every bound.
// Source: specification 5.3, 6, 7.3 and 8.3.
import { STREAM_ERROR_CODES, STREAM_ERRORS } from "../streams/errors.ts";
import {
  CONNECTION_WEIGHT_MAX,
  CONNECTIONS_MAX,
  FAILED_HANDSHAKES_MAX,
  FAILED_HANDSHAKES_WINDOW_MS,
  FAST_STREAM_WEIGHT,
  HANDSHAKE_BLOCK_MS,
  HANDSHAKE_WINDOW_MS,
  KEY_CONNECTIONS_MAX,
  KEY_FAST_STREAMS_MAX,
  KEY_STREAMS_MAX,
  MESSAGES_PER_MINUTE,
  MINUTE_MS,
  NAMESPACE_STREAMS_MAX,
  SUBSCRIPTION_MESSAGES_PER_MINUTE,
} from "../streams/limits.ts";

/** What the document calls the streams that an error occurs on. */
const STREAM_NAMES = { both: "both", candles: "`/bot/v1/market`", depth: "`/bot/v1/orderbook`" } as const;

/** Every code of the `error` event, as a table. */
export const ERROR_TABLE = [
  "| Code | Stream | Says |",
  "|---|---|---|",
  ...STREAM_ERROR_CODES.map((code) => {
    const { stream, message } = STREAM_ERRORS[code];
    return `| \`${code}\` | ${STREAM_NAMES[stream]} | ${message} |`;
  }),
].join("\n");

/** What a stock client says itself before it has joined, as a table. */
export const CONNECT_ERROR_TABLE = [
  "| `connect_error` | Why | Then |",
  "|---|---|---|",
  '| `xhr poll error` | The client begins with long-polling, as it does by default; `error.context.responseText` says so. Set `transports: ["websocket"]` | tried again, in vain |',
  "| `Invalid namespace` | There is no such namespace | not tried again |",
  "| `websocket error`, with 404 in `error.description.message` | The path is not `/socket.io/`, with its slash at the end | tried again, in vain |",
  "| `websocket error` | The server is down or restarting, takes no more connections (503), or none more from this address (429), or a proxy in front lets no WebSocket through | tried again |",
].join("\n");

/** Every bound that a client may meet, as a table. */
export const LIMIT_TABLE = [
  "| Limit | Value |",
  "|---|---|",
  `| Connections of a key | ${KEY_CONNECTIONS_MAX}, over both namespaces |`,
  `| Subscriptions of a connection | ${CONNECTION_WEIGHT_MAX}; a \`100ms\` order book counts as ${FAST_STREAM_WEIGHT} |`,
  `| Distinct streams of a key | ${KEY_STREAMS_MAX} |`,
  `| \`100ms\` order books of a key | ${KEY_FAST_STREAMS_MAX} |`,
  `| Different streams of a namespace | ${written(NAMESPACE_STREAMS_MAX)}, of all clients together; then \`SUB_LIMIT_EXCEEDED\`. A stream that somebody has costs nothing |`,
  `| Connections of a server | ${written(CONNECTIONS_MAX)}, of all keys; then \`RATE_LIMITED\` |`,
  `| \`subscribe\` and \`unsubscribe\` of a connection | ${SUBSCRIPTION_MESSAGES_PER_MINUTE} a minute |`,
  `| Messages of a connection | ${MESSAGES_PER_MINUTE} a minute |`,
  `| Failed handshakes of a key from one address | ${FAILED_HANDSHAKES_MAX} in ${minutes(FAILED_HANDSHAKES_WINDOW_MS)}, then blocked there for ${minutes(HANDSHAKE_BLOCK_MS)} |`,
  `| Timestamp of a handshake | ${HANDSHAKE_WINDOW_MS / 1_000} seconds either way |`,
].join("\n");

/** What authenticates a handshake: a field of the `auth` object, or the header in its place. */
export const HANDSHAKE_FIELDS = [
  {
    scheme: "botApiKey",
    header: "x-bot-api-key",
    description: "The API key; `apiKey` of the `auth` object.",
  },
  {
    scheme: "botTimestamp",
    header: "x-bot-timestamp",
    description: "The time in Unix ms, as text; `timestamp` of the `auth` object.",
  },
  {
    scheme: "botSignature",
    header: "x-bot-signature",
    description:
      'HMAC-SHA256 of `timestamp + "GET" + namespace` as lowercase hex, keyed with the API secret as text; `signature` of the `auth` object.',
  },
] as const;

/** What the document opens with. */
export const STREAM_INTRODUCTION = `
Candles and order books of spot pairs, over Socket.IO v4 on the path \`/socket.io\` and WebSocket alone
(\`transports: ["websocket"]\`). Any Socket.IO client from 4.0 on will do. There is no history and nothing outlives a connection: on
every \`connect\`, subscribe to everything again.

**Handshake.** Each namespace is authenticated when it is connected to. The \`auth\` object has \`apiKey\`, \`timestamp\` (Unix ms, as
text) and \`signature\`: HMAC-SHA256 of \`timestamp + "GET" + namespace\`, with nothing between, keyed with the API secret as text, in
lowercase hex. A client that can't set it sends the headers \`x-bot-api-key\`, \`x-bot-timestamp\` and \`x-bot-signature\`. Compute them
again for every attempt. A handshake that is refused is answered by \`connect\`, then \`error\` and a disconnect: you are in when the first
\`subscribed\` arrives.

**Before a namespace is joined** what fails is your own client's \`connect_error\`, so listen to that too:

${CONNECT_ERROR_TABLE}

**Errors.** Once a namespace is joined, every failure is an event \`error\`. Decide by \`code\`, never by \`message\`; \`retryAfterMs\` is
there where waiting helps. An error does not always name its subscription: wait for \`subscribed\` or \`error\` before the next.

${ERROR_TABLE}

**Limits.** With several servers, connections and subscriptions are counted by each, failed handshakes by all together.

${LIMIT_TABLE}
`.trim();

export const CANDLE_RULES = `
A candle that forms is sent again and again: each message replaces the one before with the same \`startTime\`. Decide on
\`isFinal: true\` alone: it comes once for each candle, nothing about the candle comes after it, and one that was missed while the
exchange was out of reach is sent before anything newer.
`.trim();

export const BOOK_RULES = `
- Each message is the whole top of the book: replace what you hold, never merge.
- Discard one whose \`lastUpdateId\` is not above the one you hold; forget the one you hold when you reconnect.
- Discard one whose best bid is not below its best ask, and wait for the next.
- It is sent on schedule, also when nothing has changed. Silence of more than about five seconds means that the stream is dead: do
not trade on the book that you hold, reconnect, and request \`GET /api/v3/depth\` until then.
`.trim();

function written(bound: number): string {
  return bound.toLocaleString("en-US");
}

function minutes(ms: number): string {
  return `${ms / MINUTE_MS} minutes`;
}
