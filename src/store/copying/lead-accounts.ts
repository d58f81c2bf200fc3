// A lead's account as one text. Kept apart from the queries: the thread that writes loads it, and no query builder.
import type { Account, StrategyStatus, StrategyType } from "../../domain/account.ts";
import { BETWEEN_ORDERS, decodeAccount, decodeOrders, encodeOrder, encodeState } from "../codec.ts";

/** A lead's account with all that a strategy keeps in several tables: its status, its state, and its open orders. */
export function encodeLeadAccount(account: Account): string {
  const orders = [...account.openOrders.values()].map(encodeOrder);
  return [account.status, encodeState(account), ...orders].join(BETWEEN_ORDERS);
}

/** What `encodeLeadAccount` made of it. */
export function decodeLeadAccount(
  { strategyId, type }: { readonly strategyId: string; readonly type: StrategyType },
  text: string,
): Account {
  const [status, state = "", ...orders] = text.split(BETWEEN_ORDERS);
  const row = { id: strategyId, type, status: status as StrategyStatus, state };
  return decodeAccount(row, orders.flatMap(decodeOrders));
}
