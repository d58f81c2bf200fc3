// Programs that a reader can copy: each signs, and does the smallest thing that is of use. They name the
// address that the page is served at; the key and the secret are the reader's.

export type Snippet = { readonly title: string; readonly language: string; readonly text: string };

/** Snippets as Markdown: a title and a block of code each. */
export function markdownOf(snippets: readonly Snippet[]): string {
  return snippets
    .map(({ title, language, text }) => `${title}:\n\n\`\`\`${language}\n${text}\n\`\`\``)
    .join("\n\n");
}

/** A first order of the exchange-style routes. */
export function exchangeSnippets(address: string): readonly Snippet[] {
  return [
    {
      title: "curl and openssl",
      language: "sh",
      text: `
KEY=lyre_bot_… SECRET=… URL=${address}
BODY="symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.001&newClientOrderId=by-hand-1"
QUERY="timestamp=$(date +%s)000"
SIGNATURE=$(printf %s "$QUERY$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')
curl -H "X-MBX-APIKEY: $KEY" -d "$BODY" "$URL/api/v3/order?$QUERY&signature=$SIGNATURE"`,
    },
  ].map(trimmed);
}

/** A first signal. */
export function signalSnippets(address: string): readonly Snippet[] {
  return [
    {
      title: "curl and openssl",
      language: "sh",
      text: `
KEY=lyre_bot_… SECRET=… URL=${address}
TARGET=/bot/v1/spot/orders
BODY='{"symbol":"BTCUSDT","tradeType":"BUY","quoteOrderQty":"20"}'
TIMESTAMP=$(date +%s)000
SIGNATURE=$(printf %s "\${TIMESTAMP}POST$TARGET$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')
curl -H "x-bot-api-key: $KEY" -H "x-bot-timestamp: $TIMESTAMP" -H "x-bot-signature: $SIGNATURE" \\
  -H "content-type: application/json" -H "idempotency-key: docs-curl-1" -d "$BODY" "$URL$TARGET"`,
    },
    {
      title: "The client for TypeScript",
      language: "ts",
      text: `
import { LyrebirdClient } from "@lyrebird/client";

// The client is on no registry. In Lyrebird's directory: npm pack -w @lyrebird/client --pack-destination
// ../my-bot and in ../my-bot: npm install ./lyrebird-client-*.tgz
const client = new LyrebirdClient({ baseUrl: "${address}", apiKey: "lyre_bot_…", apiSecret: "…" });
console.log(
  await client.submit({ symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "20" }, { idempotencyKey: "docs-client-1" }),
);`,
    },
  ].map(trimmed);
}

/** Candles and books. */
export function streamSnippets(address: string): readonly Snippet[] {
  return [
    {
      title: "socket.io-client",
      language: "js",
      text: `
import { createHmac } from "node:crypto";
import { io } from "socket.io-client";

const [KEY, SECRET, URL] = ["lyre_bot_…", "…", "${address}"];

function connect(namespace) {
  const socket = io(URL + namespace, {
    transports: ["websocket"],
    // A function, so that every attempt has a fresh timestamp and signature.
    auth: (send) => {
      const timestamp = String(Date.now());
      const signature = createHmac("sha256", SECRET).update(\`\${timestamp}GET\${namespace}\`).digest("hex");
      send({ apiKey: KEY, timestamp, signature });
    },
    reconnectionDelay: 1_000,
    reconnectionDelayMax: 30_000,
    randomizationFactor: 0.5,
  });
  socket.on("connect_error", (error) => console.error("no connection:", error.message));
  socket.on("error", ({ code, message, retryAfterMs }) => {
    console.error(code, message);
    // Refused for now. It does nothing if the connection is open.
    if (code === "RATE_LIMITED") setTimeout(() => socket.connect(), retryAfterMs);
  });
  // You are in when the first of these arrives.
  socket.on("subscribed", (topic) => console.log("subscribed", topic));
  return socket;
}

const market = connect("/bot/v1/market");
market.on("connect", () => market.emit("subscribe", { pair: "BTCUSDT", timeframe: "1m" }));
market.on("marketData", ({ candle }) => console.log(candle.close, candle.isFinal ? "final" : ""));

const books = connect("/bot/v1/orderbook");
books.on("connect", () => books.emit("subscribe", { pair: "BTCUSDT", levels: 5 }));
books.on("orderBook", ({ bids, asks }) => console.log(bids[0], asks[0]));`,
    },
    {
      title: "Python, with python-socketio[client]",
      language: "python",
      text: `
import hashlib, hmac, time, socketio

KEY, SECRET, URL, MARKET = "lyre_bot_…", "…", "${address}", "/bot/v1/market"

def auth():  # a function: it is called for every attempt to connect
    timestamp = str(int(time.time() * 1000))
    signature = hmac.new(SECRET.encode(), f"{timestamp}GET{MARKET}".encode(), hashlib.sha256).hexdigest()
    return {"apiKey": KEY, "timestamp": timestamp, "signature": signature}

client = socketio.Client(reconnection_delay=1, reconnection_delay_max=30)
for event in ("subscribed", "marketData", "error", "connect_error"):
    client.on(event, lambda *said, event=event: print(event, *said), namespace=MARKET)
client.on("connect", lambda: client.emit("subscribe", {"pair": "BTCUSDT", "timeframe": "1m"}, MARKET), MARKET)
client.connect(URL, namespaces=[MARKET], transports=["websocket"], auth=auth)
client.wait()`,
    },
  ].map(trimmed);
}

function trimmed(snippet: Snippet): Snippet {
  return { ...snippet, text: snippet.text.trim() };
}
