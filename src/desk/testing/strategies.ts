// Strategies with the test's names, each with its seed balance and a key that cannot sign.
import type { StrategyType } from "../../domain/account.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import { openStrategy } from "../../engine/open-strategy.ts";
import type { Store } from "../../store/store.ts";

/**
 * Creates strategies with the given ids: of spot by default, with 200 USDT, or of futures with 1,000 USDT;
 * under `standard` unless another profile is given.
 */
export async function createStrategies(
  store: Store,
  ids: readonly string[],
  type: StrategyType = "SPOT",
  profile?: FillProfile,
): Promise<void> {
  await store.createStrategies(
    ids.map((id) => {
      const { account, event, incomes } = openStrategy(id, type, 1_000, profile);
      const entry = { version: 1, key: null, at: 1_000, events: [event] };
      return {
        first: { account, entry, orders: [], trades: [], legs: [], incomes, signals: [] },
        ownerId: null,
        name: id,
        key: {
          keyId: id,
          apiKey: `key-${id}`,
          salt: "",
          masterVersion: 1,
          label: "",
          ownerId: null,
          strategyId: id,
          createdAt: 0,
          revokedAt: null,
        },
      };
    }),
  );
}
