// User data over the WebSocket API of spot: who subscribes, what is answered first, and what ends it.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type ApiAnswer, ApiSocket } from "../support/api-socket.ts";
import { lyrebird } from "../support/commands.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/gateway.ts";
import { signed } from "../support/signed-client.ts";

let gateway: GatewayProcess;
let spot: Credentials;
const clients: ApiSocket[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  spot = gateway.seed("spot");
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
  signed(gateway.url, key, "POST", "/api/v3/order", {
    symbol: "BTCUSDT",
    side: "BUY",
    type: "MARKET",
    quantity,
  });
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

test("a connection has one subscription per account; events of two accounts have the ids of their subscriptions", async () => {
  const other = gateway.seed("spot");
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

test("a revoked key loses its session and its events", async () => {
  const key = gateway.seed("spot");
  const client = await open();
  await client.signed("session.logon", key);
  await client.signed("userDataStream.subscribe.signature", key);
  await lyrebird(["keys", "revoke", key.apiKey, "--data", gateway.dataDir]);
  const lost = await client.message((message) => message.id === null && message.status === 401);
  expect(lost).toMatchObject({ error: { code: -2015 } });
  await client.message(isEvent("eventStreamTerminated"));
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
