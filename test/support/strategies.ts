// Many strategies at once: the operator's command makes one a process, which is slow where every test wants
// its own.

import { openDataDirectory } from "../../src/config/data-directory.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import type { Credentials } from "./servers/gateway.ts";

/** Creates strategies in a demo data directory, beside the server that runs on it. */
export async function seedMany(
  dataDir: string,
  count: number,
  type: StrategyType = "SPOT",
  databaseUrl: string | null = null,
) {
  const { store, master } = await openDataDirectory(dataDir, null, databaseUrl);
  try {
    const wanted = Array.from({ length: count }, () => type);
    return await seedStrategies(store, master, wanted, Date.now());
  } finally {
    await store.close();
  }
}

/** Hands out strategies one after another: each test takes one that no other test has touched. */
export function supplyOf(strategies: readonly Credentials[]): () => Credentials {
  const left = [...strategies];
  return () => {
    const next = left.shift();
    if (next === undefined) throw new Error("more strategies are taken than were made: make more");
    return next;
  };
}
