// Limits of a stream client, and the errors beyond them. Source: specification 7.3 and 8.3; design, section
// 6.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CONNECTION_RETRY_MS } from "../../../src/streams/limits.ts";
import type { DepthTopic } from "../../../src/streams/topics.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import {
  MARKET,
  ORDER_BOOK,
  type StreamClient,
  type StreamCredentials,
} from "../../support/sockets/stream-client.ts";
import { openStreamFixture, STAGE_PAIRS, type StreamFixture } from "../../support/sockets/stream-fixture.ts";

stayOnLoopback();

let fixture: StreamFixture;
let key: StreamCredentials;
const clients: StreamClient[] = [];

beforeAll(async () => {
  fixture = await openStreamFixture();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await fixture.untilFollowed(0);
});
afterAll(() => fixture.close());

/** A client under a key that no other test uses. */
async function firstClient(namespace: string): Promise<StreamClient> {
  const [made] = await fixture.keys(1);
  if (made === undefined) throw new Error("one key was asked for");
  key = made;
  return await anotherClient(namespace);
}

/** Another client under the same key. */
async function anotherClient(namespace: string): Promise<StreamClient> {
  const client = await fixture.connect(namespace, key);
  clients.push(client);
  return client;
}

const pair = (index: number) => STAGE_PAIRS[index] ?? "";
const candle = (index: number) => ({ pair: pair(index), timeframe: "1m" });
const slow = (index: number): DepthTopic => ({ pair: pair(index), levels: 20, speed: "1000ms" });
const fast = (index: number): DepthTopic => ({ pair: pair(index), levels: 20, speed: "100ms" });

/** The code that a subscription is refused with; null if it is not. */
async function refusal(client: StreamClient, payload: unknown): Promise<string | null> {
  return (await refused(client, payload))?.code ?? null;
}

/** The whole of what a subscription is refused with; null if it is not. */
async function refused(
  client: StreamClient,
  payload: unknown,
): Promise<{ readonly code: string; readonly message: string } | null> {
  client.send("subscribe", payload);
  const answer = await client.nextOf("subscribed", "error");
  return answer.name === "error" ? answer.payload : null;
}

async function unsubscribe(client: StreamClient, payload: unknown): Promise<void> {
  client.send("unsubscribe", payload);
  await client.next("unsubscribed");
}

describe("a key may have 5 connections, on both streams together", () => {
  test("the sixth is refused RATE_LIMITED and disconnected", async () => {
    await firstClient(MARKET);
    for (const namespace of [MARKET, MARKET, ORDER_BOOK, ORDER_BOOK]) await anotherClient(namespace);
    for (const namespace of [MARKET, ORDER_BOOK]) {
      const sixth = await anotherClient(namespace);
      expect(await sixth.next("error")).toEqual({
        status: false,
        code: "RATE_LIMITED",
        message: "A key may have 5 connections.",
        retryAfterMs: CONNECTION_RETRY_MS,
      });
      expect(await sixth.next("disconnect")).toBe("io server disconnect");
    }
    await firstClient(MARKET);
    expect(await refusal(clients.at(-1) as StreamClient, candle(0))).toBeNull();
  });

  test("one that ends makes room for another", async () => {
    const first = await firstClient(MARKET);
    await first.subscribe(candle(0));
    for (let count = 1; count < 5; count += 1) await anotherClient(ORDER_BOOK);
    first.close();
    await fixture.untilFollowed(0);
    expect(await refusal(await anotherClient(MARKET), candle(1))).toBeNull();
  });
});

describe("the subscriptions of a connection may weigh 20", () => {
  test("twenty candle streams are not too much, one more is SUB_LIMIT_EXCEEDED", async () => {
    const client = await firstClient(MARKET);
    for (let index = 0; index < 20; index += 1) expect(await refusal(client, candle(index))).toBeNull();
    expect(await refused(client, candle(20))).toEqual({
      status: false,
      code: "SUB_LIMIT_EXCEEDED",
      message: `A connection may have subscriptions that weigh 20 (a 100ms book weighs 5): with ${pair(20)} 1m they would weigh 21.`,
    });
    expect(await refusal(client, candle(0)), "what is subscribed already").toBeNull();
    await unsubscribe(client, candle(3));
    expect(await refusal(client, candle(20))).toBeNull();
  });

  test("a 100ms stream weighs 5", async () => {
    const client = await firstClient(ORDER_BOOK);
    for (let index = 0; index < 2; index += 1) expect(await refusal(client, fast(index))).toBeNull();
    for (let index = 0; index < 10; index += 1) expect(await refusal(client, slow(index))).toBeNull();
    expect(await refusal(client, slow(10))).toBe("SUB_LIMIT_EXCEEDED");
    await unsubscribe(client, fast(0));
    for (let index = 10; index < 14; index += 1) expect(await refusal(client, slow(index))).toBeNull();
    expect(await refused(client, fast(0)), "with 4 less than it weighs").toMatchObject({
      code: "SUB_LIMIT_EXCEEDED",
      message: expect.stringContaining(`: with ${pair(0)} 20 100ms they would weigh 24.`),
    });
    expect(await refusal(client, slow(14))).toBeNull();
    expect(await refusal(client, slow(15))).toBe("SUB_LIMIT_EXCEEDED");
  });
});

describe("a key may have 30 streams that differ, on both streams together", () => {
  test("the thirty-first is SUB_LIMIT_EXCEEDED; one that another connection has costs nothing", async () => {
    const market = await firstClient(MARKET);
    const book = await anotherClient(ORDER_BOOK);
    for (let index = 0; index < 15; index += 1) {
      expect(await refusal(market, candle(index))).toBeNull();
      expect(await refusal(book, slow(index))).toBeNull();
    }
    const code = "SUB_LIMIT_EXCEEDED";
    const message = (topic: string) => `A key may have 30 streams: ${topic} is one too many.`;
    expect(await refused(market, candle(15))).toMatchObject({ code, message: message(`${pair(15)} 1m`) });
    const book15 = `${pair(15)} 20 1000ms`;
    expect(await refused(book, slow(15))).toMatchObject({ code, message: message(book15) });
    const second = await anotherClient(MARKET);
    expect(await refusal(second, candle(0))).toBeNull();
    expect(await refusal(second, candle(15))).toBe("SUB_LIMIT_EXCEEDED");
    await unsubscribe(market, candle(0));
    expect(await refusal(second, candle(15)), "while the second still has it").toBe("SUB_LIMIT_EXCEEDED");
    await unsubscribe(second, candle(0));
    expect(await refusal(second, candle(15))).toBeNull();
  });

  test("what a connection had is given back when it ends", async () => {
    const first = await firstClient(MARKET);
    const book = await anotherClient(ORDER_BOOK);
    for (let index = 0; index < 20; index += 1) await first.subscribe(candle(index));
    for (let index = 0; index < 10; index += 1) await book.subscribe(slow(index));
    expect(await refusal(book, slow(10))).toBe("SUB_LIMIT_EXCEEDED");
    first.close();
    await fixture.untilFollowed(10);
    expect(await refusal(book, slow(10))).toBeNull();
  });
});

describe("a key may have 2 depth streams every 100 ms", () => {
  test("the third is SUB_SPEED_LIMIT_EXCEEDED on any connection, until one is given back", async () => {
    const one = await firstClient(ORDER_BOOK);
    const other = await anotherClient(ORDER_BOOK);
    expect(await refusal(one, fast(0))).toBeNull();
    expect(await refusal(other, fast(1))).toBeNull();
    expect(await refused(one, fast(2))).toMatchObject({
      code: "SUB_SPEED_LIMIT_EXCEEDED",
      message: `A key may have 2 books every 100 ms: ${pair(2)} 20 100ms is one too many.`,
    });
    expect(await refusal(other, { ...fast(0), levels: 5 })).toBe("SUB_SPEED_LIMIT_EXCEEDED");
    expect(await refusal(other, fast(0)), "one that the key has").toBeNull();
    await unsubscribe(one, fast(0));
    expect(await refusal(one, fast(2))).toBe("SUB_SPEED_LIMIT_EXCEEDED");
    await unsubscribe(other, fast(0));
    expect(await refusal(one, fast(2))).toBeNull();
  });

  test("another key has its own", async () => {
    const one = await firstClient(ORDER_BOOK);
    for (let index = 0; index < 2; index += 1) await one.subscribe(fast(index));
    expect(await refusal(await firstClient(ORDER_BOOK), fast(2))).toBeNull();
  });
});

describe("a connection may send 30 subscribe and unsubscribe messages a minute", () => {
  test("the next is RATE_LIMITED with the time to wait, and is not handled", async () => {
    const client = await firstClient(MARKET);
    for (let count = 0; count < 15; count += 1) {
      await client.subscribe(candle(0));
      await unsubscribe(client, candle(0));
      fixture.time.advance(1_000);
    }
    client.send("subscribe", candle(1));
    expect(await client.next("error")).toEqual({
      status: false,
      code: "RATE_LIMITED",
      message: expect.any(String),
      retryAfterMs: 45_000,
    });
    expect(fixture.candles.followed).toEqual([]);
    fixture.time.advance(44_999);
    expect(await refusal(client, candle(1))).toBe("RATE_LIMITED");
    fixture.time.advance(1);
    // The minute slides: what is a minute old makes room, and no more than that.
    for (let count = 0; count < 2; count += 1) expect(await refusal(client, candle(1))).toBeNull();
    expect(await refusal(client, candle(1))).toBe("RATE_LIMITED");
  });

  test("invalid ones count, and another connection of the key has its own minute", async () => {
    const client = await firstClient(MARKET);
    for (let count = 0; count < 30; count += 1) {
      expect(await refusal(client, "nothing")).toBe("SUB_INVALID_PAYLOAD");
    }
    expect(await refusal(client, candle(0))).toBe("RATE_LIMITED");
    expect(await refusal(await anotherClient(MARKET), candle(0))).toBeNull();
  });
});

describe("a connection may send 120 messages of any kind a minute", () => {
  test("the next is RATE_LIMITED with the time to wait", async () => {
    const client = await firstClient(MARKET);
    for (let count = 0; count < 120; count += 1) client.send("hello");
    for (let count = 0; count < 120; count += 1) {
      expect(await client.next("error")).toMatchObject({ code: "SUB_INVALID_PAYLOAD" });
    }
    fixture.time.advance(20_000);
    client.send("subscribe", candle(0));
    expect(await client.next("error")).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 40_000 });
    fixture.time.advance(40_000);
    expect(await refusal(client, candle(0))).toBeNull();
  });

  test("one that ignores the errors is cut off, and no other", async () => {
    const other = await firstClient(MARKET);
    const client = await anotherClient(MARKET);
    for (let count = 0; count < 1_300; count += 1) client.send("hello");
    expect(await client.next("disconnect")).toMatch(/^transport /);
    expect(await refusal(other, candle(0))).toBeNull();
  });
});

test("a message above 4 KiB ends its connection", async () => {
  const client = await firstClient(MARKET);
  client.send("subscribe", { pair: "P".repeat(3_900), timeframe: "1m" });
  expect(await client.next("error")).toMatchObject({ code: "SUB_UNSUPPORTED_SYMBOL" });
  client.send("subscribe", { pair: "P".repeat(4_096), timeframe: "1m" });
  expect(await client.next("disconnect")).toMatch(/^transport /);
});
