// Replays a journal as a lead does, in parts of a given length: only the stored state carries over to the
// next part.
import type { Account, StrategyType } from "../../../domain/account.ts";
import { emptyAccount } from "../../../domain/account.ts";
import type { LeadAction } from "../../../domain/copying.ts";
import type { JournalEntry } from "../../../domain/strategy.ts";
import { actionsOf } from "../actions.ts";

export type Replayed = { readonly account: Account; readonly actions: readonly LeadAction[] };

/**
 * Replays entries in parts of a length. `stored` is what writing the account and reading it again makes of
 * it.
 */
export function replay(
  { strategyId, type }: { readonly strategyId: string; readonly type: StrategyType },
  entries: readonly JournalEntry[],
  { part = Number.POSITIVE_INFINITY, stored = (account: Account) => account } = {},
): Replayed {
  let account = emptyAccount(strategyId, type);
  const actions: LeadAction[] = [];
  entries.forEach((entry, index) => {
    if (index % part === 0) account = stored(account);
    actions.push(...actionsOf(account, actions.at(-1) ?? null, entry));
  });
  return { account, actions };
}
