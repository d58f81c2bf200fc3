// Requests over real sockets to servers that misbehave: the outcome is always a value, and says whether
// anything was sent.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import {
  DEADLINE_MS,
  HttpSender,
  RECV_WINDOW_MS,
  RESPONSE_BYTES_MAX,
  type RestCall,
  SOCKETS_MAX,
  VenueRest,
  WAIT_MS_MAX,
} from "./signed-rest.ts";
import { BodiesServer } from "./testing/bodies-server.ts";

const ASKER = { accountId: "account", credentials: { apiKey: "the-key", apiSecret: "the-secret" } };
const ORDER: RestCall = {
  method: "POST",
  path: "/api/v3/order",
  parameters: { symbol: "BTCUSDT", quantity: "1", price: undefined },
  weight: 1,
  placesOrder: true,
  priority: "REDUCE",
};
const READ: RestCall = { ...ORDER, method: "GET", placesOrder: false };

let time: ManualTime;
const opened: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  time = createManualTime(Date.UTC(2026, 0, 1, 12, 0, 20));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

test("a request that got a connection in use before, and lost it, may have been executed", async () => {
  const held: ServerResponse[] = [];
  const full = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (request.url === "/last") return request.socket.destroy();
    if (held.push(response) === SOCKETS_MAX) full.resolve();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const sender = new HttpSender({ origin: `http://127.0.0.1:${port}`, after: time.after });
  opened.push(() => {
    sender.close();
    server.closeAllConnections();
    server.close();
  });
  const request = { method: "GET", body: null, apiKey: null } as const;
  const first = Array.from({ length: SOCKETS_MAX }, () => sender.send({ ...request, target: "/first" }));
  await full.promise;
  const last = sender.send({ ...request, target: "/last" });
  held[0]?.end("{}");
  expect(await last).toEqual({ kind: "LOST", reason: "ECONNRESET" });
  for (const response of held) response.end("{}");
  expect((await Promise.all(first)).every(({ kind }) => kind === "ANSWERED")).toBe(true);
});

function restOf(origin: string): VenueRest {
  const rest = new VenueRest({
    origin,
    wallNow: time.now,
    after: time.after,
    time: { path: "/api/v3/time", weight: 1 },
  });
  opened.push(() => rest.close());
  return rest;
}

async function serverOf(...args: Parameters<typeof BodiesServer.open>): Promise<BodiesServer> {
  const server = await BodiesServer.open(...args);
  opened.push(() => server[Symbol.asyncDispose]());
  server.lay("GET /api/v3/time", { body: { serverTime: time.now() } });
  return server;
}

/** A server below HTTP. */
async function socketsOf(take: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    take(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("what is sent", () => {
  test("is signed as the exchange wants it: a form in the body, or a query", async () => {
    const seen: { target: string; body: string; key: unknown }[] = [];
    const { url } = await serverOf(async (incoming, outgoing) => {
      seen.push({
        target: incoming.url ?? "",
        body: await text(incoming),
        key: incoming.headers["x-mbx-apikey"],
      });
      outgoing.end(JSON.stringify({ serverTime: time.now() + 500 }));
    });
    const rest = restOf(url);
    expect(await rest.ask(ASKER, ORDER)).toMatchObject({ kind: "OK" });
    expect(await rest.ask(ASKER, READ)).toMatchObject({ kind: "OK" });
    const message = `symbol=BTCUSDT&quantity=1&recvWindow=${RECV_WINDOW_MS}&timestamp=${time.now() + 500}`;
    const signature = createHmac("sha256", "the-secret").update(message).digest("hex");
    expect(seen).toEqual([
      { target: "/api/v3/time", body: "", key: undefined },
      { target: "/api/v3/order", body: `${message}&signature=${signature}`, key: "the-key" },
      { target: `/api/v3/order?${message}&signature=${signature}`, body: "", key: "the-key" },
    ]);
  });

  test("is valid from its creation, and is not sent if that was too long ago", async () => {
    const seen: string[] = [];
    const { url } = await serverOf(async (incoming, outgoing) => {
      seen.push(await text(incoming));
      outgoing.end(JSON.stringify({ serverTime: time.now() }));
    });
    const rest = restOf(url);
    const askedAt = time.now() - WAIT_MS_MAX;
    expect(await rest.ask(ASKER, { ...ORDER, askedAt })).toMatchObject({ kind: "OK" });
    expect(seen.at(-1)).toContain(`timestamp=${askedAt}`);
    expect(await rest.ask(ASKER, { ...ORDER, askedAt: askedAt - 1 })).toMatchObject({ kind: "DELAYED" });
    expect(seen.filter((body) => body !== "")).toHaveLength(1);
  });

  test("goes over connections that are kept", async () => {
    const server = await serverOf();
    server.lay("POST /api/v3/order", { body: {} });
    const rest = restOf(server.url);
    for (let each = 0; each < 20; each += 1)
      expect(await rest.ask(ASKER, ORDER)).toMatchObject({ kind: "OK" });
    expect(server.connections).toBe(1);
  });
});

describe("what goes wrong is a value that holds no secret", () => {
  test("nobody listens: nothing was sent", async () => {
    const server = await BodiesServer.open();
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const until = time.now() + 1_000;
    expect(await restOf(url).ask(null, READ)).toEqual({
      kind: "DELAYED",
      why: "UNREACHABLE",
      until,
      reason: "ECONNREFUSED",
    });
  });

  test.each<[string, (socket: Socket) => void]>([
    ["hung up on at once", (socket) => socket.once("data", () => socket.destroy())],
    [
      "hung up on in the middle of the head",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 200")),
    ],
    [
      "hung up on in the middle of the body",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}")),
    ],
    [
      "answered with something else than HTTP",
      (socket) => socket.once("data", () => socket.end("hello\r\n\r\n")),
    ],
    [
      "told to speak another protocol",
      (socket) =>
        socket.once("data", () =>
          socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
        ),
    ],
    [
      "sent elsewhere",
      (socket) =>
        socket.once("data", () =>
          socket.end("HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
        ),
    ],
  ])("%s: it was sent, and nobody knows", async (_, take) => {
    const rest = restOf(await socketsOf(take));
    const answer = await rest.ask(null, { ...ORDER, parameters: { secret: "the-secret" } });
    expect(answer.kind).toBe("UNKNOWN");
    expect(JSON.stringify(answer)).not.toContain("the-secret");
    expect(rest.health()).toMatchObject({ isReachable: false, answers: { unknown: 1 } });
  });

  test("no answer within the deadline", async () => {
    const arrived = Promise.withResolvers<void>();
    const answer = restOf(await socketsOf((socket) => socket.once("data", () => arrived.resolve()))).ask(
      null,
      READ,
    );
    await arrived.promise;
    time.advance(DEADLINE_MS);
    expect(await answer).toEqual({ kind: "UNKNOWN", reason: `no answer within ${DEADLINE_MS} ms` });
  });

  test("an answer that is too long and has no end", async () => {
    const { url } = await serverOf((_, outgoing) => {
      outgoing.write(Buffer.alloc(RESPONSE_BYTES_MAX + 1, " "));
    });
    expect(await restOf(url).ask(null, READ)).toEqual({
      kind: "UNKNOWN",
      reason: `its answer is longer than ${RESPONSE_BYTES_MAX} bytes`,
    });
  });

  test("a venue whose time cannot be had is sent nothing that is signed", async () => {
    const server = await serverOf();
    server.lay("GET /api/v3/time", { status: 500, body: "" });
    expect(await restOf(server.url).ask(ASKER, ORDER)).toMatchObject({ kind: "DELAYED", why: "UNREACHABLE" });
    expect(server.asked).toEqual(["GET /api/v3/time"]);
  });

  test("a venue that repeats what it was sent: its words are kept without the key, the secret and the signature", async () => {
    const credentials = { apiKey: "k".repeat(64), apiSecret: "s".repeat(64) };
    const { url } = await serverOf(async (incoming, outgoing) => {
      if (incoming.url === "/api/v3/time") return outgoing.end(JSON.stringify({ serverTime: time.now() }));
      const msg = `${new URLSearchParams(await text(incoming)).get("signature")}, ${incoming.headers["x-mbx-apikey"]}, ${credentials.apiSecret}`;
      outgoing.writeHead(400).end(JSON.stringify({ code: -1100, msg }));
    });
    expect(await restOf(url).ask({ accountId: "account", credentials }, ORDER)).toEqual({
      kind: "REFUSED",
      code: -1100,
      message: "[removed], [removed], [removed]",
    });
  });

  test("a time that is refused twice is given up for now", async () => {
    const server = await serverOf();
    server.lay("POST /api/v3/order", { status: 400, body: { code: -1021, msg: "" } });
    expect(await restOf(server.url).ask(ASKER, ORDER)).toMatchObject({
      kind: "DELAYED",
      until: time.now() + 250,
    });
    expect(server.asked.filter((asked) => asked.startsWith("POST"))).toHaveLength(2);
  });
});

describe("turns", () => {
  /** A venue that answers only when the test says so. */
  async function opening() {
    const waiting: (() => void)[] = [];
    const paths: string[] = [];
    const { url } = await serverOf((incoming, outgoing) => {
      paths.push(incoming.url ?? "");
      waiting.push(() => outgoing.end("{}"));
      if (paths.length === SOCKETS_MAX) full.resolve();
      if (paths.length === SOCKETS_MAX + 3) others.resolve();
    });
    const full = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    const rest = restOf(url);
    rest.limits.learn({
      weight: { windowMs: 60_000, limit: 100_000 },
      weightHeader: "x-mbx-used-weight-1m",
      orders: new Map(),
    });
    const first = Array.from({ length: SOCKETS_MAX }, () => rest.ask(null, READ));
    await full.promise;
    const answerAll = () => {
      for (const answer of waiting.splice(0)) answer();
    };
    return { rest, first, paths, answerAll, othersArrived: others.promise };
  }

  test("there are no more in flight than sockets; exits are next, then openings, then polls", async () => {
    const { rest, first, paths, answerAll, othersArrived } = await opening();
    const poll = rest.ask(null, { ...READ, path: "/poll", priority: "POLL" });
    const open = rest.ask(null, { ...READ, path: "/open", priority: "OPEN" });
    const exit = rest.ask(null, { ...READ, path: "/exit" });
    expect(paths).toHaveLength(SOCKETS_MAX);
    answerAll();
    await Promise.all(first);
    await othersArrived;
    answerAll();
    expect((await Promise.all([poll, open, exit])).map(({ kind }) => kind)).toEqual(["OK", "OK", "OK"]);
    expect(paths.slice(SOCKETS_MAX).map((path) => path.split("?")[0])).toEqual(["/exit", "/open", "/poll"]);
  });

  test("whose turn comes when too little is left of its window is not sent", async () => {
    const { rest, first, paths, answerAll } = await opening();
    const late = rest.ask(null, READ);
    time.advance(WAIT_MS_MAX + 1);
    answerAll();
    await Promise.all(first);
    expect(await late).toMatchObject({ kind: "DELAYED", why: "LIMITED" });
    expect(paths).toHaveLength(SOCKETS_MAX);
  });
});
