// What was found out is kept for a while, once for all who ask.
import { expect, test } from "vitest";
import { Kept } from "./kept.ts";

function keeping({ keptMs = 1_000, most = 2 } = {}) {
  let now = 0;
  let finds = 0;
  const kept = new Kept<number>({ wallNow: () => now }, { keptMs, most });
  const find = async () => {
    finds += 1;
    return finds;
  };
  return {
    kept,
    ask: (name: string) => kept.get(name, find),
    pass(ms: number) {
      now += ms;
    },
    finds: () => finds,
  };
}

test("it is found out once while it is kept, also for those who ask at the same time", async () => {
  const { ask, pass, finds } = keeping();
  expect(await Promise.all([ask("one"), ask("one"), ask("one")])).toEqual([1, 1, 1]);
  pass(999);
  expect(await ask("one")).toBe(1);
  pass(1);
  expect(await ask("one")).toBe(2);
  expect(finds()).toBe(2);
});

test("what failed is found out again", async () => {
  const { kept, ask } = keeping();
  await expect(kept.get("one", () => Promise.reject(new Error("odd")))).rejects.toThrow("odd");
  expect(await ask("one")).toBe(1);
});

test("so much is kept at most: what was found out first goes first", async () => {
  const { ask } = keeping({ most: 2 });
  for (const name of ["one", "two", "three"]) await ask(name);
  expect([await ask("two"), await ask("three"), await ask("one")]).toEqual([2, 3, 4]);
});
