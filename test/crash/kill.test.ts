import { expect, test } from "vitest";
import { runCrashCycles } from "./crash-cycles.ts";

/** Another walk: `CRASH_SEED=7 npm test`. */
const seed = Number(process.env.CRASH_SEED ?? 1);

test("what was acknowledged is there after kill -9, ten times under load, and nothing is there twice", async () => {
  console.log(`crash seed ${seed}`);
  const reports = await runCrashCycles({ seed, cycles: 10 });
  expect(reports).toHaveLength(10);
  // A test that never came to its point must not pass.
  const total = (count: (report: (typeof reports)[number]) => number) =>
    reports.reduce((sum, report) => sum + count(report), 0);
  expect(total(({ acknowledged }) => acknowledged)).toBeGreaterThan(100);
  expect(total(({ unknown }) => unknown)).toBeGreaterThan(10);
  expect(total(({ filledAtRestart }) => filledAtRestart)).toBeGreaterThan(5);
});
