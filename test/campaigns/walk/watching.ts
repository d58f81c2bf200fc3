// The watch list of the walks: what the real watcher does after every commit, at once.
import type { Account } from "../../../src/domain/account.ts";
import type { Market } from "../../../src/domain/market.ts";
import { waitingsOf } from "../../../src/watch/waiting.ts";
import type { WatchList } from "../../../src/watch/watch-list.ts";

/** Has everything that an account waits for watched, and nothing else of it. */
export function follow(watchList: WatchList, account: Account, market: Market): void {
  const { strategyId } = account;
  const waitings = waitingsOf(account, (symbol) => market.rules(symbol)?.contract ?? null);
  const ids = new Set(waitings.map(({ id }) => id));
  for (const { symbol, id } of watchList.ofStrategy(strategyId))
    if (!ids.has(id)) watchList.remove(symbol, strategyId, id);
  for (const each of waitings) watchList.add(each);
}
