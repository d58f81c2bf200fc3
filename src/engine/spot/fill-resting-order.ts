// Fills an open order that the market has triggered: in full, at its own limit, as maker. The command carries
// the price that was seen, so a crossing is not lost because the market has moved on.
import type { Account } from "../../domain/account.ts";
import type { FillRestingOrder } from "../../domain/command.ts";
import { awaitsTrigger } from "../../domain/order.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { isTriggeredBy, limitTrigger } from "../trigger.ts";
import { fillWhole } from "./fill.ts";

export function fillRestingOrder(
  account: Account,
  command: FillRestingOrder,
  circumstances: Circumstances,
): Decision {
  const order = account.openOrders.get(command.orderId);
  if (account.profile.strict !== null) return { refusal: "NOTHING_TO_FILL" };
  if (order === undefined || awaitsTrigger(order) || !isTriggeredBy(limitTrigger(order), command.seen))
    return { refusal: "NOTHING_TO_FILL" };
  const rules = circumstances.market.rules(order.symbol);
  if (rules === null || rules.status !== "TRADING") return { refusal: "NOTHING_TO_FILL" };
  return {
    events: [fillWhole(account, order, { price: order.price, isMaker: true }, rules, circumstances.at)],
  };
}
