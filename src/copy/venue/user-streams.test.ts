// User data streams against a server of the test's own: what is asked for, what is passed on, and what
// happens when a socket is lost, silent or refused.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { eventually } from "../../../test/support/eventually.ts";
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../domain/account.ts";
import { decimal } from "../../money/decimal.ts";
import type { RestCall } from "./signed-rest.ts";
import { DEAD_AFTER_MS, REFUSED_RETRY_MS, socketUrl, UserStreams } from "./user-streams.ts";
import type { VenueAnswer, VenueEvent } from "./venue.ts";

type Message = { readonly id: number; readonly method: string; readonly params: unknown };

let time: ManualTime;
let server: ReturnType<typeof createServer>;
let acceptor: WebSocketServer;
/** What is answered to upgrades instead, as a status line. */
let refusal: string | null;
let upgrades: string[];
let sockets: WebSocket[];
let received: Message[];
/** What the account's REST requests were, and what answers them. */
let asked: string[];
let restAnswer: VenueAnswer<unknown> | null;
let refused: string[];
let streams: UserStreams;

beforeEach(async () => {
  time = createManualTime();
  [refusal, restAnswer] = [null, null];
  [upgrades, sockets, received, asked, refused] = [[], [], [], [], []];
  server = createServer();
  acceptor = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    upgrades.push(request.url ?? "");
    if (refusal !== null) return void socket.end(`HTTP/1.1 ${refusal}\r\ncontent-length: 0\r\n\r\n`);
    acceptor.handleUpgrade(request, socket, head, (webSocket) => {
      sockets.push(webSocket);
      webSocket.on("message", (data) => {
        const message: Message = JSON.parse(String(data));
        received.push(message);
        const result = message.method.endsWith("signature") ? { subscriptionId: received.length } : null;
        webSocket.send(JSON.stringify({ id: message.id, status: 200, result }));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  streams.close();
  acceptor.close();
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  for (const socket of sockets) socket.terminate();
  await closed;
});

function open(type: StrategyType): void {
  const ask = async (asker: { readonly accountId: string } | null, { method, path }: RestCall) => {
    asked.push(`${method} ${path}`);
    return restAnswer ?? ({ kind: "OK", value: { listenKey: `key-of-${asker?.accountId}` } } as const);
  };
  streams = new UserStreams({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    type,
    rest: {
      ask,
      clock: { ready: async () => null, now: time.now },
      limits: { admit: () => ({}), end: () => {} },
    } as unknown as ConstructorParameters<typeof UserStreams>[0]["rest"],
    wallNow: time.now,
    after: time.after,
    onRefused: (reason) => refused.push(reason),
  });
}

/** What a stream passes on from now on. */
function listen(accountId: string): { readonly events: VenueEvent[]; readonly stop: () => void } {
  const events: VenueEvent[] = [];
  const credentials = { apiKey: `api-${accountId}`, apiSecret: "secret" };
  return { events, stop: streams.listen({ accountId, credentials }, (event) => events.push(event)) };
}

/** Waits while time passes in small steps. */
const passing = (what: string, holds: () => boolean) =>
  eventually(what, () => {
    if (holds()) return true;
    time.advance(50);
    return false;
  });
const isLive = (count: number) => passing(`${count} are live`, () => streams.live === count);

const RESUMED: VenueEvent = { kind: "RESUMED" };

test("futures accounts share a socket, and each has its own events", async () => {
  open("FUTURES");
  const [one, other] = [listen("one"), listen("other")];
  await isLive(2);
  expect(upgrades).toEqual(["/private/stream"]);
  expect(asked).toEqual(["POST /fapi/v1/listenKey", "POST /fapi/v1/listenKey"]);
  expect(received.map(({ method, params }) => [method, params])).toEqual([
    ["SUBSCRIBE", ["key-of-one"]],
    ["SUBSCRIBE", ["key-of-other"]],
  ]);
  const send = (data: object) => sockets[0]?.send(JSON.stringify({ stream: "key-of-one", data }));
  send({ e: "ACCOUNT_UPDATE", a: { m: "ORDER" } });
  send({ e: "ORDER_TRADE_UPDATE", o: { c: "a", x: "NEW", X: "NEW", z: "0" } });
  send({ e: "ORDER_TRADE_UPDATE", o: { c: "a", x: "TRADE", X: "FILLED", z: "0.5" } });
  send({ e: "ORDER_TRADE_UPDATE", o: { c: "autoclose-1", x: "CALCULATED", X: "FILLED", z: "1" } });
  send({ e: "ALGO_UPDATE", o: { caid: "leg", X: "TRIGGERED" } });
  send({ e: "ALGO_UPDATE", o: { caid: "leg", X: "FINISHED" } });
  sockets[0]?.send("no JSON");
  send({ e: "ORDER_TRADE_UPDATE", o: { c: "b", x: "CANCELED", X: "CANCELED", z: "0" } });
  await passing("all are received", () => one.events.length === 6);
  expect(one.events).toEqual([
    RESUMED,
    { kind: "ORDER", clientOrderId: "a", change: "PLACED", executed: 0n },
    { kind: "ORDER", clientOrderId: "a", change: "EXECUTED", executed: decimal("0.5") },
    { kind: "ORDER", clientOrderId: "autoclose-1", change: "EXECUTED", executed: decimal("1") },
    { kind: "ORDER", clientOrderId: "leg", change: "EXECUTED", executed: null },
    { kind: "ORDER", clientOrderId: "b", change: "ENDED", executed: 0n },
  ]);
  expect(other.events).toEqual([RESUMED]);
});

test("a spot account signs its subscription, and a cancel is known by the order's own id", async () => {
  open("SPOT");
  const { events } = listen("one");
  await isLive(1);
  expect(upgrades).toEqual(["/ws-api/v3"]);
  expect(received).toMatchObject([
    { method: "userDataStream.subscribe.signature", params: { apiKey: "api-one" } },
  ]);
  const event = { e: "executionReport", c: "own id of the cancel", C: "a", x: "CANCELED", z: "0.2" };
  sockets[0]?.send(JSON.stringify({ subscriptionId: 1, event }));
  await passing("it is received", () => events.length === 2);
  expect(events[1]).toEqual({ kind: "ORDER", clientOrderId: "a", change: "ENDED", executed: decimal("0.2") });
  sockets[0]?.send(JSON.stringify({ subscriptionId: 1, event: { e: "eventStreamTerminated" } }));
  await passing("it is subscribed to again", () => events.length === 3);
  expect(events[2]).toEqual(RESUMED);
});

test("a lost socket is opened again, each time later; what may have been missed is said", async () => {
  open("FUTURES");
  const { events } = listen("one");
  await isLive(1);
  for (const [losses, waitMs] of [
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
  ] as const) {
    sockets.at(-1)?.terminate();
    await eventually("it is lost", () => streams.live === 0);
    time.advance(waitMs - 1);
    expect(upgrades).toHaveLength(losses);
    time.advance(1);
    await isLive(1);
    expect(upgrades).toHaveLength(losses + 1);
    expect(events).toHaveLength(losses + 1);
  }
});

test("a silent socket is pinged, and replaced if it stays silent", async () => {
  open("FUTURES");
  listen("one");
  await isLive(1);
  let pings = 0;
  sockets[0]?.on("ping", () => {
    pings += 1;
  });
  time.advance(20_000);
  await eventually("it is pinged", () => pings === 1);
  await isLive(1);
  expect(upgrades).toHaveLength(1);
  sockets[0]?.pause();
  time.advance(DEAD_AFTER_MS + 20_000);
  await eventually("it is given up", () => streams.live === 0);
  await isLive(1);
  expect(upgrades).toHaveLength(2);
});

test.each(["404 Not Found", "410 Gone", "429 Too Many Requests"])(
  "a venue that refuses sockets is rarely tried again: %s",
  async (status) => {
    open("FUTURES");
    refusal = status;
    listen("one");
    await eventually("it is refused", () => refused.length === 1);
    expect(refused).toEqual([`HTTP ${status.slice(0, 3)}`]);
    expect(asked).toEqual([]);
    time.advance(REFUSED_RETRY_MS - 1);
    expect(upgrades).toHaveLength(1);
    refusal = null;
    await isLive(1);
  },
);

test("a key that gets no listen key is rarely tried again; what the limits delay, when they permit", async () => {
  open("FUTURES");
  restAnswer = { kind: "REJECTED", code: -2015, message: "Invalid API-key." };
  listen("one");
  await eventually("it is asked for", () => asked.length === 1);
  await eventually("its socket is closed", () => sockets.length === 1 && acceptor.clients.size === 0);
  time.advance(REFUSED_RETRY_MS - 1);
  expect(asked).toHaveLength(1);
  restAnswer = { kind: "DELAYED", why: "LIMITED", until: time.now() + 30_000, reason: "limits" };
  await passing("it is asked for again", () => asked.length === 2);
  restAnswer = null;
  const before = time.now();
  await isLive(1);
  expect(time.now() - before).toBeGreaterThanOrEqual(29_000);
});

test("a listen key is renewed, and asked for again once the venue does not know it", async () => {
  open("FUTURES");
  const { events } = listen("one");
  await isLive(1);
  const [socket] = sockets;
  if (socket === undefined) throw new Error("a live stream has a socket");
  for (let passedMs = 0; passedMs < 1_800_000; passedMs += 10_000) {
    time.advance(10_000);
    const pong = once(socket, "pong");
    socket.ping();
    await pong;
  }
  expect(asked).toEqual(["POST /fapi/v1/listenKey", "PUT /fapi/v1/listenKey"]);
  socket.send(JSON.stringify({ stream: "key-of-one", data: { e: "listenKeyExpired" } }));
  const resumed = events.length;
  await passing("it is subscribed to again", () => events.length > resumed);
});

test("who listens no more is unsubscribed, and the last one's socket closed", async () => {
  open("FUTURES");
  const [one, other] = [listen("one"), listen("other")];
  await isLive(2);
  one.stop();
  await passing("it is unsubscribed", () => received.length === 3);
  expect(received[2]).toMatchObject({ method: "UNSUBSCRIBE", params: ["key-of-one"] });
  other.stop();
  await eventually("the socket is closed", () => acceptor.clients.size === 0);
  expect(streams.live).toBe(0);
});

test("closing ends everything at once, also what is being opened", async () => {
  open("SPOT");
  listen("one");
  streams.close();
  time.advance(REFUSED_RETRY_MS);
  await eventually("no socket is left", () => acceptor.clients.size === 0);
  expect([received, streams.live]).toEqual([[], 0]);
});

test("known venues have their sockets elsewhere, others at their own origin", () => {
  const urls = [
    socketUrl("https://api.binance.com", "SPOT"),
    socketUrl("https://fapi.binance.com", "FUTURES"),
    socketUrl("https://lyrebird.example:8443", "FUTURES"),
    socketUrl("http://127.0.0.1:8080", "SPOT"),
  ];
  expect(urls).toEqual([
    "wss://ws-api.binance.com:443/ws-api/v3",
    "wss://fstream.binance.com/private/stream",
    "wss://lyrebird.example:8443/private/stream",
    "ws://127.0.0.1:8080/ws-api/v3",
  ]);
});
