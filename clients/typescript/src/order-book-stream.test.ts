// Order books against a scripted server: silence, the fallback, and what a new connection changes.
// Source: specification 6.4.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BookSnapshot } from "./messages.ts";
import type { OrderBook, OrderBookStream } from "./order-book-stream.ts";
import { Handed, type ScriptedConnection } from "./testing/scripted-server.ts";
import { openStreamFixture, type StreamFixture } from "./testing/stream-fixture.ts";

const TOPIC = { pair: "BTCUSDT", levels: 5, speed: "1000ms" } as const;
let fixture: StreamFixture;
let stream: OrderBookStream;
let connection: ScriptedConnection;
let books: Handed<OrderBook>;
let stale: object[];
/** The fallback's answer. */
let rest: BookSnapshot | number;

function book(lastUpdateId: number, levelCount = 5): BookSnapshot {
  const side = (from: number, step: number) =>
    Array.from({ length: levelCount }, (_, index) => [`${from + step * index}`, "1"] as const);
  return { lastUpdateId, bids: side(99, -1), asks: side(100, 1) };
}

function say(lastUpdateId: number, topic: object = TOPIC): void {
  connection.say("orderBook", { event: "depth", ...topic, ...book(lastUpdateId) });
}

beforeEach(async () => {
  rest = 503;
  fixture = await openStreamFixture(() => rest);
  books = new Handed();
  stale = [];
  stream = fixture.client.orderBooks({
    ...fixture.handlers,
    onBook: (shown) => books.put(shown),
    onStale: (topic) => stale.push(topic),
  });
  stream.subscribe(TOPIC);
  connection = await fixture.server.nextConnection();
  await connection.confirm();
});
afterEach(() => fixture.close());

test("a snapshot replaces the book, and one that is not newer is discarded", async () => {
  say(7);
  expect(await books.next()).toEqual({ ...TOPIC, ...book(7), source: "STREAM" });
  say(6);
  say(7);
  say(8);
  expect(await books.next()).toMatchObject({ lastUpdateId: 8 });
  expect(stream.book(TOPIC)).toEqual({ ...TOPIC, ...book(8), source: "STREAM", isStale: false });
});

test("a crossed or malformed snapshot is discarded, and the next clean one shown", async () => {
  say(1);
  await books.next();
  connection.say("orderBook", { ...TOPIC, ...book(2), bids: [["100", "1"]] });
  connection.say("orderBook", { ...TOPIC, ...book(3), bids: [[99, 1]] });
  connection.say("orderBook", { ...TOPIC, ...book(4), asks: "none" });
  say(5);
  expect(await books.next()).toMatchObject({ lastUpdateId: 5 });
});

test("after a reconnect the first snapshot is taken whatever its id", async () => {
  say(1_000);
  await books.next();
  connection.cut();
  await fixture.reached("DISCONNECTED");
  await fixture.pass(1_000);
  connection = await fixture.server.nextConnection();
  await connection.confirm();
  say(3);
  expect(await books.next()).toMatchObject({ lastUpdateId: 3 });
});

test("silence beyond five seconds makes the book stale, and the fallback fills it, cut to its levels", async () => {
  rest = book(12, 20);
  say(10);
  await books.next();
  await fixture.pass(5_000);
  expect(stream.book(TOPIC)).toMatchObject({ isStale: false });
  expect(fixture.targets).toEqual([]);
  await fixture.pass(500);
  expect(stale).toEqual([TOPIC]);
  expect(fixture.targets).toEqual(["/api/v3/depth?symbol=BTCUSDT&limit=20"]);
  expect(await books.next()).toEqual({ ...TOPIC, ...book(12), source: "REST" });
  expect(stream.book(TOPIC)).toMatchObject({ isStale: false, source: "REST" });
});

test("the fallback is asked once a second for as long as the stream is silent, and not any more when it is back", async () => {
  rest = book(12);
  say(10);
  await books.next();
  await fixture.pass(9_500);
  expect(fixture.targets.length).toBe(5);
  connection = await fixture.server.nextConnection();
  await connection.confirm();
  await books.next();
  say(14);
  expect(await books.next()).toMatchObject({ lastUpdateId: 14, source: "STREAM" });
  await fixture.pass(3_000);
  expect(fixture.targets.length).toBe(5);
});

test("a connection that is silent as a whole is replaced", async () => {
  say(10);
  await books.next();
  await fixture.pass(5_500);
  await fixture.reached("DISCONNECTED");
  await connection.gone;
  await fixture.pass(1_000);
  connection = await fixture.server.nextConnection();
  expect(await connection.confirm()).toEqual(TOPIC);
});

test("a connection whose server reports an outage of its source is kept, and the fallback used", async () => {
  rest = book(12);
  say(10);
  await books.next();
  connection.say("error", { status: false, code: "UPSTREAM_UNAVAILABLE", message: "away" });
  expect(await fixture.errors.next()).toMatchObject({ code: "UPSTREAM_UNAVAILABLE", isFatal: false });
  await fixture.pass(60_000);
  expect(fixture.states).toEqual(["CONNECTED"]);
  expect(await books.next()).toMatchObject({ lastUpdateId: 12, source: "REST" });
});

test("a connection on which one book of two is alive is kept", async () => {
  const other = stream.subscribe({ pair: "ETHUSDT" });
  await connection.confirm();
  rest = book(3);
  for (let id = 1; id < 10; id += 1) {
    say(id, other);
    await books.next();
    await fixture.pass(1_000);
  }
  expect(fixture.states).toEqual(["CONNECTED"]);
  expect(stale).toEqual([TOPIC]);
  expect(new Set(fixture.targets)).toEqual(new Set(["/api/v3/depth?symbol=BTCUSDT&limit=20"]));
});

test("a fallback that fails is reported once an outage, asked ever more seldom, and the book stays stale", async () => {
  say(10);
  await books.next();
  await fixture.pass(5_500);
  expect(await fixture.errors.next()).toMatchObject({ code: "FALLBACK_UNAVAILABLE", isFatal: false });
  await fixture.pass(15_000);
  // After 0, 1, 3, 7 and 15 seconds.
  expect(fixture.targets.length).toBe(5);
  expect(fixture.errorCodes).toEqual(["FALLBACK_UNAVAILABLE"]);
  expect(stream.book(TOPIC)).toMatchObject({ lastUpdateId: 10, isStale: true });
  rest = book(20);
  await fixture.pass(20_000);
  expect(await books.next()).toMatchObject({ lastUpdateId: 20, source: "REST" });
});

test("a machine that has slept holds a stale book, as soon as it wakes", async () => {
  say(10);
  await books.next();
  fixture.sleep(3_600_000);
  await fixture.pass(500);
  expect(stream.book(TOPIC)).toMatchObject({ isStale: true });
  expect(stale).toEqual([TOPIC]);
});

test("when the key is refused, the book that was held is stale", async () => {
  say(10);
  await books.next();
  connection.refuse("AUTH_KEY_REVOKED");
  await fixture.reached("REFUSED");
  expect(stream.book(TOPIC)).toMatchObject({ isStale: true });
});
