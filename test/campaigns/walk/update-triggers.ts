// The trigger index of the walks: updated after every commit, at once, as the server does.
import type { Account } from "../../../src/domain/account.ts";
import type { Market } from "../../../src/domain/market.ts";
import { triggersOf } from "../../../src/triggers/trigger.ts";
import type { TriggerIndex } from "../../../src/triggers/trigger-index.ts";

/** Replaces the triggers of an account in the index by its present ones. */
export function updateTriggers(index: TriggerIndex, account: Account, market: Market): void {
  const { strategyId } = account;
  const all = triggersOf(account, (symbol) => market.rules(symbol)?.contract ?? null);
  const ids = new Set(all.map(({ id }) => id));
  for (const { symbol, id } of index.ofStrategy(strategyId))
    if (!ids.has(id)) index.remove({ symbol, strategyId, id });
  for (const each of all) index.add(each);
}
