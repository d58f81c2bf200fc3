// What comes to the path of the streams and is no stream: long polling, garbage, connections that never join,
// and the end.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { eventually } from "../../support/eventually.ts";
import { exchange, talk } from "../../support/raw.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import {
  handshakeAuth,
  MARKET,
  ORDER_BOOK,
  openStream,
  type StreamCredentials,
} from "../../support/sockets/stream-client.ts";
import { openStreamFixture, type StreamFixture } from "../../support/sockets/stream-fixture.ts";

stayOnLoopback();

const PATH = "/socket.io/?EIO=4&transport=websocket";
let fixture: StreamFixture;
let key: StreamCredentials;
const clients: WebSocket[] = [];

async function openFixture(): Promise<void> {
  fixture = await openStreamFixture();
  const [made] = await fixture.keys(1);
  if (made === undefined) throw new Error("one key was asked for");
  key = made;
}

beforeAll(openFixture);
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
});
afterAll(() => fixture.close());

/** A raw client without a protocol: everything it received, and whether it was closed. */
async function openRaw(path = PATH) {
  const socket = new WebSocket(fixture.url + path);
  clients.push(socket);
  const received: string[] = [];
  let isClosed = false;
  socket.on("message", (data) => void received.push(String(data)));
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  await once(socket, "open");
  return { socket, received, isClosed: () => isClosed };
}

const join = (namespace: string) =>
  `40${namespace},${JSON.stringify(handshakeAuth(namespace, key, fixture.time.now()))}`;

/** The bytes of an upgrade. */
const upgrade = (target: string, ...lines: readonly string[]) =>
  [
    `GET ${target} HTTP/1.1`,
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...lines,
    "",
    "",
  ].join("\r\n");

describe("an upgrade that is not of the protocol is answered 400 with what is served", () => {
  test.each([
    ["of another version", "/socket.io/?EIO=3&transport=websocket"],
    ["of another transport", "/socket.io/?EIO=4&transport=polling"],
    ["without a query", "/socket.io/"],
    ["of a session", "/socket.io/?EIO=4&transport=websocket&sid=abc"],
  ])("%s", async (_what, target) => {
    const answer = await talk(fixture.url, upgrade(target));
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('"status":false');
    expect(answer).toContain("long polling is not served");
  });

  test("with another method", async () => {
    expect(await talk(fixture.url, upgrade(PATH).replace("GET", "POST"))).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("without the key of its handshake", async () => {
    const bytes = upgrade(PATH).replace(/Sec-WebSocket-Key: .*\r\n/, "");
    expect(await talk(fixture.url, bytes)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test("a client with a refused upgrade that does not disconnect is cut off after a second", async () => {
  const { port, hostname } = new URL(fixture.url);
  const before = await connectionCount();
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on("data", () => {});
  socket.on("error", () => {});
  socket.write(upgrade("/socket.io/?EIO=3"));
  await once(socket, "end");
  fixture.time.advance(999);
  expect(await connectionCount()).toBe(before + 1);
  fixture.time.advance(1);
  await eventually("it is cut off", async () => (await connectionCount()) === before);
  socket.destroy();
});

test("an upgrade of another path, or to another protocol, stays with HTTP", async () => {
  for (const path of ["/", "/socket.io", "/socket.io/more", "/other/?EIO=4&transport=websocket"]) {
    const headers = { connection: "upgrade", upgrade: "websocket" };
    expect(await exchange(fixture.url, { method: "GET", path, headers })).toMatchObject({ status: 404 });
  }
  const headers = { connection: "upgrade, http2-settings", upgrade: "h2c", "http2-settings": "AAMAAABk" };
  expect(await exchange(fixture.url, { method: "GET", path: PATH, headers })).toMatchObject({ status: 404 });
});

describe("a connection that joins no namespace", () => {
  test("is closed after 5 seconds", async () => {
    const { isClosed } = await openRaw();
    fixture.time.advance(4_999);
    expect(isClosed()).toBe(false);
    fixture.time.advance(1);
    await eventually("it is closed", isClosed);
  });

  test("is ended at once then, although its client answers nothing", async () => {
    const { port, hostname } = new URL(fixture.url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
    socket.on("error", () => {});
    let isClosed = false;
    socket.on("close", () => {
      isClosed = true;
    });
    socket.write(upgrade(PATH));
    // The handshake of Engine.IO follows the upgrade in a frame of its own.
    await eventually("it is open", () => Buffer.concat(chunks).includes('"sid"'));
    const lengthBefore = Buffer.concat(chunks).length;
    fixture.time.advance(5_000);
    const bytes = () => Buffer.concat(chunks).subarray(lengthBefore);
    await eventually("it is ended, or something comes", () => isClosed || bytes().length > 0);
    // A closing handshake would come, and the connection would last until it is answered, 30 seconds at most.
    expect(bytes()).toHaveLength(0);
  });

  test.each(["", "/", "/bot/v1/nothing", "/bot/v1/market/"])(
    "of the streams, but %j, gets an error and is closed",
    async (namespace) => {
      const { socket, received, isClosed } = await openRaw();
      socket.send(namespace === "" ? "40" : `40${namespace},`);
      await eventually("the answer came", () => received.some((text) => text.includes("Invalid namespace")));
      fixture.time.advance(5_000);
      await eventually("it is closed", isClosed);
    },
  );

  test("any more is closed after 5 seconds; one that joins again stays", async () => {
    const { socket, received, isClosed } = await openRaw();
    const candle = { pair: "PAIR0USDT", timeframe: "1m" };
    const joinAndSubscribe = async () => {
      received.length = 0;
      socket.send(join(MARKET));
      await eventually("it has joined", () => received.length > 0);
      socket.send(`42${MARKET},${JSON.stringify(["subscribe", candle])}`);
      await fixture.untilFollowed(1);
    };
    const leave = async () => {
      socket.send(`41${MARKET},`);
      await fixture.untilFollowed(0);
    };
    await joinAndSubscribe();
    fixture.time.advance(10_000);
    await leave();
    fixture.time.advance(4_999);
    await joinAndSubscribe();
    fixture.time.advance(10_000);
    await leave();
    fixture.time.advance(4_999);
    expect(isClosed()).toBe(false);
    fixture.time.advance(1);
    await eventually("it is closed", isClosed);
  });

  test("and is refused again and again is closed after 5 seconds all the same", async () => {
    const { socket, received, isClosed } = await openRaw();
    const isRefused = async () => {
      received.length = 0;
      socket.send(`40${MARKET},{}`);
      await eventually("the answer came", () => received.some((text) => text.startsWith(`41${MARKET}`)));
    };
    for (let second = 0; second < 4; second += 1) {
      await isRefused();
      fixture.time.advance(1_000);
    }
    await isRefused();
    expect(isClosed()).toBe(false);
    fixture.time.advance(1_000);
    await eventually("it is closed", isClosed);
  });

  test("since it was refused is closed after 5 seconds", async () => {
    const { socket, received, isClosed } = await openRaw();
    socket.send(`40${MARKET},{}`);
    await eventually("the answer came", () => received.some((text) => text.startsWith(`41${MARKET}`)));
    expect(received.join()).toContain("AUTH_MISSING_CREDENTIALS");
    expect(isClosed()).toBe(false);
    fixture.time.advance(5_000);
    await eventually("it is closed", isClosed);
  });
});

test.each([
  ["a message before it has joined", `42${MARKET},["subscribe",{"pair":"PAIR0USDT","timeframe":"1m"}]`],
  ["text that is no packet", "9garbage"],
  ["a packet of no kind", "4nothing"],
  ["JSON that is none", `40${MARKET},{"apiKey"`],
  ["bytes", Buffer.from([1, 2, 3])],
  ["nothing at all", ""],
])("a connection that sends %s is closed", async (_what, data) => {
  const { socket, isClosed } = await openRaw();
  socket.send(data);
  await eventually("it is closed", isClosed);
  expect(fixture.candles.followed).toEqual([]);
});

test("what comes together with the end of a session subscribes to nothing", async () => {
  const { socket, received, isClosed } = await openRaw();
  socket.send(join(MARKET));
  await eventually("it has joined", () => received.some((text) => text.startsWith("40")));
  const { _socket: below } = socket as unknown as { readonly _socket: Socket };
  below.cork();
  socket.send(`41${MARKET},`);
  socket.send(`42${MARKET},${JSON.stringify(["subscribe", { pair: "PAIR0USDT", timeframe: "1m" }])}`);
  below.uncork();
  // What comes after both is answered after both.
  await nextTurn();
  received.length = 0;
  socket.send("40/bot/v1/nothing,");
  await eventually("they have been handled", () => received.length > 0 || isClosed());
  expect(fixture.candles.followed).toEqual([]);
});

describe("pings of WebSocket", () => {
  test("are packets of a connection: more than 1,200 a minute close it", async () => {
    const { socket, isClosed } = await openRaw();
    await ping(socket, 1_200);
    expect(isClosed()).toBe(false);
    socket.ping();
    await eventually("it is closed", isClosed);
  });

  test("are not too many when they are spread over minutes", async () => {
    const { socket, received, isClosed } = await openRaw();
    socket.send(join(MARKET));
    for (let minute = 0; minute < 3; minute += 1) {
      await ping(socket, 1_000);
      received.length = 0;
      socket.send("40/bot/v1/nothing,");
      await eventually("it is answered", () => received.length > 0);
      fixture.time.advance(60_000);
    }
    expect(isClosed()).toBe(false);
  });

  /** Sends so many and resolves when they have been answered. */
  async function ping(socket: WebSocket, count: number): Promise<void> {
    let answeredCount = 0;
    socket.on("pong", () => {
      answeredCount += 1;
    });
    for (let sent = 0; sent < count; sent += 1) socket.ping();
    await eventually("they are answered", () => answeredCount === count);
  }
});

test("garbage instead of frames ends the connection", async () => {
  const answer = await talk(fixture.url, upgrade(PATH) + "\u0000\u0001garbage".repeat(20));
  expect(answer).toMatch(/^HTTP\/1\.1 101 /);
});

describe("when the streams close", () => {
  // Each ends its own.
  beforeEach(async () => {
    await fixture.close();
    await openFixture();
  });

  test("clients are disconnected as by a network, and nothing is left open", async () => {
    const market = await fixture.connect(MARKET, key);
    const book = await fixture.connect(ORDER_BOOK, key);
    await market.subscribe({ pair: "PAIR0USDT", timeframe: "1m" });
    await openRaw();
    await fixture.closeStreams();
    for (const client of [market, book]) expect(await client.next("disconnect")).toBe("transport close");
    expect(fixture.candles.followed).toEqual([]);
    expect([fixture.candles.isClosed, fixture.depth.isClosed]).toEqual([true, true]);
    expect(fixture.time.pending()).toBe(0);
    expect(await connectionCount()).toBe(0);
  });

  test("a client without a close frame is cut off", async () => {
    const { port, hostname } = new URL(fixture.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(upgrade(PATH));
    await once(socket, "data");
    socket.pause();
    const began = performance.now();
    await fixture.closeStreams();
    expect(performance.now() - began, "it is not waited for").toBeLessThan(10_000);
    expect(await connectionCount()).toBe(0);
    socket.destroy();
  });

  test("later clients are answered 503", async () => {
    const closing = fixture.closeStreams();
    expect(await talk(fixture.url, upgrade(PATH))).toMatch(/^HTTP\/1\.1 503 /);
    await closing;
    const late = openStream(fixture.url, MARKET, key);
    expect(await late.next("connect_error")).toBeDefined();
    late.close();
  });
});

function connectionCount(): Promise<number> {
  return new Promise((resolve, reject) =>
    fixture.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
