import { expect, test } from "vitest";
import { createManualTime } from "../../market/client/testing/manual-time.ts";
import { LOOK_INTERVAL_MS, LOOKS_PER_SECOND_MAX, type Looked, type LookPlace, Looks } from "./looks.ts";

/** Where looks cost something. */
function place(perSecond: number, now: () => number): LookPlace {
  const began = now();
  let taken = 0;
  return {
    mayLook(weight) {
      if (taken + weight > ((now() - began) / 1_000) * perSecond) return false;
      taken += weight;
      return true;
    },
  };
}
const ANYWHERE: LookPlace = { mayLook: () => true };

function stage(count: number, placeOf: (name: number, now: () => number) => LookPlace = () => ANYWHERE) {
  const time = createManualTime();
  const looks = new Looks({ wallNow: time.now, every: time.every });
  const seen: { readonly name: number; readonly at: number }[] = [];
  const looked = Array.from(
    { length: count },
    (_, name): Looked => ({
      lookedAt: time.now(),
      lookPlace: placeOf(name, time.now),
      lookWeight: 20,
      findPlace() {},
      lookSoon: () => seen.push({ name, at: time.now() }),
    }),
  );
  looks.add(looked);
  return { time, looks, looked, seen };
}

test("few copies are looked at once in an interval each", () => {
  const { time, seen } = stage(3);
  time.advance(LOOK_INTERVAL_MS - 1);
  expect(seen).toEqual([]);
  time.advance(2 * LOOK_INTERVAL_MS);
  expect(seen.map(({ name }) => name)).toEqual([0, 1, 2, 0, 1, 2]);
});

test("many copies are looked at in turn, no more in a second than the rate", () => {
  const { time, seen } = stage(1_000);
  time.advance(LOOK_INTERVAL_MS + 100_000);
  const bySecond = Map.groupBy(seen, ({ at }) => Math.floor(at / 1_000));
  for (const looks of bySecond.values()) expect(looks.length).toBeLessThanOrEqual(LOOKS_PER_SECOND_MAX);
  expect(seen.slice(0, 1_000).map(({ name }) => name)).toEqual(
    Array.from({ length: 1_000 }, (_, name) => name),
  );
});

test("one that is taken out is looked at no more", () => {
  const { time, looks, looked, seen } = stage(2);
  const [first] = looked;
  if (first !== undefined) looks.remove(first);
  time.advance(LOOK_INTERVAL_MS);
  expect(seen.map(({ name }) => name)).toEqual([1]);
  looks.close();
  time.advance(LOOK_INTERVAL_MS);
  expect(seen).toHaveLength(1);
});

test("a place with a small budget is looked at as often as that goes, and holds up no other", () => {
  let small: LookPlace | null = null;
  const { time, seen } = stage(40, (name, now) => {
    small ??= place(20, now);
    return name < 20 ? small : ANYWHERE;
  });
  time.advance(LOOK_INTERVAL_MS + 60_000);
  const looks = (from: number, to: number) => seen.filter(({ name }) => name >= from && name < to).length;
  expect(looks(0, 20)).toBe(75);
  expect(looks(20, 40)).toBeGreaterThanOrEqual(20 * 4);
});

test("where one is looked at is found out first, and it is looked at then", () => {
  const time = createManualTime();
  const looks = new Looks({ wallNow: time.now, every: time.every });
  const seen: number[] = [];
  const looked = {
    lookedAt: 0,
    lookPlace: null as LookPlace | null,
    lookWeight: 20,
    findPlace() {
      looked.lookPlace = ANYWHERE;
    },
    lookSoon: () => seen.push(time.now()),
  };
  looks.add([looked]);
  time.advance(1_000);
  expect(seen).toHaveLength(1);
});
