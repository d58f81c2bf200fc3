// What the OpenAPI document opens with: how each family of routes is used, with programs to copy.
import { ORDERS_PER_10_SECONDS, ORDERS_PER_MINUTE } from "../domain/order-counts.ts";
import { BOT_INTRODUCTION } from "./signing.ts";
import { exchangeSnippets, markdownOf, signalSnippets } from "./snippets.ts";

/** The description of the document, in Markdown; `address` is where the service is reached, an origin. */
export function introduction(address: string): string {
  return `
Lyrebird trades virtual accounts and speaks Binance's REST API: stock clients of that exchange work when
their address is changed to this service's. Candles and order books for bots are [streams](/docs/streams).

## Exchange-style routes

The routes under \`/api/v3\` (spot) and \`/fapi\` (futures). Parameters go into the query or, with any method,
into the body as \`application/x-www-form-urlencoded\` text. JSON is refused. An optional parameter that is
empty counts as left out.

**Signing.** A signed request has the API key in the header \`X-MBX-APIKEY\`, a \`timestamp\` in Unix ms and a
\`signature\`: the HMAC-SHA256 of the query and, with nothing between them, the body, byte for byte as they
are sent and without the signature itself. It is keyed with the API secret as text and written in lowercase
hex.

**Errors** are \`{ "code": …, "msg": … }\`. [This table](/docs/api/refusals.md) explains every code. A 429,
418 or 503 says in \`Retry-After\` after how many seconds to come back.

**Limits.** A weight of 1,200 a minute, for each key on signed routes and for each address on public routes,
and ${ORDERS_PER_10_SECONDS} orders per 10 seconds and ${PER_MINUTE} a minute for each key. Answers have
\`X-MBX-USED-WEIGHT-1M\`, and those to placements \`X-MBX-ORDER-COUNT-10S\` and \`X-MBX-ORDER-COUNT-1M\`. Ten
429s within a minute ban the key or the address for two minutes: 418.

### A first order

${markdownOf(exchangeSnippets(address))}

## Signals

${BOT_INTRODUCTION}

### A first signal

${markdownOf(signalSnippets(address))}
`.trim();
}

const PER_MINUTE = ORDERS_PER_MINUTE.toLocaleString("en-US");
