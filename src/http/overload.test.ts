// On real connections, with a clock of the test's own.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Overload } from "./overload.ts";

let now: number;
/** How long a request takes to handle, ms. */
let takesMs: number;
let later: (() => void)[];
let server: Server;
let client: Socket;
let received: string;

beforeEach(async () => {
  now = 0;
  takesMs = 0;
  later = [];
  received = "";
  const overload = new Overload({ now: () => now, later: (then) => later.push(then) });
  server = createServer((request, response) => {
    const isLate = overload.isTickTooLong();
    const isRefused = isLate || overload.wasSentTooSoon(request.socket);
    now += takesMs;
    request.resume().once("end", () => {
      if (isLate) overload.restAfter(response);
      response.writeHead(isRefused ? 503 : 200, { "content-length": 0 }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("data", (chunk) => {
    received += chunk;
  });
});
afterEach(() => {
  client.destroy();
  server.close();
});

function statuses(): number[] {
  return [...received.matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(([, status]) => Number(status));
}

/** Sends requests in one write, which are then read in one tick of the event loop. */
function send(count: number, body = ""): void {
  const request = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  client.write(request.repeat(count));
}

async function answered(count: number): Promise<void> {
  while (statuses().length < count) await once(client, "data");
}

test("a short tick refuses nothing, however many requests it has", async () => {
  send(400);
  await answered(400);
  expect(new Set(statuses())).toEqual(new Set([200]));
});

test("a long tick refuses nothing, while it has few requests", async () => {
  takesMs = 1_000;
  send(256);
  await answered(256);
  expect(new Set(statuses())).toEqual(new Set([200]));
});

test.each([
  ["without a body", ""],
  ["with a body", "symbol=BTCUSDT"],
])("a tick that is long and full refuses the rest of its requests, %s", async (_what, body) => {
  takesMs = 0.19;
  send(300, body);
  await answered(300);
  // 50 ms are over after 263 requests of 0.19 ms, the 264th is the first that is later.
  const expected = Array.from({ length: 300 }, (_, index) => (index <= 263 ? 200 : 503));
  expect(statuses()).toEqual(expected);
});

test("the next tick starts over", async () => {
  takesMs = 1;
  send(200);
  await answered(200);
  send(200);
  await answered(400);
  expect(new Set(statuses())).toEqual(new Set([200]));
});

test("the connection of a refusal is not read for a while, and what was sent in that time is refused", async () => {
  takesMs = 1;
  send(257);
  await answered(257);
  expect(statuses().at(-1)).toBe(503);
  takesMs = 0;
  expect(later).toHaveLength(1);

  send(1);
  // Another connection is still served, later than what had been read.
  const other = connect((server.address() as AddressInfo).port, "127.0.0.1");
  other.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const [answer] = await once(other, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200/);
  expect(statuses()).toHaveLength(257);

  later.shift()?.();
  await answered(258);
  expect(statuses().at(-1)).toBe(503);
  // Once: a client that sends its next request at each answer is served again.
  expect(later).toHaveLength(0);
  send(1);
  await answered(259);
  expect(statuses().at(-1)).toBe(200);
});
