import { expect, test } from "vitest";
import { AsyncCache, BoundedMap } from "./bounded-map.ts";

test("a further entry replaces the oldest one; an entry that is set again is the newest", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("one", 1).set("two", 2).set("one", 3).set("three", 4);
  expect([...map]).toEqual([
    ["one", 3],
    ["three", 4],
  ]);
});

test("a value is created once; those that were not used for longest are dropped", () => {
  const map = new BoundedMap<string, number>(2);
  let created = 0;
  const use = (key: string) => map.use(key, () => ++created);
  expect(["one", "two", "one", "three", "one", "two"].map(use)).toEqual([1, 2, 1, 3, 1, 4]);
});

function createFixture({ ttlMs = 1_000, sizeMax = 2 } = {}) {
  let now = 0;
  let loads = 0;
  const cache = new AsyncCache<number>({ wallNow: () => now }, { ttlMs, sizeMax });
  const load = async () => {
    loads += 1;
    return loads;
  };
  return {
    cache,
    get: (name: string) => cache.get(name, load),
    pass(ms: number) {
      now += ms;
    },
    loads: () => loads,
  };
}

test("a result is loaded once while it is cached, also for concurrent callers", async () => {
  const { get, pass, loads } = createFixture();
  expect(await Promise.all([get("one"), get("one"), get("one")])).toEqual([1, 1, 1]);
  pass(999);
  expect(await get("one")).toBe(1);
  pass(1);
  expect(await get("one")).toBe(2);
  expect(loads()).toBe(2);
});

test("a failure is not cached", async () => {
  const { cache, get } = createFixture();
  await expect(cache.get("one", () => Promise.reject(new Error("odd")))).rejects.toThrow("odd");
  expect(await get("one")).toBe(1);
});

test("at the bound the oldest results are dropped", async () => {
  const { get } = createFixture({ sizeMax: 2 });
  for (const name of ["one", "two", "three"]) await get(name);
  expect([await get("two"), await get("three"), await get("one")]).toEqual([2, 3, 4]);
});
