import { expect, test } from "vitest";
import { createBatcher } from "./batcher.ts";

test("keys wanted together are asked together, a key under way is not asked again, the rest waits its turn", async () => {
  const questions: string[] = [];
  const answers: (() => void)[] = [];
  const ask = createBatcher(
    (keys) => {
      questions.push(keys.join());
      return new Promise((resolve) => answers.push(resolve));
    },
    { keysMax: 2, concurrentMax: 1 },
  );
  const [first] = [ask("a"), ask("b"), ask("c"), ask("a")];
  await Promise.resolve();
  expect(questions).toEqual(["a,b"]);
  expect(ask("b")).not.toBe(first);
  answers[0]?.();
  await first;
  expect(questions).toEqual(["a,b", "c"]);
  ask("a");
  answers[1]?.();
  await ask("c");
  expect(questions).toEqual(["a,b", "c", "a"]);
});
