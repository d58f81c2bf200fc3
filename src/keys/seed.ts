// Strategies with a key of their own: what the first start of a demo and `lyrebird seed` create.
import { randomBytes } from "node:crypto";
import type { StrategyType } from "../domain/account.ts";
import { openStrategy } from "../engine/open-strategy.ts";
import type { Commit, TradingStore } from "../store/ports/trading.ts";
import { issueApiKey } from "./api-keys.ts";
import type { MasterKey } from "./master-key.ts";

export type SeededStrategy = {
  readonly strategyId: string;
  readonly type: StrategyType;
  readonly apiKey: string;
  /** Shown this once. */
  readonly apiSecret: string;
};

export type SeedTerms = {
  /** Market time, Unix ms, of a market with a clock of its own. */
  readonly marketNow?: number;
  /** The owner of the strategies; none by default. */
  readonly ownerId?: string | null;
  /** Names of the strategies; by type and id by default. */
  readonly names?: readonly string[];
};

/** Default names of strategies, by type. */
const NAMES: { readonly [T in StrategyType]: string } = { SPOT: "Spot", FUTURES: "Futures" };

/** The first event of a strategy: its seed. `marketNow` is market time, Unix ms. */
export function firstCommit(strategyId: string, type: StrategyType, marketNow: number): Commit {
  const { account, event, incomes } = openStrategy(strategyId, type, marketNow);
  const entry = { version: 1, key: null, at: marketNow, events: [event] };
  return { account, entry, orders: [], trades: [], legs: [], incomes, signals: [] };
}

/**
 * Creates strategies, each with its seed balance and a key bound to it, in one transaction. `now` is wall
 * time, Unix ms.
 */
export async function seedStrategies(
  store: TradingStore,
  master: MasterKey,
  wanted: readonly StrategyType[],
  now: number,
  { marketNow = now, ownerId = null, names = [] }: SeedTerms = {},
): Promise<SeededStrategy[]> {
  const seeded = wanted.map((type, index) => {
    const strategyId = randomBytes(8).toString("hex");
    const { record, secret } = issueApiKey(master, { label: "demo", ownerId, strategyId, createdAt: now });
    return {
      created: {
        first: firstCommit(strategyId, type, marketNow),
        key: record,
        ownerId,
        name: names[index] ?? `${NAMES[type]} ${strategyId}`,
      },
      shown: { strategyId, type, apiKey: record.apiKey, apiSecret: secret },
    };
  });
  await store.createStrategies(seeded.map(({ created }) => created));
  return seeded.map(({ shown }) => shown);
}
