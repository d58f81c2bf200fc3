// A seeded random walk through the whole of a type's trading, in memory: thousands of commands and a market
// that moves, gaps, falls silent and halts. It leads through several lives of a strategy, each from its seed
// to its close; every other one is under `strict`, and each of its trades must follow from its receipt. After
// every step what must always hold is checked (design, section 7); now and then, and at the end of each life,
// the journal is written, read and replayed, and must give the same account.
import type { FillProfileName } from "../../../src/domain/fill-profile.ts";
import { decide } from "../../../src/engine/decide.ts";
import { seededRandom } from "../../support/random.ts";
import type { Counts } from "./counts.ts";
import { Life } from "./life.ts";
import type { WalkSetup } from "./setups.ts";

export type WalkReport = {
  readonly commands: number;
  /** By type; an expiry by its reason, a liquidation by its order beside it: `OrderExpired LOT_SIZE`. */
  readonly events: Readonly<Counts>;
  /** By name; a failed filter with its own: `FILTER_FAILED LOT_SIZE`. */
  readonly refusals: Readonly<Counts>;
};

export const BOTH_PROFILES: readonly FillProfileName[] = ["standard", "strict"];
/** Commands of one life: fees use up the seed of a longer one. */
const LIFE = 500;

/**
 * Walks `commands` steps from a seed. Throws at the first step that breaks a rule, naming both. Calls the
 * listener after every life with the number of steps done. A test may replace the engine by a faulty one.
 */
export function walk(
  setup: WalkSetup,
  seed: number,
  commands: number,
  options: {
    readonly onProgress?: (done: number) => void;
    readonly decides?: typeof decide;
    /** The lives have them by turns. */
    readonly profiles?: readonly FillProfileName[];
  } = {},
): WalkReport {
  const random = seededRandom(seed);
  const report = { commands, events: {}, refusals: {} };
  const decides = options.decides ?? decide;
  const { profiles = BOTH_PROFILES } = options;
  let step = 0;
  let lives = 0;
  try {
    while (step < commands) {
      const profile = profiles[lives % profiles.length] ?? "standard";
      const life = new Life(setup, profile, { random, report, decides, now: () => step });
      lives += 1;
      const end = Math.min(step + LIFE, commands);
      for (; step < end; step += 1) life.takeStep();
      life.end();
      options.onProgress?.(step);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`${setup.type}, seed ${seed}, step ${step}: ${reason}`, { cause: error });
  }
  return report;
}
