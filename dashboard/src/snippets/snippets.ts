// The lines by which an unmodified client trades on a strategy's key: its keys, our address, one order. They
// never contain the secret, which is shown once and elsewhere; SECRET_PLACE marks its place.
import type { StrategyType } from "../../../src/dashboard-api/schemas.ts";

/** What the reader replaces by the key's secret. */
export const SECRET_PLACE = "YOUR_SECRET";

export type Snippet = {
  /** The client, as its users call it. */
  readonly title: string;
  readonly language: "JavaScript" | "Python" | "Shell";
  /** How the client is got; null where it is there already. */
  readonly install: string | null;
  readonly text: string;
};

type SnippetParts = {
  readonly type: StrategyType;
  readonly apiKey: string;
  /** Where bots reach the server, with or without a slash at its end. */
  readonly publicUrl: string;
};

/** The smallest orders of the demo's contracts that every filter lets pass. */
const QUANTITY = { SPOT: "0.001", FUTURES: "0.002" } as const satisfies Record<StrategyType, string>;

/** One a client, in the order in which they are shown. */
export function snippetsFor({ type, apiKey, publicUrl }: SnippetParts): readonly Snippet[] {
  const parts = { type, apiKey, publicUrl: publicUrl.replace(/\/+$/, "") };
  return [
    { title: "ccxt", language: "JavaScript", install: "npm install ccxt", text: ccxt(parts) },
    {
      title: "python-binance",
      language: "Python",
      install: "pip install python-binance",
      text: pythonBinance(parts),
    },
    { title: "curl", language: "Shell", install: null, text: curl(parts) },
  ];
}

/** Every address of ccxt has to lead to us: one that is left leads to the real exchange. */
function ccxt({ type, apiKey, publicUrl }: SnippetParts): string {
  const client = { SPOT: "binance", FUTURES: "binanceusdm" }[type];
  const symbol = { SPOT: "BTC/USDT", FUTURES: "BTC/USDT:USDT" }[type];
  return lines(
    'import ccxt from "ccxt";',
    `const exchange = new ccxt.${client}({ apiKey: "${apiKey}", secret: "${SECRET_PLACE}" });`,
    `for (const api in exchange.urls.api) exchange.urls.api[api] = exchange.urls.api[api].replace(/^https?:..[^/]+/, "${publicUrl}");`,
    `console.log(await exchange.createOrder("${symbol}", "market", "buy", ${QUANTITY[type]}));`,
  );
}

/** The addresses are set before the client is made, since making it sends a ping to the first of them. */
function pythonBinance({ type, apiKey, publicUrl }: SnippetParts): string {
  const order = { SPOT: "create_order", FUTURES: "futures_create_order" }[type];
  return lines(
    "from binance.client import Client",
    `Client.API_URL, Client.FUTURES_URL = "${publicUrl}/api", "${publicUrl}/fapi"`,
    `client = Client("${apiKey}", "${SECRET_PLACE}")`,
    `print(client.${order}(symbol="BTCUSDT", side="BUY", type="MARKET", quantity=${QUANTITY[type]}))`,
  );
}

/**
 * What is signed is the query and the body behind it, byte for byte; `echo` would sign a line break as well.
 */
function curl({ type, apiKey, publicUrl }: SnippetParts): string {
  const path = { SPOT: "/api/v3/order", FUTURES: "/fapi/v1/order" }[type];
  return lines(
    `KEY=${apiKey} SECRET=${SECRET_PLACE}`,
    `BODY="symbol=BTCUSDT&side=BUY&type=MARKET&quantity=${QUANTITY[type]}"`,
    `QUERY="timestamp=$(date +%s)000"`,
    `SIGNATURE=$(printf %s "$QUERY$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')`,
    `curl -H "X-MBX-APIKEY: $KEY" -d "$BODY" "${publicUrl}${path}?$QUERY&signature=$SIGNATURE"`,
  );
}

function lines(...each: readonly string[]): string {
  return each.join("\n");
}
