// How much of a long history is left: first and last, and between them what the order had, evenly in time.
import { describe, expect, test } from "vitest";
import { QUEUE_POINTS_MAX } from "../domain/receipt.ts";
import { type Quantity, ZERO } from "../money/decimal.ts";
import { QueueHistory } from "./queue-history.ts";

const POINTS_MAX = QUEUE_POINTS_MAX - 1;
const PLACED_AT = 1_767_225_600_000;
const FIRST = 1_000_000;

const position = (ahead: number) => ({
  ...{ ahead: BigInt(ahead) as Quantity, tradedAtPrice: BigInt(FIRST - ahead) as Quantity },
  canceledAhead: ZERO,
});

type Point = { readonly at: number; readonly ahead: number };

/**
 * What is left of the history after each of these times after the placement, at which one unit leaves the
 * queue.
 */
function historiesOf(times: readonly number[]): readonly (readonly Point[])[] {
  const history = new QueueHistory(PLACED_AT, position(FIRST));
  return times.map((time, index) => {
    history.add(PLACED_AT + time, position(FIRST - index - 1));
    return history.points().map(({ time, ahead }) => ({ at: time - PLACED_AT, ahead: Number(ahead) }));
  });
}

const timesBy = (count: number, timeOf: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => timeOf(index));

test("a short history is whole", () => {
  const times = timesBy(POINTS_MAX - 1, (index) => index * 7);
  const all = times.map((at, index) => ({ at, ahead: FIRST - index - 1 }));
  expect(historiesOf(times).at(-1)).toEqual([{ at: 0, ahead: FIRST }, ...all]);
});

describe("of a long one", () => {
  test.each([
    ["evenly", (index: number) => index * 100],
    ["in a burst at the end", (index: number) => (index < 5 ? index * 10_000 : 50_000 + index)],
    ["in a burst at the beginning", (index: number) => (index < 900 ? index : index * 1_000)],
    ["several times in each millisecond", (index: number) => Math.floor(index / 50)],
    ["in one millisecond", () => 1],
  ])("that moves %s first and last stay, and each point is one that it had", (_, timeOf) => {
    const times = timesBy(1_000, timeOf);
    for (const [index, points] of historiesOf(times).entries()) {
      expect(points.length).toBeLessThanOrEqual(POINTS_MAX);
      expect(points[0]).toEqual({ at: 0, ahead: FIRST });
      expect(points.at(-1)).toEqual({ at: times[index], ahead: FIRST - index - 1 });
      for (const { at, ahead } of points.slice(1)) expect(at).toBe(times[FIRST - ahead - 1]);
    }
  });

  test("a third of the points or more is used, evenly in time", () => {
    const times = timesBy(1_000, (index) => (index + 1) * 100);
    for (const [index, points] of historiesOf(times).entries()) {
      if (index < POINTS_MAX) continue;
      expect(points.length).toBeGreaterThanOrEqual(POINTS_MAX / 3);
      const longest = Math.max(...points.slice(1).map(({ at }, place) => at - (points[place]?.at ?? 0)));
      expect(longest).toBeLessThanOrEqual(((times[index] ?? 0) / POINTS_MAX) * 4);
    }
  });

  test("the few moves before a burst stay", () => {
    const early = [10_000, 20_000, 30_000];
    const points = historiesOf([...early, ...timesBy(500, (index) => 40_000 + index)]).at(-1) ?? [];
    expect(points.slice(0, 4).map(({ at }) => at)).toEqual([0, ...early]);
  });
});

test("an event that was received late has the time of the one before it", () => {
  const points = historiesOf([-5, 20, 10, 30]).at(-1) ?? [];
  expect(points.map(({ at }) => at)).toEqual([0, 0, 20, 20, 30]);
});
