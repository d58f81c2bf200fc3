// Stock Socket.IO clients, unmodified, against the running gateway: the present JavaScript one, an old one,
// and the Python one where the machine has it (Debian's package `python3-socketio`).
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { io } from "socket.io-client";
import { io as io41 } from "socket.io-client-4.1";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  connectStream,
  handshakeAuth,
  MARKET,
  ORDER_BOOK,
  openStream,
  type StreamEvent,
} from "../support/sockets/stream-client.ts";

stayOnLoopback();
const gateway = seededGateway(12);

const CANDLE = { pair: "BTCUSDT", timeframe: "1s" };
const BOOK = { pair: "BTCUSDT", levels: 5, speed: "100ms" };
const DECIMAL = /^\d+\.\d+$/;

const TICK = {
  event: "kline",
  ...CANDLE,
  candle: {
    open: expect.stringMatching(DECIMAL),
    high: expect.stringMatching(DECIMAL),
    low: expect.stringMatching(DECIMAL),
    close: expect.stringMatching(DECIMAL),
    volume: expect.stringMatching(DECIMAL),
    startTime: expect.any(Number),
    closeTime: expect.any(Number),
    isFinal: expect.any(Boolean),
  },
};
const LEVEL = [expect.stringMatching(DECIMAL), expect.stringMatching(DECIMAL)];
const SNAPSHOT = {
  event: "depth",
  ...BOOK,
  lastUpdateId: expect.any(Number),
  bids: Array.from({ length: 5 }, () => LEVEL),
  asks: Array.from({ length: 5 }, () => LEVEL),
};

const CLIENTS: readonly [string, typeof io][] = [
  ["socket.io-client 4.8.4", io],
  ["socket.io-client 4.1.3", io41],
];

describe.each(CLIENTS)("%s", (_name, connectWith) => {
  test("gets candles, each final once and in order", async () => {
    const client = await connectStream(gateway.url, MARKET, gateway.takeStrategy(), { connectWith });
    expect(await client.subscribe({ pair: "btcusdt", timeframe: "1s" })).toEqual(CANDLE);
    const finals: number[] = [];
    while (finals.length < 2) {
      const tick = await client.next("marketData");
      expect(tick).toEqual(TICK);
      if (tick.candle.isFinal) finals.push(tick.candle.startTime);
    }
    expect(finals[1]).toBe((finals[0] ?? 0) + 1_000);
    client.close();
  });

  test("gets books, with ids that never go back", async () => {
    const client = await connectStream(gateway.url, ORDER_BOOK, gateway.takeStrategy(), { connectWith });
    expect(await client.subscribe(BOOK)).toEqual(BOOK);
    let held = 0;
    for (let count = 0; count < 5; count += 1) {
      const book = await client.next("orderBook");
      expect(book).toEqual(SNAPSHOT);
      expect(book.lastUpdateId).toBeGreaterThanOrEqual(held);
      held = book.lastUpdateId;
    }
    client.close();
  });

  test("gets the reason of its refusal, and does not reconnect by itself", async () => {
    const client = openStream(gateway.url, MARKET, gateway.takeStrategy(), {
      connectWith,
      auth: {},
      reconnection: true,
    });
    expect(await client.next("error")).toMatchObject({ code: "AUTH_MISSING_CREDENTIALS" });
    expect(await client.next("disconnect")).toBe("io server disconnect");
    expect(client.socket.active).toBe(false);
    client.close();
  });

  test("that polls gets an error at once", async () => {
    const client = openStream(gateway.url, MARKET, gateway.takeStrategy(), {
      connectWith,
      options: { transports: ["polling"] },
    });
    expect(await client.next("connect_error")).toMatch(/poll/);
    client.close();
  });
});

test("a client that has lost its connection reconnects by itself and subscribes again", async () => {
  const key = gateway.takeStrategy();
  const client = await connectStream(gateway.url, ORDER_BOOK, key, {
    reconnection: true,
    options: { reconnectionDelay: 10 },
  });
  await client.subscribe(BOOK);
  client.socket.io.engine.close();
  await client.next("disconnect");
  await client.next("connect");
  await client.subscribe(BOOK);
  const subscribedAt = client.events.findLastIndex(({ name }) => name === "subscribed");
  await eventually("books come again", () =>
    client.events.slice(subscribedAt).some(({ name }) => name === "orderBook"),
  );
  client.close();
});

const python = ["python3", "/usr/bin/python3"].find(
  (program) => spawnSync(program, ["-c", "import socketio, websocket"]).status === 0,
);

describe.skipIf(python === undefined).concurrent("python-socketio (needs Debian's python3-socketio)", () => {
  test("gets candles", async () => {
    const events = await runPython(gateway.takeStrategy(), MARKET, CANDLE, "marketData");
    expect(events.slice(0, 2)).toEqual([
      { name: "connect", payload: null },
      { name: "subscribed", payload: CANDLE },
    ]);
    // A fourth may come before it has disconnected.
    const candles = events.slice(2);
    expect(candles.length).toBeGreaterThanOrEqual(3);
    expect(candles).toEqual(candles.map(() => ({ name: "marketData", payload: TICK })));
  });

  test("gets books", async () => {
    const events = await runPython(gateway.takeStrategy(), ORDER_BOOK, BOOK, "orderBook");
    expect(events[1]).toEqual({ name: "subscribed", payload: BOOK });
    const books = events.slice(2);
    expect(books.length).toBeGreaterThanOrEqual(3);
    expect(books).toEqual(books.map(() => ({ name: "orderBook", payload: SNAPSHOT })));
  });

  test("gets the reason of its refusal", async () => {
    const stranger = { ...gateway.takeStrategy(), apiSecret: "0".repeat(64) };
    const events = await runPython(stranger, MARKET, CANDLE, "marketData");
    expect(events).toContainEqual({
      name: "error",
      payload: expect.objectContaining({ code: "AUTH_INVALID_SIGNATURE" }),
    });
  });
});

/** Everything that the Python client got until three of an event had come, or it was disconnected. */
async function runPython(
  key: Credentials,
  namespace: string,
  subscription: object,
  event: string,
): Promise<StreamEvent[]> {
  const script = join(import.meta.dirname, "socket-io-python.py");
  const auth = handshakeAuth(namespace, key);
  const child = spawn(
    python ?? "",
    [script, gateway.url, namespace, JSON.stringify(auth), JSON.stringify(subscription), event, "3"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const events: StreamEvent[] = [];
  for await (const line of createInterface({ input: child.stdout })) events.push(JSON.parse(line));
  return events;
}
