import { expect, test } from "vitest";
import { PeriodicTask, SingleFlight } from "./periodic-task.ts";
import { createManualTime } from "./testing/manual-time.ts";

const INTERVAL_MS = 1_000;

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createFixture() {
  const time = createManualTime();
  const runs: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const periodic = new PeriodicTask({
    every: time.every,
    intervalMs: INTERVAL_MS,
    task() {
      const run = Promise.withResolvers<void>();
      runs.push(run);
      return run.promise;
    },
    onError: (error) => errors.push(error),
  });
  return { time, runs, errors, periodic };
}

test("concurrent callers share a run; the next caller starts another", async () => {
  const answers: ((value: number) => void)[] = [];
  const flight = new SingleFlight(() => new Promise<number>((resolve) => answers.push(resolve)));
  const [first, second] = [flight.run(), flight.run()];
  answers[0]?.(1);
  expect(await Promise.all([first, second])).toEqual([1, 1]);
  expect(flight.current).toBe(null);
  const third = flight.run();
  answers[1]?.(2);
  expect(await third).toBe(2);
});

test("a periodic task runs at its interval, on demand, and never twice at the same time", async () => {
  const { time, runs, periodic } = createFixture();
  time.advance(INTERVAL_MS - 1);
  expect(runs).toHaveLength(0);
  time.advance(1);
  const run = periodic.run();
  time.advance(5 * INTERVAL_MS);
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  await run;
  void periodic.run();
  expect(runs).toHaveLength(2);
});

test("a run that fails is reported, and the next one starts at the interval", async () => {
  const { time, runs, errors, periodic } = createFixture();
  const run = periodic.run();
  runs[0]?.reject(new Error("odd"));
  await run;
  expect(errors).toEqual([new Error("odd")]);
  time.advance(INTERVAL_MS);
  expect(runs).toHaveLength(2);
});

test("closing waits for the run in flight, and nothing starts afterwards", async () => {
  const { time, runs, periodic } = createFixture();
  void periodic.run();
  let isClosed = false;
  const closing = periodic.close().then(() => {
    isClosed = true;
  });
  expect(periodic.isClosed).toBe(true);
  await settled();
  expect(isClosed).toBe(false);
  runs[0]?.resolve();
  await closing;
  await periodic.run();
  time.advance(5 * INTERVAL_MS);
  expect(runs).toHaveLength(1);
  expect(time.pending()).toBe(0);
});
