// Subscriptions, their answers, and the delivery of the sources' messages. Source: specification 3.4, 6.1,
// 6.2 and 7.3; design, section 6.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TIMEFRAMES } from "../../../src/market/pairs.ts";
import { STREAM_ERROR_CODES, STREAM_ERRORS } from "../../../src/streams/errors.ts";
import type { DepthTopic } from "../../../src/streams/topics.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import { MARKET, ORDER_BOOK, type StreamClient } from "../../support/sockets/stream-client.ts";
import {
  bookOf,
  candleOf,
  openStreamFixture,
  type StreamFixture,
} from "../../support/sockets/stream-fixture.ts";

stayOnLoopback();

const CANDLE = { pair: "PAIR0USDT", timeframe: "1m" };
const BOOK: DepthTopic = { pair: "PAIR0USDT", levels: 20, speed: "1000ms" };

let fixture: StreamFixture;
const clients: StreamClient[] = [];

beforeAll(async () => {
  fixture = await openStreamFixture();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await fixture.untilFollowed();
});
afterAll(() => fixture.close());

/** A client with a key of its own. */
async function connect(namespace: string): Promise<StreamClient> {
  const [key] = await fixture.keys(1);
  if (key === undefined) throw new Error("one key was asked for");
  const client = await fixture.connect(namespace, key);
  clients.push(client);
  return client;
}

/** What a message is answered with. */
async function answerTo(client: StreamClient, name: string, ...payload: readonly unknown[]) {
  client.send(name, ...payload);
  return await client.nextOf("subscribed", "unsubscribed", "error");
}

const ERROR = (code: string, message: unknown = expect.any(String)) => ({
  name: "error",
  payload: { status: false, code, message },
});
const NO_CANDLE_REQUEST = 'The message must be an object such as {"pair":"BTCUSDT","timeframe":"1m"}.';
const NO_DEPTH_REQUEST =
  'The message must be an object such as {"pair":"BTCUSDT","levels":20,"speed":"1000ms"}.';
const NO_PAIR = "pair is missing or no text.";
const NO_TIMEFRAME = "The timeframe is not in the list of supported timeframes.";
const NO_LEVELS = "levels is not one of 5, 10 and 20.";
const NO_SPEED = "speed is not one of 1000ms and 100ms.";
const unlisted = (topic: string) => `${topic}: the pair is not in the list of supported pairs.`;
const unknownField = (field: string) => `${field} is not a field of this message.`;
const noSubscription = (topic: string) => `There is no subscription to ${topic} on this connection.`;

describe("the candle stream", () => {
  test("answers subscribe with subscribed, and ticks follow", async () => {
    const client = await connect(MARKET);
    expect(await client.subscribe(CANDLE)).toEqual(CANDLE);
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1.10000000"));
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1.20000000", true));
    expect(await client.next("marketData")).toEqual(candleOf(CANDLE, 60_000, "1.10000000"));
    expect(await client.next("marketData")).toEqual(candleOf(CANDLE, 60_000, "1.20000000", true));
  });

  test("takes a pair in any case and answers it in upper case", async () => {
    const client = await connect(MARKET);
    expect(await client.subscribe({ pair: "pair0Usdt", timeframe: "1m" })).toEqual(CANDLE);
  });

  test.each(TIMEFRAMES)("takes the timeframe %s", async (timeframe) => {
    const client = await connect(MARKET);
    expect(await client.subscribe({ ...CANDLE, timeframe })).toEqual({ ...CANDLE, timeframe });
  });

  test.each([
    ["no payload", undefined, "SUB_INVALID_PAYLOAD", NO_CANDLE_REQUEST],
    ["a text", "PAIR0USDT", "SUB_INVALID_PAYLOAD", NO_CANDLE_REQUEST],
    ["a list", [CANDLE], "SUB_INVALID_PAYLOAD", NO_CANDLE_REQUEST],
    ["null", null, "SUB_INVALID_PAYLOAD", NO_CANDLE_REQUEST],
    ["bytes", Buffer.from("PAIR0USDT"), "SUB_INVALID_PAYLOAD", NO_CANDLE_REQUEST],
    ["no pair", { timeframe: "1m" }, "SUB_INVALID_PAYLOAD", NO_PAIR],
    ["an empty pair", { pair: "", timeframe: "1m" }, "SUB_INVALID_PAYLOAD", NO_PAIR],
    ["a pair that is a number", { pair: 5, timeframe: "1m" }, "SUB_INVALID_PAYLOAD", NO_PAIR],
    ["no timeframe", { pair: "PAIR0USDT" }, "SUB_INVALID_PAYLOAD", "timeframe is missing."],
    [
      "a timeframe that there is not",
      { pair: "PAIR0USDT", timeframe: "2m" },
      "SUB_UNSUPPORTED_TIMEFRAME",
      NO_TIMEFRAME,
    ],
    [
      "a timeframe in the wrong case",
      { pair: "PAIR0USDT", timeframe: "1H" },
      "SUB_UNSUPPORTED_TIMEFRAME",
      NO_TIMEFRAME,
    ],
    [
      "a timeframe that is a number",
      { pair: "PAIR0USDT", timeframe: 60 },
      "SUB_UNSUPPORTED_TIMEFRAME",
      NO_TIMEFRAME,
    ],
    [
      "an unlisted pair",
      { pair: "nothing", timeframe: "1m" },
      "SUB_UNSUPPORTED_SYMBOL",
      unlisted("NOTHING 1m"),
    ],
    [
      "a pair and a space",
      { pair: "PAIR0USDT ", timeframe: "1m" },
      "SUB_UNSUPPORTED_SYMBOL",
      unlisted("PAIR0USDT  1m"),
    ],
    [
      "a prototype's name",
      { pair: "__proto__", timeframe: "1m" },
      "SUB_UNSUPPORTED_SYMBOL",
      unlisted("__PROTO__ 1m"),
    ],
    [
      "a letter that is none of a pair, but has one as its capital",
      { pair: "pair0u\u017fdt", timeframe: "1m" },
      "SUB_UNSUPPORTED_SYMBOL",
      unlisted("PAIR0U\u017fDT 1m"),
    ],
    [
      "a pair that is long, of which little is repeated",
      { pair: "P".repeat(3_000), timeframe: "1m" },
      "SUB_UNSUPPORTED_SYMBOL",
      unlisted(`${"P".repeat(40)} 1m`),
    ],
  ])("refuses to subscribe with %s", async (_what, payload, code, message) => {
    const client = await connect(MARKET);
    expect(await answerTo(client, "subscribe", payload)).toEqual(ERROR(code, message));
    expect(fixture.candles.followed).toEqual([]);
  });

  test("takes no notice of fields that it does not know", async () => {
    const client = await connect(MARKET);
    expect(await client.subscribe({ ...CANDLE, levels: 5 })).toEqual(CANDLE);
  });

  test("answers unsubscribe with unsubscribed, and no tick follows", async () => {
    const client = await connect(MARKET);
    await client.subscribe(CANDLE);
    expect(await answerTo(client, "unsubscribe", { pair: "pair0usdt", timeframe: "1m" })).toEqual({
      name: "unsubscribed",
      payload: CANDLE,
    });
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1"));
    await answerTo(client, "unsubscribe", CANDLE);
    expect(client.events.map(({ name }) => name)).not.toContain("marketData");
  });

  test.each([
    ["what is not subscribed", CANDLE, "SUB_INVALID_PAYLOAD", noSubscription("PAIR0USDT 1m")],
    [
      "a long name, of which little is repeated",
      { pair: "P".repeat(3_000), timeframe: "1m" },
      "SUB_INVALID_PAYLOAD",
      noSubscription(`${"P".repeat(40)} 1m`),
    ],
    ["no timeframe", { pair: "PAIR0USDT" }, "SUB_INVALID_PAYLOAD", "timeframe is missing."],
    ["no object", "PAIR0USDT", "SUB_INVALID_PAYLOAD", NO_CANDLE_REQUEST],
    ["another timeframe", { pair: "PAIR0USDT", timeframe: "2m" }, "SUB_UNSUPPORTED_TIMEFRAME", NO_TIMEFRAME],
  ])("refuses to unsubscribe %s", async (_what, payload, code, message) => {
    expect(await answerTo(await connect(MARKET), "unsubscribe", payload)).toEqual(ERROR(code, message));
  });
});

describe("the depth stream", () => {
  test("answers subscribe with subscribed, and snapshots follow", async () => {
    const client = await connect(ORDER_BOOK);
    expect(await client.subscribe(BOOK)).toEqual(BOOK);
    fixture.depth.audience.send(BOOK, bookOf(BOOK, 7));
    expect(await client.next("orderBook")).toEqual(bookOf(BOOK, 7));
  });

  test("has 20 levels and 1000ms unless said", async () => {
    const client = await connect(ORDER_BOOK);
    expect(await client.subscribe({ pair: "pair0usdt" })).toEqual(BOOK);
  });

  test.each([5, 10, 20])("takes %i levels", async (levels) => {
    const client = await connect(ORDER_BOOK);
    expect(await client.subscribe({ ...BOOK, levels })).toEqual({ ...BOOK, levels });
  });

  test.each(["1000ms", "100ms"])("takes the speed %s", async (speed) => {
    const client = await connect(ORDER_BOOK);
    expect(await client.subscribe({ ...BOOK, speed })).toEqual({ ...BOOK, speed });
  });

  test.each([
    ["no payload", undefined, "SUB_INVALID_PAYLOAD", NO_DEPTH_REQUEST],
    ["a list", [BOOK], "SUB_INVALID_PAYLOAD", NO_DEPTH_REQUEST],
    ["bytes", Buffer.from("PAIR0USDT"), "SUB_INVALID_PAYLOAD", NO_DEPTH_REQUEST],
    ["no pair", { levels: 5 }, "SUB_INVALID_PAYLOAD", NO_PAIR],
    [
      "a field that it does not know",
      { ...BOOK, timeframe: "1m" },
      "SUB_UNEXPECTED_FIELD",
      unknownField("timeframe"),
    ],
    ["such a field and no pair", { depth: 5 }, "SUB_UNEXPECTED_FIELD", unknownField("depth")],
    [
      "a field of a long name, of which little is repeated",
      { ...BOOK, ["x".repeat(3_000)]: 1 },
      "SUB_UNEXPECTED_FIELD",
      unknownField("x".repeat(40)),
    ],
    ["50 levels", { ...BOOK, levels: 50 }, "SUB_UNSUPPORTED_LEVELS", NO_LEVELS],
    ["levels as text", { ...BOOK, levels: "5" }, "SUB_UNSUPPORTED_LEVELS", NO_LEVELS],
    ["levels that are null", { ...BOOK, levels: null }, "SUB_UNSUPPORTED_LEVELS", NO_LEVELS],
    ["another speed", { ...BOOK, speed: "250ms" }, "SUB_UNSUPPORTED_SPEED", NO_SPEED],
    ["a speed as a number", { ...BOOK, speed: 100 }, "SUB_UNSUPPORTED_SPEED", NO_SPEED],
    ["an unlisted pair", { pair: "nothing" }, "SUB_UNSUPPORTED_SYMBOL", unlisted("NOTHING 20 1000ms")],
    [
      "another letter than those of a pair",
      { pair: "pair0u\u017fdt" },
      "SUB_UNSUPPORTED_SYMBOL",
      unlisted("PAIR0U\u017fDT 20 1000ms"),
    ],
  ])("refuses to subscribe with %s", async (_what, payload, code, message) => {
    const client = await connect(ORDER_BOOK);
    expect(await answerTo(client, "subscribe", payload)).toEqual(ERROR(code, message));
    expect(fixture.depth.followed).toEqual([]);
  });

  describe("unsubscribes", () => {
    const SLOW5: DepthTopic = { ...BOOK, levels: 5 };
    const FAST5: DepthTopic = { ...BOOK, levels: 5, speed: "100ms" };
    const OTHER: DepthTopic = { ...BOOK, pair: "PAIR1USDT" };

    test.each([
      ["every stream of a pair", { pair: "pair0usdt" }, [BOOK, SLOW5, FAST5]],
      ["those of a pair with as many levels", { pair: "PAIR0USDT", levels: 5 }, [SLOW5, FAST5]],
      ["those of a pair at a speed", { pair: "PAIR0USDT", speed: "1000ms" }, [BOOK, SLOW5]],
      ["one stream", FAST5, [FAST5]],
    ])("%s, each with an answer of its own", async (_what, payload, removed) => {
      const client = await connect(ORDER_BOOK);
      const all = [BOOK, SLOW5, FAST5, OTHER];
      for (const topic of all) await client.subscribe(topic);
      client.send("unsubscribe", payload);
      for (const topic of removed) expect(await client.next("unsubscribed")).toEqual(topic);
      for (const topic of all) fixture.depth.audience.send(topic, bookOf(topic, 1));
      const left = all.filter((topic) => !removed.includes(topic));
      for (const topic of left) expect(await client.next("orderBook")).toEqual(bookOf(topic, 1));
      expect(fixture.depth.followed).toEqual(left.map((topic) => JSON.stringify(topic)));
    });

    test.each([
      ["what is not subscribed", BOOK, "SUB_INVALID_PAYLOAD", noSubscription("PAIR0USDT 20 1000ms")],
      ["a pair without any", { pair: "pair0usdt" }, "SUB_INVALID_PAYLOAD", noSubscription("PAIR0USDT")],
      ["no pair", { levels: 5 }, "SUB_INVALID_PAYLOAD", NO_PAIR],
      [
        "a field that it does not know",
        { pair: "PAIR0USDT", timeframe: "1m" },
        "SUB_UNEXPECTED_FIELD",
        unknownField("timeframe"),
      ],
      ["other levels", { pair: "PAIR0USDT", levels: 7 }, "SUB_UNSUPPORTED_LEVELS", NO_LEVELS],
      ["another speed", { pair: "PAIR0USDT", speed: "1s" }, "SUB_UNSUPPORTED_SPEED", NO_SPEED],
    ])("not: %s", async (_what, payload, code, message) => {
      expect(await answerTo(await connect(ORDER_BOOK), "unsubscribe", payload)).toEqual(ERROR(code, message));
    });
  });
});

describe("a subscription", () => {
  test("that is made twice is answered twice and counts once", async () => {
    const client = await connect(MARKET);
    for (let count = 0; count < 2; count += 1) expect(await client.subscribe(CANDLE)).toEqual(CANDLE);
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1"));
    await answerTo(client, "unsubscribe", CANDLE);
    expect(client.events.filter(({ name }) => name === "marketData")).toHaveLength(1);
    expect(fixture.candles.followed).toEqual([]);
  });

  test("does not survive its connection", async () => {
    const [key] = await fixture.keys(1);
    const first = await fixture.connect(MARKET, key as never);
    await first.subscribe(CANDLE);
    first.close();
    await fixture.untilFollowed();
    const second = await fixture.connect(MARKET, key as never);
    clients.push(second);
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1"));
    await answerTo(second, "unsubscribe", CANDLE);
    expect(second.events.map(({ name }) => name)).toEqual(["connect", "error"]);
  });

  test("is followed at its source from its first subscriber until its last has gone", async () => {
    const [one, other] = [await connect(MARKET), await connect(MARKET)];
    await one.subscribe(CANDLE);
    await other.subscribe(CANDLE);
    expect(fixture.candles.followed).toEqual([JSON.stringify(CANDLE)]);
    await answerTo(one, "unsubscribe", CANDLE);
    expect(fixture.candles.followed).toEqual([JSON.stringify(CANDLE)]);
    other.close();
    await fixture.untilFollowed();
    expect(fixture.candles.followed).toEqual([]);
  });

  test("gets what is its own alone", async () => {
    const [one, other] = [await connect(MARKET), await connect(MARKET)];
    const another = { pair: "PAIR1USDT", timeframe: "5m" };
    await one.subscribe(CANDLE);
    await other.subscribe(another);
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1"));
    fixture.candles.audience.send(another, candleOf(another, 60_000, "2"));
    expect(await one.next("marketData")).toEqual(candleOf(CANDLE, 60_000, "1"));
    expect(await other.next("marketData")).toEqual(candleOf(another, 60_000, "2"));
    for (const client of [one, other]) await answerTo(client, "nothing");
    expect(one.events.filter(({ name }) => name === "marketData")).toHaveLength(1);
    expect(other.events.filter(({ name }) => name === "marketData")).toHaveLength(1);
  });

  test("of both namespaces may go over one connection", async () => {
    const [key] = await fixture.keys(1);
    const market = await fixture.connect(MARKET, key as never, { options: { forceNew: false } });
    const book = await fixture.connect(ORDER_BOOK, key as never, { options: { forceNew: false } });
    clients.push(market, book);
    expect(market.socket.io).toBe(book.socket.io);
    await market.subscribe(CANDLE);
    await book.subscribe(BOOK);
    market.close();
    await fixture.untilFollowed(1);
    fixture.depth.audience.send(BOOK, bookOf(BOOK, 3));
    expect(await book.next("orderBook")).toEqual(bookOf(BOOK, 3));
  });
});

describe("a source that is out of reach", () => {
  test("is reported as UPSTREAM_UNAVAILABLE to all subscribers of the topic, and to later ones", async () => {
    const [one, other, late] = [await connect(MARKET), await connect(MARKET), await connect(MARKET)];
    await one.subscribe(CANDLE);
    await other.subscribe({ ...CANDLE, timeframe: "5m" });
    fixture.candles.audience.unavailable(CANDLE);
    const told = {
      status: false,
      code: "UPSTREAM_UNAVAILABLE",
      message: "The source of PAIR0USDT 1m is out of reach.",
    };
    expect(await one.next("error")).toEqual(told);
    await late.subscribe(CANDLE);
    expect(await late.next("error")).toEqual(told);
    await answerTo(other, "unsubscribe", { ...CANDLE, timeframe: "5m" });
    expect(other.events.map(({ name }) => name)).not.toContain("error");
  });

  test("is named by pair, levels and speed where it is a book's", async () => {
    const client = await connect(ORDER_BOOK);
    await client.subscribe(BOOK);
    fixture.depth.audience.unavailable(BOOK);
    expect(await client.nextOf("error")).toEqual(
      ERROR("UPSTREAM_UNAVAILABLE", "The source of PAIR0USDT 20 1000ms is out of reach."),
    );
  });

  test("is not reported any more once it is back", async () => {
    const [one, late] = [await connect(MARKET), await connect(MARKET)];
    await one.subscribe(CANDLE);
    fixture.candles.audience.unavailable(CANDLE);
    fixture.candles.audience.send(CANDLE, candleOf(CANDLE, 60_000, "1"));
    await late.subscribe(CANDLE);
    await answerTo(late, "unsubscribe", CANDLE);
    expect(late.events.map(({ name }) => name)).toEqual(["connect", "subscribed", "unsubscribed"]);
  });

  test("is not reported any more once it is available, though it has no message", async () => {
    const [one, late] = [await connect(MARKET), await connect(MARKET)];
    await one.subscribe(CANDLE);
    fixture.candles.audience.unavailable(CANDLE);
    fixture.candles.audience.available(CANDLE);
    await late.subscribe(CANDLE);
    await answerTo(late, "unsubscribe", CANDLE);
    expect(late.events.map(({ name }) => name)).toEqual(["connect", "subscribed", "unsubscribed"]);
    fixture.candles.audience.unavailable(CANDLE);
    expect((await one.nextOf("error")).payload.code).toBe("UPSTREAM_UNAVAILABLE");
  });
});

test("a source that fails to follow a topic is reported as INTERNAL, and tried again for the next subscription", async () => {
  const client = await connect(MARKET);
  const { follow } = fixture.candles;
  fixture.candles.follow = () => {
    throw new Error("no");
  };
  expect(await answerTo(client, "subscribe", CANDLE)).toEqual(ERROR("INTERNAL"));
  fixture.candles.follow = follow;
  expect(fixture.candles.followed).toEqual([]);
  await client.subscribe(CANDLE);
  expect(fixture.candles.followed).toEqual([JSON.stringify(CANDLE)]);
  expect(client.events.map(({ name }) => name)).toEqual(["connect", "error", "subscribed"]);
});

test("a topic that is broken ends the connections of its subscribers as a network would, and they alone", async () => {
  const [one, other] = [await connect(ORDER_BOOK), await connect(ORDER_BOOK)];
  await one.subscribe(BOOK);
  await other.subscribe({ ...BOOK, levels: 5 });
  fixture.depth.audience.broken(BOOK);
  // Stock clients come back by themselves after this, and not after "io server disconnect".
  expect(await one.next("disconnect")).toBe("transport close");
  expect(await other.subscribe({ ...BOOK, levels: 10 })).toBeDefined();
});

test.each(["hello", "marketData", "error", "message"])(
  "the event %s, which no client may send, is answered SUB_INVALID_PAYLOAD",
  async (name) => {
    expect(await answerTo(await connect(MARKET), name, CANDLE)).toEqual(ERROR("SUB_INVALID_PAYLOAD"));
  },
);

test("there is a text for every code of an error, and each code is of a known stream", () => {
  expect(STREAM_ERROR_CODES).toHaveLength(15);
  for (const code of STREAM_ERROR_CODES) {
    expect(STREAM_ERRORS[code].message).toMatch(/\.$/);
    expect(["both", "candles", "depth"]).toContain(STREAM_ERRORS[code].stream);
  }
});
