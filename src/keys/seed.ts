// Strategies with a key of their own: what the first start of a demo and `lyrebird seed` create.
import { randomBytes } from "node:crypto";
import type { StrategyType } from "../domain/account.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
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
  /** How the orders of the strategies are filled, which are of one type then; `standard` by default. */
  readonly profile?: FillProfile | undefined;
};

/** Default names of strategies, by type. */
const NAMES: { readonly [T in StrategyType]: string } = { SPOT: "Spot", FUTURES: "Futures" };

/** The first event of a strategy: its seed. `marketNow` is market time, Unix ms; `standard` by default. */
export function firstCommit(
  strategyId: string,
  type: StrategyType,
  marketNow: number,
  profile?: FillProfile,
): Commit {
  const { account, event, incomes } = openStrategy(strategyId, type, marketNow, profile);
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
  { marketNow = now, ownerId = null, names = [], profile }: SeedTerms = {},
): Promise<SeededStrategy[]> {
  const seeded = wanted.map((type, index) => {
    const strategyId = randomBytes(8).toString("hex");
    const { record, secret } = issueApiKey(master, { label: "demo", ownerId, strategyId, createdAt: now });
    return {
      created: {
        first: firstCommit(strategyId, type, marketNow, profile),
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
