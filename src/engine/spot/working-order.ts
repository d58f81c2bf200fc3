// A working order: it fills at once or stays open. An order works from its placement on, a stop from its
// trigger on; from there they are the same.
// Fills follow the standard profile (specification section 1): a market order is filled in full at the
// opposite best price, whatever its size; a limit order that the market already meets is filled at once at
// that price, as taker; any other stays open.
import type { Account } from "../../domain/account.ts";
import type { OrderFilled } from "../../domain/event.ts";
import type { Order } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { add, asAmount, costUp, type Price } from "../../money/decimal.ts";
import { freeOf } from "../../money/posting.ts";
import type { Circumstances } from "../decision.ts";
import { bestOpposite, isTriggeredBy, limitTrigger } from "../trigger.ts";
import { fillWhole } from "./fill.ts";

/** The fill of a limit order that the market meets now; none if it stays open. */
export function fillIfMet(
  account: Account,
  order: Order,
  rules: SymbolRules,
  circumstances: Circumstances,
): OrderFilled[] {
  const quote = circumstances.market.quote(order.symbol);
  const opposite = quote === null ? null : bestOpposite(order.side, quote);
  if (opposite === null || !isTriggeredBy(limitTrigger(order), opposite)) return [];
  return [fillWhole(account, order, { price: opposite, isMaker: false }, rules, circumstances.at)];
}

/** Whether the order's reserve and the free balance pay for all of it at a price. */
export function canPay(
  account: Account,
  {
    side,
    quantity,
    reserved,
    reservedAsset,
  }: Pick<Order, "side" | "quantity" | "reserved" | "reservedAsset">,
  price: Price,
): boolean {
  const payment = side === "BUY" ? costUp(price, quantity) : asAmount(quantity);
  return payment <= add(reserved, freeOf(account.balances, reservedAsset));
}
