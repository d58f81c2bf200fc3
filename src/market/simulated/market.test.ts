import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { intervals, nextOpenTime, openTimeOf } from "../exchange/intervals.ts";
import { candleAt, candlesOf, klineRow } from "../exchange/klines.ts";
import { spotListings } from "./listing.ts";
import { createMarket, type SimulatedMarket } from "./market.ts";
import { createSimulatedSources } from "./source.ts";
import type { Span } from "./span.ts";

const secondMs = 1_000;
const dayMs = 86_400_000;
const listedAt = Date.UTC(2017, 7, 17);
const lastAt = Date.UTC(2030, 0, 1);

const anyTime = fc.integer({ min: listedAt + dayMs, max: lastAt });
const anyListing = fc.constantFrom(...spotListings);
const anySeed = fc.constantFrom("1", "2", "a seed");
const runs = { numRuns: 60, verbose: true };

const parts = [
  { parent: "day", child: "hour", childMs: 3_600_000, count: 24 },
  { parent: "hour", child: "minute", childMs: 60_000, count: 60 },
  { parent: "minute", child: "second", childMs: 1_000, count: 60 },
] as const;

const summed = [
  "volume",
  "takerBuyVolume",
  "quoteVolume",
  "takerBuyQuoteVolume",
  "tradeCount",
] as const satisfies readonly (keyof Span)[];

function total(spans: readonly Span[], key: (typeof summed)[number]): number {
  return spans.reduce((sum, span) => sum + span[key], 0);
}

describe("the spans of the simulated market", () => {
  test("children lie inside their parent, follow each other and add up to it", () => {
    fc.assert(
      fc.property(anySeed, anyListing, anyTime, fc.constantFrom(...parts), (seed, listing, at, part) => {
        const market = createMarket(seed, listing);
        const parentMs = part.childMs * part.count;
        const startsAt = Math.floor(at / parentMs) * parentMs;
        const parent = market.span(part.parent, startsAt);
        const children = Array.from({ length: part.count }, (_, index) =>
          market.span(part.child, startsAt + index * part.childMs),
        );
        expect(children[0]?.open).toBe(parent.open);
        expect(children.at(-1)?.close).toBe(parent.close);
        expect(Math.max(...children.map((child) => child.high))).toBe(parent.high);
        expect(Math.min(...children.map((child) => child.low))).toBe(parent.low);
        for (const key of summed) expect(total(children, key)).toBe(parent[key]);
        for (const [index, child] of children.entries()) {
          const before = children[index - 1];
          expect(child.open).toBe(before?.close ?? parent.open);
          expect(child.firstTradeId).toBe(
            before ? before.firstTradeId + before.tradeCount : parent.firstTradeId,
          );
          expect(child.low).toBeLessThanOrEqual(Math.min(child.open, child.close));
          expect(child.high).toBeGreaterThanOrEqual(Math.max(child.open, child.close));
          expect(child.low).toBeGreaterThan(0);
          expect(child.takerBuyVolume).toBeGreaterThanOrEqual(child.tradeCount);
          expect(child.volume - child.takerBuyVolume).toBeGreaterThanOrEqual(child.tradeCount);
          for (const key of summed) expect(Number.isSafeInteger(child[key])).toBe(true);
        }
      }),
      runs,
    );
  });

  test("the trades of a second are its open, high, low, close, volume and count", () => {
    fc.assert(
      fc.property(anySeed, anyListing, anyTime, (seed, listing, at) => {
        const market = createMarket(seed, listing);
        const startsAt = Math.floor(at / secondMs) * secondMs;
        const second = market.span("second", startsAt);
        const trades = market.tradesBetween(startsAt - 1, startsAt + secondMs - 1);
        const prices = trades.map((trade) => trade.price);
        const quantityOf = (some: typeof trades) => some.reduce((sum, trade) => sum + trade.quantity, 0);
        expect(trades.length).toBe(second.tradeCount);
        expect(trades.map((trade) => trade.id)).toEqual(
          trades.map((_, index) => second.firstTradeId + index),
        );
        expect([prices[0], Math.max(...prices), Math.min(...prices), prices.at(-1)]).toEqual([
          second.open,
          second.high,
          second.low,
          second.close,
        ]);
        expect(quantityOf(trades)).toBe(second.volume);
        expect(quantityOf(trades.filter((trade) => !trade.isBuyerMaker))).toBe(second.takerBuyVolume);
        expect(trades.every((trade) => trade.quantity >= 1)).toBe(true);
        expect(trades.every((trade, index) => trade.at >= (trades[index - 1]?.at ?? startsAt))).toBe(true);
      }),
      runs,
    );
  });

  test("a day opens where the day before closed", () => {
    fc.assert(
      fc.property(anyListing, anyTime, (listing, at) => {
        const market = createMarket("1", listing);
        expect(market.span("day", at).open).toBe(market.span("day", at - dayMs).close);
      }),
      runs,
    );
  });

  test("sums over any two halves are the sum over the whole", () => {
    const longest = 3 * 3_600_000;
    fc.assert(
      fc.property(
        anyListing,
        anyTime,
        fc.nat(longest),
        fc.nat(longest),
        (listing, from, firstMs, secondPartMs) => {
          const market = createMarket("1", listing);
          const middle = from + firstMs;
          const until = middle + secondPartMs;
          const halves = [market.totals(from, middle), market.totals(middle, until)].filter((half) => !!half);
          const whole = market.totals(from, until);
          for (const key of summed) {
            expect(halves.reduce((sum, half) => sum + half[key], 0)).toBe(whole?.[key] ?? 0);
          }
        },
      ),
      runs,
    );
  });

  test("a forming candle counts exactly the trades up to its instant", () => {
    fc.assert(
      fc.property(anyListing, anyTime, (listing, at) => {
        const market = createMarket("1", listing);
        const minuteAt = Math.floor(at / 60_000) * 60_000;
        const trades = market.tradesBetween(minuteAt - 1, at);
        const totals = market.totals(minuteAt, at + 1);
        expect(totals?.tradeCount ?? 0).toBe(trades.length);
        expect(totals?.close).toBe(trades.at(-1)?.price);
        expect(totals?.volume ?? 0).toBe(trades.reduce((sum, trade) => sum + trade.quantity, 0));
      }),
      runs,
    );
  });

  test("a trade is found by its id, and ids follow time", () => {
    fc.assert(
      fc.property(anyListing, anyTime, (listing, at) => {
        const market = createMarket("1", listing);
        const last = market.lastTrade(at);
        expect(last && market.trade(last.id)).toEqual(last);
        expect(market.firstTrade(at + 1).id).toBe((last?.id ?? 0) + 1);
      }),
      runs,
    );
  });
});

describe("the candles of the simulated market", () => {
  test("every interval agrees with the minutes in it", () => {
    const { SPOT: spot } = createSimulatedSources("1");
    const longer = intervals.filter((interval) => !["1s", "1M", "1w", "3d"].includes(interval));
    fc.assert(
      fc.property(
        fc.constantFrom(...spot.symbols),
        anyTime,
        fc.constantFrom(...longer),
        (symbol, at, interval) => {
          const openTime = openTimeOf(interval, at);
          const candle = candleAt(spot, symbol, interval, openTime, Infinity);
          const minutes = candlesOf(spot, symbol, "1m", nextOpenTime(interval, openTime) - 1, {
            startTime: openTime,
            limit: 1_440,
          });
          expect(candle?.open).toBe(minutes[0]?.open);
          expect(candle?.close).toBe(minutes.at(-1)?.close);
          expect(Number(candle?.high)).toBe(Math.max(...minutes.map((minute) => Number(minute.high))));
          expect(Number(candle?.low)).toBe(Math.min(...minutes.map((minute) => Number(minute.low))));
          expect(candle?.tradeCount).toBe(minutes.reduce((sum, minute) => sum + minute.tradeCount, 0));
          const unitsIn = (text: string) => BigInt(text.replace(".", ""));
          for (const key of ["volume", "quoteVolume", "takerBuyVolume", "takerBuyQuoteVolume"] as const) {
            const sum = minutes.reduce((units, minute) => units + unitsIn(minute[key]), 0n);
            expect(unitsIn(candle?.[key] ?? "")).toBe(sum);
          }
        },
      ),
      { ...runs, numRuns: 20 },
    );
  });

  test("weeks and months agree with their days", () => {
    const { SPOT: spot } = createSimulatedSources("1");
    for (const interval of ["3d", "1w", "1M"] as const) {
      const openTime = openTimeOf(interval, Date.UTC(2025, 4, 20));
      const until = nextOpenTime(interval, openTime) - 1;
      const candle = candleAt(spot, "ETHUSDT", interval, openTime, until);
      const days = candlesOf(spot, "ETHUSDT", "1d", until, { startTime: openTime, limit: 31 });
      expect(days.length).toBe(Math.round((until - openTime) / dayMs));
      expect(candle?.tradeCount).toBe(days.reduce((sum, day) => sum + day.tradeCount, 0));
      expect(candle?.open).toBe(days[0]?.open);
      expect(Number(candle?.high)).toBe(Math.max(...days.map((day) => Number(day.high))));
    }
  });

  test("a row has the twelve elements of the reference, and there is none before the listing", () => {
    const { SPOT: spot } = createSimulatedSources("1");
    const [first, ...others] = candlesOf(spot, "BTCUSDT", "1d", Date.UTC(2026, 0, 1), {
      startTime: 0,
      limit: 2,
    });
    expect(others.length).toBe(1);
    expect(first?.openTime).toBe(listedAt);
    const row = first ? klineRow(first) : [];
    const kinds = row.map((element) => typeof element);
    const text = "string";
    expect(kinds).toEqual([
      "number",
      ...[text, text, text, text, text],
      "number",
      text,
      "number",
      ...[text, text, text],
    ]);
    expect(row[6]).toBe(listedAt + dayMs - 1);
    expect(row[11]).toBe("0");
  });
});

describe("the simulated market as a pure function", () => {
  test("two instances agree, whatever each was asked before", () => {
    fc.assert(
      fc.property(anyListing, fc.array(anyTime, { minLength: 2, maxLength: 12 }), (listing, times) => {
        const answersOf = (market: SimulatedMarket, asked: readonly number[]) =>
          new Map(asked.map((at) => [at, [market.lastTrade(at), market.totals(at - dayMs, at)]]));
        const forwards = answersOf(createMarket("7", listing), times);
        const backwards = answersOf(createMarket("7", listing), times.toReversed());
        for (const at of times) expect(backwards.get(at)).toEqual(forwards.get(at));
      }),
      { ...runs, numRuns: 20 },
    );
  });

  test("another seed is another market", () => {
    const at = Date.UTC(2026, 6, 1, 12);
    const priceOf = (seed: string) => createSimulatedSources(seed).SPOT.lastTrade("BTCUSDT", at)?.price;
    expect(priceOf("1")).toBe(priceOf("1"));
    expect(priceOf("1")).not.toBe(priceOf("2"));
  });
});
