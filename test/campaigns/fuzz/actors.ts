// The keys of a run: one strategy for each episode, so many that no budget ends the run, and the keys that
// are invalid, or valid only for the other type.
import { openDataDirectory } from "../../../src/config/data-directory.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { changeKeyRows } from "../../support/servers/database.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import { seedMany, supplyOf } from "../../support/strategies.ts";
import type { Episode } from "./episodes.ts";
import type { OtherKeys } from "./scenario.ts";

/** The strategies in the order of their episodes. */
export type Actors = { readonly strategies: readonly Credentials[]; readonly others: OtherKeys };

/** Strategies that are made in one transaction at most. */
const BATCH = 1_000;
/** Episodes that share a key of another kind: those have budgets too. */
const EPISODES_PER_BYSTANDER = 12;
const EPISODES_PER_UNBOUND_KEY = 24;
const REVOKED_KEYS = 4;

/** Makes everybody in a data directory. */
export async function createActors(dataDir: string, episodes: readonly Episode[]): Promise<Actors> {
  const supplyFor = async (type: StrategyType) =>
    supplyOf(await makeStrategies(dataDir, type, episodes.filter((each) => each.type === type).length));
  const take = { SPOT: await supplyFor("SPOT"), FUTURES: await supplyFor("FUTURES") };
  const strategies = episodes.map(({ type }) => take[type]());
  const bystanders = Math.ceil(episodes.length / EPISODES_PER_BYSTANDER);
  const unbound = await seedMany(dataDir, Math.ceil(episodes.length / EPISODES_PER_UNBOUND_KEY));
  for (const { apiKey } of unbound) {
    changeKeyRows(dataDir, "UPDATE api_keys SET strategy_id = NULL WHERE api_key = ?", apiKey);
  }
  return {
    strategies,
    others: {
      bystanders: {
        SPOT: await seedMany(dataDir, bystanders, "SPOT"),
        FUTURES: await seedMany(dataDir, bystanders, "FUTURES"),
      },
      unbound,
      revoked: await revokedKeys(dataDir),
    },
  };
}

async function makeStrategies(dataDir: string, type: StrategyType, count: number): Promise<Credentials[]> {
  const strategies: Credentials[] = [];
  while (strategies.length < count) {
    strategies.push(...(await seedMany(dataDir, Math.min(BATCH, count - strategies.length), type)));
  }
  return strategies;
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
