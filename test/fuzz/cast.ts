// Whoever takes part in a run: a spot strategy for each episode, so many that no budget ends it, and the keys that are not
// good for spot.
import { openDataDirectory } from "../../src/data-directory.ts";
import { changeKeyRows } from "../support/database.ts";
import type { Credentials } from "../support/gateway.ts";
import { seedMany } from "../support/strategies.ts";
import type { OtherKeys } from "./scene.ts";

export type Cast = { readonly strategies: readonly Credentials[]; readonly others: OtherKeys };

/** Strategies that are made in one transaction at most. */
const BATCH = 1_000;
/** Episodes that share a key of another kind: those have budgets too. */
const EPISODES_PER_FUTURES_KEY = 12;
const EPISODES_PER_UNBOUND_KEY = 24;
const REVOKED_KEYS = 4;

/** Makes everybody in a data directory. */
export async function makeCast(dataDir: string, episodes: number): Promise<Cast> {
  const strategies: Credentials[] = [];
  while (strategies.length < episodes) {
    strategies.push(...(await seedMany(dataDir, Math.min(BATCH, episodes - strategies.length))));
  }
  const futures = await seedMany(dataDir, Math.ceil(episodes / EPISODES_PER_FUTURES_KEY), "FUTURES");
  const unbound = await seedMany(dataDir, Math.ceil(episodes / EPISODES_PER_UNBOUND_KEY));
  for (const { apiKey } of unbound) {
    changeKeyRows(dataDir, "UPDATE api_keys SET strategy_id = NULL WHERE api_key = ?", apiKey);
  }
  return { strategies, others: { futures, unbound, revoked: await revokedKeys(dataDir) } };
}

async function revokedKeys(dataDir: string): Promise<Credentials[]> {
  const revoked = await seedMany(dataDir, REVOKED_KEYS);
  const { store } = await openDataDirectory(dataDir, null);
  try {
    for (const { apiKey } of revoked) await store.revokeKey(apiKey, Date.now());
  } finally {
    await store.close();
  }
  return revoked;
}
