// User data over the WebSocket API of spot: who subscribes, what is answered first, and what ends it.
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { USER_STREAMS_PER_KEY_MAX } from "../../src/sockets/limits.ts";
import { priced } from "../support/prices.ts";
import { lyrebird } from "../support/servers/commands.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import { type ApiAnswer, ApiSocket } from "../support/sockets/api-socket.ts";

let gateway: GatewayProcess;
let spot: Credentials;
const clients: ApiSocket[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  spot = gateway.seed("SPOT");
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => gateway?.stop());

async function open(): Promise<ApiSocket> {
  const client = await ApiSocket.open(gateway.url);
  clients.push(client);
  return client;
}

const buy = (key: Credentials, quantity = "0.001") =>
  priced(() =>
    signed(gateway.url, key, "POST", "/api/v3/order", {
      symbol: "BTCUSDT",
      side: "BUY",
      type: "MARKET",
      quantity,
    }),
  );
const isEvent = (name: string) => (message: ApiAnswer) => message.event?.e === name;

test("an order over REST is reported on the socket after the subscription's answer, with the figures of REST", async () => {
  const client = await open();
  const subscribed = await client.signed("userDataStream.subscribe.signature", spot);
  expect(subscribed).toMatchObject({ status: 200, result: { subscriptionId: 0 } });
  expect((await client.request("session.subscriptions")).result).toEqual([{ subscriptionId: 0 }]);
  const order = (await buy(spot)).body;
  const position = await client.message(isEvent("outboundAccountPosition"));
  const reports = client.messages.filter(isEvent("executionReport"));
  expect(reports.map(({ subscriptionId, event }) => [subscriptionId, event.x, event.X])).toEqual([
    [0, "NEW", "NEW"],
    [0, "TRADE", "FILLED"],
  ]);
  const { event } = reports[1];
  expect([event.i, event.c, event.z, event.Z]).toEqual([
    order.orderId,
    order.clientOrderId,
    order.executedQty,
    order.cummulativeQuoteQty,
  ]);
  const account = (await signed(gateway.url, spot, "GET", "/api/v3/account")).body;
  for (const { a, f, l } of position.event.B) {
    expect(account.balances).toContainEqual({ asset: a, free: f, locked: l });
  }
});

test("a connection that was cut has missed what REST tells, and the next one gets nothing twice", async () => {
  const key = gateway.seed("SPOT");
  const subscribed = async () => {
    const client = await open();
    await client.signed("userDataStream.subscribe.signature", key);
    return client;
  };
  const tradesOf = (client: ApiSocket) =>
    client.messages.filter(({ event }) => event?.x === "TRADE").map(({ event }) => event.t);
  const first = await subscribed();
  await buy(key, "0.0003");
  await first.message(isEvent("outboundAccountPosition"));
  const known = tradesOf(first);
  // One order is filled while the connection is cut, and one while there is none.
  const filled = buy(key, "0.0003");
  first.close();
  await filled;
  await buy(key, "0.0003");
  const second = await subscribed();
  const missed = await signed(gateway.url, key, "GET", "/api/v3/myTrades", { symbol: "BTCUSDT" });
  await buy(key, "0.0003");
  await second.message(isEvent("outboundAccountPosition"));
  expect(known).toEqual([1]);
  expect(missed.body.map(({ id }: { readonly id: number }) => id)).toEqual([1, 2, 3]);
  expect(tradesOf(second)).toEqual([4]);
  expect(second.messages.filter(({ event }) => event !== undefined)).toHaveLength(3);
});

test("a connection has one subscription per account; events of two accounts have the ids of their subscriptions", async () => {
  const other = gateway.seed("SPOT");
  const client = await open();
  await client.signed("userDataStream.subscribe.signature", spot);
  const again = await client.signed("userDataStream.subscribe.signature", spot);
  expect(again).toMatchObject({ status: 400, error: { code: -2035 } });
  const second = await client.signed("userDataStream.subscribe.signature", other);
  expect(second.result).toEqual({ subscriptionId: 1 });
  await buy(other);
  await client.message(isEvent("outboundAccountPosition"));
  expect(
    client.messages.filter(({ event }) => event !== undefined).map((each) => each.subscriptionId),
  ).toEqual([1, 1, 1]);
});

test("an unsubscription ends the events with a notice", async () => {
  const client = await open();
  await client.signed("userDataStream.subscribe.signature", spot);
  expect(await client.request("userDataStream.unsubscribe", { subscriptionId: 5 })).toMatchObject({
    error: { code: -2036 },
  });
  expect((await client.request("userDataStream.unsubscribe", { subscriptionId: 0 })).result).toEqual({});
  await client.message(isEvent("eventStreamTerminated"));
  await buy(spot);
  await client.request("ping");
  expect(client.messages.filter(isEvent("executionReport"))).toEqual([]);
});

test("a key has so many subscriptions on a server, and a session is none of them", async () => {
  const key = gateway.seed("SPOT");
  const subscribe = (client: ApiSocket) => client.signed("userDataStream.subscribe.signature", key);
  const all = await Promise.all(Array.from({ length: USER_STREAMS_PER_KEY_MAX }, open));
  const [first, ...others] = all;
  await first?.signed("session.logon", key);
  for (const answer of await Promise.all(others.map(subscribe)))
    expect(answer).toMatchObject({ status: 200 });
  const last = await open();
  expect(await subscribe(last)).toMatchObject({ status: 200 });
  expect(await subscribe(await open())).toMatchObject({ status: 400, error: { code: -1034 } });
  expect(await last.request("userDataStream.unsubscribe")).toMatchObject({ status: 200 });
  expect(await subscribe(await open())).toMatchObject({ status: 200 });
});

test("a session's end is the end of its own subscription", async () => {
  const client = await open();
  expect(await client.request("userDataStream.subscribe")).toMatchObject({ status: 400 });
  await client.signed("session.logon", spot);
  const subscribed = await client.request("userDataStream.subscribe");
  expect(subscribed).toMatchObject({ status: 200, result: { subscriptionId: 0 } });
  expect((await client.request("session.status")).result.userDataStream).toBe(true);
  expect((await client.request("session.logout")).result.userDataStream).toBe(false);
  await client.message(isEvent("eventStreamTerminated"));
});

test("another logon ends the subscription of the session before it, with a notice", async () => {
  const client = await open();
  await client.signed("session.logon", spot);
  await client.request("userDataStream.subscribe");
  await client.signed("session.logon", gateway.seed("SPOT"));
  expect(await client.message(isEvent("eventStreamTerminated"))).toMatchObject({ subscriptionId: 0 });
});

test.each([
  ["of the session", (client: ApiSocket) => client.request("userDataStream.subscribe")],
  [
    "by a signature",
    (client: ApiSocket, key: Credentials) => client.signed("userDataStream.subscribe.signature", key),
  ],
])("a revoked key loses its session and its events, a subscription %s too, once", async (_, subscribe) => {
  const key = gateway.seed("SPOT");
  const client = await open();
  await client.signed("session.logon", key);
  expect(await subscribe(client, key)).toMatchObject({ status: 200 });
  await lyrebird(["keys", "revoke", key.apiKey, "--data", gateway.dataDir]);
  const lost = await client.message((message) => message.id === null && message.status === 401);
  expect(lost).toMatchObject({ error: { code: -2015 } });
  await client.message(isEvent("eventStreamTerminated"));
  await client.request("ping");
  expect(client.messages.filter(isEvent("eventStreamTerminated"))).toHaveLength(1);
});

test("a closed strategy ends its subscription behind its last events, and takes no other", async () => {
  const key = gateway.seed("SPOT");
  const client = await open();
  const subscribe = () => client.signed("userDataStream.subscribe.signature", key);
  await subscribe();
  await buy(key);
  await signed(gateway.url, key, "POST", "/api/v3/platform/strategy/close");
  await client.message(isEvent("eventStreamTerminated"));
  const names = client.messages.flatMap(({ event }) => (event === undefined ? [] : [event.e]));
  expect(names.slice(-2)).toEqual(["outboundAccountPosition", "eventStreamTerminated"]);
  const sales = client.messages.filter(({ event }) => event?.S === "SELL" && event.x === "TRADE");
  expect(sales).toHaveLength(1);
  expect(await subscribe()).toMatchObject({ status: 400, error: { code: -2010, msg: "Strategy not live" } });
});

test("the end of the server is announced", async () => {
  const second = await startGateway();
  const client = await ApiSocket.open(second.url);
  clients.push(client);
  await client.request("ping");
  const notice = client.message(isEvent("serverShutdown"));
  expect(await second.stop()).toBe(0);
  expect(await notice).not.toHaveProperty("subscriptionId");
});

test("every order that was taken before the server ended is answered", async () => {
  const ending = await startGateway();
  const key = ending.seed("SPOT");
  const client = await ApiSocket.open(ending.url);
  clients.push(client);
  const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.0001" };
  const placing = Array.from({ length: 40 }, () => client.signed("order.place", key, order));
  await placing[0];
  expect(await ending.stop()).toBe(0);
  const answered = client.messages.flatMap(({ status, result }) => (status === 200 ? [result.orderId] : []));
  const next = await startGateway({ dataDir: ending.dataDir });
  onTestFinished(() => next.kill());
  const stored = (await signed(next.url, key, "GET", "/api/v3/allOrders", { symbol: "BTCUSDT" })).body;
  expect(stored.map(({ orderId }: ApiAnswer) => orderId)).toEqual(answered);
});
