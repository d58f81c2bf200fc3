import { describe, expect, test } from "vitest";
import { LATENCY_BOUNDS_MS, MINUTES_KEPT, percentileMs, Traffic } from "./traffic.ts";

const MINUTE = 60_000;
const T = 1_000 * MINUTE;

describe("traffic", () => {
  test("is counted by route, status and bucket of latency", () => {
    const traffic = new Traffic(T);
    for (const latencyMs of [0.05, 0.1, 0.11, 20_000]) traffic.count("GET", "/a", 200, latencyMs, T);
    traffic.count("GET", "/a", 429, 1, T);
    traffic.count("POST", "/a", 200, 1, T);
    const [get, post, ...others] = traffic.routes();
    expect(others).toEqual([]);
    expect(post).toMatchObject({ method: "POST", path: "/a" });
    expect([...(get?.statuses ?? [])]).toEqual([
      [200, 4],
      [429, 1],
    ]);
    const [fine, refused] = get?.classes ?? [];
    expect(fine).toMatchObject({ name: "2xx", count: 4, sumMs: 20_000.26 });
    expect(fine?.buckets).toEqual([2, 1, ...Array(LATENCY_BOUNDS_MS.length - 2).fill(0), 1]);
    expect(refused).toMatchObject({ name: "4xx", count: 1 });
  });

  test("is counted by minute, without gaps and for so many minutes", () => {
    const traffic = new Traffic(T);
    traffic.count("GET", "/a", 200, 1, T + 1);
    traffic.count("GET", "/a", 503, 1, T + 59_999);
    traffic.count("GET", "/a", 404, 1, T + 2 * MINUTE);
    // A clock that was set back.
    traffic.count("GET", "/a", 200, 1, T);
    expect(traffic.minutes(T + 3 * MINUTE)).toEqual([
      { at: T, count: 2, errors: 1 },
      { at: T + MINUTE, count: 0, errors: 0 },
      { at: T + 2 * MINUTE, count: 2, errors: 0 },
      { at: T + 3 * MINUTE, count: 0, errors: 0 },
    ]);
    for (let minute = 3; minute < 200; minute += 1) traffic.count("GET", "/a", 200, 1, T + minute * MINUTE);
    const minutes = traffic.minutes(T + 199 * MINUTE);
    expect(minutes).toHaveLength(MINUTES_KEPT);
    expect(minutes.every(({ count }) => count === 1)).toBe(true);
    expect(minutes.at(-1)?.at).toBe(T + 199 * MINUTE);
  });

  test("has percentiles between the bounds of their buckets", () => {
    const traffic = new Traffic(T);
    for (let count = 0; count < 99; count += 1) traffic.count("GET", "/a", 200, 1.2, T);
    traffic.count("GET", "/a", 500, 60, T);
    const classes = traffic.routes()[0]?.classes ?? [];
    for (const [share, least, most] of [
      [0.5, 1, 1.5],
      [0.99, 1, 1.5],
      [0.995, 50, 70],
      [1, 50, 70],
    ] as const) {
      expect(percentileMs(classes, share)).toBeGreaterThanOrEqual(least);
      expect(percentileMs(classes, share)).toBeLessThanOrEqual(most);
    }
    expect(percentileMs([], 0.5)).toBe(0);
  });
});
