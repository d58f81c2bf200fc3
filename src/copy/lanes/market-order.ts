// An order at the market, of a copy's own: it closes, flattens or repairs.
import type { StrategyType } from "../../domain/account.ts";
import type { Side } from "../../domain/order.ts";
import { type Quantity, ZERO } from "../../money/decimal.ts";
import type { VenueOrder } from "../venue/venue.ts";

/** One that closes unless `reduceOnly` says that it may open. */
export function marketOrder(of: {
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly clientOrderId: string;
  readonly family: StrategyType;
  readonly reduceOnly?: boolean;
}): VenueOrder {
  const { symbol, side, quantity, clientOrderId, family, reduceOnly = true } = of;
  return {
    symbol,
    side,
    type: "MARKET",
    quantity,
    price: ZERO,
    stopPrice: ZERO,
    reduceOnly: family === "FUTURES" && reduceOnly,
    clientOrderId,
  };
}
