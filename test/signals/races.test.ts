// Signals in all races of two processes, a market and an impatient bot: the real signals, desks and store,
// each call of which a seeded scheduler releases. Invariants: each executed signal has one order and each
// rejected one none, a terminal state never changes, every answer to a bot stays true, a signal is terminal
// two minutes after its market is back, and the books are consistent.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Counts } from "../campaigns/walk/counts.ts";
import { testSeed } from "../support/seed.ts";
import { Fixture } from "./fixture.ts";
import { acts } from "./steps.ts";

/** Other races: `SEED=7 RACES_RUNS=1000 npx vitest run test/signals`. */
const seed = testSeed();
const RUNS = Number(process.env.RACES_RUNS ?? 60);
const ACTS_MAX = 40;
/** More than all that one run sets off. */
const STEPS_MAX = 20_000;
/** So many times all runs, with a further seed each time, until everything that must happen has happened. */
const ROUNDS_MAX = 5;
const RUNS_MS_MAX = 600_000;

const NEEDED = [
  ...["told EXECUTED", "told REJECTED", "told FAILED", "replayed", "OTHER_ORDER", "NOT_LIVE", "key refused"],
  ...["EXECUTED in the end", "REJECTED in the end", "swept in the end"],
];

function missing(counts: Counts): string[] {
  return NEEDED.filter((each) => (counts[each] ?? 0) === 0);
}

test(
  "no race executes a signal twice, changes how it ended, or leaves it behind",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "lyrebird-races-"));
    const file = join(directory, "lyrebird.sqlite");
    const stores = [await openSqliteStore(file), await openSqliteStore(file)];
    const counts: Counts = {};
    const race = async (seed: number) => {
      let step: (count: number) => Promise<void> = async () => {};
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.commands(
            acts((count) => step(count)),
            { maxCommands: ACTS_MAX, size: "max" },
          ),
          async (scheduler, commands) => {
            const turns = { take: (label: string) => scheduler.schedule(Promise.resolve(), label) };
            const fixture = await Fixture.open({ stores, turns, counts });
            // Between two steps the database is idle, so that a seed is one race on every machine.
            step = async (count) => {
              for (let left = count; left > 0; left -= 1) {
                await fixture.quiet();
                if (scheduler.count() === 0) return;
                await scheduler.waitNext(1);
              }
              await fixture.quiet();
            };
            try {
              await fc.asyncModelRun(() => ({ model: {}, real: fixture }), commands);
              await fixture.finish(() => step(STEPS_MAX));
            } finally {
              await fixture.close();
            }
          },
        ),
        { seed, numRuns: RUNS },
      );
    };
    try {
      for (let round = 0; round < ROUNDS_MAX && missing(counts).length > 0; round += 1)
        await race(seed + round);
    } finally {
      for (const store of stores) await store.close();
      rmSync(directory, { recursive: true, force: true });
    }
    console.log(counts);
    // A test that never came to its point must not pass.
    expect(missing(counts)).toEqual([]);
  },
  RUNS_MS_MAX,
);
