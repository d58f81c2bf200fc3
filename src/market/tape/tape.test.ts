import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { StreamClient } from "../exchange/testing/stream-client.ts";
import { openTape, type Tape } from "./open.ts";
import { type Recording, readRecording } from "./recording.ts";
import { createTapeSource } from "./source.ts";

const sharedDir = resolve(process.env.SHARED_DIR ?? "../shared");
const file = join(sharedDir, "data/tape/spot-btcusdt-2024-08-08T2354.ndjson.gz");
const klinesFile = join(sharedDir, "data/klines/spot-BTCUSDT-1m-2024-07-26_2024-08-25.csv.gz");
const isRecorded = existsSync(file) && existsSync(klinesFile);
const why = isRecorded ? "" : " (skipped: the recorded data is not beside the project)";

const symbol = "BTCUSDT";
const minuteMs = 60_000;

describe.skipIf(!isRecorded)(`a recorded day${why}`, () => {
  let tape: Tape;
  beforeAll(async () => {
    tape = await openTape({ file, manual: true });
  });
  afterAll(() => tape.close());

  async function get(path: string): Promise<unknown> {
    return (await fetch(`${tape.spotRestUrl}${path}`)).json();
  }

  test("passes tickers and trades on as recorded, in file order, and finishes each candle once", async () => {
    const streams = ["btcusdt@bookTicker", "btcusdt@trade", "btcusdt@depth20@100ms", "btcusdt@kline_1m"];
    const client = await StreamClient.open(`${tape.spotWsUrl}/stream?streams=${streams.join("/")}`);
    const until = Date.UTC(2024, 7, 8, 23, 56, 30);
    tape.advanceTo(until);
    const messages = await client.received();
    const recorded = touchesAndTrades(readRecording(file)).filter((line) => line.at <= until);
    const passedOn = messages.filter(({ stream }) => /@(bookTicker|trade)$/.test(stream));
    expect(passedOn.map(({ data }) => JSON.stringify(data))).toEqual(recorded.map((line) => line.verbatim));

    const finals = messages.flatMap(({ data }) => (data.k?.x ? [data.k.t] : []));
    expect(finals).toEqual([54, 55].map((minute) => Date.UTC(2024, 7, 8, 23, minute)));

    const depthIds = messages.flatMap(({ data }) => data.lastUpdateId ?? []);
    expect(depthIds.length).toBeGreaterThan(1_000);
    expect(depthIds.every((id, index) => id >= (depthIds[index - 1] ?? 0))).toBe(true);
    client.close();
  });

  test("answers REST as of its own present", async () => {
    const now = Date.UTC(2024, 7, 8, 23, 58, 30);
    tape.advanceTo(now);
    expect(await get("/api/v3/time")).toEqual({ serverTime: now });
    const trades = (await get(`/api/v3/trades?symbol=${symbol}&limit=2`)) as { time: number; id: number }[];
    expect(trades.map((trade) => trade.time <= now)).toEqual([true, true]);
    expect(trades[1]?.id).toBe((trades[0]?.id ?? 0) + 1);
    const depth = (await get(`/api/v3/depth?symbol=${symbol}`)) as { bids: unknown[]; asks: unknown[] };
    expect([depth.bids.length, depth.asks.length]).toEqual([100, 100]);
    const info = (await get("/api/v3/exchangeInfo")) as { symbols: { symbol: string; filters: object[] }[] };
    expect(info.symbols.map((row) => [row.symbol, row.filters.length])).toEqual([[symbol, 11]]);
  });

  test("its full minutes are the exchange's candles", async () => {
    tape.advanceTo(Date.UTC(2024, 7, 8, 23, 59, 30));
    const startTime = Date.UTC(2024, 7, 8, 23, 55);
    const rows = (await get(
      `/api/v3/klines?symbol=${symbol}&interval=1m&startTime=${startTime}&limit=4`,
    )) as (string | number)[][];
    const exchange = new Map(
      gunzipSync(readFileSync(klinesFile))
        .toString()
        .split("\n")
        .map((row) => [Number(row.split(",")[0]), row.split(",").slice(1)]),
    );
    expect(rows.map((row) => row[0])).toEqual([0, 1, 2, 3].map((minute) => startTime + minute * minuteMs));
    for (const [openTime, ...values] of rows) {
      const expected = exchange.get(Number(openTime)) ?? [];
      expect(values.slice(0, 5).map((value) => decimal(String(value)))).toEqual(
        expected.map((text) => decimal(text)),
      );
    }
  });

  test("the average price is that of its trades", async () => {
    const client = await StreamClient.open(`${tape.spotWsUrl}/ws/btcusdt@avgPrice`);
    const until = Date.UTC(2024, 7, 8, 23, 59, 31);
    tape.advanceTo(until);
    const [message] = (await client.received()).slice(-1);
    const trades = readRecording(file).lines.flatMap((line) => (line.kind === "trade" ? [line.trade] : []));
    let [quantity, quote] = [0n, 0n];
    for (const { at, price, quantity: traded } of trades) {
      if (at <= until - 5 * minuteMs || at > until) continue;
      quantity += decimal(traded);
      quote += decimal(price) * decimal(traded);
    }
    const told = decimal(message?.data.w ?? "");
    // The tape cuts the sum at the eighth decimal before it divides.
    expect(Math.abs(Number(told - quote / quantity))).toBeLessThanOrEqual(1);
    expect(quantity).toBeGreaterThan(0n);
    client.close();
  });

  test("the book built from snapshot and changes has the ticker's best levels at every change", () => {
    const recording = readRecording(file);
    const source = createTapeSource(recording, "SPOT", () => ({}));
    const touches = recording.lines.flatMap((line) => (line.kind === "touch" ? [line.touch] : []));
    let next = 0;
    let compared = 0;
    for (const change of recording.lines) {
      if (change.kind !== "diff") continue;
      while ((touches[next]?.updateId ?? Infinity) <= change.lastUpdateId) next += 1;
      const touch = touches[next - 1];
      const book = source.book(symbol, change.at, 20);
      if (!touch || book?.updateId !== change.lastUpdateId) continue;
      expect([book.bids[0], book.asks[0]]).toEqual([touch.bid, touch.ask]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(3_400);
  });

  test("the book is the same however one got there", () => {
    const recording = readRecording(file);
    const forwards = createTapeSource(recording, "SPOT", () => ({}));
    const jumping = createTapeSource(recording, "SPOT", () => ({}));
    const times = Array.from({ length: 12 }, (_, index) => recording.startsAt + 5_000 + index * 25_000);
    const books = times.map((at) => forwards.book(symbol, at, 50));
    for (const [index, at] of [...times.entries()].toReversed()) {
      expect(jumping.book(symbol, at, 50)).toEqual(books[index]);
    }
  });

  test("no message is sent before its own event, and none much later", () => {
    const delaysMs = readRecording(file)
      .lines.flatMap((line) => (line.kind === "trade" ? [line.at - line.trade.at] : []))
      .toSorted((a, b) => a - b);
    expect(delaysMs[0]).toBeGreaterThanOrEqual(0);
    expect(delaysMs[Math.floor(delaysMs.length / 2)]).toBeLessThan(10);
    expect(delaysMs.at(-1)).toBeLessThan(500);
  });

  test("is silent after its end while its clock runs on", async () => {
    const client = await StreamClient.open(`${tape.spotWsUrl}/ws/btcusdt@depth20@100ms`);
    tape.advanceTo(tape.endsAt);
    const atEnd = (await client.received()).length;
    tape.advanceTo(tape.endsAt + 10_000);
    expect((await client.received()).length).toBe(atEnd);
    expect(tape.clock.now()).toBe(tape.endsAt + 10_000);
    client.close();
  });

  test("runs at its speed against the wall clock", async () => {
    let wall = 1_000;
    const fast = await openTape({ file, speed: 20, wallClock: { now: () => wall } });
    wall += 500;
    expect(fast.clock.now()).toBe(fast.startsAt + 10_000);
    await fast.close();
  });
});

describe("a tape that cannot be used", () => {
  const folder = mkdtempSync(join(tmpdir(), "tape-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  const stamp = "1723161254087891268";
  const ticker = `${stamp} {"stream":"btcusdt@bookTicker","data":{"u":7,"s":"BTCUSDT","b":"1.0","B":"2.0","a":"1.1","A":"2.0"}}`;
  const write = (name: string, bytes: Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const tapeOf = (name: string, ...lines: string[]) => write(name, gzipSync(`${lines.join("\n")}\n`));

  test.each([
    ["missing", () => join(folder, "nothing.gz"), /nothing\.gz: ENOENT/],
    ["not gzipped", () => write("plain.gz", Buffer.from(ticker)), /plain\.gz: incorrect header check/],
    [
      "cut off",
      () => write("cut.gz", gzipSync(`${ticker}\n`.repeat(9_000)).subarray(0, -20)),
      /cut\.gz: unexpected end/,
    ],
    ["not a recording", () => tapeOf("odd.gz", ticker, "hello"), /odd\.gz, line 2: .*receive time/],
    ["not JSON", () => tapeOf("json.gz", `${stamp} {"stream":}`), /json\.gz, line 1: .*JSON/],
    ["malformed", () => tapeOf("bad.gz", ticker, ticker.replace('"1.0"', '"x"')), /bad\.gz, line 2: .*at b/],
    ["empty", () => tapeOf("empty.gz"), /empty\.gz: /],
    ["of an unknown pair", () => tapeOf("pair.gz", ticker.replaceAll("BTCUSDT", "XYZUSDT")), /XYZUSDT/],
  ])("that is %s says so", async (_name, make, message) => {
    await expect(openTape({ file: make(), manual: true })).rejects.toThrow(message);
  });

  test("a book with a depth change missing is unknown from there on", () => {
    const change = (first: number, last: number) =>
      `${stamp} {"stream":"btcusdt@depth@100ms","data":{"e":"depthUpdate","E":1,"s":"BTCUSDT","U":${first},"u":${last},"b":[],"a":[]}}`;
    const snapshot = `${stamp} {"lastUpdateId":10,"bids":[["1.0","1"]],"asks":[["1.1","1"]]}`;
    const bookOf = (path: string) => {
      const recording = readRecording(path);
      return createTapeSource(recording, "SPOT", () => ({})).book(symbol, recording.endsAt, 5);
    };
    expect(bookOf(tapeOf("whole.gz", snapshot, change(9, 12), change(13, 15)))?.updateId).toBe(15);
    expect(bookOf(tapeOf("gap.gz", snapshot, change(9, 12), change(14, 15)))).toBeUndefined();
  });

  test("rules are the given ones, if any are", async () => {
    const rules = { SPOT: { symbols: [{ symbol: "XYZUSDT", filters: [] }] } };
    const path = tapeOf("ruled.gz", ticker.replaceAll("BTCUSDT", "XYZUSDT"));
    const tape = await openTape({ file: path, rules, manual: true });
    const info = (await (await fetch(`${tape.spotRestUrl}/api/v3/exchangeInfo`)).json()) as {
      symbols: object[];
    };
    expect(info.symbols).toEqual([{ symbol: "XYZUSDT", filters: [] }]);
    await tape.close();
  });
});

function touchesAndTrades(recording: Recording) {
  return recording.lines.filter((line) => line.kind === "touch" || line.kind === "trade");
}
