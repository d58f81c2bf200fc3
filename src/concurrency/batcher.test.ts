import { expect, test } from "vitest";
import { Batcher, createKeyBatcher } from "./batcher.ts";

const SIZE_MAX = 500;

/** Answers even numbers with themselves and odd ones with null; records the batches. */
function evenNumbers() {
  const batches: (readonly number[])[] = [];
  const batcher = new Batcher(
    async (numbers: readonly number[]) => {
      batches.push(numbers);
      if (numbers.includes(13)) throw new Error("thirteen");
      return numbers.map((number) => (number % 2 === 0 ? number : null));
    },
    { sizeMax: SIZE_MAX },
  );
  return { batcher, batches };
}

test("items of one event-loop iteration share a batch, and each gets its own result", async () => {
  const { batcher, batches } = evenNumbers();
  expect(await Promise.all([4, 3, 4, 2].map((number) => batcher.add(number)))).toEqual([4, null, 4, 2]);
  expect(batches).toEqual([[4, 3, 4, 2]]);
});

test("items that are added while a batch is in flight share the next one", async () => {
  const { batcher, batches } = evenNumbers();
  const first = batcher.add(2);
  await new Promise((resolve) => setImmediate(resolve));
  const [next, another] = [batcher.add(4), batcher.add(6)];
  expect(await Promise.all([first, next, another])).toEqual([2, 4, 6]);
  expect(batches).toEqual([[2], [4, 6]]);
});

test("a batch that fails fails for all of its items, and for no others", async () => {
  const { batcher } = evenNumbers();
  const together = await Promise.allSettled([batcher.add(2), batcher.add(13)]);
  expect(together.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await batcher.add(2)).toBe(2);
});

test("items beyond the size of a batch are processed in several", async () => {
  const { batcher, batches } = evenNumbers();
  const numbers = Array.from({ length: 1_001 }, (_, index) => 2 * index);
  expect(await Promise.all(numbers.map((number) => batcher.add(number)))).toEqual(numbers);
  expect(batches.map(({ length }) => length)).toEqual([500, 500, 1]);
});

test("an item without a result is rejected, and the others have theirs", async () => {
  const batcher = new Batcher(async ([first = 0]: readonly number[]) => [first], { sizeMax: SIZE_MAX });
  const together = await Promise.allSettled([batcher.add(2), batcher.add(4)]);
  expect(together).toMatchObject([
    { value: 2 },
    { reason: { message: "a batch has no result for one of its items" } },
  ]);
});

test("an item that has waited too long is rejected and never processed", async () => {
  let now = 0;
  const batches: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const batcher = new Batcher(
    async (names: readonly string[]) => {
      batches.push(names);
      await new Promise<void>((resolve) => ends.push(resolve));
      return names;
    },
    { sizeMax: 2, expiry: { waitMs: 100, error: () => new Error("too late") }, now: () => now },
  );
  const first = batcher.add("first");
  await new Promise((resolve) => setImmediate(resolve));
  const late = batcher.add("late");
  now = 50;
  const timely = batcher.add("timely");
  for (const name of ["more", "most"]) void batcher.add(name);
  expect([batcher.isBehind(49), batcher.isBehind(50)]).toEqual([true, false]);
  now = 101;
  ends[0]?.();
  expect(await first).toBe("first");
  await expect(late).rejects.toThrow("too late");
  ends[1]?.();
  expect(await timely).toBe("timely");
  expect(batches.slice(0, 2)).toEqual([["first"], ["timely", "more"]]);
});

test("keys are batched, a key in flight is not requested again, and further keys wait for a free request", async () => {
  const requests: string[] = [];
  const answers: (() => void)[] = [];
  const ask = createKeyBatcher(
    (keys) => {
      requests.push(keys.join());
      return new Promise((resolve) => answers.push(resolve));
    },
    { keysMax: 2, concurrentMax: 1 },
  );
  const [first] = [ask("a"), ask("b"), ask("c"), ask("a")];
  await Promise.resolve();
  expect(requests).toEqual(["a,b"]);
  expect(ask("b")).not.toBe(first);
  answers[0]?.();
  await first;
  expect(requests).toEqual(["a,b", "c"]);
  void ask("a");
  answers[1]?.();
  await ask("c");
  expect(requests).toEqual(["a,b", "c", "a"]);
});
