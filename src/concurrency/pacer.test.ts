import { expect, test } from "vitest";
import { createPacer } from "./pacer.ts";
import { createManualTime } from "./testing/manual-time.ts";

function createFixture(bounds: { atATimeMax?: number; waitingMax?: number; burstMs?: number } = {}) {
  const time = createManualTime(0);
  const pacer = createPacer({
    atATimeMax: 10,
    waitingMax: 10,
    ...bounds,
    wallClock: time,
    timers: time,
  });
  /** Started tasks with their times, and how to end them. */
  const begun: { readonly name: string; readonly at: number; readonly end: () => void }[] = [];
  const run = (name: string) =>
    pacer.run(() => {
      const { promise, resolve } = Promise.withResolvers<string>();
      begun.push({ name, at: time.now(), end: () => resolve(name) });
      return promise;
    }, 100);
  /** Begins whatever is due. */
  const pass = async (ms: number) => {
    time.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { time, pacer, begun, run, pass };
}

test("the first task begins at once, each other one an interval after the one before, in order", async () => {
  const { begun, run, pass } = createFixture();
  for (const name of ["a", "b", "c"]) void run(name);
  await pass(0);
  for (let step = 0; step < 6; step += 1) await pass(50);
  expect(begun.map(({ name, at }) => [name, at])).toEqual([
    ["a", 0],
    ["b", 100],
    ["c", 200],
  ]);
});

test("a task begins at once when there was none for an interval", async () => {
  const { begun, run, pass } = createFixture();
  void run("a");
  await pass(0);
  await pass(100);
  void run("b");
  await pass(0);
  expect(begun.map(({ name, at }) => [name, at])).toEqual([
    ["a", 0],
    ["b", 100],
  ]);
});

test("pauses that were not needed are saved, up to a bound, for tasks that come at once", async () => {
  const { begun, run, pass } = createFixture({ burstMs: 250 });
  await pass(10_000);
  for (const name of ["a", "b", "c", "d", "e"]) void run(name);
  await pass(0);
  for (let step = 0; step < 6; step += 1) await pass(50);
  expect(begun.map(({ name, at }) => [name, at])).toEqual([
    ["a", 10_000],
    ["b", 10_000],
    ["c", 10_000],
    ["d", 10_050],
    ["e", 10_150],
  ]);
});

test("the number of concurrent tasks is bounded, and the end of one starts the next", async () => {
  const { begun, run, pass } = createFixture({ atATimeMax: 2 });
  const answers = ["a", "b", "c"].map(run);
  for (let step = 0; step < 10; step += 1) await pass(100);
  expect(begun.map(({ name }) => name)).toEqual(["a", "b"]);
  begun[1]?.end();
  expect(await answers[1]).toBe("b");
  await pass(0);
  expect(begun.map(({ name }) => name)).toEqual(["a", "b", "c"]);
});

test("what is too much is not taken on", async () => {
  const { run, pass, begun } = createFixture({ atATimeMax: 1, waitingMax: 2 });
  void run("a");
  await pass(0);
  const [, , last] = ["b", "c", "d"].map(run);
  expect(await last).toBeUndefined();
  expect(begun.map(({ name }) => name)).toEqual(["a"]);
});

test("a closed pacer ends all waits, starts nothing and leaves no timer", async () => {
  const { run, pass, pacer, begun, time } = createFixture();
  void run("a");
  const waiting = run("b");
  await pass(0);
  pacer.close();
  expect(await waiting).toBeUndefined();
  expect(await run("c")).toBeUndefined();
  begun[0]?.end();
  await pass(1_000);
  expect(begun.map(({ name }) => name)).toEqual(["a"]);
  expect(time.pending()).toBe(0);
});
