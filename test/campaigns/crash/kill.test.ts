// A short run of the crash cycles on every change, on each store. `npm run crash` runs longer.
import { describe, expect, test } from "vitest";
import { testSeed } from "../../support/seed.ts";
import { hasPostgres, postgresTitle } from "../../support/servers/postgres.ts";
import type { StoreName } from "../harness/stores.ts";
import { renderCrashes } from "./campaign.ts";
import { type CycleReport, runCrashCycles } from "./crash-cycles.ts";

const seed = testSeed();
/** On postgres there are three victims to draw. */
const CYCLES = { sqlite: 4, postgres: 6 } as const;
/** What is drawn may need more cycles until everything has happened that the kills must not harm. */
const CYCLES_MAX = 20;
/** A cycle takes a second or two; everything in it that waits has a bound of its own. */
const RUN_MS_MAX = 360_000;

describe("what was acknowledged is there after a crash, again and again under load, and nothing is there twice", () => {
  test(
    "kill -9 of the gateway, on sqlite",
    async () => {
      await expectClean("sqlite");
    },
    RUN_MS_MAX,
  );

  test.skipIf(!hasPostgres)(
    postgresTitle("kill -9 of the gateway, of the database, or of both, on postgres"),
    async ({ skip }) => {
      const cycles = await expectClean("postgres");
      if (cycles === null) return skip("the programs of a server of one's own are missing");
      const isOfGateway = cycles.map(({ victim }) => victim === "gateway");
      expect(isOfGateway).toContain(true);
      expect(isOfGateway).toContain(false);
    },
    RUN_MS_MAX,
  );
});

async function expectClean(store: StoreName): Promise<readonly CycleReport[] | null> {
  const more = { until: hasCausedAll, cyclesMax: CYCLES_MAX };
  const report = await runCrashCycles({ store, seed, cycles: CYCLES[store], more });
  if (report === null) return null;
  const { cycles, faults } = report;
  expect(faults, renderCrashes([report])).toEqual([]);
  expect(hasCausedAll(cycles), renderCrashes([report])).toBe(true);
  return cycles;
}

/**
 * Whether enough was placed, was left with an unknown outcome and was filled by the other market, and legs
 * have fired and positions were liquidated: a test that never came to its point must not pass.
 */
function hasCausedAll(cycles: readonly CycleReport[]): boolean {
  const total = (count: (cycle: CycleReport) => number) =>
    cycles.reduce((sum, cycle) => sum + count(cycle), 0);
  const last = cycles.at(-1);
  return (
    total(({ placed }) => placed) > 100 &&
    total(({ settled }) => settled.done + settled.taken) > 10 &&
    total(({ filled }) => filled) > 5 &&
    last !== undefined &&
    last.fired > 0 &&
    last.liquidated > 0
  );
}
