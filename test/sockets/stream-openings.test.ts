// When a client hears that the stream of its listen key is open: the test opens it, and has the clock.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { createManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { STREAMS_OPENING_MS_MAX } from "../../src/sockets/limits.ts";
import type { OpenStream, StreamUser } from "../../src/sockets/listen-keys.ts";
import { createMarketEndpoints } from "../../src/sockets/market-streams.ts";
import { createPrivateEndpoint, listenKeyNames } from "../../src/sockets/private-streams.ts";
import { isWebSocketUpgrade, Sockets } from "../../src/sockets/server.ts";

const KEY = "k".repeat(64);
const EVENT = '{"e":"ORDER_TRADE_UPDATE"}';
const SUBSCRIBE = `{"method":"SUBSCRIBE","params":["${KEY}"],"id":1}`;
/** Each is followed by the key. */
const ADDRESSES = [
  "/private/ws?listenKey=",
  "/private/ws/",
  "/private/stream?listenKey=",
  "/ws/",
  "/ws?listenKey=",
] as const;

/** The sockets of listen keys; the streams of all are open once `opened` is resolved. */
async function openFixture() {
  const time = createManualTime();
  const opened = Promise.withResolvers<OpenStream>();
  const users = new Set<StreamUser>();
  let asked = 0;
  const listenKeys = {
    open: () => {
      asked += 1;
      return opened.promise;
    },
  };
  const log = { warn() {}, error() {} };
  const parts = { listenKeys, timers: time, log };
  const server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade });
  const market = { exchangeInfo: () => ({ symbols: new Map() }) };
  const markets = { SPOT: { ...market, type: "SPOT" }, FUTURES: { ...market, type: "FUTURES" } } as never;
  const sockets = new Sockets({
    server,
    endpoints: [
      createPrivateEndpoint(parts),
      ...createMarketEndpoints({ markets, listenKeysOf: (query) => listenKeyNames(query, parts) }),
    ],
    perAddress: new ConnectionBound(10),
    addressOf: () => "192.0.2.1",
    budgets: new Budgets(),
    timers: time,
    wallNow: time.now,
    log,
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: WebSocket[] = [];
  const connect = (path: string) => {
    const client = new WebSocket(url + path);
    const heard: string[] = [];
    client.on("message", (data) => heard.push(String(data)));
    client.on("error", () => {});
    clients.push(client);
    return { client, heard };
  };
  onTestFinished(async () => {
    opened.resolve(() => () => {});
    for (const client of clients) client.terminate();
    await sockets.close();
    server.close();
  });
  return {
    ...{ time, sockets, users, connect },
    openStream: () =>
      opened.resolve((user) => {
        users.add(user);
        return () => users.delete(user);
      }),
    emit() {
      for (const user of users) user.onEvent({ name: "ORDER_TRADE_UPDATE", text: EVENT });
    },
    isAsked: () => expect.poll(() => asked, { interval: 1 }).toBe(1),
    /** Another client is answered: the server has done by then what it does at once. */
    async serveAnother() {
      const { client } = connect("/private/ws/0");
      await once(client, "open");
      client.ping();
      await once(client, "pong");
    },
  };
}

test.each(ADDRESSES)("the handshake of %s… is answered when all that follows will be sent", async (path) => {
  const { connect, openStream, emit, isAsked, serveAnother } = await openFixture();
  const { client, heard } = connect(path + KEY);
  client.on("open", emit);
  await isAsked();
  await serveAnother();
  expect(client.readyState).toBe(WebSocket.CONNECTING);
  openStream();
  await once(client, "message");
  expect(heard).toEqual([path.includes("stream") ? `{"stream":"${KEY}","data":${EVENT}}` : EVENT]);
});

test.each(["/private/stream", "/stream"])(
  "SUBSCRIBE of a listen key on %s is answered when all that follows will be sent, and messages after it later",
  async (path) => {
    const { connect, openStream, emit, isAsked, serveAnother } = await openFixture();
    const { client, heard } = connect(path);
    await once(client, "open");
    client.send(SUBSCRIBE);
    client.send('{"method":"SET_PROPERTY","params":["combined",false],"id":2}');
    client.send('{"method":"LIST_SUBSCRIPTIONS","id":3}');
    await isAsked();
    await serveAnother();
    expect(heard).toEqual([]);
    client.once("message", emit);
    openStream();
    await expect.poll(() => heard.length).toBe(4);
    expect(heard).toEqual([
      '{"result":null,"id":1}',
      '{"result":null,"id":2}',
      `{"result":["${KEY}"],"id":3}`,
      EVENT,
    ]);
  },
);

test("a stream that is not open in time ends the connection, after the handshake or the answer", async () => {
  const { connect, time, isAsked } = await openFixture();
  const { client } = connect(ADDRESSES[0] + KEY);
  await isAsked();
  time.advance(STREAMS_OPENING_MS_MAX - 1);
  expect(client.readyState).toBe(WebSocket.CONNECTING);
  const closed = once(client, "close");
  time.advance(1);
  await once(client, "open");
  expect((await closed)[0]).toBe(1_011);
});

test("an answer waits no longer either", async () => {
  const { connect, time, isAsked } = await openFixture();
  const { client, heard } = connect("/private/stream");
  await once(client, "open");
  client.send(SUBSCRIBE);
  await isAsked();
  const closed = once(client, "close");
  time.advance(STREAMS_OPENING_MS_MAX);
  expect((await closed)[0]).toBe(1_011);
  expect(heard).toEqual(['{"result":null,"id":1}']);
});

test("a listen key that is unknown has its handshake and its answer, and then the connection is closed", async () => {
  const { connect } = await openFixture();
  const { client } = connect("/private/ws?listenKey=no");
  const closed = once(client, "close");
  await once(client, "open");
  expect((await closed)[0]).toBe(1_008);
});

test("the end of the server refuses a client that waits for its handshake, and answers one that has subscribed", async () => {
  const { connect, sockets, openStream, isAsked, serveAnother } = await openFixture();
  const subscriber = connect("/private/stream");
  await once(subscriber.client, "open");
  subscriber.client.send(SUBSCRIBE);
  await isAsked();
  const { client } = connect(ADDRESSES[0] + KEY);
  const refused = once(client, "unexpected-response");
  await serveAnother();
  const closed = once(subscriber.client, "close");
  const ended = sockets.close();
  openStream();
  expect((await refused)[1].statusCode).toBe(503);
  client.terminate();
  expect((await closed)[0]).toBe(1_001);
  expect(subscriber.heard.map((text) => JSON.parse(text))).toMatchObject([
    { data: { e: "serverShutdown" } },
    { result: null, id: 1 },
  ]);
  await ended;
});

test("a client that leaves before its stream is open leaves nothing behind", async () => {
  const { connect, sockets, users, openStream, isAsked, serveAnother } = await openFixture();
  const { client } = connect(ADDRESSES[0] + KEY);
  await isAsked();
  client.terminate();
  openStream();
  await serveAnother();
  await expect.poll(() => sockets.count).toBe(1);
  expect(users.size).toBe(0);
});
