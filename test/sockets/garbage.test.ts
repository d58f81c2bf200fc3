// Garbage on the exchange's sockets: frames that break the protocol, text that is no request, parameters of
// the wrong kind. The server answers with the documented error or closes the connection, and serves on.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { CATALOGUE } from "../campaigns/fuzz/catalogue.ts";
import { seededRandom } from "../support/random.ts";
import { testSeed } from "../support/seed.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { ApiSocket, signedParams } from "../support/sockets/api-socket.ts";

const SEED = testSeed();
const ENDPOINTS = [
  "/ws",
  "/stream?streams=",
  "/public/ws",
  "/market/stream",
  "/private/ws",
  "/ws-api/v3",
  "/ws-fapi/v1",
];
/** Source: RFC 6455, section 7.4.1. */
const PROTOCOL_ERROR = 1_002;
const NOT_UTF8 = 1_007;
const POLICY_VIOLATION = 1_008;
const TOO_BIG = 1_009;

let gateway: GatewayProcess;
let spot: Credentials;
let futures: Credentials;
const sockets: Socket[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  spot = gateway.seed("SPOT");
  futures = gateway.seed("FUTURES");
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => gateway?.stop());

/** A raw connection after its handshake: what the server sends, and the code of its close frame. */
async function raw(path: string, ...headers: readonly string[]) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.push(socket);
  socket.on("error", () => {});
  let received = Buffer.alloc(0);
  let isClosed = false;
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
  });
  const closed = once(socket, "close").then(() => {
    isClosed = true;
  });
  const key = randomBytes(16).toString("base64");
  const lines = [
    `GET ${path} HTTP/1.1`,
    "host: x",
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${key}`,
    ...headers,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await expect.poll(() => received.includes("\r\n\r\n")).toBe(true);
  const head = received.subarray(0, received.indexOf("\r\n\r\n")).toString();
  const afterHead = () => received.subarray(received.indexOf("\r\n\r\n") + 4);
  return {
    socket,
    head,
    closed,
    isClosed: () => isClosed,
    sent: afterHead,
    closeCode: () => closeCodeIn(afterHead()),
  };
}

/** The code of the first close frame; null if there is none. */
function closeCodeIn(bytes: Buffer): number | null {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const [length, head] =
      short === 126
        ? [bytes.readUInt16BE(at + 2), 4]
        : short === 127
          ? [Number(bytes.readBigUInt64BE(at + 2)), 10]
          : [short, 2];
    if (bytes[at] === 0x88) return length >= 2 ? bytes.readUInt16BE(at + head) : null;
    at += head + length;
  }
  return null;
}

/** A frame of a client. */
function frame(
  opcode: number,
  payload: Buffer | string,
  { isFinal = true, reserved = 0, isMasked = true } = {},
): Buffer {
  const data = Buffer.from(payload);
  const first = (isFinal ? 0x80 : 0) | reserved | opcode;
  const mask = isMasked ? 0x80 : 0;
  const head =
    data.length < 126
      ? Buffer.from([first, mask | data.length])
      : data.length < 65_536
        ? Buffer.from([first, mask | 126, data.length >> 8, data.length & 0xff])
        : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(data.length)]);
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([head, ...(isMasked ? [Buffer.alloc(4)] : []), data]);
}

function bigEndian(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}

async function isServing(): Promise<void> {
  const client = await ApiSocket.open(gateway.url);
  expect((await client.request("ping")).status).toBe(200);
  client.close();
}

describe.each(ENDPOINTS)("on %s", (path) => {
  test("compression is not negotiated, and a compressed frame is a protocol error", async () => {
    const { socket, head, closed, closeCode } = await raw(
      path,
      "sec-websocket-extensions: permessage-deflate; client_max_window_bits",
    );
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    expect(head.toLowerCase()).not.toContain("sec-websocket-extensions");
    socket.write(frame(1, "{}", { reserved: 0x40 }));
    await closed;
    expect(closeCode()).toBe(PROTOCOL_ERROR);
  });

  test.each([
    ["a frame without a mask", frame(1, "{}", { isMasked: false }), PROTOCOL_ERROR],
    ["an unknown opcode", frame(3, ""), PROTOCOL_ERROR],
    ["a continuation of nothing", frame(0, "x"), PROTOCOL_ERROR],
    ["a fragmented ping", frame(9, "", { isFinal: false }), PROTOCOL_ERROR],
    ["a ping that is too long", frame(9, Buffer.alloc(200)), PROTOCOL_ERROR],
    ["a length of 2^62", Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0]), TOO_BIG],
    ["text that is no UTF-8", frame(1, Buffer.from([0xff, 0xfe])), NOT_UTF8],
    ["a message that is too long", frame(1, "x".repeat(70_000)), TOO_BIG],
    [
      "a message that is too long in parts",
      Buffer.concat([frame(1, "x".repeat(60_000), { isFinal: false }), frame(0, "x".repeat(60_000))]),
      TOO_BIG,
    ],
    ["a flood of pings", Buffer.concat(Array.from({ length: 200 }, () => frame(9, ""))), POLICY_VIOLATION],
  ])("%s ends the connection", async (_what, bytes, code) => {
    const { socket, closed, closeCode } = await raw(path);
    socket.write(bytes);
    await closed;
    expect(closeCode()).toBe(code);
  });
});

test("a message in fragments, with a ping between them, is understood", async () => {
  const { socket, sent } = await raw("/ws");
  socket.write(frame(1, '{"method":"LIST_SUB', { isFinal: false }));
  socket.write(frame(9, "?"));
  socket.write(frame(0, 'SCRIPTIONS","id":1}'));
  await expect.poll(() => sent().toString()).toContain('{"result":[],"id":1}');
});

test("random bytes after the handshake never end the server", async () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < 60; round += 1) {
    const path = ENDPOINTS[Math.floor(random() * ENDPOINTS.length)] ?? "/ws";
    const { socket, isClosed } = await raw(path);
    for (let part = 0; part < 4 && !isClosed(); part += 1) {
      const bytes = Buffer.from(
        Array.from({ length: 1 + Math.floor(random() * 300) }, () => Math.floor(random() * 256)),
      );
      socket.write(
        random() < 0.5 ? bytes : frame(Math.floor(random() * 16), bytes, { isFinal: random() < 0.7 }),
      );
    }
    socket.destroy();
  }
  await isServing();
  expect(gateway.process.exitCode, `seed ${SEED}`).toBeNull();
});

const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  "",
  "x".repeat(5_000),
  "\u0000",
  "__proto__",
  [],
  {},
  [[[]]],
  { a: { b: [1] } },
  "BTCUSDT",
  "NOTHING",
  "0.001",
  "-0.001",
  "1e-7",
  "NaN",
  "٣",
  "💥",
];

test("strange control messages are answered in the form that clients recognize", async () => {
  const random = seededRandom(SEED);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/ws`);
  await once(socket, "open");
  // One message at a time, so that the burst of control messages is not exceeded.
  for (let round = 0; round < 45; round += 1) {
    const message = {
      method: pick(["SUBSCRIBE", "UNSUBSCRIBE", "SET_PROPERTY", ...STRANGE]),
      params: pick(STRANGE),
      id: pick(STRANGE),
    };
    const answered = once(socket, "message");
    socket.send(JSON.stringify(message));
    const answer = JSON.parse(String((await answered)[0]));
    const what = `seed ${SEED}: ${JSON.stringify(message)} ${JSON.stringify(answer)}`;
    const { id } = message;
    const isText = typeof id === "string" && id.length <= 36;
    const isEchoed = id === null || isText || Number.isSafeInteger(id);
    expect(answer.id, what).toBe(isEchoed ? id : null);
    if ("result" in answer) {
      expect(isEchoed, what).toBe(true);
      continue;
    }
    expect(answer.error.msg, what).toEqual(expect.any(String));
    expect(isEchoed ? [0, 1, 2] : [2], what).toContain(answer.error.code);
  }
  socket.terminate();
  await isServing();
});

test("strange parameters are answered with an error of the catalog or a result, never by a fault", async () => {
  const random = seededRandom(SEED);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const names = [
    "symbol",
    "side",
    "type",
    "quantity",
    "price",
    "orderId",
    "limit",
    "interval",
    "newClientOrderId",
    "recvWindow",
  ];
  const methods = {
    "/ws-api/v3": [
      "order.place",
      "order.status",
      "order.cancel",
      "allOrders",
      "depth",
      "klines",
      "ticker.24hr",
      "session.logon",
      "userDataStream.unsubscribe",
      "exchangeInfo",
    ],
    "/ws-fapi/v1": [
      "order.place",
      "algoOrder.place",
      "order.status",
      "v2/account.position",
      "userDataStream.ping",
    ],
  } as const;
  const clients = {
    "/ws-api/v3": await ApiSocket.open(gateway.url, "/ws-api/v3"),
    "/ws-fapi/v1": await ApiSocket.open(gateway.url, "/ws-fapi/v1"),
  };
  for (const [path, client] of Object.entries(clients) as [keyof typeof clients, ApiSocket][]) {
    const key = path === "/ws-api/v3" ? spot : futures;
    for (let round = 0; round < 150; round += 1) {
      const params = Object.fromEntries(
        Array.from({ length: Math.floor(random() * 5) }, () => [pick(names), pick(STRANGE)]),
      );
      const isSigned = random() < 0.6;
      const sent = isSigned ? signedParams(key, params) : params;
      const answer = await client.request(pick(methods[path]), sent, `g${round}`);
      const what = `seed ${SEED}: ${JSON.stringify(sent)} ${JSON.stringify(answer.error)}`;
      expect(answer.id, what).toBe(`g${round}`);
      expect(answer.status, what).toBeLessThan(500);
      if (answer.status !== 200) {
        expect(answer.error.msg, what).toEqual(expect.any(String));
        expect(CATALOGUE.has(`${answer.status} ${answer.error.code}`), what).toBe(true);
      }
      // The weight of a minute is used up; a next one would have to be awaited.
      if (answer.status === 429 || answer.status === 418) break;
    }
    client.close();
  }
  // Its address may have used its weight up by now.
  expect(gateway.process.exitCode).toBeNull();
});
