// Fills a spot order: the postings of both sides. The buyer pays quote units, rounded up, and receives base
// units; the seller pays base units and receives quote units, rounded down. The fee comes out of what was
// received, rounded up (specification 2.3: a BUY pays its fee in the base asset). The order's locked funds
// pay first; what the rest of the order may cost at its limit stays locked, and the remainder returns to
// free.
import type { Account } from "../../domain/account.ts";
import type { ConsumedLot } from "../../domain/consumed.ts";
import type { OrderFilled } from "../../domain/event.ts";
import type { Order } from "../../domain/order.ts";
import type { Receipt } from "../../domain/receipt.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  asAmount,
  costUp,
  feeUp,
  least,
  type Price,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import type { Posting } from "../../money/posting.ts";

/** The terms of one fill. */
export type Fill = {
  readonly price: Price;
  readonly isMaker: boolean;
  /** Under `strict`. */
  readonly strict?: {
    readonly receipt: Receipt;
    readonly consumed: ConsumedLot | null;
    /** The most that a buyer can pay: each part of an order is rounded up, their sum was not reserved. */
    readonly payMax: Amount;
  };
};

/** The event that fills all that is left of an order at one price. */
export function fillWhole(
  account: Pick<Account, "profile" | "nextTradeId">,
  order: Order,
  fill: Fill,
  rules: Pick<SymbolRules, "baseAsset" | "quoteAsset">,
  at: number,
): OrderFilled {
  const quantity = subtract(order.quantity, order.executedQuantity);
  return fillPart(account, order, quantity, fill, rules, at);
}

/** The event that fills a part of an order, or all that is left of it. `at` is market time, Unix ms. */
export function fillPart(
  { profile, nextTradeId: tradeId }: Pick<Account, "profile" | "nextTradeId">,
  order: Order,
  quantity: Quantity,
  { price, isMaker, strict }: Fill,
  rules: Pick<SymbolRules, "baseAsset" | "quoteAsset">,
  at: number,
): OrderFilled {
  const isBuy = order.side === "BUY";
  const cost = isBuy ? costUp(price, quantity) : proceedsDown(price, quantity);
  const quoteQuantity = isBuy && strict !== undefined ? least(cost, strict.payMax) : cost;
  const base = { asset: rules.baseAsset, amount: asAmount(quantity) };
  const quote = { asset: rules.quoteAsset, amount: quoteQuantity };
  const [paid, received] = isBuy ? [quote, base] : [base, quote];
  const fee = feeUp(received.amount, isMaker ? profile.makerFee : profile.takerFee);
  const postings: Posting[] = [
    ...payment(order, quantity, paid.asset, paid.amount),
    { from: "market", to: "free", asset: received.asset, amount: received.amount },
    { from: "free", to: "fees", asset: received.asset, amount: fee },
  ];
  const trade = {
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
  };
  const moved = postings.filter(({ amount }) => amount > 0n);
  if (strict === undefined) return { type: "OrderFilled", at, trade, postings: moved };
  const { receipt, consumed } = strict;
  return {
    type: "OrderFilled",
    at,
    trade: { ...trade, receipt },
    ...(consumed !== null && { consumed }),
    postings: moved,
  };
}

function payment(order: Order, quantity: Quantity, asset: string, amount: Amount): Posting[] {
  const { reserved } = order;
  const fromLocked = amount < reserved ? amount : reserved;
  const unused = subtract(reserved, fromLocked);
  const left = subtract(order.quantity, order.executedQuantity);
  const kept = quantity === left ? ZERO : least(unused, reserveFor(order, subtract(left, quantity)));
  return [
    { from: "locked", to: "market", asset, amount: fromLocked },
    { from: "free", to: "market", asset, amount: subtract(amount, fromLocked) },
    { from: "locked", to: "free", asset, amount: subtract(unused, kept) },
  ];
}

/**
 * What a quantity of an order may still cost: a buyer at the limit, or all that a stop without one reserved.
 */
function reserveFor({ side, price, reserved }: Order, quantity: Quantity): Amount {
  if (side === "SELL") return asAmount(quantity);
  return price === 0n ? reserved : costUp(price, quantity);
}
