import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { StreamClient } from "../exchange/testing/stream-client.ts";
import { createTapeFutures } from "./futures.ts";
import { openTape, type Tape, type TapeOptions } from "./open.ts";
import { readRecording } from "./recording.ts";

const sharedDir = resolve(process.env.SHARED_DIR ?? "../shared");
const recordedFile = join(sharedDir, "data/tape/usdm-btcusdt-2024-08-08T2354.ndjson.gz");
const isRecorded = existsSync(recordedFile);
const why = isRecorded ? "" : " (skipped: the recorded data is not beside the project)";

const symbol = "BTCUSDT";
const minuteMs = 60_000;
const hourMs = 3_600_000;
/** 16:00 is when funding is due. */
const due = Date.UTC(2025, 4, 25, 16);

const folder = mkdtempSync(join(tmpdir(), "tape-futures-"));
const opened: Tape[] = [];
afterEach(async () => {
  for (const tape of opened.splice(0)) await tape.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Lines of a synthetic tape: its messages are received at their event time. */
const line = (at: number, message: object) => `${at}000000 ${JSON.stringify(message)}`;
const streamed = (at: number, channel: string, data: object) =>
  line(at, { stream: `btcusdt@${channel}`, data });
const mark = (at: number, price: string, more: object = {}) =>
  streamed(at, "markPrice@1s", {
    e: "markPriceUpdate",
    E: at,
    s: symbol,
    p: price,
    i: "106900.5",
    P: "106901",
    r: "-0.00003651",
    T: due,
    ...more,
  });
const touch = (at: number, id: number, bid: string, ask: string) =>
  streamed(at, "bookTicker", {
    e: "bookTicker",
    u: id,
    s: symbol,
    b: bid,
    B: "1",
    a: ask,
    A: "2",
    T: at,
    E: at,
  });
const take = (at: number, id: number, price: string, quantity: string, count = 1) =>
  streamed(at, "aggTrade", {
    e: "aggTrade",
    E: at,
    s: symbol,
    a: id,
    p: price,
    q: quantity,
    f: id * 10,
    l: id * 10 + count - 1,
    T: at,
    m: false,
  });
const settled = (at: number, ...rows: (readonly [fundingTime: number, rate: string, mark: string])[]) =>
  line(
    at,
    rows.map(([fundingTime, fundingRate, markPrice]) => ({ symbol, fundingTime, fundingRate, markPrice })),
  );

function write(lines: readonly string[]): string {
  const file = join(folder, `${written++}.gz`);
  writeFileSync(file, gzipSync(`${lines.join("\n")}\n`));
  return file;
}
let written = 0;

async function open(lines: readonly string[], options: Partial<TapeOptions> = {}) {
  const tape = await openTape({ file: write(lines), manual: true, ...options });
  opened.push(tape);
  // biome-ignore lint/suspicious/noExplicitAny: the wire's own bodies.
  const get = async (path: string): Promise<any> => (await fetch(`${tape.futuresRestUrl}${path}`)).json();
  return { tape, get };
}

describe("a tape of futures", () => {
  test("publishes a mark price at the whole second after its arrival, once, and the last one of a second", async () => {
    const start = due - hourMs;
    const { tape } = await open([
      mark(start, "106928"),
      mark(start + 1_130, "106930"),
      mark(start + 1_900, "106931"),
      mark(start + 7_000, "106900.12345678"),
      mark(start + 20_000, "1"),
    ]);
    const client = await StreamClient.open(`${tape.futuresWsUrl}/market/stream?streams=btcusdt@markPrice@1s`);
    tape.advanceTo(start + 10_000);
    const heard = (await client.received()).map(({ data }) => [(data.E ?? 0) - start, data.p]);
    expect(heard).toEqual([
      [0, "106928"],
      [2_000, "106931"],
      [7_000, "106900.12345678"],
    ]);
    client.close();
  });

  test("publishes everything that a mark-price message contained", async () => {
    const start = due - hourMs;
    const { tape, get } = await open([
      touch(start - 1_000, 1, "1", "2"),
      mark(start, "106928"),
      mark(start + 99_000, "1"),
    ]);
    expect(await get(`/fapi/v1/premiumIndex?symbol=${symbol}`)).toMatchObject({
      markPrice: "0.00000000",
      nextFundingTime: 0,
    });
    const client = await StreamClient.open(`${tape.futuresWsUrl}/market/stream?streams=!markPrice@arr@1s`);
    tape.advanceTo(start + 5_000);
    expect(await get(`/fapi/v1/premiumIndex?symbol=${symbol}`)).toEqual({
      symbol,
      markPrice: "106928",
      indexPrice: "106900.5",
      estimatedSettlePrice: "106901",
      lastFundingRate: "-0.00003651",
      interestRate: "0.00010000",
      nextFundingTime: due,
      time: start,
    });
    const [message, ...others] = await client.received();
    expect(message?.data).toMatchObject([{ s: symbol, p: "106928", r: "-0.00003651", T: due }]);
    expect(others).toEqual([]);
    client.close();
  });

  test("candles of marks are those of its messages, and there are none without messages", async () => {
    const start = due - hourMs;
    const { tape, get } = await open([
      mark(start, "100"),
      mark(start + 20_000, "102.5"),
      mark(start + 40_000, "99"),
      // It belongs to the next minute, in which it is published.
      mark(start + minuteMs - 10, "101"),
      mark(start + 3 * minuteMs, "9"),
      mark(start + 9 * minuteMs, "9"),
    ]);
    tape.advanceTo(start + 4 * minuteMs);
    const rows = await get(`/fapi/v1/markPriceKlines?symbol=${symbol}&interval=1m&startTime=${start}`);
    expect(rows.map((row: unknown[]) => [Number(row[0]) - start, ...row.slice(1, 5), row[8]])).toEqual([
      [0, "100", "102.5", "99", "99", 3],
      [minuteMs, "101", "101", "101", "101", 1],
      [3 * minuteMs, "9", "9", "9", "9", 1],
    ]);
    const index = await get(`/fapi/v1/indexPriceKlines?pair=${symbol}&interval=1m&startTime=${start}`);
    expect(index[0].slice(1, 5)).toEqual(["106900.5", "106900.5", "106900.5", "106900.5"]);
    expect(await get(`/fapi/v1/premiumIndexKlines?symbol=${symbol}&interval=1m`)).toEqual([]);
  });

  test("settled funding is known from when it was received, each settlement once", async () => {
    const next = due + 8 * hourMs + 3;
    const { tape, get } = await open([
      mark(due - minuteMs, "106928"),
      settled(due + 5_000, [due, "0.00003651", "106928.5"]),
      settled(next + 5_000, [due, "0.9", "1"], [next, "-0.00007331", "108955.9"]),
      mark(next + minuteMs, "1"),
    ]);
    const rates = (query = "") => get(`/fapi/v1/fundingRate?symbol=${symbol}${query}`);
    tape.advanceTo(due + 4_999);
    expect(await rates()).toEqual([]);
    tape.advanceTo(due + 5_000);
    const first = { symbol, fundingTime: due, fundingRate: "0.00003651", markPrice: "106928.5" };
    const second = { symbol, fundingTime: next, fundingRate: "-0.00007331", markPrice: "108955.9" };
    expect(await rates()).toMatchObject([first]);
    tape.advanceTo(next + minuteMs);
    expect(await rates()).toMatchObject([first, second]);
    expect(await rates("&limit=1")).toMatchObject([second]);
    expect(await rates(`&startTime=${due}&limit=1`)).toMatchObject([first]);
    expect(await rates(`&startTime=${due + 1}`)).toMatchObject([second]);
    expect(await rates(`&startTime=${due}&endTime=${next - 1}`)).toMatchObject([first]);
    expect(await get("/fapi/v1/fundingInfo")).toMatchObject([{ symbol, fundingIntervalHours: 8 }]);
  });

  test("its trades may be aggregates, each of which counts for its number of trades", async () => {
    const start = due - hourMs;
    const taken = [take(start + 1_000, 5, "100.5", "2", 3), take(start + 2_000, 6, "101", "0.5")];
    const { tape, get } = await open([mark(start, "1"), ...taken, mark(start + 9 * minuteMs, "1")]);
    const client = await StreamClient.open(`${tape.futuresWsUrl}/market/stream?streams=btcusdt@aggTrade`);
    tape.advanceTo(start + minuteMs);
    const heard = (await client.received()).map(({ data }) => data);
    expect(heard).toEqual(taken.map((text) => JSON.parse(text.slice(text.indexOf("{"))).data));
    const [candle] = await get(`/fapi/v1/klines?symbol=${symbol}&interval=1m&startTime=${start}&limit=1`);
    expect(candle.slice(1, 6)).toEqual(["100.5", "101.00000000", "100.50000000", "101", "2.50000000"]);
    expect(candle.slice(7, 9)).toEqual(["251.50000000", 4]);
    expect(await get(`/fapi/v1/aggTrades?symbol=${symbol}`)).toMatchObject([
      { a: 5, f: 50, l: 52, p: "100.5" },
      { a: 6, f: 60, l: 60, p: "101" },
    ]);
    expect(await get(`/fapi/v2/ticker/price?symbol=${symbol}`)).toMatchObject({ price: "101" });
    client.close();
  });

  test("a tape may hold both types, each with its own prices; one that is not held lists nothing", async () => {
    const start = due - hourMs;
    const spotTouch = { u: 7, s: symbol, b: "10", B: "1", a: "11", A: "1" };
    const both = await open([streamed(start, "bookTicker", spotTouch), touch(start, 9, "20", "21")]);
    const spotPath = `/api/v3/ticker/bookTicker?symbol=${symbol}`;
    const futuresPath = `/fapi/v1/ticker/bookTicker?symbol=${symbol}`;
    expect(await both.get(spotPath)).toMatchObject({ bidPrice: "10", askPrice: "11" });
    expect(await both.get(futuresPath)).toMatchObject({ bidPrice: "20", askPrice: "21", time: start });

    const futures = await open([touch(start, 9, "20", "21")]);
    const symbolsAt = async ({ get }: typeof futures, path: string) => (await get(path)).symbols.length;
    expect(await symbolsAt(futures, "/api/v3/exchangeInfo")).toBe(0);
    expect(await symbolsAt(futures, "/fapi/v1/exchangeInfo")).toBe(1);
    const spot = await open([streamed(start, "bookTicker", spotTouch)]);
    expect(await symbolsAt(spot, "/api/v3/exchangeInfo")).toBe(1);
    expect(await symbolsAt(spot, "/fapi/v1/exchangeInfo")).toBe(0);
  });

  test("rules are the given ones, if any are", async () => {
    const rules = { FUTURES: { symbols: [{ symbol, tick: "9" }, { symbol: "OTHER" }] } };
    const { get } = await open([touch(due, 9, "20", "21")], { rules });
    expect(await get("/fapi/v1/exchangeInfo")).toEqual({ serverTime: due, symbols: [{ symbol, tick: "9" }] });
  });

  test.each([
    [
      "of a contract without rules",
      touch(due, 1, "1", "2").replaceAll(symbol, "XYZUSDT"),
      /futures rules.*XYZUSDT/,
    ],
    [
      "with funding of another contract",
      `${settled(due, [due, "1", "1"])}`.replace(symbol, "XRPUSDT"),
      /XRPUSDT on/,
    ],
    ["with a rate that is none", settled(due, [due, "a lot", "1"]), /line 2: .*fundingRate/],
    ["with a mark price that is none", mark(due, "-1"), /line 2: .*at p/],
  ])("one %s says so", async (_what, text, message) => {
    const lines = text.includes("XYZUSDT") ? [text] : [touch(due, 1, "1", "2"), text];
    await expect(openTape({ file: write(lines), manual: true })).rejects.toThrow(message);
  });

  test("a book with a change missing is unknown from there on: each names the one before", () => {
    const change = (previous: number, first: number, last: number) =>
      streamed(due, "depth@0ms", {
        e: "depthUpdate",
        E: due,
        T: due,
        s: symbol,
        U: first,
        u: last,
        pu: previous,
        b: [],
        a: [],
      });
    const snapshot = line(due, {
      lastUpdateId: 10,
      E: due,
      T: due,
      bids: [["1.0", "1"]],
      asks: [["1.1", "1"]],
    });
    const bookOf = (...changes: string[]) => {
      const recording = readRecording(write([snapshot, ...changes]));
      return createTapeFutures(recording, () => ({})).book(symbol, recording.endsAt, 5);
    };
    // Numbers between two changes are other contracts'.
    expect(bookOf(change(3, 5, 12), change(12, 40, 55))?.updateId).toBe(55);
    expect(bookOf(change(3, 5, 12), change(13, 40, 55))).toBeUndefined();
  });
});

describe.skipIf(!isRecorded)(`a recorded stretch of futures${why}`, () => {
  let tape: Tape;
  beforeAll(async () => {
    tape = await openTape({ file: recordedFile, manual: true });
  });
  afterAll(() => tape.close());

  test("is passed on as recorded, in file order", async () => {
    const client = await StreamClient.open(
      `${tape.futuresWsUrl}/stream?streams=btcusdt@bookTicker/btcusdt@trade`,
    );
    const until = tape.startsAt + 20_000;
    tape.advanceTo(until);
    const messages = await client.received();
    const raw = gunzipSync(readFileSync(recordedFile)).toString().split("\n");
    const payloads = raw.flatMap((text) => /@(?:bookTicker|trade)","data":(.*)\}$/.exec(text)?.[1] ?? []);
    expect(messages.length).toBeGreaterThan(4_000);
    expect(messages.map(({ data }) => JSON.stringify(data))).toEqual(payloads.slice(0, messages.length));
    client.close();
  });

  test("the book built from snapshot and changes is hardly ever beside the ticker", () => {
    const recording = readRecording(recordedFile);
    const source = createTapeFutures(recording, () => ({}));
    const touches = recording.lines.flatMap((one) => (one.kind === "touch" ? [one.touch] : []));
    let [next, compared, equal] = [0, 0, 0];
    for (const change of recording.lines) {
      if (change.kind !== "diff") continue;
      while ((touches[next]?.updateId ?? Infinity) <= change.lastUpdateId) next += 1;
      const known = touches[next - 1];
      const book = source.book(symbol, change.at, 20);
      if (!known || book?.updateId !== change.lastUpdateId) continue;
      compared += 1;
      if (book.bids[0]?.[0] === known.bid[0] && book.asks[0]?.[0] === known.ask[0]) equal += 1;
    }
    expect(compared).toBeGreaterThan(6_000);
    expect(equal / compared).toBeGreaterThan(0.99);
  });
});
