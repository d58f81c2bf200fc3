// The seed of a test that draws, properties included: fixed, so that every run is the same, but fresh in the
// tests that only `npm run test:all` runs.
import { randomInt } from "node:crypto";

/** Set for the tests of the project `long`. */
const FRESH_SEEDS = "FRESH_SEEDS";
const SEED_MAX = 2 ** 31 - 1;
let fresh: number | null = null;

/** The seed of a file of tests. It is printed with how to repeat it: SEED in the environment decides it. */
export function testSeed(file: string, fixed = 1): number {
  const { SEED, [FRESH_SEEDS]: isFresh } = process.env;
  if (SEED === undefined && isFresh === undefined) return fixed;
  fresh ??= SEED === undefined ? randomInt(SEED_MAX) : Number(SEED);
  console.log(`seed ${fresh}: to repeat it, SEED=${fresh} npx vitest run ${file}`);
  return fresh;
}
