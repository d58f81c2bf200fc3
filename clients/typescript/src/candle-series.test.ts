// The rules for consumers of candles. Source: specification 6.3.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type CandleNews, CandleSeries } from "./candle-series.ts";
import type { Candle } from "./messages.ts";

const LENGTH = 1_000;
const seed = Math.trunc(Math.random() * 2 ** 31);

/** Candle number `index` in some revision. */
function candle(index: number, revision: number | "final"): Candle {
  const startTime = index * LENGTH;
  const price = revision === "final" ? `${index}.9` : `${index}.${revision}`;
  const prices = { open: `${index}`, high: price, low: `${index}`, close: price, volume: "1" };
  return { ...prices, startTime, closeTime: startTime + LENGTH - 1, isFinal: revision === "final" };
}

function told({ tick, finals }: CandleNews) {
  return [tick?.close ?? null, finals.map(({ close }) => close)];
}

test("every revision of a candle replaces the earlier one", () => {
  const series = new CandleSeries();
  expect(told(series.take(candle(1, 0)))).toEqual(["1.0", []]);
  expect(told(series.take(candle(1, 1)))).toEqual(["1.1", []]);
  expect(series.latest).toEqual(candle(1, 1));
});

test("a final is reported once, and nothing of its candle after it", () => {
  const series = new CandleSeries();
  series.take(candle(1, 0));
  expect(told(series.take(candle(1, "final")))).toEqual(["1.9", ["1.9"]]);
  expect(told(series.take(candle(1, "final")))).toEqual([null, []]);
  expect(told(series.take(candle(1, 3)))).toEqual([null, []]);
});

test("an older candle is not shown after a newer one", () => {
  const series = new CandleSeries();
  series.take(candle(1, 0));
  series.take(candle(2, 0));
  expect(told(series.take(candle(1, 1)))).toEqual([null, []]);
  expect(series.latest).toEqual(candle(2, 0));
});

test("a final that was missed is missing until it is backfilled, and later ones wait for it", () => {
  const series = new CandleSeries();
  series.take(candle(1, 0));
  expect(told(series.take(candle(3, 0)))).toEqual(["3.0", []]);
  expect(series.isMissing).toBe(true);
  expect(told(series.take(candle(3, "final")))).toEqual(["3.9", []]);
  const listed = [candle(1, 9), candle(2, 9), candle(3, 9), candle(4, 2)];
  expect(told(series.backfill(listed, false))).toEqual([null, ["1.9", "2.9", "3.9"]]);
  expect(series.isMissing).toBe(false);
  expect(told(series.take(candle(4, "final")))).toEqual(["4.9", ["4.9"]]);
});

test("a late streamed final releases the waiting ones", () => {
  const series = new CandleSeries();
  series.take(candle(1, 0));
  series.take(candle(2, "final"));
  expect(told(series.take(candle(1, "final")))).toEqual([null, ["1.9", "2.9"]]);
  expect(series.isMissing).toBe(false);
});

test("the newest candle of a list forms, unless it is known to have ended", () => {
  const series = new CandleSeries();
  expect(told(series.backfill([candle(1, 9), candle(2, 5)], true))).toEqual(["2.5", []]);
  expect(told(series.backfill([{ ...candle(2, 9), isFinal: true }], true))).toEqual(["2.9", ["2.9"]]);
});

test("a candle that forms is not shown from a list while the stream is alive", () => {
  const series = new CandleSeries();
  series.take(candle(1, 0));
  series.take(candle(2, 4));
  expect(told(series.backfill([candle(1, 9), candle(2, 1)], false))).toEqual([null, ["1.9"]]);
  expect(series.latest).toEqual(candle(2, 4));
});

test("a candle whose final was backfilled is not shown forming any more", () => {
  const series = new CandleSeries();
  series.take(candle(1, 0));
  expect(told(series.backfill([candle(1, 9), candle(2, 1)], false))).toEqual([null, ["1.9"]]);
  expect(told(series.take(candle(1, 3)))).toEqual([null, []]);
});

test("candles that the upstream does not list are not waited for", () => {
  const series = new CandleSeries();
  series.take(candle(1, "final"));
  expect(told(series.backfill([candle(4, 9), candle(5, 1)], true))).toEqual(["5.1", ["4.9"]]);
});

test("what cannot be had is skipped, up to the first final that waits", () => {
  const series = new CandleSeries();
  series.take(candle(1, "final"));
  series.take(candle(4, "final"));
  series.take(candle(5, "final"));
  series.take(candle(6, 0));
  const { from, until, finals } = series.skip();
  expect([from, until, finals.map(({ close }) => close)]).toEqual([2_000, 4_000, ["4.9", "5.9"]]);
  expect(series.isMissing).toBe(false);
});

test(`whatever is lost, repeated or late, finals come once each and in order, and ticks never go back (seed ${seed})`, () => {
  const step = fc.record({ advance: fc.integer({ min: 0, max: 2 }), what: fc.integer({ min: 0, max: 9 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const series = new CandleSeries();
      const finals: Candle[] = [];
      const ticks: Candle[] = [];
      const take = (news: CandleNews) => {
        if (news.tick !== null) ticks.push(news.tick);
        finals.push(...news.finals);
      };
      // The market's present candle; the stream sends it, or an earlier one again, or nothing at all.
      let present = 3;
      let first: number | null = null;
      for (const { advance, what } of steps) {
        present += advance;
        if (what < 3) take(series.take(candle(present, what)));
        else if (what < 5) take(series.take(candle(present - 1, "final")));
        else if (what === 5) take(series.take(candle(present - 2, 1)));
        else if (what === 6) take(series.take(candle(present - 2, "final")));
        else if (what < 8) take(series.backfill(listed(series, present), what === 7));
        first ??= series.nextStart === null ? null : series.nextStart / LENGTH - finals.length;
      }
      // In the end the upstream has all of it.
      take(series.backfill(listed(series, present), true));
      const start = first ?? present;
      expect(finals.map(({ startTime }) => startTime / LENGTH)).toEqual(
        Array.from({ length: present - start }, (_, index) => start + index),
      );
      expect(finals.every(({ isFinal, close }) => isFinal && close.endsWith(".9"))).toBe(true);
      const starts = ticks.map(({ startTime }) => startTime);
      expect(starts).toEqual([...starts].sort((one, other) => one - other));
      expect(series.isMissing).toBe(false);
    }),
    { seed, numRuns: 500 },
  );
});

/** Upstream's list from the requested start to the candle that forms. */
function listed(series: CandleSeries, present: number): Candle[] {
  const from = series.nextStart === null ? present : series.nextStart / LENGTH;
  return Array.from({ length: Math.max(0, present + 1 - from) }, (_, index) =>
    candle(from + index, from + index === present ? 4 : 9),
  );
}
