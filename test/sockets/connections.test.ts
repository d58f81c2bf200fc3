// The bounds of every connection of the exchange's sockets, with a clock of the test's own: who may connect,
// pings, age, the rate of what clients send, and the end of the server.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import WebSocket from "ws";
import { createManualTime, type ManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { addressHolder } from "../../src/rate-limits/holder.ts";
import {
  ATTEMPTS_MAX,
  ATTEMPTS_WINDOW_MS,
  CONTROL_BURST,
  CONTROL_PER_SECOND,
  LIFETIME_MS,
  SPOT_PING,
} from "../../src/sockets/limits.ts";
import { isWebSocketUpgrade, Sockets } from "../../src/sockets/server.ts";

const PER_ADDRESS = 3;
/** A client cannot be told apart from others by its port: the test says who it is. */
const CLIENT_HEADER = "x-client";

let time: ManualTime;
let server: Server;
let sockets: Sockets;
let budgets: Budgets;
let url: string;
const clients: WebSocket[] = [];

beforeEach(async () => {
  time = createManualTime();
  budgets = new Budgets();
  server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade });
  sockets = new Sockets({
    server,
    endpoints: [
      {
        takes: (path) => path === "/echo",
        ping: SPOT_PING,
        open: (connection) => ({
          countsMessages: true,
          onMessage: (text) => connection.send(text),
          onClosed: () => {},
          shutdownNotice: (at) => JSON.stringify({ e: "serverShutdown", E: at }),
        }),
      },
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
  await sockets.close();
  server.close();
});

function connect(options: WebSocket.ClientOptions = {}): WebSocket {
  const client = new WebSocket(url, options);
  client.on("error", () => {});
  clients.push(client);
  return client;
}

async function open(options: WebSocket.ClientOptions = {}): Promise<WebSocket> {
  const client = connect(options);
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
  for (let count = 0; count < ATTEMPTS_MAX; count += 1) {
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

test("a client that answers pings stays, one that does not is cut", async () => {
  const silent = await open({ autoPong: false });
  const alive = await open();
  const cut = once(silent, "close");
  // The server pings, then waits for the answer of the client that gives one.
  for (let pings = 0; pings < 5; pings += 1) {
    const pinged = once(alive, "ping");
    time.advance(SPOT_PING.everyMs);
    await pinged;
    const answered = once(alive, "message");
    alive.send("behind the pong");
    await answered;
  }
  await cut;
  expect(alive.readyState).toBe(WebSocket.OPEN);
});

test("a connection ends after 24 hours, whatever it does", async () => {
  const client = await open();
  const closed = once(client, "close");
  // Only the last step is awaited: pings on the way find a client that has answered the one before.
  time.advance(SPOT_PING.pongWithinMs);
  time.advance(LIFETIME_MS - SPOT_PING.pongWithinMs - SPOT_PING.everyMs + 1);
  expect([1_000, 1_006]).toContain((await closed)[0]);
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
