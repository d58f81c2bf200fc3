import { afterEach, describe, expect, test } from "vitest";
import { createDepth, outageMs, quietAfterMs } from "./depth.ts";
import { createHeard } from "./testing/heard.ts";
import { streamFixture } from "./testing/upstream-stream.ts";
import type { DepthTopic, OrderBook, Source } from "./topics.ts";

const topic: DepthTopic = { pair: "BTCUSDT", levels: 20, speed: "1000ms" };
const fast: DepthTopic = { ...topic, speed: "100ms" };
const stream = "btcusdt@depth20";

const open: Source<DepthTopic>[] = [];

afterEach(() => {
  for (const source of open.splice(0)) source.close();
});

type Level = readonly [string, string];

/** A book of twenty levels a side around 100. */
function book(lastUpdateId: number, { bids = side(99, -1), asks = side(101, 1) } = {}) {
  return { lastUpdateId, bids, asks };
}

function side(best: number, step: number): Level[] {
  return Array.from({ length: 20 }, (_, place) => [`${best + place * step}.00000000`, `${place}.5000`]);
}

async function createFixture({ of = [topic], asksAboutQuietSymbols = false } = {}) {
  const fixture = await streamFixture();
  const { market, time, upstream } = fixture;
  const heard = createHeard<DepthTopic, OrderBook>();
  const log = {
    info() {},
    warn: (_: object, message: string) => void fixture.logged.push(message),
    error() {},
  };
  const parts = { market, audience: heard, asksAboutQuietSymbols, wallClock: time, timers: time, log };
  const source = createDepth(parts);
  open.push(source);
  const followedAt = time.now();
  const releases = of.map((each) => source.follow(each));
  await fixture.streaming(stream);
  // From here on the schedule falls on whole seconds.
  time.advance(1_000 - ((time.now() - followedAt) % 1_000));
  const ids = (wanted = topic) =>
    heard.told.flatMap((each) =>
      each.kind === "sent" && each.topic === wanted ? [each.message.lastUpdateId] : [],
    );
  const asked = () => upstream.requests.filter((request) => request.startsWith("/api/v3/depth"));
  return { ...fixture, heard, source, releases, ids, asked };
}

describe("a book", () => {
  test("is sent whole, with the text of upstream's decimals", async () => {
    const { heard, say, time } = await createFixture();
    await say(stream, book(7));
    expect(heard.told).toEqual([]);
    time.advance(1_000);
    const message = { event: "depth", pair: "BTCUSDT", levels: 20, speed: "1000ms", ...book(7) };
    expect(heard.told).toEqual([{ kind: "sent", topic, message }]);
  });

  test("is sent on schedule, the newest there is, also when nothing has changed", async () => {
    const { ids, say, time } = await createFixture();
    await say(stream, book(1));
    time.advance(2_000);
    for (const id of [2, 3, 3]) await say(stream, book(id));
    time.advance(2_000);
    expect(ids()).toEqual([1, 1, 3, 3]);
  });

  test("is sent every 100 ms at that speed, of a stream of its own", async () => {
    const { ids, say, streaming, time } = await createFixture({ of: [topic, fast] });
    await streaming(`${stream}@100ms`);
    await say(stream, book(1));
    await say(`${stream}@100ms`, book(2));
    time.advance(1_000);
    expect(ids()).toEqual([1]);
    expect(ids(fast)).toEqual(Array.from({ length: 10 }, () => 2));
  });

  test("is cut to the levels of each topic; topics of one pair and speed share a stream", async () => {
    const of = ([5, 10, 20] as const).map((levels) => ({ ...topic, levels }));
    const { heard, say, time, upstream } = await createFixture({ of });
    await say(stream, book(1));
    time.advance(1_000);
    const { bids, asks } = book(1);
    expect(heard.messages().map(({ levels, bids, asks }) => ({ levels, bids, asks }))).toEqual(
      [5, 10, 20].map((levels) => ({ levels, bids: bids.slice(0, levels), asks: asks.slice(0, levels) })),
    );
    expect(upstream.subscribed()).toEqual([stream]);
  });

  test("of many topics is sent at one moment, by one timer for each speed", async () => {
    const { heard, source, say, time, streaming } = await createFixture();
    time.advance(400);
    const other = { ...topic, pair: "ETHUSDT" };
    const timers = time.pending();
    source.follow(other);
    source.follow({ ...topic, levels: 5 });
    expect(time.pending()).toBe(timers);
    await streaming("ethusdt@depth20");
    await say("ethusdt@depth20", book(5));
    await say(stream, book(1));
    time.advance(1_000);
    expect(heard.messages()).toHaveLength(3);
  });

  test("is made into a message once, however often it is sent", async () => {
    const { heard, say, time } = await createFixture();
    await say(stream, book(1));
    time.advance(2_000);
    const [first, second] = heard.messages();
    expect(first).toBeDefined();
    expect(second).toBe(first);
  });

  test("never goes back: a stale snapshot is dropped", async () => {
    const { ids, say, time } = await createFixture();
    for (const id of [5, 4]) await say(stream, book(id));
    time.advance(1_000);
    await say(stream, book(6));
    await say(stream, book(5));
    time.advance(1_000);
    expect(ids()).toEqual([5, 6]);
  });

  test("that continues after the connection was down, and does not go back then either", async () => {
    const { ids, heard, say, time, cut, streaming } = await createFixture();
    await say(stream, book(5));
    time.advance(1_000);
    await cut(stream);
    await streaming(stream);
    await say(stream, book(3));
    time.advance(1_000);
    await say(stream, book(8));
    time.advance(1_000);
    expect(ids().filter((id, place, all) => id !== all[place - 1])).toEqual([5, 8]);
    expect(heard.told.every(({ kind }) => kind === "sent")).toBe(true);
  });

  test("is not sent crossed, unsorted or malformed, which the log says once", async () => {
    const { ids, say, time, logged } = await createFixture();
    await say(stream, book(1));
    const { bids, asks } = book(2);
    const bad: unknown[] = [
      null,
      "book",
      { bids, asks },
      { ...book(2), lastUpdateId: "2" },
      { ...book(2), lastUpdateId: 2.5 },
      { ...book(2), lastUpdateId: -1 },
      { lastUpdateId: 2, bids },
      { lastUpdateId: 2, bids: asks, asks: bids },
      book(2, { bids: side(101, -1) }),
      book(2, { bids: side(100, -1), asks: side(100, 1) }),
      book(2, { bids: bids.toReversed() }),
      book(2, {
        asks: [
          ["101", "1"],
          ["101.0", "2"],
        ],
      }),
      book(2, {
        bids: [
          ["99", "1"],
          ["99.5", "1"],
        ],
      }),
      book(2, { bids: [["1e2", "1"]] }),
      book(2, { bids: [["99", "-1"]] }),
      book(2, { bids: [["99"] as unknown as Level] }),
      book(2, { bids: [[99, 1] as unknown as Level] }),
    ];
    for (const each of bad) await say(stream, each);
    time.advance(1_000);
    // The tenth digit does not sort as text does.
    await say(
      stream,
      book(3, {
        bids: [
          ["99.9", "1"],
          ["9.95", "1"],
        ],
        asks: [
          ["100", "1"],
          ["1000", "1"],
        ],
      }),
    );
    time.advance(1_000);
    expect(ids()).toEqual([1, 3]);
    expect(logged.filter((line) => line.includes("makes no sense"))).toHaveLength(1);
  });

  test("may have an empty side", async () => {
    const { ids, say, time } = await createFixture();
    await say(stream, book(1, { bids: [], asks: [] }));
    time.advance(1_000);
    expect(ids()).toEqual([1]);
  });
});

describe("five seconds without news", () => {
  test("are an outage: reported once to every topic, and silence until there is news", async () => {
    const of = [topic, { ...topic, levels: 5 as const }];
    const { heard, ids, say, time, pass } = await createFixture({ of });
    await say(stream, book(1));
    for (const outage of [1, 2]) {
      heard.told.length = 0;
      time.advance(outageMs - 1_000);
      expect(ids()).toHaveLength(4);
      time.advance(1_000);
      expect(heard.told.slice(8)).toEqual(of.map((each) => ({ kind: "unavailable", topic: each })));
      await pass(20_000);
      expect(heard.told).toHaveLength(10);
      await say(stream, book(1 + outage));
      time.advance(1_000);
      expect(ids().at(-1)).toBe(1 + outage);
      await say(stream, book(1 + outage));
    }
  });

  test("are five after the last that could be used: a book that is always crossed is out", async () => {
    const { heard, ids, say, time } = await createFixture({ of: [topic] });
    await say(stream, book(1));
    for (let second = 2; second <= 7; second += 1) {
      time.advance(1_000);
      await say(stream, book(second, { bids: side(200, -1) }));
    }
    expect(ids()).toEqual([1, 1, 1, 1]);
    expect(heard.count("unavailable")).toBe(1);
    expect(heard.count("broken")).toBe(0);
  });

  test("are reported to a topic that is followed while its book is out", async () => {
    const { heard, source, pass } = await createFixture();
    await pass(outageMs + 1_000);
    const other = { ...topic, levels: 10 as const };
    source.follow(other);
    await pass(1_000);
    expect(heard.told).toEqual([
      { kind: "unavailable", topic },
      { kind: "unavailable", topic: other },
    ]);
  });

  test("do not pass in the silence of an upstream that repeats its book", async () => {
    const { heard, ids, say, time } = await createFixture();
    for (let second = 0; second < 20; second += 1) {
      await say(stream, book(1));
      time.advance(1_000);
    }
    expect(ids()).toEqual(Array.from({ length: 20 }, () => 1));
    expect(heard.count("unavailable")).toBe(0);
  });
});

describe("an upstream that begins again with lower ids", () => {
  test("is out after five seconds, then its topics are broken and silent until followed again", async () => {
    const { heard, ids, say, source, releases, time } = await createFixture();
    await say(stream, book(100));
    time.advance(1_000);
    for (let id = 1; id <= 4; id += 1) {
      await say(stream, book(id));
      time.advance(1_000);
    }
    expect(ids()).toEqual([100, 100, 100, 100]);
    expect(heard.told.slice(4)).toEqual([{ kind: "unavailable", topic }]);
    await say(stream, book(5));
    expect(heard.told.slice(5)).toEqual([{ kind: "broken", topic }]);
    await say(stream, book(6));
    time.advance(2_000);
    expect(heard.told).toHaveLength(6);
    releases[0]?.();
    source.follow(topic);
    await say(stream, book(7));
    time.advance(1_000);
    expect(ids().at(-1)).toBe(7);
  });

  test("is accepted by every later follower, also if another topic of the pair is not released yet", async () => {
    const { heard, say, source, pass, time } = await createFixture();
    await say(stream, book(100));
    await pass(6_000);
    await say(stream, book(5));
    const other = { ...topic, levels: 5 as const };
    source.follow(other);
    time.advance(1_000);
    expect(heard.told.at(-1)).toMatchObject({ topic: other, message: { lastUpdateId: 5 } });
    expect(heard.count("broken")).toBe(1);
  });

  test("is not what a single stale snapshot is that comes right after the end of an outage", async () => {
    const { heard, ids, say, pass, time } = await createFixture();
    await say(stream, book(100));
    await pass(6_000);
    await say(stream, book(101));
    await say(stream, book(99));
    time.advance(1_000);
    expect(ids().at(-1)).toBe(101);
    expect(heard.count("broken")).toBe(0);
  });
});

describe("a topic", () => {
  test("that is released is not sent any more, and leaves no timer behind", async () => {
    const { heard, say, releases, source, pass, time } = await createFixture();
    const timers = time.pending();
    await say(stream, book(1));
    releases[0]?.();
    expect(time.pending()).toBe(timers - 1);
    await say(stream, book(2));
    await pass(10_000);
    expect(heard.told).toEqual([]);
    source.follow(topic);
    time.advance(1_000);
    expect(heard.told).toEqual([]);
    await say(stream, book(1));
    time.advance(1_000);
    expect(heard.messages().map(({ lastUpdateId }) => lastUpdateId)).toEqual([1]);
  });
});

describe("an upstream that sends nothing while nothing changes", () => {
  async function quietFixture() {
    const fixture = await createFixture({ asksAboutQuietSymbols: true });
    fixture.upstream.reply("/api/v3/depth", () => ({ body: book(4) }));
    return fixture;
  }

  test("is asked about a quiet book, and its answer is news", async () => {
    const { heard, ids, say, asked, pass } = await quietFixture();
    await say(stream, book(3));
    for (let ms = 0; ms < 6 * quietAfterMs; ms += 1_000) await pass(1_000);
    expect(heard.count("unavailable")).toBe(0);
    expect(new Set(ids())).toEqual(new Set([3, 4]));
    expect(asked()[0]).toBe("/api/v3/depth?symbol=BTCUSDT&limit=20");
  });

  test("is not asked while its stream is away, nor taken for broken by an answer that lags", async () => {
    const { heard, say, asked, cut, time, upstream, pass, streaming } = await quietFixture();
    await say(stream, book(300));
    upstream.setAccepting(false);
    await cut(stream);
    time.advance(10_000);
    expect(asked()).toEqual([]);
    expect(heard.count("unavailable")).toBe(1);
    upstream.setAccepting(true);
    await streaming(stream);
    for (let second = 0; second < 5; second += 1) await pass(1_000);
    expect(asked().length).toBeGreaterThan(0);
    expect(heard.count("broken")).toBe(0);
  });
});
