// How far apart the points of a report are: as near as the part of the range in which there was a strategy
// allows.
import { describe, expect, test } from "vitest";
import { REPORT_RANGES } from "./report.ts";
import { endedBy, type Span, spanOf, sparklineSpan } from "./span.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Tuesday, and no round time. */
const NOW = 1_700_000_123_456;

const inWords = ({ candles, stepMs }: Span) => `${candles.interval} ${stepMs / 1_000} s`;

describe("the steps of a strategy", () => {
  test.each([
    // age, spot, futures
    [5 * MINUTE, "1s 1 s", "1m 60 s"],
    [15 * MINUTE, "1s 3 s", "1m 60 s"],
    [16 * MINUTE, "1m 60 s", "1m 60 s"],
    [5 * HOUR, "1m 60 s", "1m 60 s"],
    [14 * HOUR, "3m 180 s", "3m 180 s"],
    [25 * HOUR, "5m 300 s", "5m 300 s"],
  ])("that is %i ms old are the same in every range that holds all of it", (age, spot, futures) => {
    const earliest = NOW - age;
    for (const range of REPORT_RANGES.filter((each) => each !== "24h" || age < DAY)) {
      expect(inWords(spanOf(range, { type: "SPOT", earliest, to: NOW })), range).toBe(spot);
      expect(inWords(spanOf(range, { type: "FUTURES", earliest, to: NOW })), range).toBe(futures);
    }
  });

  test("that is older than its range are those of the range", () => {
    const limits = { type: "SPOT", earliest: NOW - 400 * DAY, to: NOW } as const;
    expect(REPORT_RANGES.map((range) => inWords(spanOf(range, limits)))).toEqual([
      "5m 300 s",
      "30m 1800 s",
      "2h 7200 s",
      "3d 259200 s",
    ]);
    expect(inWords(sparklineSpan(limits))).toBe("1h 3600 s");
  });
});

describe.each(["SPOT", "FUTURES"] as const)("of %s at any age", (type) => {
  const AGES = Array.from({ length: 2_000 }, (_, index) => Math.floor(1_000 * 1.01 ** index)).filter(
    (age) => age < 5 * 365 * DAY,
  );
  const spans = (age: number) => {
    const limits = { type, earliest: NOW - age, to: NOW };
    return [...REPORT_RANGES.map((range) => spanOf(range, limits)), sparklineSpan(limits)];
  };

  test("points are few enough, evenly spaced, and each at the end of a candle", () => {
    for (const age of AGES) {
      const found = spans(age);
      for (const { from, to, times, stepMs, candles } of found) {
        expect(times.length).toBeLessThanOrEqual(362);
        expect([times[0], times.at(-1)]).toEqual([from, to]);
        const inner = times.slice(1, -1);
        expect(inner.filter((at) => endedBy(at, candles) !== at)).toEqual([]);
        expect(inner.filter((at, index) => index > 0 && at - (inner[index - 1] ?? 0) !== stepMs)).toEqual([]);
      }
      expect(found.at(-1)?.times.length).toBeLessThanOrEqual(24);
    }
  });

  test("one question brings all candles, and some before", () => {
    for (const age of AGES) {
      for (const { from, to, candles } of spans(age)) {
        expect((to - from) / candles.lengthMs).toBeLessThanOrEqual(900);
        if (type === "FUTURES") expect(candles.interval).not.toBe("1s");
      }
    }
  });

  test("what is shorter than the range never has larger steps than the range", () => {
    for (const age of AGES) {
      const [day, week, month] = spans(age).map(({ stepMs }) => stepMs);
      expect(day).toBeLessThanOrEqual(5 * MINUTE);
      expect(week).toBeLessThanOrEqual(30 * MINUTE);
      expect(month).toBeLessThanOrEqual(2 * HOUR);
    }
  });
});

test("what another server has opened a moment ahead of this one's clock is a point", () => {
  const span = spanOf("all", { type: "SPOT", earliest: NOW + 50, to: NOW });
  expect(span).toMatchObject({ from: NOW, to: NOW, times: [NOW, NOW] });
});
