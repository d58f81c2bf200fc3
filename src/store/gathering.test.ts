import { expect, test } from "vitest";
import { Gathering } from "./gathering.ts";

const GROUP_MAX = 500;

/** Answers even numbers with themselves, and notes what was asked for together. */
function evenNumbers() {
  const asked: (readonly number[])[] = [];
  const gathering = new Gathering(GROUP_MAX, async (wanted: readonly number[]) => {
    asked.push(wanted);
    if (wanted.includes(13)) throw new Error("thirteen");
    return wanted.map((number) => (number % 2 === 0 ? number : null));
  });
  return { gathering, asked };
}

test("what is asked for in one turn goes out together, and each asker gets his own", async () => {
  const { gathering, asked } = evenNumbers();
  expect(await Promise.all([4, 3, 4, 2].map((number) => gathering.ask(number)))).toEqual([4, null, 4, 2]);
  expect(asked).toEqual([[4, 3, 4, 2]]);
});

test("what is asked for while a group is under way goes out after it", async () => {
  const { gathering, asked } = evenNumbers();
  const first = gathering.ask(2);
  await new Promise((resolve) => setImmediate(resolve));
  const [next, another] = [gathering.ask(4), gathering.ask(6)];
  expect(await Promise.all([first, next, another])).toEqual([2, 4, 6]);
  expect(asked).toEqual([[2], [4, 6]]);
});

test("a group that fails fails for all who share it, and for no others", async () => {
  const { gathering } = evenNumbers();
  const together = await Promise.allSettled([gathering.ask(2), gathering.ask(13)]);
  expect(together.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await gathering.ask(2)).toBe(2);
});

test("more than one group may hold goes out in several", async () => {
  const { gathering, asked } = evenNumbers();
  const wanted = Array.from({ length: 1_001 }, (_, index) => 2 * index);
  expect(await Promise.all(wanted.map((number) => gathering.ask(number)))).toEqual(wanted);
  expect(asked.map(({ length }) => length)).toEqual([500, 500, 1]);
});

test("who is left without an answer is told so, and the others have theirs", async () => {
  const gathering = new Gathering(GROUP_MAX, async ([first = 0]: readonly number[]) => [first]);
  const together = await Promise.allSettled([gathering.ask(2), gathering.ask(4)]);
  expect(together).toMatchObject([{ value: 2 }, { reason: { message: "everyone of a group is answered" } }]);
});
