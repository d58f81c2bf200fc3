// The seed of a test that draws, properties included: fixed in `npm test`, so that every run is the same, and
// fresh in `npm run test:all`.
import { randomInt } from "node:crypto";

/**
 * Set by `npm run test:all`; the setup of the run replaces its value by the seed that all tests draw from.
 */
const FRESH_SEEDS = "FRESH_SEEDS";
const SEED_MAX = 2 ** 31 - 1;

/**
 * Chooses the seed of a run, and prints it with how to repeat the run. Called once, before the workers start.
 */
export function chooseFreshSeed(): void {
  const { SEED, [FRESH_SEEDS]: isFresh } = process.env;
  if (isFresh === undefined) return;
  const seed = SEED ?? String(randomInt(SEED_MAX));
  process.env[FRESH_SEEDS] = seed;
  process.stderr.write(`seed ${seed}: to repeat one file of tests, SEED=${seed} npx vitest run FILE\n`);
}

/** The seed of a file of tests: SEED in the environment decides it, or else the run. */
export function testSeed(fixed = 1): number {
  return Number(process.env.SEED ?? process.env[FRESH_SEEDS] ?? fixed);
}
