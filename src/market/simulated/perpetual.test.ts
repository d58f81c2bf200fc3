import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { intervals, nextOpenTime, openTimeOf } from "../exchange/intervals.ts";
import type { FuturesSource, MarkKind } from "../exchange/source.ts";
import { fundingRate } from "./funding.ts";
import { perpetualListings, spotListings } from "./listing.ts";
import { pricesTold } from "./marks.ts";
import { createPremium } from "./premium.ts";
import { createSimulatedSources } from "./source.ts";

const secondMs = 1_000;
const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
const hourMs = 60 * minuteMs;

const { SPOT: spot, FUTURES: futures } = createSimulatedSources("1");
const anyPerpetual = fc.constantFrom(...perpetualListings);
const anySymbol = fc.constantFrom(...futures.symbols);
// All perpetuals are listed at this time.
const anyTime = fc.integer({ min: Date.UTC(2023, 3, 1), max: Date.UTC(2030, 0, 1) });
const anyKind = fc.constantFrom<MarkKind>("mark", "index");
const runs = { numRuns: 150, verbose: true };

function floorTo(unitMs: number, at: number): number {
  return Math.floor(at / unitMs) * unitMs;
}

function toldAt(source: FuturesSource, symbol: string, kind: MarkKind, at: number): string {
  const { markPrice, indexPrice } = source.premium(symbol, at);
  return kind === "mark" ? markPrice : indexPrice;
}

function extremesOf(texts: readonly string[]): { low: string; high: string } {
  const ascending = texts.toSorted((a, b) => (decimal(a) < decimal(b) ? -1 : 1));
  return { low: ascending[0] ?? "", high: ascending.at(-1) ?? "" };
}

describe("a perpetual's price", () => {
  test("rises with the index price, whatever the premium does", () => {
    fc.assert(
      fc.property(anyPerpetual, fc.double({ min: 0.4, max: 2, noNaN: true }), ({ symbol }, part) => {
        const listing = spotListings.find((candidate) => candidate.symbol === symbol);
        if (!listing) throw new Error("a perpetual without its pair");
        const premium = createPremium("1", listing);
        const ticks = Math.round(listing.baseTicks * part);
        expect(premium.contract(ticks + 1)).toBeGreaterThan(premium.contract(ticks));
      }),
      { ...runs, numRuns: 5_000 },
    );
  });

  test("stays within a quarter of a percent of the spot pair's, second by second", () => {
    fc.assert(
      fc.property(anyPerpetual, anyTime, ({ symbol, tickDecimals }, at) => {
        const second = floorTo(secondMs, at);
        const pair = spot.statistics(symbol, second, second + secondMs);
        const perpetual = futures.statistics(symbol, second, second + secondMs);
        for (const key of ["open", "high", "low", "close"] as const) {
          const price = Number(pair?.[key]);
          const apart = Math.abs(Number(perpetual?.[key]) - price);
          expect(apart).toBeLessThan(0.0025 * price + 10 ** -tickDecimals);
        }
      }),
      runs,
    );
  });
});

describe("the marks", () => {
  test("lie between the last price and the index with what is left of the last settled rate", () => {
    fc.assert(
      fc.property(anySymbol, anyTime, (symbol, at) => {
        const second = floorTo(secondMs, at);
        const { markPrice, indexPrice, nextFundingAt } = futures.premium(symbol, at);
        const [row] = futures.fundingRates(symbol, floorTo(hourMs, second) + secondMs, { limit: 1 });
        const { intervalHours } = futures.fundingTerms(symbol);
        const hoursLeft = Math.ceil((nextFundingAt - second) / hourMs);
        const withRate = Number(indexPrice) * (1 + (Number(row?.rate) * hoursLeft) / intervalHours);
        // In two seconds of a minute the mark shows an extreme of the second that begins.
        const traded = futures.statistics(symbol, second - secondMs, second + secondMs);
        const [mark, dust] = [Number(markPrice), 1e-7];
        expect(mark).toBeGreaterThanOrEqual(Math.min(withRate, Number(traded?.low)) - dust);
        expect(mark).toBeLessThanOrEqual(Math.max(withRate, Number(traded?.high)) + dust);
      }),
      runs,
    );
  });

  test("an index price is one that the pair was traded at in that second", () => {
    fc.assert(
      fc.property(anySymbol, anyTime, (symbol, at) => {
        const second = floorTo(secondMs, at);
        const { indexPrice } = futures.premium(symbol, at);
        const prices = spot
          .trades(symbol, second + secondMs, { startTime: second, limit: 1_000 })
          .map((trade) => trade.price);
        expect(prices).toContain(indexPrice);
      }),
      runs,
    );
  });

  test("a minute's candle equals its published prices, second by second, and so does an open one", () => {
    fc.assert(
      fc.property(anySymbol, anyTime, anyKind, fc.integer({ min: 1, max: 60 }), (symbol, at, kind, count) => {
        const minute = floorTo(minuteMs, at);
        for (const seconds of [count, 60]) {
          const told = Array.from({ length: seconds }, (_, index) =>
            toldAt(futures, symbol, kind, minute + index * secondMs),
          );
          const until = minute + (seconds - 1) * secondMs + 1;
          expect(futures.markStatistics(symbol, kind, minute, until)).toEqual({
            open: told[0],
            ...extremesOf(told),
            close: told.at(-1),
            count: seconds,
          });
        }
      }),
      runs,
    );
  });

  test("a longer candle of every kind agrees with the minutes in it", () => {
    const anyInterval = fc.constantFrom(...intervals.filter((interval) => !/[sMw]|[13]d/.test(interval)));
    const kinds = ["mark", "index", "premium"] as const;
    fc.assert(
      fc.property(
        anySymbol,
        anyTime,
        anyInterval,
        fc.constantFrom(...kinds),
        (symbol, at, interval, kind) => {
          const openTime = openTimeOf(interval, at);
          const end = nextOpenTime(interval, openTime);
          const minutes = Array.from({ length: (end - openTime) / minuteMs }, (_, index) => {
            const from = openTime + index * minuteMs;
            const minute = futures.markStatistics(symbol, kind, from, from + minuteMs);
            if (!minute) throw new Error("a minute without marks");
            return minute;
          });
          expect(futures.markStatistics(symbol, kind, openTime, end)).toEqual({
            open: minutes[0]?.open,
            high: extremesOf(minutes.map((minute) => minute.high)).high,
            low: extremesOf(minutes.map((minute) => minute.low)).low,
            close: minutes.at(-1)?.close,
            count: minutes.length * 60,
          });
        },
      ),
      { ...runs, numRuns: 40 },
    );
  });

  test("a candle between two seconds, or before the listing, does not exist", () => {
    const second = Date.UTC(2026, 0, 1);
    expect(futures.markStatistics("BTCUSDT", "mark", second + 1, second + secondMs)).toBeUndefined();
    const listedAt = futures.listedAt("BTCUSDT");
    expect(futures.markStatistics("BTCUSDT", "mark", listedAt - hourMs, listedAt)).toBeUndefined();
    expect(futures.markStatistics("BTCUSDT", "mark", listedAt - hourMs, listedAt + 1)?.count).toBe(1);
  });

  test("two seconds show the extremes where one has both", () => {
    const flat = { open: 5, high: 5, low: 5, close: 5 };
    const both = { open: 5, high: 7, low: 3, close: 5 };
    const minute = { open: 5, high: 7, low: 3, close: 5 };
    expect(pricesTold(minute, [flat, { ...flat, high: 7 }, both])).toEqual([5, 7, 3]);
    expect(pricesTold(minute, [flat, { ...flat, low: 3 }, both])).toEqual([5, 3, 7]);
    expect(pricesTold(minute, [flat, both, both])).toEqual([5, 3, 7]);
    expect(pricesTold(flat, [flat, flat, flat])).toEqual([5, 5, 5]);
  });

  test("two instances agree, whatever each was asked before", () => {
    const answersOf = (source: FuturesSource, times: readonly number[]) =>
      times.map((at) => ({
        at,
        premium: source.premium("NEARUSDT", at),
        candle: source.markStatistics("NEARUSDT", "mark", at - hourMs, at),
        rates: source.fundingRates("NEARUSDT", at, { limit: 3 }),
        openInterest: source.openInterest("NEARUSDT", at),
      }));
    fc.assert(
      fc.property(fc.array(anyTime, { minLength: 2, maxLength: 6 }), (times) => {
        const forwards = answersOf(createSimulatedSources("7").FUTURES, times);
        const backwards = answersOf(createSimulatedSources("7").FUTURES, times.toReversed());
        expect(backwards.toReversed()).toEqual(forwards);
        expect(answersOf(createSimulatedSources("8").FUTURES, times)).not.toEqual(forwards);
      }),
      { ...runs, numRuns: 20 },
    );
  });
});

describe("funding", () => {
  test("a rate is the average premium and the interest within the clamp", () => {
    const usual = { interest: 10_000, cap: 300_000 };
    const rateOf = (premium: number) => fundingRate(premium, usual.interest, usual.cap);
    expect(rateOf(20_000)).toBe(10_000);
    expect(rateOf(150_000)).toBe(100_000);
    expect(rateOf(-120_000)).toBe(-70_000);
    expect(rateOf(90_000)).toBe(40_000);
    expect(rateOf(400_000)).toBe(300_000);
    expect(rateOf(-400_000)).toBe(-300_000);
  });

  test("settled rates follow from the premium's candles, and their marks are those published at that second", () => {
    fc.assert(
      fc.property(anySymbol, anyTime, (symbol, at) => {
        const { intervalHours, rateCap, rateFloor } = futures.fundingTerms(symbol);
        expect(rateFloor).toBe(`-${rateCap}`);
        const dueAt = floorTo(intervalHours * hourMs, at);
        const [row] = futures.fundingRates(symbol, dueAt + secondMs, { limit: 1 });
        const { markPrice } = futures.premium(symbol, dueAt);
        const quarters = Array.from({ length: intervalHours * 4 }, (_, index) => {
          const from = dueAt - (index + 1) * quarterMs;
          return Number(futures.markStatistics(symbol, "premium", from, from + quarterMs)?.open) * 1e8;
        });
        const average = quarters.reduce((sum, premium) => sum + premium, 0) / quarters.length;
        const interest = (10_000 * intervalHours) / 8;
        expect(futures.premium(symbol, at).interestRate).toBe((interest / 1e8).toFixed(8));
        const pull = Math.min(50_000, Math.max(-50_000, interest - average));
        const cap = Number(rateCap) * 1e8;
        const rate = Math.min(cap, Math.max(-cap, average + pull));
        expect(row?.markPrice).toBe(markPrice);
        expect(Math.abs(Number(row?.rate) * 1e8 - rate)).toBeLessThanOrEqual(0.51);
      }),
      runs,
    );
  });

  test("settles every eight, four or one hours, a few milliseconds late, at the time that was announced", () => {
    for (const { symbol, fundingHours } of perpetualListings) {
      const at = Date.UTC(2026, 4, 5, 6, 7, 8);
      const next = futures.premium(symbol, at).nextFundingAt;
      expect(next).toBe(floorTo(fundingHours * hourMs, at) + fundingHours * hourMs);
      const { fundingRate: estimate } = futures.premium(symbol, next - 1);
      expect(futures.fundingRates(symbol, next - 1, { startTime: next - 1, limit: 1 })).toEqual([]);
      const [row] = futures.fundingRates(symbol, next + 10, { startTime: next, limit: 1 });
      expect(row?.at).toBeGreaterThanOrEqual(next);
      expect(row?.at).toBeLessThan(next + 10);
      expect(row?.rate).toBe(estimate);
      expect(futures.premium(symbol, next).nextFundingAt).toBe(next + fundingHours * hourMs);
    }
    expect(new Set(perpetualListings.map((listing) => listing.fundingHours))).toEqual(new Set([8, 4, 1]));
  });

  test("rows are counted from the oldest with a start, from the newest without, and none is from the future", () => {
    fc.assert(
      fc.property(anySymbol, anyTime, fc.integer({ min: 1, max: 30 }), (symbol, at, limit) => {
        const { intervalHours } = futures.fundingTerms(symbol);
        const all = futures.fundingRates(symbol, at, {
          startTime: at - 40 * intervalHours * hourMs,
          limit: 99,
        });
        const [oldest, newest] = [all[0]?.at ?? 0, all.at(-1)?.at ?? 0];
        expect(all.length).toBeGreaterThanOrEqual(39);
        expect(newest).toBeLessThanOrEqual(at);
        for (const [index, row] of all.slice(1).entries()) {
          expect(floorTo(secondMs, row.at) - floorTo(secondMs, all[index]?.at ?? 0)).toBe(
            intervalHours * hourMs,
          );
        }
        expect(futures.fundingRates(symbol, at, { limit })).toEqual(all.slice(-limit));
        expect(futures.fundingRates(symbol, at, { startTime: oldest, limit })).toEqual(all.slice(0, limit));
        expect(
          futures.fundingRates(symbol, at, { startTime: oldest + 1, endTime: newest - 1, limit: 99 }),
        ).toEqual(all.slice(1, -1));
      }),
      runs,
    );
  });

  test("rates of every perpetual vary, and not all are the interest rate", () => {
    for (const symbol of futures.symbols) {
      const rows = futures.fundingRates(symbol, Date.UTC(2026, 6, 1), { limit: 400 });
      expect(new Set(rows.map((row) => row.rate)).size, symbol).toBeGreaterThan(5);
    }
  });

  test("begins with the first settlement after the listing", () => {
    const listedAt = futures.listedAt("ETHUSDT");
    const [first] = futures.fundingRates("ETHUSDT", Date.UTC(2026, 0, 1), { startTime: 0, limit: 1 });
    expect(floorTo(secondMs, first?.at ?? 0)).toBe(listedAt + 8 * hourMs);
  });
});
