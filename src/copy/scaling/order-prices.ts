// The prices of a mirrored order: its limit and its trigger, on the venue's ticks, and those that it is measured by. A limit is
// never moved to where it is worse than the strategy's, a trigger never to where it is reached earlier.

import type { SymbolRules } from "../../domain/symbol.ts";
import type { Price } from "../../money/decimal.ts";
import { priceOf } from "./equity.ts";
import type { ScaleInput } from "./scale-order.ts";
import { snapPrice, takesMarketPrice } from "./snap.ts";

export type OrderPrices = {
  /** Null where the type has none. */
  readonly price: Price | null;
  readonly stopPrice: Price | null;
  /** What its notional is reckoned at: the limit, else the market's price; null while none is known. */
  readonly notional: Price | null;
  /** What it may cost: the limit, the trigger of a stop without one, else the market's price; null while none is known. */
  readonly worth: Price | null;
};

export function orderPrices(
  { family, placement, lead, prices }: ScaleInput,
  rules: SymbolRules,
): OrderPrices {
  const { side, orderType, symbol, filled } = placement;
  const isBuy = side === "BUY";
  const price =
    orderType === "LIMIT" || orderType === "STOP_LOSS_LIMIT"
      ? snapPrice(rules, placement.price, isBuy ? "DOWN" : "UP")
      : null;
  const stopPrice =
    orderType === "STOP_LOSS" || orderType === "STOP_LOSS_LIMIT"
      ? snapPrice(rules, placement.stopPrice, isBuy ? "UP" : "DOWN")
      : null;
  const market = priceOf(symbol, prices, lead) ?? filled?.price ?? null;
  const own = price ?? stopPrice ?? market;
  // A short is opened at its limit or better: what it is worth is then more than its limit says.
  const isWorthMore = family === "FUTURES" && !isBuy && own !== null && market !== null && market > own;
  return {
    price,
    stopPrice,
    notional: takesMarketPrice(orderType) ? market : price,
    worth: isWorthMore ? market : own,
  };
}
