import { expect, test } from "vitest";
import { BackOff, backOffMs, Pauses } from "./delays.ts";
import { createManualTime } from "./testing/manual-time.ts";

test("delays double up to the longest one, and begin with the shortest after a success", () => {
  const backOff = new BackOff({ minMs: 100, maxMs: 500 });
  expect(Array.from({ length: 5 }, () => backOff.next())).toEqual([100, 200, 400, 500, 500]);
  backOff.reset();
  expect(backOff.next()).toBe(100);
  expect(backOffMs(5_000, { minMs: 100, maxMs: 500 })).toBe(500);
});

test("a pause lasts until its time, or until all pauses are ended", async () => {
  const time = createManualTime();
  const pauses = new Pauses(time.after);
  const ended: string[] = [];
  const [short] = [100, 200].map(async (ms) => {
    await pauses.pause(ms);
    ended.push(`${ms} ms`);
  });
  time.advance(100);
  await short;
  expect(ended).toEqual(["100 ms"]);
  pauses.end();
  await pauses.pause(1_000);
  expect([ended, pauses.isOver, time.pending()]).toEqual([["100 ms", "200 ms"], true, 0]);
});
