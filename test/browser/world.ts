// The people of the screens: an active trader, people at each fixture of their identity check, and an
// operator. The server's own rows and bots' requests create them, without clicks: the journey test covers
// those.
import { createHmac, randomUUID } from "node:crypto";
import { botClient } from "../support/bot-client.ts";
import { priced } from "../support/prices.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { MARKET, openStream } from "../support/sockets/stream-client.ts";
import { Authenticator } from "./authenticator.ts";
import type { BrowserClient } from "./browser-client.ts";
import { beginCopying, type CopyPlaces, followStrategies } from "./copiers.ts";
import { type Fixture, OPERATOR_EMAIL, PASSWORD } from "./fixture.ts";
import { IDENTITY } from "./walk.ts";

type Key = Pick<Credentials, "apiKey" | "apiSecret">;

/** Where the screens' addresses lead to. */
export type Places = {
  readonly spotId: string;
  readonly futuresId: string;
  readonly closedId: string;
  readonly unusedId: string;
  readonly orderId: number;
  readonly signalId: string;
  readonly personId: string;
  readonly pendingFormId: string;
  readonly rejectedFormId: string;
} & CopyPlaces;

export const ROLES = [
  "guest",
  "trader",
  "newcomer",
  "waiting",
  "rejected",
  "copier",
  "starter",
  "follower",
  "operator",
] as const;
export type RoleName = (typeof ROLES)[number];

/** Of requests until a key is banned: as many as its budgets of two minutes take, and the refusals. */
const FLOOD_MAX = 440;
const GUESSES = 11;

export type World = {
  readonly clients: { readonly [R in RoleName]: BrowserClient };
  readonly places: Places;
};

export async function furnish(fixture: Fixture): Promise<World> {
  const trader = await fixture.visit();
  await trader.call("POST", "/session", fixture.demoTrader());
  const authenticator = await protect(trader, fixture.demoTrader().password);
  const [spot, futures] = fixture.demoKeys();
  if (spot === undefined || futures === undefined) throw new Error("a demo has two strategies");
  await tradeSpot(fixture.url, spot);
  await tradeFutures(fixture.url, futures);
  await failHandshake(fixture.url, spot);
  const { rows: strategies } = await trader.call("GET", "/strategies");
  const idOf = (type: string): string =>
    strategies.find((each: { type: string }) => each.type === type).strategyId;
  const { strategyId: closedId, key: closedKey } = await newStrategy(trader, authenticator, "Old grid");
  const { confirmation } = await trader.call("GET", `/strategies/${closedId}/close-preview`);
  await trader.call("POST", `/strategies/${closedId}/close`, { confirmation });
  await floodUntilBanned(fixture.url, closedKey);
  const { strategyId: unusedId } = await newStrategy(trader, authenticator, "Momentum, to be tried");
  const { rows: orders } = await trader.call("GET", `/strategies/${idOf("SPOT")}/orders?state=all`);
  const { rows: signals } = await trader.call("GET", `/strategies/${idOf("SPOT")}/signals`);

  const newcomer = await signUp(fixture, "newcomer@example.org", "Nora Newcomer");
  const waiting = await signUp(fixture, "waiting@example.org", "Walter Waiting");
  await waiting.call("POST", "/kyc", IDENTITY);
  const rejected = await signUp(fixture, "rejected@example.org", "Rita Rejected");
  await rejected.call("POST", "/kyc", IDENTITY);
  const copier = await signUp(fixture, "copier@example.org", "Carl Copier");
  await copier.call("POST", "/kyc", IDENTITY);
  const starter = await signUp(fixture, "starter@example.org", "Sara Starter");
  await starter.call("POST", "/kyc", IDENTITY);
  const follower = await signUp(fixture, "follower@example.org", "Fred Follower");
  await follower.call("POST", "/kyc", IDENTITY);

  fixture.makeOperator();
  const operator = await fixture.visit();
  await operator.call("POST", "/session", { email: OPERATOR_EMAIL, password: PASSWORD });
  await protect(operator, PASSWORD);
  const { rows: forms } = await operator.call("GET", "/operator/kyc");
  const formOf = (email: string): string =>
    forms.find((form: { person: { email: string } }) => form.person.email === email).submissionId;
  const decide = (email: string, decision: object) =>
    operator.call("POST", `/operator/kyc/${formOf(email)}/decision`, decision);
  const rejectedFormId = formOf("rejected@example.org");
  await decide("rejected@example.org", {
    status: "REJECTED",
    reason:
      "The number does not fit the kind of document that you chose. Please check both and submit again.",
  });
  for (const name of ["copier", "starter", "follower"]) {
    await decide(`${name}@example.org`, { status: "APPROVED", reason: null });
  }
  const open = [idOf("SPOT"), idOf("FUTURES"), unusedId];
  for (const strategyId of open) {
    await trader.call("PUT", `/strategies/${strategyId}/copying`, { isOpen: true });
  }
  await beginCopying(fixture, starter, await protect(starter, PASSWORD));
  const copyPlaces = await followStrategies(fixture, {
    follower,
    authenticator: await protect(follower, PASSWORD),
    leads: {
      spot: { strategyId: idOf("SPOT"), key: spot },
      futures: { strategyId: idOf("FUTURES"), key: futures },
    },
  });
  await operator.call("POST", "/operator/copying/switches", {
    kind: "STRATEGY",
    id: unusedId,
    reason: "Its bot sends the same order again and again.",
  });
  const guest = await fixture.visit();
  await guessPasswords(guest, "newcomer@example.org");
  const { rows: people } = await operator.call("GET", "/operator/people?search=demo");

  return {
    clients: { guest, trader, newcomer, waiting, rejected, copier, starter, follower, operator },
    places: {
      spotId: idOf("SPOT"),
      futuresId: idOf("FUTURES"),
      closedId,
      unusedId,
      orderId: orders.find((order: { status: string }) => order.status === "FILLED").orderId,
      signalId: signals[0].signalId,
      personId: people[0].personId,
      pendingFormId: formOf("waiting@example.org"),
      rejectedFormId,
      ...copyPlaces,
    },
  };
}

/** A new person who has verified their address and is signed in. */
export async function signUp(fixture: Fixture, email: string, name: string): Promise<BrowserClient> {
  const client = await fixture.visit();
  await client.call("POST", "/sign-up", { email });
  const link = new URL(await fixture.linkFor(email, "verify-email"), fixture.url);
  const token = new URLSearchParams(link.hash.slice(1)).get("token");
  await client.call("POST", "/verify-email", { token, name, password: PASSWORD });
  await client.call("POST", "/session", { email, password: PASSWORD });
  return client;
}

async function protect(client: BrowserClient, password: string): Promise<Authenticator> {
  const { secret } = await client.call("POST", "/second-factor", { password });
  const authenticator = new Authenticator(secret);
  await client.call("POST", "/second-factor/confirm", { code: await authenticator.code() });
  return authenticator;
}

async function newStrategy(trader: BrowserClient, authenticator: Authenticator, name: string) {
  const created = await trader.call("POST", "/keys", { label: name, code: await authenticator.code() });
  const { apiSecret, key } = created;
  const made = await trader.call("POST", "/strategies", { name, type: "SPOT", keyId: key.keyId });
  return { strategyId: made.strategyId as string, key: { apiKey: key.apiKey as string, apiSecret } };
}

/** What a bot does that heeds no refusal. */
async function floodUntilBanned(url: string, key: Key): Promise<void> {
  for (let sent = 0; sent < FLOOD_MAX; sent += 1) {
    if ((await signed(url, key, "GET", "/api/v3/account")).status === 418) return;
  }
  throw new Error(`${FLOOD_MAX} requests, and no ban`);
}

/** A stream handshake with a wrong secret. */
async function failHandshake(url: string, { apiKey }: Key): Promise<void> {
  const stream = openStream(url, MARKET, { apiKey, apiSecret: "another one" });
  await stream.next("error");
  stream.close();
}

/** A stranger who guesses at a password until the account is locked to strangers. */
async function guessPasswords(stranger: BrowserClient, email: string): Promise<void> {
  for (let guess = 0; guess < GUESSES; guess += 1) {
    await stranger.call("POST", "/session", { email, password: `guess number ${guess}` }).catch(() => null);
  }
}

/** Fills, open orders, a stop, signals of which one is refused, and requests that fail. */
async function tradeSpot(url: string, key: Key): Promise<void> {
  const trade = traderOn(url, key);
  const market = (order: Record<string, string>) =>
    trade("POST", "/api/v3/order", { type: "MARKET", ...order });
  await market({ symbol: "BTCUSDT", side: "BUY", quoteOrderQty: "60" });
  await market({ symbol: "ETHUSDT", side: "BUY", quoteOrderQty: "30" });
  await market({ symbol: "BTCUSDT", side: "SELL", quantity: "0.0002" });
  const limit = { type: "LIMIT", timeInForce: "GTC", symbol: "BTCUSDT" };
  const bid = await priceOf(url, "/api/v3/ticker/bookTicker", "bidPrice");
  await trade("POST", "/api/v3/order", {
    ...limit,
    side: "BUY",
    quantity: "0.0002",
    price: scaled(bid, 0.995),
  });
  await trade("POST", "/api/v3/order", {
    ...limit,
    side: "SELL",
    quantity: "0.0001",
    price: scaled(bid, 1.004),
  });
  await trade("POST", "/api/v3/order", {
    ...limit,
    type: "STOP_LOSS_LIMIT",
    side: "SELL",
    quantity: "0.0001",
    stopPrice: scaled(bid, 0.994),
    price: scaled(bid, 0.993),
  });
  const bot = botClient(url, key);
  const order = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "10" };
  await bot.submit(order, randomUUID());
  await bot.submit({ ...order, quoteOrderQty: "100000" }, randomUUID());
  await bot.submit(order, randomUUID());
  await sendUnordered(url, key);
  await signed(url, key, "GET", "/api/v3/account", { timestamp: Date.now() - 60_000 });
  await trade("GET", "/api/v3/account");
}

/** A usual mistake: what is signed has its parameters in alphabetical order, what is sent has not. */
async function sendUnordered(url: string, { apiKey, apiSecret }: Key): Promise<void> {
  const timestamp = Date.now();
  const signature = createHmac("sha256", apiSecret)
    .update(`recvWindow=5000&symbol=BTCUSDT&timestamp=${timestamp}`)
    .digest("hex");
  const query = `timestamp=${timestamp}&symbol=BTCUSDT&recvWindow=5000&signature=${signature}`;
  await send(url, "GET", `/api/v3/openOrders?${query}`, { headers: { "x-mbx-apikey": apiKey } });
}

/** A position with a take profit, a stop loss and an open order. */
async function tradeFutures(url: string, key: Key): Promise<void> {
  const trade = traderOn(url, key);
  const symbol = "BTCUSDT";
  await trade("POST", "/fapi/v1/leverage", { symbol, leverage: 5 });
  await trade("POST", "/fapi/v1/order", { symbol, side: "BUY", type: "MARKET", quantity: "0.01" });
  await trade("POST", "/fapi/v1/order", { symbol, side: "SELL", type: "MARKET", quantity: "0.003" });
  const bid = await priceOf(url, "/fapi/v1/ticker/bookTicker", "bidPrice");
  const leg = { algoType: "CONDITIONAL", symbol, side: "SELL", closePosition: "true" };
  await trade("POST", "/fapi/v1/algoOrder", { ...leg, type: "STOP_MARKET", triggerPrice: scaled(bid, 0.98) });
  await trade("POST", "/fapi/v1/algoOrder", {
    ...leg,
    type: "TAKE_PROFIT_MARKET",
    triggerPrice: scaled(bid, 1.03),
  });
  await trade("POST", "/fapi/v1/order", {
    symbol,
    side: "BUY",
    type: "LIMIT",
    timeInForce: "GTC",
    quantity: "0.004",
    price: scaled(bid, 0.99),
  });
}

/** Signed requests that must succeed. */
function traderOn(url: string, key: Key) {
  return async (method: string, path: string, parameters: Record<string, string | number> = {}) => {
    const { status, body } = await priced(() => signed(url, key, method, path, parameters));
    if (status !== 200) throw new Error(`${method} ${path} is refused: ${JSON.stringify(body)}`);
    return body;
  };
}

async function priceOf(url: string, path: string, field: string): Promise<string> {
  return (await send(url, "GET", `${path}?symbol=BTCUSDT`)).body[field];
}

/** A whole number near a part of a price: a tick of every market here. */
function scaled(price: string, factor: number): string {
  return String(Math.round(Number(price) * factor));
}
