// Fills an open futures order that the market has triggered, at its own limit, as maker; a reduce-only order
// at most by the quantity left to reduce. If its opening part cannot be paid for any more, it expires, and
// its legs with it. Source: design, section 6 (futures margin).
import type { FillRestingOrder } from "../../domain/command.ts";
import type { Order } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { type Quantity, subtract } from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { expired } from "../release.ts";
import { isTriggeredBy, limitTrigger } from "../trigger.ts";
import { conclude } from "./aftermath.ts";
import { armAttached, expireAttached } from "./attached-legs.ts";
import { openContractOf } from "./contract.ts";
import { closingPart, fillOf } from "./fill.ts";

export function fillRestingOrder(
  draft: Draft,
  command: FillRestingOrder,
  { market, at }: Circumstances,
): Refusal | null {
  const { profile } = draft.account;
  if (profile.strict !== null) return { refusal: "NOTHING_TO_FILL" };
  const order = draft.account.openOrders.get(command.orderId);
  if (order === undefined || !isTriggeredBy(limitTrigger(order), command.seen))
    return { refusal: "NOTHING_TO_FILL" };
  const contract = openContractOf(market, order.symbol);
  if (contract === null) return { refusal: "NOTHING_TO_FILL" };
  // A trigger that was found afterwards opens nothing at a loss: the present mark price does not apply to it.
  const isLate = command.seenAt !== undefined;
  const mark = isLate ? order.price : market.markPrice(order.symbol);
  // The loss on opening is measured by the mark price: the order stays triggered until there is one.
  if (mark === null) return { refusal: "MARKET_SILENT" };
  const quantity = quantityToFill(draft, order);
  const terms = {
    price: order.price,
    quantity,
    isMaker: true,
    feeRate: profile.makerFee,
    mark,
    at,
    seenAt: command.seenAt,
  };
  const filled = fillOf(draft.account, order, contract, terms);
  if (filled === null) {
    draft.add(expired(order, "INSUFFICIENT_BALANCE", at));
    expireAttached(draft, order, at);
  } else {
    draft.add(filled);
    armAttached(draft, order, at);
  }
  conclude(draft, contract, at);
  return null;
}

/** As much of what is left of an order as may be filled. */
export function quantityToFill({ account }: Draft, order: Order): Quantity {
  const remaining = subtract(order.quantity, order.executedQuantity);
  if (!order.reduceOnly) return remaining;
  return closingPart(account.positions.get(order.symbol) ?? null, order.side, remaining);
}
