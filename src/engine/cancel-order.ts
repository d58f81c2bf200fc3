// Taking resting orders back: what they had locked is free again.
import type { Account } from "../domain/account.ts";
import type { CancelOpenOrders, CancelOrder } from "../domain/command.ts";
import type { Circumstances, Decision } from "./decision.ts";
import { canceled } from "./release.ts";

export function cancelOrder(account: Account, command: CancelOrder, { at }: Circumstances): Decision {
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const order = account.openOrders.get(command.orderId);
  if (order === undefined) return { refusal: "ORDER_NOT_OPEN" };
  return { events: [canceled(order, at)] };
}

/** Every open order on the symbol, oldest first. With nothing open, nothing happens. */
export function cancelOpenOrders(
  account: Account,
  command: CancelOpenOrders,
  { at }: Circumstances,
): Decision {
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const orders = [...account.openOrders.values()].filter(({ symbol }) => symbol === command.symbol);
  return { events: orders.map((order) => canceled(order, at)) };
}
