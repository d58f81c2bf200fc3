// Whose report is computed when: by works that end when the test says so.
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { REPORTS_AT_A_TIME_MAX, REPORTS_QUEUED_MAX, ReportQueue } from "./report-queue.ts";

/** Requests reports and lists the started ones. The test ends each report. */
function asking() {
  const queue = new ReportQueue();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    begun,
    ask(ownerId: string, name: string): Promise<string> {
      return queue.run(ownerId, () => {
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
  };
}

test("so many are computed at a time, and the owners alternate", async () => {
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

test("one too many of an owner is refused with how long to wait, and nobody else's is", async () => {
  const { ask, begun, end } = asking();
  void ask("ada", "first");
  for (let index = 0; index < REPORTS_QUEUED_MAX; index += 1) void ask("ada", `${index}`);
  await expect(ask("ada", "one too many")).rejects.toMatchObject({
    status: 429,
    json: { error: { code: "TOO_MANY_REQUESTS", retryAfterSeconds: expect.any(Number) } },
  });
  void ask("bert", "another's");
  await end("first");
  void ask("ada", "there is room again");
  for (let index = 0; index < REPORTS_QUEUED_MAX; index += 1) await end(`${index}`);
  expect(begun.at(-1)).toBe("there is room again");
  expect(begun).toContain("another's");
  expect(begun).not.toContain("one too many");
});
