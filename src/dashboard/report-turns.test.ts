// Whose report is computed when: by works that end when the test says so.
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { REPORTS_AT_A_TIME_MAX, REPORTS_WAITING_MAX, ReportTurns } from "./report-turns.ts";

/** Asks for reports, and says of which the work has begun; a work ends when it is told to. */
function asking() {
  const turns = new ReportTurns();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    begun,
    ask(ownerId: string, name: string): Promise<string> {
      return turns.inTurn(ownerId, () => {
        begun.push(name);
        const end = Promise.withResolvers<string>();
        ends.set(name, end);
        return end.promise;
      });
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.resolve(name);
      await nextTurn();
    },
    async fail(name: string): Promise<void> {
      ends.get(name)?.reject(new Error(name));
      await nextTurn();
    },
  };
}

test("reports of one owner are computed one after the other, in the order in which they were asked for", async () => {
  const { ask, begun, end } = asking();
  const answers = ["one", "two", "three"].map((name) => ask("ada", name));
  await nextTurn();
  expect(begun).toEqual(["one"]);
  await end("one");
  expect(begun).toEqual(["one", "two"]);
  await end("two");
  await end("three");
  expect(await Promise.all(answers)).toEqual(["one", "two", "three"]);
});

test("so many are computed at a time, and the owners take turns", async () => {
  const { ask, begun, end } = asking();
  for (const name of ["a1", "a2", "a3", "a4"]) void ask("ada", name);
  for (const name of ["b1", "b2"]) void ask("bert", name);
  for (const name of ["c1", "c2"]) void ask("cleo", name);
  await nextTurn();
  expect(begun).toEqual(["a1", "b1"]);
  expect(begun).toHaveLength(REPORTS_AT_A_TIME_MAX);
  const fair = ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "a4"];
  for (const name of fair) await end(name);
  expect(begun).toEqual(fair);
});

test("who has many waiting leaves room to others", async () => {
  const { ask, begun, end } = asking();
  for (let index = 0; index < REPORTS_WAITING_MAX; index += 1) void ask("ada", `a${index}`);
  void ask("bert", "b");
  await nextTurn();
  expect(begun).toEqual(["a0", "b"]);
  await end("b");
  expect(begun).toEqual(["a0", "b"]);
  void ask("cleo", "c");
  await nextTurn();
  expect(begun).toEqual(["a0", "b", "c"]);
});

test("one too many of an owner is refused with how long to wait, and nobody else's is", async () => {
  const { ask, begun, end } = asking();
  void ask("ada", "first");
  for (let index = 0; index < REPORTS_WAITING_MAX; index += 1) void ask("ada", `${index}`);
  await expect(ask("ada", "one too many")).rejects.toMatchObject({
    status: 429,
    shape: { error: { code: "TOO_MANY_REQUESTS", retryAfterSeconds: expect.any(Number) } },
  });
  void ask("bert", "another's");
  await end("first");
  void ask("ada", "there is room again");
  for (let index = 0; index < REPORTS_WAITING_MAX; index += 1) await end(`${index}`);
  expect(begun.at(-1)).toBe("there is room again");
  expect(begun).toContain("another's");
  expect(begun).not.toContain("one too many");
});

test("a report that fails makes room as any other does", async () => {
  const { ask, begun, fail } = asking();
  const failed = ask("ada", "broken");
  void ask("ada", "next");
  const failure = expect(failed).rejects.toThrow("broken");
  await nextTurn();
  await fail("broken");
  await failure;
  expect(begun).toEqual(["broken", "next"]);
});
