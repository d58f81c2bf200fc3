// Strategies as the browser gets them, at the last known prices: a list of them never waits for a market.
import { formatBriefly } from "../../money/decimal.ts";
import type { KeyUse, OwnedStrategy } from "../../store/people-store.ts";
import type { DashboardParts } from "../parts.ts";
import type { StrategyShape } from "../shapes.ts";
import { valuationOf } from "../valuation.ts";
import { presentName, presentUse } from "./keys.ts";

export async function presentStrategies(
  { gateway, inspection, prices }: Pick<DashboardParts, "gateway" | "inspection" | "prices">,
  strategies: readonly OwnedStrategy[],
): Promise<readonly StrategyShape[]> {
  const { store } = gateway;
  const uses = await inspection.keyUses.lastUses(strategies.flatMap(({ key }) => key?.keyId ?? []));
  return await Promise.all(
    strategies.map(async (strategy): Promise<StrategyShape> => {
      const loaded = await store.loadAccount(strategy.strategyId);
      if (loaded === null) throw new Error(`a strategy has an account: ${strategy.strategyId}`);
      const { account } = loaded;
      const { equity, seed, profit, pricedAt } = await valuationOf(account, { prices, store });
      return {
        ...presentName(strategy),
        status: account.status,
        createdAt: strategy.createdAt,
        key: presentKeyOf(strategy, uses),
        equity: formatBriefly(equity),
        seed: formatBriefly(seed),
        profit: formatBriefly(profit),
        openOrders: account.openOrders.size,
        openPositions: account.positions.size,
        pricedAt,
      };
    }),
  );
}

export async function presentStrategy(
  parts: Parameters<typeof presentStrategies>[0],
  strategy: OwnedStrategy,
): Promise<StrategyShape> {
  const [shape] = await presentStrategies(parts, [strategy]);
  if (shape === undefined) throw new Error("every strategy is presented");
  return shape;
}

function presentKeyOf({ key }: OwnedStrategy, uses: ReadonlyMap<string, KeyUse>): StrategyShape["key"] {
  if (key === null) return null;
  const { keyId, apiKey, label } = key;
  return { keyId, apiKey, label, lastUse: presentUse(uses.get(keyId)) };
}
