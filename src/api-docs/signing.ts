// How a bot request is signed: the three headers, and what is said of them once for all routes.
// Source: specification 5.2.

/** The headers of every signed request; `scheme` is what the document calls the header. */
export const SIGNED_HEADERS = [
  { scheme: "botApiKey", name: "x-bot-api-key", description: "The API key: `lyre_bot_` and 64 hex digits." },
  {
    scheme: "botTimestamp",
    name: "x-bot-timestamp",
    description: "The time in Unix ms, as text; at most 30 seconds from the server's. Seconds are refused.",
  },
  {
    scheme: "botSignature",
    name: "x-bot-signature",
    description:
      "HMAC-SHA256 of `timestamp + METHOD + target + body` as lowercase hex, keyed with the API secret as it is shown (text, not decoded from hex).",
  },
] as const;

/** What the document opens with. */
export const BOT_INTRODUCTION = `
Signals: orders that a bot submits under a key of its own choosing (\`idempotency-key\`), each carried out once and only once,
whatever happens to the connection, the bot or the server. They trade on a spot strategy.

**Signing.** Every request carries \`x-bot-api-key\`, \`x-bot-timestamp\` and \`x-bot-signature\`. What is signed is, with nothing
between the parts:

- the timestamp, as it stands in the header: Unix ms, at most 30 seconds from the server's time;
- the method in capitals, as \`POST\`;
- the request target as it is sent: the path, and the query with its question mark if there is one;
- the body, byte for byte; nothing if there is none.

The signature is its HMAC-SHA256, keyed with the API secret as text, in lowercase hex. When the answer is "Invalid signature", it
has \`messageSha256\`: the SHA-256 of the message that the server made out of what it received. If it is not the SHA-256 of the
message that you signed, other bytes arrived than were signed. If it is, what is wrong is the secret, how it was used (decoded from
hex) or how the signature is written (not in lowercase hex). When the timestamp is outside its window, which one in seconds always
is, the answer has \`serverTime\`.

**Errors** are \`{ "status": false, "message": … }\`. Routes of a strategy answer 400 to a key
that manages no spot strategy. A 429, 418 or 503 says in \`Retry-After\` after how many seconds to come back.

**Limits**, per API key:

- reads and \`POST /bot/v1/spot/test\`: 60 per 10 seconds;
- signals: 50 per 10 seconds and 1,200 a minute, together with the orders placed under \`/api/v3\`;
- canceling and closing: weight 1 each of the 1,200 a minute, together with the requests under \`/api/v3\`.

Windows begin with the calendar's ten seconds and minutes. Ten 429s within a minute ban the key for two minutes: 418.
`.trim();
