// Strategies of a test's own naming, each with its seed balance and a key that nobody can sign with.
import { openStrategy } from "../../engine/open-strategy.ts";
import type { Store } from "../../store/store.ts";

/** Creates spot strategies of 200 USDT under the given ids. */
export async function createStrategies(store: Store, ids: readonly string[]): Promise<void> {
  await store.createStrategies(
    ids.map((id) => {
      const { account, event } = openStrategy(id, "SPOT", 1_000);
      const entry = { version: 1, key: null, at: 1_000, events: [event] };
      return {
        first: { account, entry, orders: [], trades: [] },
        key: {
          keyId: id,
          apiKey: `key-${id}`,
          salt: "",
          masterVersion: 1,
          label: "",
          strategyId: id,
          createdAt: 0,
          revokedAt: null,
        },
      };
    }),
  );
}
