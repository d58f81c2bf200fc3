// Fills a spot order: the postings of both sides.
// The buyer pays quote units, rounded up, and receives base units; the seller pays base units and receives
// quote units, rounded down. The fee comes out of what was received, rounded up (specification 2.3: a BUY
// pays its fee in the base asset). The order's locked funds pay first; the rest of them returns to free.
import type { OrderFilled } from "../../domain/event.ts";
import type { Order } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  asAmount,
  costUp,
  feeUp,
  type Price,
  proceedsDown,
  subtract,
} from "../../money/decimal.ts";
import type { Posting } from "../../money/posting.ts";
import type { Circumstances } from "../decision.ts";

/** The event that fills all that is left of an order at one price. */
export function fillWhole(
  tradeId: number,
  order: Order,
  terms: { readonly price: Price; readonly isMaker: boolean },
  rules: Pick<SymbolRules, "baseAsset" | "quoteAsset">,
  { profile, at }: Pick<Circumstances, "profile" | "at">,
): OrderFilled {
  const { price, isMaker } = terms;
  const quantity = subtract(order.quantity, order.executedQuantity);
  const isBuy = order.side === "BUY";
  const quoteQuantity = isBuy ? costUp(price, quantity) : proceedsDown(price, quantity);
  const base = { asset: rules.baseAsset, amount: asAmount(quantity) };
  const quote = { asset: rules.quoteAsset, amount: quoteQuantity };
  const [paid, received] = isBuy ? [quote, base] : [base, quote];
  const fee = feeUp(received.amount, isMaker ? profile.makerFee : profile.takerFee);
  const postings: Posting[] = [
    ...payment(order, paid.asset, paid.amount),
    { from: "market", to: "free", asset: received.asset, amount: received.amount },
    { from: "free", to: "fees", asset: received.asset, amount: fee },
  ];
  return {
    type: "OrderFilled",
    at,
    trade: {
      tradeId,
      orderId: order.orderId,
      symbol: order.symbol,
      side: order.side,
      price,
      quantity,
      quoteQuantity,
      fee,
      feeAsset: received.asset,
      isMaker,
      at,
    },
    postings: postings.filter(({ amount }) => amount > 0n),
  };
}

function payment(order: Order, asset: string, amount: Amount): Posting[] {
  const fromLocked = amount < order.reserved ? amount : order.reserved;
  return [
    { from: "locked", to: "market", asset, amount: fromLocked },
    { from: "free", to: "market", asset, amount: subtract(amount, fromLocked) },
    { from: "locked", to: "free", asset, amount: subtract(order.reserved, fromLocked) },
  ];
}
