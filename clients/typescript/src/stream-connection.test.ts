// How streams connect, come back, and when they do not, against a scripted server on real sockets.
// Source: specification 5.3, 6, 7.3 and 8.3.
import { createHmac } from "node:crypto";
import { Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LyrebirdClosedError } from "./errors.ts";
import { settled } from "./testing/manual-environment.ts";
import { AHEAD_MS, KEY, openStreamFixture, type StreamFixture } from "./testing/stream-fixture.ts";

const TOPIC = { pair: "BTCUSDT", timeframe: "1m" };
let fixture: StreamFixture;

beforeEach(async () => {
  fixture = await openStreamFixture();
});
afterEach(() => fixture.close());

/** Of the client to its server: other tests of this process have sockets, too. */
function openSocketCount(): number {
  const { _getActiveHandles } = process as unknown as { _getActiveHandles(): readonly unknown[] };
  const port = Number(new URL(fixture.server.url).port);
  const isOurs = (handle: unknown) => handle instanceof Socket && handle.remotePort === port;
  return _getActiveHandles().filter(isOurs).length;
}

/** The next attempt begins after exactly this long. */
async function comesBackAfter(delayMs: number): Promise<void> {
  const { states, time, reached } = fixture;
  await reached("DISCONNECTED");
  time.advance(delayMs - 1);
  expect(states.at(-1)).toBe("DISCONNECTED");
  time.advance(1);
  expect(states.at(-1)).toBe("CONNECTING");
}

test("on every connect the handshake is signed again by the server's clock, and everything is subscribed again", async () => {
  const { client, server, handlers, now } = fixture;
  const books = client.orderBooks(handlers);
  books.subscribe({ pair: "btcusdt" });
  books.subscribe({ pair: "ETHUSDT", levels: 5, speed: "100ms" });
  for (const delayMs of [1_000, 2_000, 4_000]) {
    const connection = await server.nextConnection();
    const { apiKey, timestamp, signature } = connection.auth;
    const message = `${now() + AHEAD_MS}GET/bot/v1/orderbook`;
    expect({ apiKey, timestamp, signature }).toEqual({
      apiKey: KEY.apiKey,
      timestamp: String(now() + AHEAD_MS),
      signature: createHmac("sha256", KEY.apiSecret).update(message).digest("hex"),
    });
    expect(await connection.confirm()).toEqual({ pair: "BTCUSDT", levels: 20, speed: "1000ms" });
    expect(await connection.confirm()).toEqual({ pair: "ETHUSDT", levels: 5, speed: "100ms" });
    connection.cut();
    await comesBackAfter(delayMs);
  }
});

test("each namespace is a connection of its own, signed for itself", async () => {
  const { client, server, now } = fixture;
  client.candles();
  const { namespace, auth } = await server.nextConnection();
  expect(namespace).toBe("/bot/v1/market");
  const message = `${now() + AHEAD_MS}GET/bot/v1/market`;
  expect(auth.signature).toBe(createHmac("sha256", KEY.apiSecret).update(message).digest("hex"));
});

test("refused again and again, it comes back after 1, 2, 4, 8, 16 and then every 30 seconds", async () => {
  const { client, server, handlers } = fixture;
  client.candles(handlers).subscribe(TOPIC);
  for (const delayMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    (await server.nextConnection()).refuse("RATE_LIMITED");
    await comesBackAfter(delayMs);
  }
});

test("after data has come, the first delay is the first again", async () => {
  const { client, server, handlers } = fixture;
  const candles = client.candles(handlers);
  candles.subscribe(TOPIC);
  (await server.nextConnection()).refuse("RATE_LIMITED");
  await comesBackAfter(1_000);
  const connection = await server.nextConnection();
  await connection.confirm();
  const prices = { open: "1", high: "1", low: "1", close: "1", volume: "1" };
  const candle = { ...prices, startTime: 0, closeTime: 59_999, isFinal: false };
  connection.say("marketData", { event: "kline", ...TOPIC, candle });
  connection.say("marketData", { event: "kline", ...TOPIC, candle: { ...candle, close: "1,5" } });
  connection.refuse("INTERNAL");
  await comesBackAfter(1_000);
  expect(candles.candle(TOPIC)).toEqual(candle);
});

test("it does not reconnect before the server's Retry-After", async () => {
  const { client, server, errors, handlers } = fixture;
  client.candles(handlers);
  (await server.nextConnection()).refuse("RATE_LIMITED", 900_000);
  expect(await errors.next()).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 900_000, isFatal: false });
  await comesBackAfter(900_000);
  (await server.nextConnection()).cut();
  await comesBackAfter(2_000);
});

test.each(["AUTH_MISSING_CREDENTIALS", "AUTH_INVALID_SIGNATURE", "AUTH_KEY_REVOKED"])(
  "%s is the end: a key is not tried until it is blocked",
  async (code) => {
    const { client, server, errors, handlers, reached, time } = fixture;
    const books = client.orderBooks(handlers);
    books.subscribe({ pair: "BTCUSDT" });
    const connection = await server.nextConnection();
    connection.refuse(code);
    expect(await errors.next()).toMatchObject({ code, isFatal: true });
    await reached("REFUSED");
    await connection.gone;
    expect(time.pending()).toBe(0);
    expect(books.state).toBe("REFUSED");
  },
);

test("a refused timestamp has the clock measured again; the third within a quarter of an hour is the end", async () => {
  const { client, server, errors, handlers, reached, time } = fixture;
  client.candles(handlers);
  for (const delayMs of [1_000, 2_000]) {
    (await server.nextConnection()).refuse("AUTH_TIMESTAMP_OUT_OF_WINDOW");
    expect(await errors.next()).toMatchObject({ isFatal: false });
    await comesBackAfter(delayMs);
  }
  (await server.nextConnection()).refuse("AUTH_TIMESTAMP_OUT_OF_WINDOW");
  expect(fixture.timesAsked()).toBe(3);
  expect(await errors.next()).toMatchObject({ isFatal: true });
  await reached("REFUSED");
  expect(time.pending()).toBe(0);
});

test("timestamps that are refused once in a while do not end a stream", async () => {
  const { client, server, errors, handlers, reached } = fixture;
  client.candles(handlers);
  for (let refusals = 0; refusals < 5; refusals += 1) {
    const connection = await server.nextConnection();
    await reached("CONNECTED");
    fixture.time.advance(600_000);
    connection.refuse("AUTH_TIMESTAMP_OUT_OF_WINDOW");
    expect(await errors.next()).toMatchObject({ isFatal: false });
    // The connection had held for long, so its end is the first failure.
    await comesBackAfter(1_000);
  }
});

test("a refused topic is reported by name and forgotten, and the others are subscribed none the less", async () => {
  const { client, server, errors, handlers, reached } = fixture;
  const candles = client.candles(handlers);
  for (const pair of ["NOPE", "BTCUSDT"]) candles.subscribe({ pair, timeframe: "1m" });
  const connection = await server.nextConnection();
  expect(await connection.next()).toEqual(["subscribe", { pair: "NOPE", timeframe: "1m" }]);
  connection.say("error", { status: false, code: "SUB_UNSUPPORTED_SYMBOL", message: "no such pair" });
  expect(await connection.confirm()).toEqual(TOPIC);
  expect(await errors.next()).toMatchObject({
    code: "SUB_UNSUPPORTED_SYMBOL",
    isFatal: false,
    topic: { pair: "NOPE", timeframe: "1m" },
  });
  expect(candles.topics).toEqual([TOPIC]);
  expect(candles.candle({ pair: "NOPE", timeframe: "1m" })).toBe(null);
  connection.cut();
  await reached("DISCONNECTED");
  await fixture.pass(1_000);
  expect(await (await server.nextConnection()).confirm()).toEqual(TOPIC);
});

test("what is not subscribed any more is unsubscribed, and its late messages are nothing", async () => {
  const { client, server, handlers } = fixture;
  const books: number[] = [];
  const stream = client.orderBooks({ ...handlers, onBook: ({ lastUpdateId }) => books.push(lastUpdateId) });
  const topic = stream.subscribe({ pair: "BTCUSDT", levels: 5 });
  const connection = await server.nextConnection();
  await connection.confirm();
  const payload = { event: "depth", ...topic, bids: [], asks: [] };
  connection.say("orderBook", { ...payload, lastUpdateId: 1 });
  while (books.length === 0) await settled();
  stream.unsubscribe(topic);
  connection.say("orderBook", { ...payload, lastUpdateId: 2 });
  expect(await connection.next()).toEqual(["unsubscribe", topic]);
  connection.say("unsubscribed", topic);
  stream.subscribe(topic);
  await connection.confirm();
  connection.say("orderBook", { ...payload, lastUpdateId: 3 });
  while (books.length === 1) await settled();
  expect(books).toEqual([1, 3]);
});

test("a server that does not answer a subscription is left", async () => {
  const { client, server, handlers, pass, reached } = fixture;
  client.candles(handlers).subscribe(TOPIC);
  const connection = await server.nextConnection();
  await connection.next();
  await pass(10_000);
  await reached("DISCONNECTED");
  await connection.gone;
});

test("closing ends every connection and leaves no timer", async () => {
  const { client, server, handlers, time, states } = fixture;
  const candles = client.candles(handlers);
  candles.subscribe(TOPIC);
  client.orderBooks();
  const connections = [await server.nextConnection(), await server.nextConnection()];
  client.close();
  await Promise.all(connections.map(({ gone }) => gone));
  expect(time.pending()).toBe(0);
  expect(states.at(-1)).toBe("CLOSED");
  expect(client.candles().state).toBe("CLOSED");
  await settled();
  expect(time.pending()).toBe(0);
});

test("a closed stream takes no subscriptions, and throws", async () => {
  const { client } = fixture;
  const [candles, books, others] = [client.candles(), client.orderBooks(), client.orderBooks()];
  const book = books.subscribe({ pair: "BTCUSDT" });
  books.close();
  expect(() => books.subscribe(book)).toThrow(new LyrebirdClosedError("stream"));
  others.subscribe(book);
  client.close();
  expect(() => others.subscribe(book)).toThrow(LyrebirdClosedError);
  expect(() => candles.subscribe(TOPIC)).toThrow(LyrebirdClosedError);
  expect(() => client.candles().subscribe(TOPIC)).toThrow(LyrebirdClosedError);
  // Later cleanup does no harm.
  candles.unsubscribe(TOPIC);
  books.close();
});

test("closing does not wait for a stalled server", async () => {
  const { client, server, handlers, reached } = fixture;
  client.candles(handlers);
  const connection = await server.nextConnection();
  await reached("CONNECTED");
  connection.standStill();
  const before = openSocketCount();
  client.close();
  await settled();
  expect(openSocketCount()).toBe(before - 1);
  connection.cut();
});

test("closing while it waits to come back leaves no timer either", async () => {
  const { client, server, handlers, time, reached } = fixture;
  const candles = client.candles(handlers);
  (await server.nextConnection()).cut();
  await reached("DISCONNECTED");
  candles.close();
  expect(time.pending()).toBe(0);
});
