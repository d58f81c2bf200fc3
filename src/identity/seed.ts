// Strategies with a key of their own: what the first start of a demo and `lyrebird seed` create.
import { randomBytes } from "node:crypto";
import type { StrategyType } from "../domain/account.ts";
import { openStrategy } from "../engine/open-strategy.ts";
import type { Store } from "../store/store.ts";
import { issueApiKey, type MasterKey } from "./api-keys.ts";

export type SeededStrategy = {
  readonly strategyId: string;
  readonly type: StrategyType;
  readonly apiKey: string;
  /** Shown this once. */
  readonly apiSecret: string;
};

/**
 * Creates strategies, each with its seed balance and a key bound to it, in one transaction. `now` is wall time, Unix ms;
 * a market with a time of its own says so.
 */
export async function seedStrategies(
  store: Store,
  master: MasterKey,
  wanted: readonly StrategyType[],
  now: number,
  marketNow = now,
): Promise<SeededStrategy[]> {
  const seeded = wanted.map((type) => {
    const strategyId = randomBytes(8).toString("hex");
    const { account, event, incomes } = openStrategy(strategyId, type, marketNow);
    const { record, secret } = issueApiKey(master, { label: "demo", strategyId, createdAt: now });
    const entry = { version: 1, key: null, at: marketNow, events: [event] };
    return {
      created: {
        first: { account, entry, orders: [], trades: [], legs: [], incomes, signals: [] },
        key: record,
      },
      shown: { strategyId, type, apiKey: record.apiKey, apiSecret: secret },
    };
  });
  await store.createStrategies(seeded.map(({ created }) => created));
  return seeded.map(({ shown }) => shown);
}
