// A client that does not read: it holds little memory, misses only outdated messages, and delays no other
// client. The pause is real: a socket that is not read from, until the kernel takes no more.
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import WebSocket from "ws";
import { KEPT_MESSAGES_MAX } from "../../../src/streams/fan-out.ts";
import type { DepthTopic, MarketData, OrderBook } from "../../../src/streams/topics.ts";
import { eventually } from "../../support/eventually.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import {
  handshakeAuth,
  MARKET,
  ORDER_BOOK,
  type StreamCredentials,
} from "../../support/sockets/stream-client.ts";
import {
  bookOf,
  candleOf,
  openStreamFixture,
  type StreamFixture,
} from "../../support/sockets/stream-fixture.ts";

stayOnLoopback();

const BOOK: DepthTopic = { pair: "PAIR0USDT", levels: 20, speed: "1000ms" };
const CANDLE = { pair: "PAIR0USDT", timeframe: "1m" };
/** Of one snapshot, so that few of them fill the kernel's buffers. */
const QUANTITY = "1".repeat(400);
/** The kernel is full when nothing has left in so many polls in a row, and the interval of polls, ms. */
const STUCK_POLLS = 50;
const POLL_MS = 10;
/** What the server may hold for one client that does not read, bytes. */
const HELD_BYTES_MAX = 200_000;

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open() {
  const fixture = await openStreamFixture();
  opened.push(() => fixture.close());
  const sockets: Socket[] = [];
  fixture.server.on("connection", (socket) => void sockets.push(socket));
  const [slowKey, otherKey] = await fixture.keys(2);
  if (slowKey === undefined || otherKey === undefined) throw new Error("two keys were asked for");
  const slow = await openPausable(fixture, slowKey);
  const [served] = sockets;
  if (served === undefined) throw new Error("the server has seen the client");
  const other = await fixture.connect(ORDER_BOOK, otherKey);
  await other.subscribe(BOOK);
  return { fixture, slow, served, other };
}

/** A client of both namespaces that can stop reading. */
async function openPausable(fixture: StreamFixture, key: StreamCredentials) {
  const socket = new WebSocket(`${fixture.url}/socket.io/?EIO=4&transport=websocket`);
  opened.push(() => socket.terminate());
  const books: OrderBook[] = [];
  const candles: MarketData[] = [];
  let subscribedCount = 0;
  let isClosed = false;
  socket.on("close", () => {
    isClosed = true;
  });
  socket.on("error", () => {});
  socket.on("message", (data: Buffer) => {
    const text = data.toString();
    if (text.startsWith("0")) {
      for (const namespace of [MARKET, ORDER_BOOK]) {
        socket.send(`40${namespace},${JSON.stringify(handshakeAuth(namespace, key, fixture.time.now()))}`);
      }
    } else if (text.startsWith("40")) {
      const topic = text.includes(MARKET) ? CANDLE : BOOK;
      socket.send(`42${text.includes(MARKET) ? MARKET : ORDER_BOOK},${JSON.stringify(["subscribe", topic])}`);
    } else if (text.startsWith("42")) {
      const [name, payload] = JSON.parse(text.slice(text.indexOf(",") + 1));
      if (name === "orderBook") books.push(payload);
      if (name === "marketData") candles.push(payload);
      if (name === "subscribed") subscribedCount += 1;
    }
  });
  await eventually("the client has subscribed", () => subscribedCount === 2);
  return { socket, books, candles, isClosed: () => isClosed };
}

/** A snapshot of some thirty kilobytes. */
function largeBook(lastUpdateId: number): OrderBook {
  const book = bookOf(BOOK, lastUpdateId);
  const enlarge = (side: OrderBook["bids"]) => side.map(([price]) => [price, QUANTITY] as const);
  return { ...book, bids: enlarge(book.bids), asks: enlarge(book.asks) };
}

/**
 * Sends snapshots until the kernel takes no more from the server for this client; answers with the last id.
 */
async function fill(fixture: StreamFixture, served: Socket): Promise<number> {
  for (let id = 1; id < 10_000; id += 1) {
    fixture.depth.audience.send(BOOK, largeBook(id));
    await nextTurn();
    if (served.writableLength === 0) continue;
    if (await isStuck(served)) return id;
  }
  throw new Error("the kernel takes everything");
}

/** Whether nothing leaves any more; a kernel that only waits for an acknowledgment has it after 40 ms. */
async function isStuck(served: Socket): Promise<boolean> {
  const waiting = served.writableLength;
  let polls = 0;
  const isKnown = () => {
    polls += 1;
    return served.writableLength !== waiting || polls > STUCK_POLLS;
  };
  await eventually("something leaves, or nothing does", isKnown, { askAgainMs: POLL_MS });
  return served.writableLength === waiting;
}

test("of a book only the newest snapshot waits, and the others' come as ever", async () => {
  const { fixture, slow, served, other } = await open();
  slow.socket.pause();
  const filled = await fill(fixture, served);
  const last = filled + 2_000;
  for (let id = filled + 1; id <= last; id += 1) {
    fixture.depth.audience.send(BOOK, largeBook(id));
    await nextTurn();
    expect(served.writableLength).toBeLessThan(HELD_BYTES_MAX);
  }
  await eventually(
    "the other client has every snapshot",
    () => other.events.at(-1)?.payload.lastUpdateId === last,
  );
  expect(other.events.filter(({ name }) => name === "orderBook")).toHaveLength(last);

  slow.socket.resume();
  await eventually("the slow client has the newest", () => slow.books.at(-1)?.lastUpdateId === last);
  const ids = slow.books.map(({ lastUpdateId }) => lastUpdateId);
  expect(ids).toEqual([...ids].sort((one, another) => one - another));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeLessThanOrEqual(filled + 1);
  fixture.depth.audience.send(BOOK, largeBook(last + 1));
  await eventually("it goes on", () => slow.books.at(-1)?.lastUpdateId === last + 1);
});

test("of candles every final waits, in its order, and of ticks only the newest", async () => {
  const { fixture, slow, served } = await open();
  slow.socket.pause();
  await fill(fixture, served);
  const count = 500;
  for (let candle = 1; candle <= count; candle += 1) {
    for (const close of ["1", "2"])
      fixture.candles.audience.send(CANDLE, candleOf(CANDLE, candle * 60_000, close));
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, candle * 60_000, "3", true));
  }
  for (const close of ["4", "5"])
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, (count + 1) * 60_000, close));
  await nextTurn();
  expect(served.writableLength).toBeLessThan(HELD_BYTES_MAX);

  slow.socket.resume();
  await eventually("the newest tick has come", () => slow.candles.at(-1)?.candle.close === "5");
  const finals = slow.candles.filter(({ candle }) => candle.isFinal).map(({ candle }) => candle.startTime);
  expect(finals).toEqual(Array.from({ length: count }, (_, index) => (index + 1) * 60_000));
  // The first tick may have been handed over before the line was seen to be busy.
  expect(slow.candles.length).toBeLessThanOrEqual(count + 2);
  const starts = slow.candles.map(({ candle }) => candle.startTime);
  expect(starts).toEqual([...starts].sort((one, another) => one - another));
});

test("a client with too many waiting finals is disconnected, and no other", async () => {
  const { fixture, slow, served, other } = await open();
  slow.socket.pause();
  await fill(fixture, served);
  for (let candle = 0; candle <= KEPT_MESSAGES_MAX + 1; candle += 1) {
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, candle * 60_000, "1", true));
  }
  await eventually("the server has given the client up", () => served.destroyed);
  await fixture.untilFollowed(1);
  slow.socket.resume();
  await eventually("the client is cut off", slow.isClosed);
  expect(await other.subscribe({ ...BOOK, levels: 5 })).toEqual({ ...BOOK, levels: 5 });
});

test("a client that sends on and reads no answers has its 1,200 packets once, not every minute", async () => {
  const { fixture, slow, served } = await open();
  slow.socket.pause();
  await fill(fixture, served);
  // Answered by Socket.IO itself. A frame is the text, a mask of four bytes, and two bytes before it.
  const packet = "40/bot/v1/nothing,";
  for (let minute = 0; minute < 3; minute += 1) {
    expect(served.destroyed, "its last minute is that in which it stopped to take anything").toBe(false);
    const until = served.bytesRead + 700 * (packet.length + 6);
    for (let count = 0; count < 700; count += 1) slow.socket.send(packet);
    await eventually("they have come", () => served.bytesRead >= until || served.destroyed);
    fixture.time.advance(60_000);
  }
  await eventually("it is cut off", () => served.destroyed);
});

test("a message is encoded once for all clients", async () => {
  const { fixture, slow, other } = await open();
  let encodedCount = 0;
  const book = {
    ...bookOf(BOOK, 1),
    toJSON() {
      encodedCount += 1;
      return bookOf(BOOK, 1);
    },
  };
  fixture.depth.audience.send(BOOK, book);
  expect(await other.next("orderBook")).toEqual(bookOf(BOOK, 1));
  await eventually("the other one has it too", () => slow.books.length === 1);
  expect(slow.books).toEqual([bookOf(BOOK, 1)]);
  expect(encodedCount).toBe(1);
});

test("a message arrives as it was sent, whatever its length and its letters", async () => {
  const { fixture, slow } = await open();
  // Around each limit between two formats of a WebSocket frame's length.
  for (const length of [1, 70, 71, 72, 73, 74, 1_000, 65_300, 65_350, 65_400, 70_000]) {
    for (const letter of ["1", "é", "😀"]) {
      const sent = candleOf(CANDLE, length, letter.repeat(length));
      fixture.candles.audience.send(CANDLE, sent);
      await eventually("it has come", () => slow.candles.length > 0);
      expect(slow.candles.splice(0)).toEqual([sent]);
    }
  }
});
