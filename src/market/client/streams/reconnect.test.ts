import { expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { createRetries, ReconnectDelays, retryPaces } from "./reconnect.ts";

/** The delays of an outage that lasts `untilMs`, each attempt failing at once. */
function delaysOf(
  untilMs: number,
  share: number,
): readonly { readonly atMs: number; readonly delayMs: number }[] {
  const time = createManualTime(0);
  const delays = new ReconnectDelays({ clock: time, random: () => share });
  const retries: { atMs: number; delayMs: number }[] = [];
  while (time.now() < untilMs) {
    const delayMs = delays.next();
    retries.push({ atMs: time.now(), delayMs });
    time.advance(delayMs);
  }
  return retries;
}

test("the first retry is quick, the next double from one second to three for two minutes", () => {
  const early = delaysOf(120_000, 0.5).map(({ delayMs }) => delayMs);
  expect(early.slice(0, 5)).toEqual([100, 1_000, 2_000, 3_000, 3_000]);
  expect(Math.max(...early)).toBe(3_000);
});

test("in an outage of more than two minutes they double on to thirty seconds", () => {
  const late = delaysOf(600_000, 0.5).filter(({ atMs }) => atMs >= 120_000);
  expect(late.slice(0, 6).map(({ delayMs }) => delayMs)).toEqual([
    6_000, 12_000, 24_000, 30_000, 30_000, 30_000,
  ]);
});

test("a connection that lasted begins another outage", () => {
  const time = createManualTime(0);
  const delays = new ReconnectDelays({ clock: time, random: () => 0.5 });
  for (let retry = 0; retry < 9; retry += 1) delays.next();
  time.advance(300_000);
  delays.reset();
  expect([delays.next(), delays.next(), delays.next(), delays.next()]).toEqual([100, 1_000, 2_000, 3_000]);
});

test("a delay is spread over half of itself to either side, and never above the longest", () => {
  expect(delaysOf(10_000, 0).map(({ delayMs }) => delayMs)).toEqual(
    expect.arrayContaining([50, 500, 1_000, 1_500]),
  );
  expect(Math.max(...delaysOf(120_000, 0.999).map(({ delayMs }) => delayMs))).toBe(3_000);
  expect(Math.max(...delaysOf(600_000, 0.999).map(({ delayMs }) => delayMs))).toBe(30_000);
});

test.each([
  ["trading", retryPaces.trading, 171],
  ["clients", retryPaces.clients, 52],
])(
  "however many retries of %s are wanted at once, no five minutes see more than its share",
  async (_whose, pace, most) => {
    const time = createManualTime(0);
    const retries = createRetries(pace, time, time);
    const attempts: number[] = [];
    for (let retry = 0; retry < 1_000; retry += 1) retries.begin(async () => void attempts.push(time.now()));
    for (let second = 0; second < 900; second += 1) {
      time.advance(1_000);
      await Promise.resolve();
    }
    const inFiveMinutes = attempts.map(
      (from) => attempts.filter((at) => at >= from && at < from + 300_000).length,
    );
    expect(Math.max(...inFiveMinutes)).toBe(most);
    expect(attempts.length).toBeGreaterThan(2 * most);
  },
);
