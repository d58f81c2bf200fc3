// Whether the books of a strategy are in order, recomputed from the database without a look at the program's
// own arithmetic: complete, and balances and positions what the trades make them.
import type { StrategyType } from "../../../src/domain/account.ts";
import { bookFaults } from "./books.ts";
import type { Fault } from "./faults.ts";
import { readStored, type StoredStrategy } from "./stored-rows.ts";
import type { Beside } from "./stores.ts";

const READINGS_MAX = 20;

/** The faults of a strategy's books, and those that `more` finds. A gateway may be running. */
export async function recomputedFaults(
  { db }: Beside,
  strategyId: string,
  type: StrategyType,
  more: (strategy: StoredStrategy) => readonly string[] = () => [],
): Promise<Fault[]> {
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const strategy = await readStored(db, strategyId);
    const [before, after] = strategy.versions;
    // The market may have moved it while its rows were read.
    if (after !== before) continue;
    const faults = [...bookFaults(strategy, type), ...more(strategy)];
    return faults.map((what) => ({ kind: "UNBALANCED", what: `${strategyId}: ${what}` }));
  }
  throw new Error(`${strategyId} did not stand still for one of ${READINGS_MAX} readings`);
}
