import { expect, test } from "vitest";
import { GatheredReads } from "./gathered-reads.ts";

/** Answers even numbers with themselves, and notes what was asked for together. */
function evenNumbers() {
  const asked: (readonly number[])[] = [];
  const reads = new GatheredReads(async (wanted: readonly number[]) => {
    asked.push(wanted);
    if (wanted.includes(13)) throw new Error("thirteen");
    const found = wanted.flatMap((number, index) => (number % 2 === 0 ? [[index, number] as const] : []));
    return new Map(found);
  });
  return { reads, asked };
}

test("what is asked for in one turn is read together, and each asker gets his own", async () => {
  const { reads, asked } = evenNumbers();
  expect(await Promise.all([4, 3, 4, 2].map((number) => reads.find(number)))).toEqual([4, null, 4, 2]);
  expect(asked).toEqual([[4, 3, 4, 2]]);
});

test("what is asked for while a read is under way is read after it", async () => {
  const { reads, asked } = evenNumbers();
  const first = reads.find(2);
  await new Promise((resolve) => setImmediate(resolve));
  const [next, another] = [reads.find(4), reads.find(6)];
  expect(await Promise.all([first, next, another])).toEqual([2, 4, 6]);
  expect(asked).toEqual([[2], [4, 6]]);
});

test("a read that fails fails for all who share it, and for no others", async () => {
  const { reads } = evenNumbers();
  const together = await Promise.allSettled([reads.find(2), reads.find(13)]);
  expect(together.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await reads.find(2)).toBe(2);
});

test("more than one statement may hold is read in several", async () => {
  const { reads, asked } = evenNumbers();
  const wanted = Array.from({ length: 1_001 }, (_, index) => 2 * index);
  expect(await Promise.all(wanted.map((number) => reads.find(number)))).toEqual(wanted);
  expect(asked.map(({ length }) => length)).toEqual([500, 500, 1]);
});
