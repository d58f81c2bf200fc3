// The soak finds what it looks for: each rule broken once, and the same without a fault.
import { describe, expect, test } from "vitest";
import type { MarketData, OrderBook } from "../../../src/streams/topics.ts";
import { seededRandom } from "../../support/random.ts";
import { growthOf, isGrowing } from "./flatness.ts";
import { candleLedger, depthLedger } from "./ledgers.ts";
import { Oracle } from "./oracle.ts";
import { Outages, SETTLING_MS } from "./outages.ts";
import { drawPlan, drawPool, SUBSCRIPTIONS_PER_CONNECTION } from "./plan.ts";

const MINUTE_MS = 60_000;

function book(lastUpdateId: number, changes: Partial<OrderBook> = {}): OrderBook {
  const bids = [
    ["100.00", "1"],
    ["99.00", "1"],
  ] as const;
  const asks = [
    ["101.00", "1"],
    ["102.00", "1"],
  ] as const;
  return {
    event: "depth",
    pair: "BTCUSDT",
    levels: 20,
    speed: "1000ms",
    lastUpdateId,
    bids,
    asks,
    ...changes,
  };
}

function candle(minute: number, isFinal: boolean, changes: Partial<MarketData["candle"]> = {}): MarketData {
  const startTime = minute * MINUTE_MS;
  const prices = { open: "10", high: "12", low: "9", close: "11", volume: "5" };
  const candle = { ...prices, startTime, closeTime: startTime + MINUTE_MS - 1, isFinal, ...changes };
  return { event: "kline", pair: "BTCUSDT", timeframe: "1m", candle };
}

describe("a book", () => {
  const faultsOf = (...books: readonly OrderBook[]) => {
    const ledger = depthLedger("books");
    return books.flatMap((each) => ledger.take(each)?.kind ?? []);
  };

  test("may be repeated with the same id or a higher one", () => {
    expect(faultsOf(book(7), book(7), book(9))).toEqual([]);
  });

  test("never comes with a lower id, on the next connection neither", () => {
    const ledger = depthLedger("books");
    ledger.take(book(9));
    ledger.beginAnew();
    expect(ledger.take(book(8))?.kind).toBe("ID_WENT_BACK");
  });

  test.each<[string, Partial<OrderBook>]>([
    ["crossed", { bids: [["101.00", "1"]] }],
    [
      "with bids that do not descend",
      {
        bids: [
          ["99.00", "1"],
          ["100.00", "1"],
        ],
      },
    ],
    [
      "with asks that do not ascend",
      {
        asks: [
          ["102.00", "1"],
          ["101.00", "1"],
        ],
      },
    ],
    [
      "with one price twice",
      {
        asks: [
          ["101.00", "1"],
          ["101.00", "2"],
        ],
      },
    ],
    ["with a side that is empty", { bids: [] }],
    [
      "with more levels than asked for",
      { levels: 5, asks: Array.from({ length: 6 }, (_, at) => [`${101 + at}`, "1"] as const) },
    ],
  ])("%s is found", (_what, changes) => {
    expect(faultsOf(book(7, changes))).toEqual(["BAD_BOOK"]);
  });
});

describe("a candle", () => {
  const faultsOf = (...candles: readonly MarketData[]) => {
    const ledger = candleLedger("candles", MINUTE_MS);
    return candles.flatMap((each) => ledger.take(each)?.kind ?? []);
  };

  test("has ticks, then its final; then the next one begins", () => {
    expect(
      faultsOf(candle(1, false), candle(1, false), candle(1, true), candle(2, false), candle(2, true)),
    ).toEqual([]);
    expect(faultsOf(candle(1, true), candle(2, true), candle(3, true))).toEqual([]);
  });

  test.each<[string, readonly MarketData[]]>([
    ["OLDER_CANDLE", [candle(2, false), candle(1, true)]],
    ["TICK_AFTER_FINAL", [candle(1, true), candle(1, false)]],
    ["FINAL_TWICE", [candle(1, true), candle(1, true)]],
    ["FINAL_MISSED", [candle(1, false), candle(2, false)]],
    ["FINAL_MISSED", [candle(1, true), candle(3, true)]],
    ["BAD_CANDLE", [candle(1, false, { closeTime: 2 * MINUTE_MS })]],
    ["BAD_CANDLE", [candle(1, false, { high: "10.5" })]],
  ])("is found: %s", (kind, candles) => {
    expect(faultsOf(...candles)).toEqual([kind]);
  });

  test("may be any on the next connection: streams carry no history", () => {
    const ledger = candleLedger("candles", MINUTE_MS);
    ledger.take(candle(1, false));
    ledger.beginAnew();
    expect(ledger.take(candle(5, false))).toBeNull();
    expect(ledger.take(candle(6, false))?.kind).toBe("FINAL_MISSED");
  });
});

describe("a silence", () => {
  test("above five seconds is found, below is not", () => {
    const oracle = new Oracle(() => 0);
    oracle.heedSilence("a stream", 0, 5_000);
    expect(oracle.faults.total).toBe(0);
    oracle.heedSilence("a stream", 0, 5_001);
    expect(oracle.faults.counts.SILENT).toBe(1);
  });

  test("is excused by as much as lies in an outage, and no more", () => {
    const oracle = new Oracle(() => 0);
    oracle.outages.begin(10_000);
    expect(oracle.outages.outsideMs(9_000, 40_000)).toBe(1_000);
    oracle.outages.end(20_000);
    const until = 20_000 + SETTLING_MS;
    oracle.heedSilence("a stream", 8_000, until + 3_000);
    expect(oracle.faults.total).toBe(0);
    expect(oracle.longestSilenceMs).toBe(5_000);
    oracle.heedSilence("a stream", 8_000, until + 3_001);
    expect(oracle.faults.counts.SILENT).toBe(1);
  });

  test("lies outside of two outages by what is between them", () => {
    const outages = new Outages();
    outages.begin(1_000);
    outages.end(2_000);
    outages.begin(10_000);
    outages.end(11_000);
    expect(outages.outsideMs(500, 12_000)).toBe(500 + (10_000 - 2_000 - SETTLING_MS));
    expect([outages.isAway(1_500), outages.isAway(9_000), outages.isAway(10_500)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe("memory", () => {
  const samples = (heapOf: (index: number) => number) =>
    Array.from({ length: 20 }, (_, index) => ({
      at: index * 15_000,
      heapBytes: heapOf(index),
      residentBytes: null,
    }));
  const MEGABYTE = 1024 * 1024;

  test("that goes up and down is flat, and so is what fills up at first", () => {
    const growth = growthOf(samples((index) => (index < 5 ? 20 + 4 * index : 40 + (index % 3)) * MEGABYTE));
    expect(growth).not.toBeNull();
    expect(growth !== null && isGrowing(growth)).toBe(false);
  });

  test("that leaks grows, whatever one odd sample says", () => {
    const growth = growthOf(samples((index) => (index === 19 ? 30 : 40 + index) * MEGABYTE));
    expect(growth !== null && isGrowing(growth)).toBe(true);
    expect(growth?.bytesPerMinute).toBeCloseTo(4 * MEGABYTE, -4);
  });

  test("of which there are too few samples says nothing", () => {
    expect(growthOf(samples(() => 1).slice(0, 2))).toBeNull();
  });
});

test("no plan asks for more than a connection and a key may have", () => {
  const draw = seededRandom(1);
  const pairs = Array.from({ length: 20 }, (_, number) => `COIN${number}USDT`);
  for (let key = 0; key < 10; key += 1) {
    const pool = drawPool(key, pairs, draw);
    const names = new Set<string>();
    for (let client = 0; client < 5; client += 1) {
      const { topics } = drawPlan(pool, SUBSCRIPTIONS_PER_CONNECTION, draw);
      const own = topics.map((topic) => JSON.stringify(topic));
      expect(new Set(own).size).toBe(SUBSCRIPTIONS_PER_CONNECTION);
      for (const name of own) names.add(name);
    }
    expect(names.size).toBeLessThanOrEqual(30);
  }
});
