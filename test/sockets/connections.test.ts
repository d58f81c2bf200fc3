// The bounds of every connection of the exchange's sockets, with a clock of the test's own: who may connect,
// pings, age, the rate of what clients send, and the end of the server.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import WebSocket from "ws";
import { createManualTime, type ManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { ROUTES } from "../../src/http/server.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { ConnectionBound, STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT } from "../../src/rate-limits/connections.ts";
import { addressHolder } from "../../src/rate-limits/holder.ts";
import type { Connection } from "../../src/sockets/connection.ts";
import {
  ANSWERS_MS_MAX,
  ATTEMPT_ADDRESSES_MAX,
  ATTEMPTS_WINDOW_MS,
  BUFFERED_BYTES_MAX,
  CONNECTIONS_MAX,
  CONTROL_BURST,
  CONTROL_PER_SECOND,
  FUTURES_PING,
  GOODBYE_MS_MAX,
  LIFETIME_MS,
  SPOT_PING,
} from "../../src/sockets/limits.ts";
import { createMarketEndpoints } from "../../src/sockets/market-streams.ts";
import { createPrivateEndpoint } from "../../src/sockets/private-streams.ts";
import { type Endpoint, isWebSocketUpgrade, Sockets } from "../../src/sockets/server.ts";
import { createWsApi } from "../../src/sockets/ws-api.ts";
import { textFrame } from "../../src/streams/fan-out.ts";

const PER_ADDRESS = 3;
/** A client cannot be told apart from others by its port: the test says who it is. */
const CLIENT_HEADER = "x-client";

let time: ManualTime;
let server: Server;
let sockets: Sockets;
let budgets: Budgets;
let url: string;
const clients: WebSocket[] = [];
/** Those of the server, in the order in which they were opened. */
let connections: Connection[];
/** The TCP sockets of handshakes without a network. */
const withoutNetwork: Duplex[] = [];

/** Sends the answer to the message "later". */
let answerLater: (() => void) | null = null;

/** Larger than what the system buffers for a client that does not read. */
const LARGE = "x".repeat(4 * BUFFERED_BYTES_MAX);
/** Answers "large" that were written. */
let largeAnswers: number;

/** Sends back what it gets, "later" when the test says so and "large" at length, but never "nothing". */
const echoOf = (path: string, ping: Endpoint["ping"]): Endpoint => ({
  takes: (asked) => asked === path,
  ping,
  open: () => (connection) => {
    connections.push(connection);
    return {
      countsMessages: true,
      async onMessage(text) {
        if (text === "large") {
          const { left } = await connection.answer(LARGE);
          largeAnswers += 1;
          await left;
          return;
        }
        if (text === "nothing") await new Promise(() => {});
        if (text === "later") await new Promise<void>((resolve) => (answerLater = resolve));
        connection.send(text);
      },
      onClosed: () => {},
      shutdownNotice: (at) => JSON.stringify({ e: "serverShutdown", E: at }),
    };
  },
});

beforeEach(async () => {
  time = createManualTime();
  budgets = new Budgets();
  connections = [];
  answerLater = null;
  largeAnswers = 0;
  server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade });
  sockets = new Sockets({
    server,
    endpoints: [
      echoOf("/echo", SPOT_PING),
      echoOf("/futures-echo", FUTURES_PING),
      echoOf("/without-pings", { everyMs: 2 * LIFETIME_MS, pongWithinMs: 0 }),
    ],
    perAddress: new ConnectionBound(PER_ADDRESS),
    addressOf: ({ headers }) => String(headers[CLIENT_HEADER] ?? "192.0.2.1"),
    budgets,
    timers: time,
    wallNow: () => time.now(),
    log: { warn() {}, error() {} } as never,
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/echo`;
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  for (const socket of withoutNetwork.splice(0)) socket.destroy();
  await sockets.close();
  server.close();
});

function connect(options: WebSocket.ClientOptions = {}, at = url): WebSocket {
  const client = new WebSocket(at, options);
  client.on("error", () => {});
  clients.push(client);
  return client;
}

async function open(options: WebSocket.ClientOptions = {}, at = url): Promise<WebSocket> {
  const client = connect(options, at);
  await once(client, "open");
  return client;
}

/** The status of a handshake: 101 if it is accepted, and then cut. */
async function statusOf(client: WebSocket): Promise<number> {
  const opened = once(client, "open").then(() => 101);
  const refused = once(client, "unexpected-response").then(([, response]) => response.statusCode as number);
  const status = await Promise.race([opened, refused]);
  client.terminate();
  return status;
}

/** The answer to a handshake of an address, without a network: thousands would take too long over one. */
function handshake(address: string): { readonly answer: string; close(): void } {
  let answer = "";
  const socket = new Duplex({
    read() {},
    write(data, _encoding, done) {
      answer += String(data);
      done();
    },
  });
  withoutNetwork.push(socket);
  const headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    [CLIENT_HEADER]: address,
  };
  server.emit("upgrade", { method: "GET", url: "/echo", headers }, socket, Buffer.alloc(0));
  return { answer, close: () => void socket.destroy() };
}

/** Resolves when the server has taken note that all connections have closed. */
const noneLeft = () => expect.poll(() => sockets.count, { interval: 1 }).toBe(0);

test("an address has so many connections at once", async () => {
  for (let count = 0; count < PER_ADDRESS; count += 1) await open();
  expect(await statusOf(connect())).toBe(429);
  expect(await statusOf(connect({ headers: { [CLIENT_HEADER]: "192.0.2.2" } }))).toBe(101);
  clients[0]?.terminate();
  await expect.poll(() => sockets.count).toBe(PER_ADDRESS - 1);
  expect(await statusOf(connect())).toBe(101);
});

test("an address connects so often within the window", async () => {
  for (let count = 0; count < STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT; count += 1) {
    expect(await statusOf(connect())).toBe(101);
    await noneLeft();
  }
  expect(await statusOf(connect())).toBe(429);
  time.advance(ATTEMPTS_WINDOW_MS);
  expect(await statusOf(connect())).toBe(101);
});

test("an address that is banned connects no more until the ban ends", async () => {
  budgets.absorb(
    { charges: [], bans: [{ holder: addressHolder("192.0.2.1"), until: time.now() + 60_000 }] },
    time.now(),
  );
  expect(await statusOf(connect())).toBe(418);
  time.advance(60_000);
  expect(await statusOf(connect())).toBe(101);
});

test("a server has so many connections of all addresses together", async () => {
  const all = Array.from({ length: CONNECTIONS_MAX }, (_, count) => handshake(`192.0.2.${count}`));
  expect(all.filter(({ answer }) => !answer.startsWith("HTTP/1.1 101 "))).toEqual([]);
  expect(handshake("198.51.100.1").answer).toMatch(/^HTTP\/1.1 503 /);
  all[0]?.close();
  await nextTurn();
  expect(handshake("198.51.100.1").answer).toMatch(/^HTTP\/1.1 101 /);
});

test("attempts of so many addresses are counted; the one that tried least recently is forgotten", async () => {
  let others = 0;
  const tryOthers = async (count: number) => {
    for (let tried = 0; tried < count; tried += 1) {
      others += 1;
      handshake(`other ${others}`).close();
      // The server takes note that they have closed.
      if (tried % 1_000 === 0) await nextTurn();
    }
    await nextTurn();
  };
  for (let count = 0; count < STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT; count += 1) handshake("one").close();
  await nextTurn();
  await tryOthers(ATTEMPT_ADDRESSES_MAX - 1);
  expect(handshake("one").answer).toMatch(/^HTTP\/1.1 429 .*connects too often/s);
  // It is not the first to be forgotten, since it has tried again.
  await tryOthers(1);
  expect(handshake("one").answer).toMatch(/^HTTP\/1.1 429 .*connects too often/s);
  await tryOthers(ATTEMPT_ADDRESSES_MAX);
  expect(handshake("one").answer).toMatch(/^HTTP\/1.1 101 /);
});

test.each([
  ["spot", "", SPOT_PING],
  ["futures", "/futures-echo", FUTURES_PING],
])(
  "a client of %s that answers pings stays, one that does not is cut",
  async (_type, path, { everyMs, pongWithinMs }) => {
    const at = new URL(path, url).href;
    const silent = await open({ autoPong: false }, at);
    const alive = await open({}, at);
    const cut = once(silent, "close");
    // The server pings, then waits for the answer of the client that gives one.
    for (let passedMs = 0; passedMs <= everyMs + pongWithinMs; passedMs += everyMs) {
      expect(silent.readyState).toBe(WebSocket.OPEN);
      const pinged = once(alive, "ping");
      time.advance(everyMs);
      await pinged;
      const answered = once(alive, "message");
      alive.send("behind the pong");
      await answered;
    }
    await cut;
    expect(alive.readyState).toBe(WebSocket.OPEN);
  },
);

test("a client that takes long to read an answer owes no pong before it can have read the ping", async () => {
  const client = await open();
  const closed = once(client, "close").then(() => "closed");
  client.pause();
  client.send("large");
  await expect.poll(() => largeAnswers).toBe(1);
  for (let ping = 0; ping < 10; ping += 1) time.advance(SPOT_PING.everyMs);
  const answered = once(client, "message").then(([data]) => data.length);
  const pinged = once(client, "ping");
  client.resume();
  expect(await Promise.race([answered, closed])).toBe(LARGE.length);
  await pinged;
  time.advance(SPOT_PING.everyMs);
  const echoed = once(client, "message").then(([data]) => String(data));
  client.send("still open");
  expect(await Promise.race([echoed, closed])).toBe("still open");
});

test("every path of the exchange has the pings of its type", () => {
  const none = {} as never;
  const endpoints = [
    createPrivateEndpoint(none),
    ...createMarketEndpoints({ markets: none }),
    ...createWsApi({ gateway: none, routes: ROUTES, userStreams: none, keyChecks: none, log: none }),
  ];
  const pingOf = (path: string) => endpoints.find((endpoint) => endpoint.takes(path))?.ping;
  for (const path of ["/ws", "/stream", "/stream/ws", "/ws-api/v3"]) expect(pingOf(path)).toBe(SPOT_PING);
  for (const path of ["/public/ws", "/market/stream", "/private/ws", "/ws-fapi/v1"])
    expect(pingOf(path)).toBe(FUTURES_PING);
});

test("a connection ends after 24 hours, whatever it does", async () => {
  const client = await open({}, new URL("/without-pings", url).href);
  const closed = once(client, "close");
  time.advance(LIFETIME_MS - 1);
  client.send("still open");
  await once(client, "message");
  time.advance(1);
  expect(await closed).toMatchObject([1_000, Buffer.from("24 hours have passed")]);
});

test("a message that was taken before the 24 hours were over is answered before the connection ends", async () => {
  const client = await open({}, new URL("/without-pings", url).href);
  const heard: string[] = [];
  client.on("message", (data) => heard.push(String(data)));
  client.send("later");
  await expect.poll(() => answerLater).not.toBeNull();
  time.advance(LIFETIME_MS);
  const closed = once(client, "close");
  answerLater?.();
  expect(await closed).toMatchObject([1_000, Buffer.from("24 hours have passed")]);
  expect(heard).toEqual(["later"]);
});

test("a client may send a burst, then so much a second, pings included", async () => {
  const client = await open();
  const echoed = async (text: string) => {
    const message = once(client, "message");
    client.send(text);
    expect(String((await message)[0])).toBe(text);
  };
  for (let count = 0; count < CONTROL_BURST; count += 1) await echoed(`message ${count}`);
  time.advance(1_000);
  for (let count = 0; count < CONTROL_PER_SECOND; count += 1) await echoed(`again ${count}`);
  const closed = once(client, "close");
  client.ping();
  expect(await closed).toMatchObject([1_008, Buffer.from("too many messages")]);
});

test("a client that goes on sending while it is closed costs one timer", async () => {
  const client = await open();
  const before = time.pending();
  const tcp: Socket = Reflect.get(client, "_socket");
  client.pause();
  tcp.cork();
  for (let count = 0; count < CONTROL_BURST + 1_000; count += 1) client.ping();
  tcp.uncork();
  await expect.poll(() => time.pending()).toBeGreaterThan(before);
  expect(time.pending()).toBe(before + 1);
  time.advance(GOODBYE_MS_MAX);
  await expect.poll(() => sockets.count).toBe(0);
});

test("the end of the server is announced to all, and nobody connects any more", async () => {
  const [one, other] = [await open(), await open()];
  const notices = [once(one, "message"), once(other, "message")];
  const closes = [once(one, "close"), once(other, "close")];
  const ended = sockets.close();
  for (const notice of notices) {
    expect(JSON.parse(String((await notice)[0]))).toEqual({ e: "serverShutdown", E: time.now() });
  }
  for (const close of closes) expect((await close)[0]).toBe(1_001);
  await ended;
  expect(await statusOf(connect())).toBe(503);
});

test("the end of the server waits so long for an answer", async () => {
  const client = await open();
  client.send("nothing");
  client.send("something");
  await once(client, "message");
  const closed = once(client, "close");
  const ended = sockets.close();
  time.advance(ANSWERS_MS_MAX - 1);
  client.ping();
  await once(client, "pong");
  expect(client.readyState).toBe(WebSocket.OPEN);
  time.advance(1);
  expect((await closed)[0]).toBe(1_001);
  await ended;
});

test("a client that does not answer the closing handshake is cut after so long", async () => {
  const [client, other] = [await open(), await open()];
  const timers = time.pending();
  client.send(Buffer.from("no text"));
  client.pause();
  await expect.poll(() => time.pending(), { interval: 1 }).toBe(timers + 1);
  time.advance(GOODBYE_MS_MAX - 1);
  other.send("time enough for a cut");
  await once(other, "message");
  expect(sockets.count).toBe(2);
  time.advance(1);
  await expect.poll(() => sockets.count, { interval: 1 }).toBe(1);
});

test("while a client does not read, the newest of a stream waits for it, and all that is of no stream", async () => {
  const client = await open();
  const heard: { readonly best?: number; readonly kept?: number }[] = [];
  client.on("message", (data) => heard.push(JSON.parse(String(data))));
  client.pause();
  const [connection] = connections;
  const padding = "x".repeat(100_000);
  for (let number = 0; number < 200; number += 1) {
    connection?.sendFrame(textFrame(JSON.stringify({ best: number, padding })), "best");
    connection?.send(JSON.stringify({ kept: number }));
  }
  client.resume();
  await expect.poll(() => heard.at(-1)?.best).toBe(199);
  const of = (name: "best" | "kept") => heard.flatMap((message) => message[name] ?? []);
  expect(of("kept")).toEqual(Array.from({ length: 200 }, (_, number) => number));
  expect(of("best").length).toBeLessThan(200);
});
