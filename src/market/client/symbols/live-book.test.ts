// Effective books: what is displayed, and that a book is known only while it is the exchange's own, over
// random changes, losses, reconnections and slow snapshots.
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../../domain/account.ts";
import type { BookView } from "../../../domain/market.ts";
import type { BookSide } from "../../../domain/receipt.ts";
import { decimal, formatBriefly, type Price } from "../../../money/decimal.ts";
import { bundledBrackets } from "../../brackets/bundled.ts";
import { changeAcross } from "../../exchange/book-change.ts";
import { depthUpdatePayload } from "../../exchange/payloads.ts";
import type { Book, Level } from "../../exchange/source.ts";
import type { BookEvent } from "../../feed.ts";
import type { UpstreamAnswer } from "../rest/rest.ts";
import { upstreamWeightOf } from "../rest/upstream-weight.ts";
import { futuresProtocol } from "../streams/futures-protocol.ts";
import { spotProtocol } from "../streams/spot-protocol.ts";
import { createAnnouncer } from "../streams/subscriptions.ts";
import { createFixture as createFeed } from "../testing/feed.ts";
import { sendTicker, sendTrade } from "../testing/messages.ts";
import { until } from "../testing/upstream.ts";
import { newerTradesMax } from "./effective-book.ts";
import { createLiveBooks, snapshotsAtOnceMax, unusedBooksMax } from "./live-book.ts";

const RUNS = 200;
const silent = { info() {}, warn() {}, error() {} };
const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Live books on streams and snapshots in the test's own hands. */
function createFixture(type: StrategyType = "SPOT", isMetered = false) {
  const protocol = type === "SPOT" ? spotProtocol : futuresProtocol(bundledBrackets);
  const time = createManualTime(1_000_000);
  const handlers = new Map<string, (data: unknown) => void>();
  const asked: ((answer: UpstreamAnswer) => void)[] = [];
  const requests: { readonly at: number; readonly symbol: string; readonly weight: number }[] = [];
  let isConfirmed = true;
  let sequence = 0;
  const books = createLiveBooks({
    protocol,
    streams: {
      subscribe(stream, listener) {
        handlers.set(stream, listener);
        return () => handlers.delete(stream);
      },
      areConfirmed: () => isConfirmed,
    },
    rest: {
      ask(path, search) {
        const symbol = new URLSearchParams(search).get("symbol") ?? "";
        requests.push({ at: time.now(), symbol, weight: upstreamWeightOf(path, search) });
        return new Promise((resolve) => asked.push(resolve));
      },
      pausedUntil: () => 0,
      close() {},
    },
    isMetered,
    announcer: createAnnouncer(silent, time),
    clock: time,
    wallClock: time,
    timers: time,
    exchangeClock: null,
    nextSequence() {
      sequence += 1;
      return sequence;
    },
    isPlausible: () => true,
    log: silent,
  });
  closing.push(books.close);
  const events: BookEvent[] = [];
  books.follow("BTCUSDT", (event) => events.push(event));
  return {
    time,
    books,
    events,
    asked,
    /** Every request for a snapshot so far. */
    requests,
    /** The symbols of the streams that are subscribed. */
    symbols: () => new Set([...handlers.keys()].map((stream) => stream.replace(/@.*/, "").toUpperCase())),
    send: (stream: string, data: unknown) => handlers.get(`btcusdt@${stream}`)?.(data),
    /** Answers the oldest request for a snapshot. */
    async answer({ updateId, bids, asks }: Pick<Book, "updateId" | "bids" | "asks">): Promise<void> {
      const text = JSON.stringify({ lastUpdateId: updateId, bids, asks });
      asked.shift()?.({ unavailable: false, status: 200, text });
      await turn();
    },
    setConfirmed(value: boolean) {
      isConfirmed = value;
    },
    view: () => books.view("BTCUSDT"),
  };
}

async function turn(): Promise<void> {
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
}

const FIRST: Pick<Book, "updateId" | "bids" | "asks"> = {
  updateId: 10,
  bids: [
    ["99", "1"],
    ["98", "2"],
  ],
  asks: [
    ["100", "3"],
    ["101", "4"],
  ],
};

async function known(type: StrategyType = "SPOT") {
  const all = createFixture(type);
  await turn();
  await all.answer(FIRST);
  return all;
}

function shown(book: BookView | null, side: BookSide): string {
  if (book === null) return "unknown";
  return [...book.displayed(side)]
    .map(({ price, displayed }) => `${formatBriefly(price)}x${formatBriefly(displayed)}`)
    .join(" ");
}

const price = (text: string) => decimal<Price>(text);
const trade = (a: number, p: string, q: string, T: number, m: boolean) => ({ e: "aggTrade", a, p, q, T, m });
const ticker = (u: number, b: string, B: string, a: string, A: string) => ({ u, b, B, a, A });

describe("what is displayed", () => {
  test("a ticker that is newer than the book replaces what is better than its best, and the best's quantity", async () => {
    const { send, view } = await known();
    send("bookTicker", ticker(11, "98", "1.5", "100.5", "7"));
    expect([shown(view(), "BID"), shown(view(), "ASK")]).toEqual(["98x1.5", "100.5x7 101x4"]);
    expect(view()?.tickerUpdateId).toBe(11);
    expect(view()?.displayedAt("BID", price("99"))).toBe(0n);
    expect(view()?.displayedAt("ASK", price("100.5"))).toBe(decimal("7"));
    send("depth@100ms", { U: 11, u: 12, E: 1_000_100, b: [["99", "0"]], a: [] });
    expect([shown(view(), "BID"), shown(view(), "ASK")]).toEqual(["98x2", "100x3 101x4"]);
    expect(view()?.tickerUpdateId).toBe(null);
    send("bookTicker", ticker(11, "97", "1", "103", "1"));
    expect(shown(view(), "BID")).toBe("98x2");
  });

  test("a trade that is newer than the book is subtracted until a diff contains it, and not from the ticker's best", async () => {
    const { send, view } = await known();
    send("aggTrade", trade(1, "100", "1", 1_000_050, false));
    send("aggTrade", trade(2, "99", "5", 1_000_060, true));
    send("aggTrade", trade(2, "99", "5", 1_000_060, true));
    send("aggTrade", trade(3, "98", "1", 999_000, true));
    expect([shown(view(), "BID"), shown(view(), "ASK")]).toEqual(["99x0 98x2", "100x2 101x4"]);
    send("bookTicker", ticker(11, "98", "2", "100", "2.5"));
    expect([shown(view(), "BID"), shown(view(), "ASK")]).toEqual(["98x2", "100x2.5 101x4"]);
    send("depth@100ms", { U: 11, u: 12, E: 1_000_055, b: [], a: [["100", "2"]] });
    expect([shown(view(), "BID"), shown(view(), "ASK")]).toEqual(["99x0 98x2", "100x2 101x4"]);
  });

  test("trades without diffs are kept up to a bound, and the next snapshot subtracts those that are newer", async () => {
    const { send, view, answer, time, books } = createFixture();
    await turn();
    const asks: Level[] = [["100", "1000000"]];
    const startAt = time.now();
    await answer({ ...FIRST, asks });
    send("depth@100ms", { U: 12, u: 13, E: startAt, b: [], a: [] });
    expect(view()).toBe(null);
    await turn();
    const count = 10 * newerTradesMax;
    for (let id = 1; id <= count; id += 1) send("aggTrade", trade(id, "100", "1", startAt + id, false));
    // Its time is that of its request: all trades that are kept are newer.
    await answer({ ...FIRST, updateId: 20, asks });
    const kept = 1_000_000 - Number(shown(view(), "ASK").slice("100x".length));
    expect(kept).toBeGreaterThanOrEqual(newerTradesMax / 2);
    expect(kept).toBeLessThanOrEqual(newerTradesMax);

    books.reconnected({ carries: () => true });
    time.advance(count - 3);
    await turn();
    await answer({ ...FIRST, updateId: 30, asks });
    send("aggTrade", trade(count + 1, "100", "2", startAt + count + 1, false));
    expect(shown(view(), "ASK")).toBe("100x999998");
    // So many without a diff: the diffs have stopped.
    for (let id = 2; id <= newerTradesMax + 1; id += 1)
      send("aggTrade", trade(count + id, "100", "1", startAt + count + id, false));
    expect(view()).toBe(null);
    books.sweep(time.now());
    await turn();
    await answer({ ...FIRST, updateId: 40, asks });
    expect(view()).not.toBe(null);
  });

  test("beyond the last level of a full snapshot nothing is known, and of a short one nothing is displayed", async () => {
    const full = createFixture();
    await turn();
    const bids = Array.from({ length: 1_000 }, (_, index): Level => [`${2_000 - index}`, "1"]);
    await full.answer({ ...FIRST, bids, asks: [["2001", "1"]] });
    expect(full.view()?.displayedAt("BID", price("1000.5"))).toBe(null);
    expect(full.view()?.displayedAt("BID", price("1500.5"))).toBe(0n);
    expect(full.view()?.displayedAt("ASK", price("3000"))).toBe(0n);
    full.send("depth@100ms", { U: 11, u: 11, E: 1_000_100, b: [["900", "2"]], a: [] });
    expect(full.view()?.displayedAt("BID", price("900"))).toBe(decimal("2"));
  });

  test("a repeated quantity is no change, also if a ticker had it first", async () => {
    const { send, events } = await known();
    events.length = 0;
    send("bookTicker", ticker(11, "99", "1", "99.5", "6"));
    send("bookTicker", ticker(12, "99", "1", "99.5", "6"));
    send("depth@100ms", {
      U: 11,
      u: 12,
      E: 1_000_100,
      b: [["99", "1"]],
      a: [
        ["99.5", "6"],
        ["102", "1"],
      ],
    });
    const words = events.map((event) =>
      "levels" in event
        ? [event.type, ...event.levels.map((each) => [formatBriefly(each.price), each.isDisplayed])]
        : [event.type],
    );
    expect(words).toEqual([
      ["TICKER", ["99.5", true]],
      ["DIFF", ["99.5", false], ["102", true]],
    ]);
  });
});

describe("a false ticker", () => {
  test("whose prices are far from what is traded is not displayed, and the true one after it is", async () => {
    const fixture = await createFeed(["BTCUSDT"]);
    const { feed, upstream, time } = fixture;
    const [bids, asks] = [
      [["59999", "1"]],
      [
        ["60000", "3"],
        ["60001", "4"],
      ],
    ];
    upstream.reply("/api/v3/depth", () => ({ body: { lastUpdateId: 10, bids, asks } }));
    fixture.tickers.set("BTCUSDT", ["59999", "60000"]);
    await feed.start();
    const events: BookEvent[] = [];
    // The book receives each ticker before the quote does.
    feed.followBook("BTCUSDT", (event) => events.push(event));
    await feed.prepare("BTCUSDT");
    const streams = ["bookTicker", "depth20", "trade", "avgPrice", "depth@100ms", "aggTrade"];
    await until(() => streams.every((kind) => feed.isStreaming(`btcusdt@${kind}`)));
    sendTrade(fixture, 1, "60000");
    await until(() => feed.lastPrice("BTCUSDT") !== null);
    time.advance(20);
    await until(() => events.some(({ type }) => type === "KNOWN"));

    sendTicker(fixture, 1e15, "0.009", "0.01");
    sendTicker(fixture, 12, "59999.5", "60000.5");
    await until(() => feed.quote("BTCUSDT")?.ask === price("60000.5"));
    expect(shown(feed.book("BTCUSDT"), "ASK")).toBe("60000.5x1 60001x4");
    expect(feed.book("BTCUSDT")?.tickerUpdateId).toBe(12);
    const changed = events.flatMap((event) => ("levels" in event ? event.levels : []));
    expect(changed.map((level) => formatBriefly(level.price))).toEqual(["59999.5", "60000.5"]);
    // Nor are the diffs expected to reach its update id.
    upstream.send("btcusdt@depth@100ms", { U: 11, u: 12, E: time.now(), b: [["59999.5", "1"]], a: [] });
    await until(() => feed.book("BTCUSDT")?.lastUpdateId === 12);
    time.advance(4_000);
    sendTicker(fixture, 13, "59999.5", "60000.6");
    await until(() => feed.quote("BTCUSDT")?.ask === price("60000.6"));
    time.advance(1_000);
    expect(feed.book("BTCUSDT")).not.toBe(null);
  });

  test("whose update id alone is false is displayed until the next snapshot at most", async () => {
    const { send, view, time, books, answer } = await known();
    send("bookTicker", ticker(1e15, "99", "1", "99.5", "6"));
    send("bookTicker", ticker(11, "99", "1", "100", "2"));
    expect(shown(view(), "ASK")).toBe("99.5x6 100x3 101x4");
    time.advance(5_000);
    expect(view()).toBe(null);
    books.sweep(time.now());
    await turn();
    await answer({ ...FIRST, updateId: 12 });
    expect(shown(view(), "ASK")).toBe("100x3 101x4");
    send("bookTicker", ticker(13, "99", "1", "100", "2"));
    expect(shown(view(), "ASK")).toBe("100x2 101x4");
  });
});

describe("whether a book is known", () => {
  test("not after a hole, not after a crossed diff, not without confirmed streams, and again with a snapshot", async () => {
    const { send, view, answer, asked, setConfirmed, time, events } = await known();
    send("depth@100ms", { U: 12, u: 13, E: 1_000_100, b: [], a: [] });
    expect(view()).toBe(null);
    await turn();
    expect(asked).toHaveLength(1);
    send("depth@100ms", { U: 14, u: 15, E: 1_000_200, b: [["97", "1"]], a: [] });
    // Older than the diffs that wait for it: requested again.
    await answer(FIRST);
    expect(view()).toBe(null);
    time.advance(200);
    await turn();
    await answer({ ...FIRST, updateId: 14 });
    expect(shown(view(), "BID")).toBe("99x1 98x2 97x1");
    expect(events.at(-1)?.type).toBe("KNOWN");
    send("depth@100ms", { U: 16, u: 16, E: 1_000_300, b: [["100", "1"]], a: [] });
    expect(view()).toBe(null);
    await turn();
    await answer({ ...FIRST, updateId: 20 });
    expect(view()).not.toBe(null);
    setConfirmed(false);
    expect(view()).toBe(null);
  });

  test("again with a deeper snapshot, which may be ahead of the diffs", async () => {
    const { send, view, answer, asked, time, books, events } = createFixture();
    const bids = Array.from({ length: 1_000 }, (_, index): Level => [String(5_000 - index), "1"]);
    await turn();
    await answer({ ...FIRST, bids, asks: [["5001", "3"]] });
    const gone = bids.slice(0, 900).map(([price]): Level => [price, "0"]);
    send("depth@100ms", { U: 11, u: 11, E: 1_000_100, b: gone, a: [] });
    time.advance(60_000);
    books.sweep(time.now());
    await turn();
    expect(asked).toHaveLength(1);
    await answer({ updateId: 12, bids: bids.slice(900), asks: [["4500", "2"]] });
    expect(events.map(({ type }) => type)).toEqual(["KNOWN", "DIFF", "KNOWN"]);
    expect(shown(view(), "ASK")).toBe("4500x2");
    // The snapshot has it already.
    send("depth@100ms", {
      U: 12,
      u: 12,
      E: 1_000_200,
      b: [],
      a: [
        ["4500", "2"],
        ["5001", "0"],
      ],
    });
    expect(events).toHaveLength(3);
  });

  test("and its trades count again after a reconnection to a market whose ids are lower", async () => {
    const { send, answer, books, events } = await known();
    send("aggTrade", trade(500, "99", "1", 1_000_010, true));
    books.reconnected({ carries: () => true });
    await turn();
    await answer(FIRST);
    send("aggTrade", trade(3, "98", "1", 1_000_020, true));
    expect(books.lastPrice("BTCUSDT")).toBe(price("98"));
    expect(events.at(-1)).toMatchObject({ type: "TRADE", trade: { aggregateId: 3 } });
  });

  test("not when its diffs stay away while the ticker goes on", async () => {
    const { send, view, time, books, asked } = await known();
    for (let second = 0; second < 5; second += 1) {
      send("bookTicker", ticker(11 + second, "99", "1", "100", "3"));
      expect(view()).not.toBe(null);
      time.advance(1_000);
    }
    expect(view()).toBe(null);
    books.sweep(time.now());
    await turn();
    expect(asked).toHaveLength(1);
  });

  test("an order waits for the first snapshot, at most a second", async () => {
    const { books, answer, time } = createFixture();
    const first = books.prepare("BTCUSDT");
    await turn();
    await answer(FIRST);
    await first;
    expect(books.prepare("BTCUSDT")).toBe(undefined);
    const other = books.prepare("ETHUSDT");
    await turn();
    time.advance(1_000);
    await other;
    expect(books.view("ETHUSDT")).toBe(null);
  });

  test("a triggered stop waits for the aggregate of the last trade that was streamed, at most 250 ms", async () => {
    const fixture = await createFeed(["BTCUSDT"]);
    const { feed, upstream, time } = fixture;
    const [bids, asks] = [[["99", "1"]], [["100", "3"]]];
    upstream.reply("/api/v3/depth", () => ({ body: { lastUpdateId: 10, bids, asks } }));
    fixture.tickers.set("BTCUSDT", ["99", "100"]);
    await feed.start();
    void feed.prepareBook("BTCUSDT");
    await feed.prepare("BTCUSDT");
    const streams = ["bookTicker", "depth20", "trade", "avgPrice", "depth@100ms", "aggTrade"];
    await until(() => streams.every((kind) => feed.isStreaming(`btcusdt@${kind}`)));
    time.advance(20);
    const trades: string[] = [];
    feed.watch("BTCUSDT", {
      quote() {},
      trade: (at) => trades.push(formatBriefly(at)),
      markPrice() {},
      gap() {},
    });
    sendTrade(fixture, 6, "100");
    sendTrade(fixture, 7, "101");
    await until(() => trades.includes("101") && feed.book("BTCUSDT") !== null);
    expect(feed.prepareBook("BTCUSDT")).toBe(undefined);
    let isPrepared = false;
    const first = feed.prepareBook("BTCUSDT", { withTrades: true })?.then(() => {
      isPrepared = true;
    });
    upstream.send("btcusdt@aggTrade", { ...trade(1, "100", "1", time.now(), false), f: 5, l: 6 });
    await until(() => feed.book("BTCUSDT")?.lastTradeId === 1);
    await turn();
    expect(isPrepared).toBe(false);
    upstream.send("btcusdt@aggTrade", { ...trade(2, "101", "1", time.now(), false), f: 7, l: 7 });
    await first;
    expect(feed.book("BTCUSDT")?.lastTradeId).toBe(2);
    expect(feed.prepareBook("BTCUSDT", { withTrades: true })).toBe(undefined);

    sendTrade(fixture, 8, "102");
    await until(() => trades.includes("102"));
    const second = feed.prepareBook("BTCUSDT", { withTrades: true });
    expect(second).toBeInstanceOf(Promise);
    time.advance(250);
    await second;
  });

  test("a book that nobody uses is followed for five minutes", async () => {
    const { books, asked, answer, time } = createFixture();
    void books.prepare("ETHUSDT");
    await turn();
    expect(asked).toHaveLength(2);
    await answer(FIRST);
    await answer(FIRST);
    expect(books.view("ETHUSDT")).not.toBe(null);
    time.advance(5 * 60_000);
    books.sweep(time.now());
    expect(books.view("ETHUSDT")).toBe(null);
  });

  test("of the books that nobody listens to the longest unused is given up beyond the bound", () => {
    const { books, symbols, time } = createFixture();
    const use = (symbol: string) => {
      time.advance(1);
      void books.prepare(symbol);
    };
    const unused = Array.from({ length: unusedBooksMax }, (_, index) => `UNUSED${index}USDT`);
    for (const symbol of unused) use(symbol);
    use("UNUSED0USDT");
    expect(symbols()).toEqual(new Set(["BTCUSDT", ...unused]));

    use("MOREUSDT");
    expect(symbols()).not.toContain("UNUSED1USDT");
    // The book of a listener and all others that were used later.
    expect(symbols()).toEqual(
      new Set(["BTCUSDT", "MOREUSDT", ...unused.filter((symbol) => symbol !== "UNUSED1USDT")]),
    );

    time.advance(1);
    const cancel = books.follow("LISTENEDUSDT", () => {});
    expect(symbols()).toContain("UNUSED2USDT");
    time.advance(1);
    cancel();
    books.sweep(time.now());
    expect(symbols()).not.toContain("UNUSED2USDT");
    expect(symbols()).toContain("LISTENEDUSDT");
    expect(symbols().size).toBe(unusedBooksMax + 1);
  });
});

describe("snapshots of an upstream that counts requests", () => {
  const symbolsOf = (count: number) => Array.from({ length: count }, (_, index) => `S${index}USDT`);
  type Metered = ReturnType<typeof createFixture>;

  /** Answers every request, or none, while time passes. */
  async function pass({ time, asked, answer }: Metered, ms: number, book: typeof FIRST | null) {
    for (let left = ms; left > 0; left -= 100) {
      await turn();
      while (book !== null && asked.length > 0) await answer(book);
      time.advance(100);
    }
  }

  const busiestMinuteOf = ({ requests }: Metered) =>
    Math.max(
      ...requests.map(({ at: from }) =>
        requests.reduce((sum, { at, weight }) => (at >= from && at < from + 60_000 ? sum + weight : sum), 0),
      ),
    );

  test.each([
    ["SPOT", 1_000 + snapshotsAtOnceMax * 50],
    ["FUTURES", 200 + snapshotsAtOnceMax * 20],
  ] as const)("%s: those of all books after a lost connection stay within a share", async (type, share) => {
    const fixture = createFixture(type, true);
    const { books, requests } = fixture;
    const symbols = symbolsOf(119);
    for (const symbol of symbols) books.follow(symbol, () => {});
    const allMs = 13 * 60_000;
    await pass(fixture, allMs, FIRST);
    expect([...symbols, "BTCUSDT"].filter((symbol) => books.view(symbol) === null)).toEqual([]);
    requests.length = 0;
    books.lost({ carries: () => true });
    books.reconnected({ carries: () => true });
    await pass(fixture, allMs, FIRST);
    expect([...symbols, "BTCUSDT"].filter((symbol) => books.view(symbol) === null)).toEqual([]);
    expect(requests).toHaveLength(120);
    expect(busiestMinuteOf(fixture)).toBe(share);
  });

  test("of a book that an order waits for is requested next, and then of those with a listener", async () => {
    const fixture = createFixture("SPOT", true);
    const { books, requests } = fixture;
    for (const symbol of symbolsOf(20)) void books.prepare(symbol);
    await pass(fixture, 3_500, FIRST);
    books.follow("OPENUSDT", () => {});
    await pass(fixture, 2_000, FIRST);
    const before = requests.length;
    void books.prepare("S19USDT");
    await pass(fixture, 6_000, FIRST);
    expect(requests.slice(before).map(({ symbol }) => symbol)).toEqual(["S19USDT", "OPENUSDT"]);
  });

  test("of books that were given up are not requested", async () => {
    const fixture = createFixture("SPOT", true);
    const { books, requests, time } = fixture;
    for (const symbol of symbolsOf(3 * unusedBooksMax)) void books.prepare(symbol);
    await pass(fixture, 6 * 60_000, FIRST);
    const givenUp = symbolsOf(2 * unusedBooksMax);
    expect(requests.length).toBeLessThan(unusedBooksMax + 10);
    expect(requests.filter(({ symbol }) => givenUp.includes(symbol)).length).toBeLessThan(10);
    expect(time.pending()).toBe(0);
  });

  test("that are older than the diffs are requested again after pauses that grow", async () => {
    const fixture = createFixture();
    const { send, requests, books } = fixture;
    await turn();
    send("depth@100ms", { U: 100, u: 100, E: 1_000_000, b: [], a: [] });
    await pass(fixture, 60_000, FIRST);
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.length).toBeLessThan(16);
    await pass(fixture, 7_000, { ...FIRST, updateId: 99 });
    expect(books.view("BTCUSDT")?.lastUpdateId).toBe(100);
  });

  test("of one that does not count them wait for nothing", async () => {
    const { books, requests } = createFixture();
    for (const symbol of symbolsOf(119)) books.follow(symbol, () => {});
    await turn();
    expect(requests).toHaveLength(120);
  });
});

type Happening =
  | { readonly type: "CHANGE"; readonly bids: readonly Level[]; readonly asks: readonly Level[] }
  | { readonly type: "LOSE" | "ANSWER" | "STALE_ANSWER" | "RECONNECT" };

const quantity = fc.integer({ min: 0, max: 5 }).map(String);
const changeOf = (from: number, to: number) =>
  fc.array(fc.tuple(fc.integer({ min: from, max: to }).map(String), quantity), {
    maxLength: 4,
  }) as fc.Arbitrary<Level[]>;
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("CHANGE" as const),
      bids: changeOf(80, 99),
      asks: changeOf(100, 120),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("LOSE", "ANSWER", "STALE_ANSWER", "RECONNECT")
      .map((type) => ({ type }) as Happening),
  },
);

function withLevels(levels: readonly Level[], changed: readonly Level[], sign: 1 | -1): readonly Level[] {
  const all = new Map(levels);
  for (const [at, amount] of changed) {
    if (amount === "0") all.delete(at);
    else all.set(at, amount);
  }
  return [...all].sort((one, other) => sign * (Number(one[0]) - Number(other[0])));
}

const text = (levels: readonly Level[]) => levels.map(([at, amount]) => `${at}x${amount}`).join(" ");

test.each(["SPOT", "FUTURES"] as const)(
  "%s: a book that is known is the exchange's own at its update id, whatever was lost",
  async (type) => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (happenings) => {
        const { send, answer, view, asked, time, books } = createFixture(type);
        await turn();
        const states: Book[] = [{ ...FIRST, at: time.now() }];
        const present = () => states.at(-1) as Book;
        let losing = 0;
        const check = () => {
          const book = view();
          if (book === null) return;
          const truth = states.find(({ updateId }) => updateId === book.lastUpdateId);
          expect([shown(book, "BID"), shown(book, "ASK")]).toEqual([
            text(truth?.bids ?? []),
            text(truth?.asks ?? []),
          ]);
        };
        const change = (bids: readonly Level[], asks: readonly Level[]) => {
          const before = present();
          const after = {
            updateId: before.updateId + 2,
            at: time.now(),
            bids: withLevels(before.bids, bids, -1),
            asks: withLevels(before.asks, asks, 1),
          };
          states.push(after);
          const changed = changeAcross([before, after]);
          if (changed === undefined) return;
          if (losing > 0) losing -= 1;
          else send("depth@100ms", JSON.parse(depthUpdatePayload(type, "BTCUSDT", changed, time.now())));
        };
        for (const each of happenings) {
          time.advance(100);
          await turn();
          if (each.type === "CHANGE") change(each.bids, each.asks);
          else if (each.type === "LOSE") losing = 1;
          else if (each.type === "ANSWER") await answer(present());
          else if (each.type === "STALE_ANSWER") await answer(states.at(-4) ?? present());
          else books.reconnected({ carries: () => true });
          await turn();
          check();
        }
        // Once nothing is lost any more, the book is known again.
        losing = 0;
        change([["90", "6"]], []);
        for (let second = 0; second < 5; second += 1) {
          time.advance(1_000);
          await turn();
          if (asked.length > 0) await answer(present());
          await turn();
        }
        change([["90", "7"]], []);
        check();
        expect(view()?.lastUpdateId).toBe(present().updateId);
      }),
      { numRuns: RUNS },
    );
  },
);
