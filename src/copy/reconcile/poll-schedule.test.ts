import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import { POLL_INTERVAL_MS, POLLS_PER_SECOND_MAX, type Polled, type PollPlace, PollSchedule } from "./poll.ts";

/** Where polls cost something. */
function place(perSecond: number, now: () => number): PollPlace {
  const began = now();
  let taken = 0;
  return {
    mayPoll(weight) {
      if (taken + weight > ((now() - began) / 1_000) * perSecond) return false;
      taken += weight;
      return true;
    },
  };
}
const ANYWHERE: PollPlace = { mayPoll: () => true };

function createFixture(
  count: number,
  placeOf: (name: number, now: () => number) => PollPlace = () => ANYWHERE,
) {
  const time = createManualTime();
  const schedule = new PollSchedule({ wallNow: time.now, every: time.every });
  const seen: { readonly name: number; readonly at: number }[] = [];
  const polled = Array.from(
    { length: count },
    (_, name): Polled => ({
      polledAt: time.now(),
      pollPlace: placeOf(name, time.now),
      pollWeight: 20,
      findPlace() {},
      pollSoon: () => seen.push({ name, at: time.now() }),
    }),
  );
  schedule.add(polled);
  return { time, schedule, polled, seen };
}

test("few copies are polled at once in an interval each", () => {
  const { time, seen } = createFixture(3);
  time.advance(POLL_INTERVAL_MS - 1);
  expect(seen).toEqual([]);
  time.advance(2 * POLL_INTERVAL_MS);
  expect(seen.map(({ name }) => name)).toEqual([0, 1, 2, 0, 1, 2]);
});

test("many copies are polled round-robin, no more in a second than the rate", () => {
  const { time, seen } = createFixture(1_000);
  time.advance(POLL_INTERVAL_MS + 100_000);
  const bySecond = Map.groupBy(seen, ({ at }) => Math.floor(at / 1_000));
  for (const schedule of bySecond.values()) expect(schedule.length).toBeLessThanOrEqual(POLLS_PER_SECOND_MAX);
  expect(seen.slice(0, 1_000).map(({ name }) => name)).toEqual(
    Array.from({ length: 1_000 }, (_, name) => name),
  );
});

test("a poll without balances is repeated soon, once, and before those whose turn it is", () => {
  const { time, schedule, polled, seen } = createFixture(1_000);
  const [first] = polled;
  if (first === undefined) throw new Error("there are copies");
  const { pollSoon } = first;
  first.pollSoon = () => {
    pollSoon();
    schedule.repeat(first);
  };
  time.advance(POLL_INTERVAL_MS + 200_000);
  const times = seen.filter(({ name }) => name === 0).map(({ at }) => at);
  const apart = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  // A turn of all thousand takes fifty seconds.
  expect(apart.slice(0, 4)).toEqual([5_000, expect.any(Number), 5_000, expect.any(Number)]);
  expect(apart[1]).toBeGreaterThan(45_000);
  expect(seen.length).toBeLessThanOrEqual((200 + 1) * POLLS_PER_SECOND_MAX);
});

test("one whose repeated poll weighs more is not overtaken for ever by lighter ones", () => {
  let small: PollPlace | null = null;
  const { time, schedule, polled, seen } = createFixture(100, (_name, now) => {
    small ??= place(50, now);
    return small;
  });
  const [first] = polled;
  if (first === undefined) throw new Error("there are copies");
  const { pollSoon } = first;
  Object.assign(first, {
    pollWeight: 100,
    pollSoon() {
      pollSoon();
      schedule.repeat(first);
    },
  });
  time.advance(POLL_INTERVAL_MS + 300_000);
  const times = seen.filter(({ name }) => name === 0).map(({ at }) => at);
  // A turn of all hundred takes some forty seconds.
  expect(times.length).toBeGreaterThan(10);
});

test("one that is taken out is polled at no more", () => {
  const { time, schedule, polled, seen } = createFixture(2);
  const [first] = polled;
  if (first !== undefined) schedule.remove(first);
  time.advance(POLL_INTERVAL_MS);
  expect(seen.map(({ name }) => name)).toEqual([1]);
  schedule.close();
  time.advance(POLL_INTERVAL_MS);
  expect(seen).toHaveLength(1);
});

test("a place with a small budget is polled at as often as that goes, and holds up no other", () => {
  let small: PollPlace | null = null;
  const { time, seen } = createFixture(40, (name, now) => {
    small ??= place(20, now);
    return name < 20 ? small : ANYWHERE;
  });
  time.advance(POLL_INTERVAL_MS + 60_000);
  const schedule = (from: number, to: number) => seen.filter(({ name }) => name >= from && name < to).length;
  expect(schedule(0, 20)).toBe(75);
  expect(schedule(20, 40)).toBeGreaterThanOrEqual(20 * 4);
});

test("where one is polled at is found out first, and it is polled at then", () => {
  const time = createManualTime();
  const schedule = new PollSchedule({ wallNow: time.now, every: time.every });
  const seen: number[] = [];
  const polled = {
    polledAt: 0,
    pollPlace: null as PollPlace | null,
    pollWeight: 20,
    findPlace() {
      polled.pollPlace = ANYWHERE;
    },
    pollSoon: () => seen.push(time.now()),
  };
  schedule.add([polled]);
  time.advance(1_000);
  expect(seen).toHaveLength(1);
});
