import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";
import { createManualTime } from "./testing/manual-time.ts";

/** Work whose end the test controls, named by its key and a number. */
function createFixture(options: ConstructorParameters<typeof Semaphore<string>>[0]) {
  const semaphore = new Semaphore<string>(options);
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    semaphore,
    begun,
    run(name: string): Promise<string> {
      return semaphore.run(name.slice(0, 1), () => {
        begun.push(name);
        const end = Promise.withResolvers<string>();
        ends.set(name, end);
        return end.promise;
      });
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.resolve(name);
      await nextLoopTurn();
    },
    async fail(name: string): Promise<void> {
      ends.get(name)?.reject(new Error(name));
      await nextLoopTurn();
    },
  };
}

test("with one permit per key, work of one key is serial and in order; other keys do not wait", async () => {
  const { begun, run, end } = createFixture({ permitsPerKey: 1 });
  const results = ["a1", "a2", "b1", "a3"].map(run);
  await nextLoopTurn();
  expect(begun).toEqual(["a1", "b1"]);
  for (const name of ["a1", "a2", "b1", "a3"]) await end(name);
  expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
  expect(await Promise.all(results)).toEqual(["a1", "a2", "b1", "a3"]);
});

test("work that fails releases its permit", async () => {
  const { begun, run, fail } = createFixture({ permitsPerKey: 1 });
  const failed = expect(run("a1")).rejects.toThrow("a1");
  void run("a2");
  await nextLoopTurn();
  await fail("a1");
  await failed;
  expect(begun).toEqual(["a1", "a2"]);
});

test("keys with queued work are served round-robin, whatever the length of their queues", async () => {
  const { begun, run, end } = createFixture({ permits: 2 });
  for (const name of ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]) void run(name);
  await nextLoopTurn();
  const fair = ["a1", "a2", "a3", "b1", "c1", "a4", "b2", "a5"];
  for (const name of fair) await end(name);
  expect(begun).toEqual(fair);
});

test("a key that used all of its permits comes after keys that were queued in the meantime", async () => {
  const { begun, run, end } = createFixture({ permits: 1, permitsPerKey: 1 });
  for (const name of ["a1", "a2", "a3"]) void run(name);
  await nextLoopTurn();
  await end("a1");
  void run("b1");
  await end("a2");
  expect(begun).toEqual(["a1", "a2", "b1"]);
  await end("b1");
  expect(begun.at(-1)).toBe("a3");
});

test("with priorities the most urgent key is served first", async () => {
  const { begun, run, end } = createFixture({ permits: 1, priorities: ["a", "b", "c"] });
  for (const name of ["c1", "c2", "b1", "a1", "a2", "b2"]) void run(name);
  await nextLoopTurn();
  const urgentFirst = ["c1", "a1", "a2", "b1", "b2", "c2"];
  for (const name of urgentFirst) await end(name);
  expect(begun).toEqual(urgentFirst);
});

test("it is full for all keys at the bound of all queues, and for one key at the bound of its own", async () => {
  const { semaphore, run, end } = createFixture({ permits: 1, queueMax: 3, queueMaxPerKey: 2 });
  const names = ["a1", "a2", "a3"];
  for (const name of names) void run(name);
  expect([semaphore.isFull("a"), semaphore.isFull("b")]).toEqual([true, false]);
  await expect(run("a4")).rejects.toThrow("full");
  void run("b1");
  expect(semaphore.isFull("c")).toBe(true);
  expect(await semaphore.acquire("c")).toBe(false);
  await nextLoopTurn();
  for (const name of [...names, "b1"]) await end(name);
  expect([semaphore.isFull("a"), semaphore.isFull("c")]).toEqual([false, false]);
});

test("a caller with a deadline gives up its place in the queue, and a permit cancels the deadline", async () => {
  const time = createManualTime();
  const semaphore = new Semaphore<null>({ permits: 1, queueMax: 2 });
  expect(await semaphore.acquire(null)).toBe(true);
  const [first, second] = [100, 200].map((waitMs) => semaphore.acquire(null, { timers: time, waitMs }));
  expect(semaphore.isFull(null)).toBe(true);
  time.advance(100);
  expect(await first).toBe(false);
  expect(semaphore.isFull(null)).toBe(false);
  semaphore.release(null);
  expect(await second).toBe(true);
  expect(time.pending()).toBe(0);
});

test("closing ends the wait of all queued work, and later work is rejected", async () => {
  const { semaphore, begun, run, end } = createFixture({ permits: 1 });
  const running = run("a1");
  const queued = ["a2", "b1"].map((name) => expect(run(name)).rejects.toThrow("closed"));
  await nextLoopTurn();
  semaphore.close();
  await Promise.all(queued);
  expect(semaphore.isFull("c")).toBe(true);
  await end("a1");
  expect(await running).toBe("a1");
  expect(begun).toEqual(["a1"]);
});
