// Futures user data over the wire: listen keys by REST, the ways to connect with one, what ends a stream, and
// a client that knows its account from events alone.
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import WebSocket from "ws";
import { eventually } from "../support/eventually.ts";
import { seededRandom } from "../support/random.ts";
import { testSeed } from "../support/seed.ts";
import { lyrebird } from "../support/servers/commands.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { FuturesListener } from "./listening-client.ts";

const gateway = seededGateway(1, { futuresStrategyCount: 10 });
const seed = testSeed();
const symbol = "BTCUSDT";
const ROUTE = "/fapi/v1/listenKey";
/** Steps of the walk: so many, and more until enough has happened that a client could get wrong. */
const STEPS = 60;
const STEPS_MAX = 300;
const PLACED_MIN = 20;
const FILLED_MIN = 10;
/** No budget is spent for longer, ms. */
const WINDOW_MS_MAX = 70_000;
const WALK_MS_MAX = 300_000;

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
type Message = any;

/** A socket with all that it has received. */
class Listener {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly texts: string[] = [];
  closeCode: number | null = null;

  constructor(path: string) {
    this.socket = new WebSocket(gateway.url.replace("http", "ws") + path);
    this.socket.on("message", (data) => {
      this.texts.push(String(data));
      this.messages.push(JSON.parse(String(data)));
    });
    this.socket.on("close", (code) => {
      this.closeCode = code;
    });
    this.socket.on("error", () => {});
  }

  async closed(): Promise<number | null> {
    await eventually("the connection is closed", () => this.closeCode !== null);
    return this.closeCode;
  }
}

const opened: Listener[] = [];
afterEach(() => {
  for (const { socket } of opened.splice(0)) socket.terminate();
});

async function connect(path: string): Promise<Listener> {
  const listener = new Listener(path);
  opened.push(listener);
  await once(listener.socket, "open");
  return listener;
}

/** Asks as clients do: with the key alone. */
function ask(method: string, { apiKey }: Pick<Credentials, "apiKey">) {
  return send(gateway.url, method, ROUTE, { headers: { "x-mbx-apikey": apiKey } });
}

async function listenKeyOf(keys: Credentials): Promise<string> {
  return (await ask("POST", keys)).body.listenKey;
}

const call = (keys: Credentials, method: string, path: string, values = {}) =>
  signed(gateway.url, keys, method, path, values);

async function buy(keys: Credentials, values = {}) {
  const order = { symbol, side: "BUY", type: "MARKET", quantity: "0.01", ...values };
  const { status, body } = await call(keys, "POST", "/fapi/v1/order", order);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

test("a listen key is opened, is the same while it lives, is extended and closed; with the key alone or signed", async () => {
  const keys = gateway.takeFuturesStrategy();
  expect(await ask("PUT", keys)).toMatchObject({
    status: 400,
    body: { code: -1125, msg: "This listenKey does not exist." },
  });
  const { status, body, headers } = await ask("POST", keys);
  expect(status).toBe(200);
  expect(headers.get("x-mbx-used-weight-1m")).not.toBeNull();
  expect(body).toEqual({ listenKey: expect.stringMatching(/^[A-Za-z0-9]{64}$/) });
  expect((await ask("POST", keys)).body).toEqual(body);
  expect((await call(keys, "POST", ROUTE)).body).toEqual(body);
  expect((await call(keys, "PUT", ROUTE, { listenKey: "whatever" })).body).toEqual(body);
  await gateway.restart("kill");
  expect((await ask("PUT", keys)).body).toEqual(body);
  expect((await ask("POST", keys)).body).toEqual(body);
  expect(await ask("DELETE", keys)).toMatchObject({ status: 200, body: {} });
  expect((await ask("DELETE", keys)).body.code).toBe(-1125);
  expect((await ask("POST", keys)).body.listenKey).not.toBe(body.listenKey);
});

test("other keys are refused as on other futures routes, and spot's routes are gone", async () => {
  for (const method of ["POST", "PUT", "DELETE"]) {
    for (const apiKey of ["unknown", `lyre_bot_${"0".repeat(64)}`])
      expect(await ask(method, { apiKey })).toMatchObject({ status: 401, body: { code: -2015 } });
    expect(await send(gateway.url, method, ROUTE)).toMatchObject({ status: 401, body: { code: -2015 } });
    for (const path of ["/api/v3/userDataStream", "/api/v1/userDataStream"]) {
      const retired = await send(gateway.url, method, path);
      expect(retired).toMatchObject({ status: 410, body: { code: -1020 } });
    }
  }
  const spot = gateway.takeStrategy();
  const other = await call(spot, "GET", "/fapi/v3/account");
  expect(await ask("POST", spot)).toMatchObject({ status: other.status, body: other.body });
});

test("every way to connect brings the same events, raw or under the listen key", async () => {
  const keys = gateway.takeFuturesStrategy();
  const listenKey = await listenKeyOf(keys);
  const raw = [
    await connect(`/private/ws?listenKey=${listenKey}`),
    await connect(`/private/ws/${listenKey}`),
    await connect(`/ws/${listenKey}`),
    await connect(`/ws?listenKey=${listenKey}`),
  ];
  const wrapped = [
    await connect(`/private/stream?listenKey=${listenKey}`),
    await connect("/private/stream?streams="),
    await connect(`/private/stream?streams=${listenKey}`),
  ];
  const [, subscriber] = wrapped as [Listener, Listener];
  subscriber.socket.send(JSON.stringify({ method: "SUBSCRIBE", params: [listenKey], id: "a1" }));
  await eventually("it is answered", () => subscriber.messages.length > 0);
  expect(subscriber.messages).toEqual([{ result: null, id: "a1" }]);
  subscriber.messages.length = 0;
  subscriber.texts.length = 0;

  const { orderId } = await buy(keys);
  await eventually("all is heard", () => [...raw, ...wrapped].every(({ messages }) => messages.length >= 4));
  const [first] = raw as [Listener];
  expect(first.messages.map(({ e }) => e)).toEqual([
    "ORDER_TRADE_UPDATE",
    "TRADE_LITE",
    "ACCOUNT_UPDATE",
    "ORDER_TRADE_UPDATE",
  ]);
  expect(first.messages[3].o).toMatchObject({ i: orderId, x: "TRADE", X: "FILLED" });
  for (const { texts } of raw) expect(texts).toEqual(first.texts);
  for (const { texts } of wrapped)
    expect(texts).toEqual(first.texts.map((text) => `{"stream":"${listenKey}","data":${text}}`));
});

test("several keys on one connection, and only the events that are asked for", async () => {
  const [one, other] = [gateway.takeFuturesStrategy(), gateway.takeFuturesStrategy()];
  const [first, second] = [await listenKeyOf(one), await listenKeyOf(other)];
  const both = await connect(`/private/stream?listenKey=${first}&listenKey=${second}`);
  const filtered = await connect(
    `/private/ws?listenKey=${first}&events=ACCOUNT_UPDATE/ACCOUNT_CONFIG_UPDATE`,
  );
  await buy(one);
  await buy(other);
  await eventually("both are heard", () => both.messages.length >= 8);
  expect(both.messages.map(({ stream }) => stream)).toEqual([
    ...Array.from({ length: 4 }, () => first),
    ...Array.from({ length: 4 }, () => second),
  ]);
  expect(filtered.messages.map(({ e }) => e)).toEqual(["ACCOUNT_UPDATE"]);
});

test("an unknown key, a closed one, a revoked API key and a closed strategy end the connection", async () => {
  const unknown = "x".repeat(64);
  for (const path of [
    `/private/ws?listenKey=${unknown}`,
    `/private/ws/${unknown}`,
    "/private/ws?listenKey=no",
  ])
    expect(await (await connect(path)).closed()).toBe(1_008);

  const [closing, revoked, closed] = [1, 2, 3].map(() => gateway.takeFuturesStrategy()) as [
    Credentials,
    Credentials,
    Credentials,
  ];
  const open = async (keys: Credentials) => await connect(`/private/ws/${await listenKeyOf(keys)}`);
  const [ofClosing, ofRevoked, ofClosed] = [await open(closing), await open(revoked), await open(closed)];
  await ask("DELETE", closing);
  expect(await ofClosing.closed()).toBe(1_000);
  await lyrebird(["keys", "revoke", revoked.apiKey, "--data", gateway.dataDir]);
  expect(await ofRevoked.closed()).toBe(1_008);
  const { price } = (await send(gateway.url, "GET", `/fapi/v1/ticker/price?symbol=${symbol}`)).body;
  await buy(closed, { type: "LIMIT", timeInForce: "GTC", price: String(Math.round(price * 0.9)) });
  await call(closed, "POST", "/fapi/v1/platform/strategy/close");
  expect(await ofClosed.closed()).toBe(1_008);
  expect(ofClosed.messages.map(({ o }) => o?.x)).toEqual(["NEW", "CANCELED"]);
  expect((await ask("POST", closed)).body).toMatchObject({ code: -2010 });
});

test("a connection without a key is open, and answers control messages", async () => {
  const listener = await connect("/private/ws/0");
  listener.socket.send(JSON.stringify({ method: "LIST_SUBSCRIPTIONS", id: 3 }));
  await eventually("it is answered", () => listener.messages.length > 0);
  expect(listener.messages).toEqual([{ result: ["0"], id: 3 }]);
});

test(`a client that only listens knows what REST shows (seed ${seed})`, {
  timeout: WALK_MS_MAX,
}, async () => {
  const keys = gateway.takeFuturesStrategy();
  const listener = await connect(`/private/ws?listenKey=${await listenKeyOf(keys)}`);
  const random = seededRandom(seed);
  const { price } = (await send(gateway.url, "GET", `/fapi/v1/ticker/price?symbol=${symbol}`)).body;
  const at = (factor: number) => String(Math.round((Number(price) * factor) / 10) * 10);
  /** Sends a request until its budget takes it; answers the status. */
  const request = async (method: string, path: string, values: object) => {
    for (;;) {
      const { status, headers } = await call(keys, method, path, { symbol, ...values });
      if (status !== 429) return status;
      const until = Date.now() + 1_000 * Number(headers.get("retry-after"));
      const isOver = () => Date.now() >= until;
      await eventually("its budget is whole again", isOver, { msMax: WINDOW_MS_MAX, askAgainMs: 100 });
    }
  };
  let [placed, filled] = [0, 0];
  const order = async (values: { readonly type: string; readonly [name: string]: string }) => {
    if ((await request("POST", "/fapi/v1/order", values)) !== 200) return;
    placed += 1;
    if (values.type === "MARKET") filled += 1;
  };
  // Most of some walks is refused.
  const isEnough = () => placed > PLACED_MIN && filled > FILLED_MIN;
  for (let step = 0; step < STEPS || (!isEnough() && step < STEPS_MAX); step += 1) {
    const side = random() < 0.5 ? "BUY" : "SELL";
    const quantity = (0.001 * (1 + Math.floor(random() * 5))).toFixed(3);
    const draw = random();
    if (draw < 0.35) await order({ side, type: "MARKET", quantity });
    else if (draw < 0.65) {
      const price = at(side === "BUY" ? 0.9 + random() * 0.12 : 0.98 + random() * 0.12);
      const leg = side === "BUY" && random() < 0.5 ? { stopLossPrice: at(0.6) } : {};
      await order({ side, type: "LIMIT", timeInForce: "GTC", quantity, price, ...leg });
    } else if (draw < 0.75) await request("DELETE", "/fapi/v1/allOpenOrders", {});
    else if (draw < 0.85)
      await request("POST", "/fapi/v1/leverage", { leverage: 2 + Math.floor(random() * 10) });
    else {
      const type = random() < 0.5 ? "STOP_MARKET" : "TAKE_PROFIT_MARKET";
      const stopPrice = at((side === "SELL") === (type === "STOP_MARKET") ? 0.7 : 1.3);
      await request("POST", "/fapi/v1/algoOrder", { side, type, stopPrice, closePosition: "true" });
    }
  }
  // Nothing may be filled between two of the answers.
  await call(keys, "DELETE", "/fapi/v1/allOpenOrders", { symbol });
  const client = new FuturesListener();
  const { body: balances } = await call(keys, "GET", "/fapi/v3/balance");
  const { body: orders } = await call(keys, "GET", "/fapi/v1/allOrders", { symbol, limit: 1000 });
  const { body: trades } = await call(keys, "GET", "/fapi/v1/userTrades", { symbol, limit: 1000 });
  const { body: legs } = await call(keys, "GET", "/fapi/v1/allAlgoOrders", { symbol });
  const { body: risks } = await call(keys, "GET", "/fapi/v3/positionRisk", { symbol });
  let read = 0;
  const known = (row: Message, shown: Message, ...without: string[]) =>
    expect(row).toEqual(
      Object.fromEntries(
        Object.keys(row ?? {}).map((key) => [key, without.includes(key) ? row[key] : shown[key]]),
      ),
    );
  const [risk] = risks;
  const isTheSame = () => {
    for (; read < listener.texts.length; read += 1) client.hear(listener.texts[read] ?? "");
    expect(client.orders.size).toBe(orders.length);
    for (const shown of orders) known(client.orders.get(shown.orderId), shown);
    expect(client.trades.length).toBe(trades.length);
    for (const [index, shown] of trades.entries()) known(client.trades[index], shown);
    expect(client.legs.size).toBe(legs.length);
    for (const shown of legs) known(client.legs.get(shown.algoId), shown);
    known(client.wallet, balances[0]);
    // The profit is that of another mark price.
    known(client.positions.get(symbol), risk, "unRealizedProfit", "marginType");
    return true;
  };
  expect(orders.length).toBeGreaterThan(PLACED_MIN);
  expect(trades.length).toBeGreaterThan(FILLED_MIN);
  // The last events may come after the answers.
  await expect.poll(isTheSame).toBe(true);
});
