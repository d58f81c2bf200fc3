// The contract that the futures figures are decided on, with all the filters and brackets of the exchange's
// first one.
import type { PlaceOrder } from "../src/domain/command.ts";
import { contractRules } from "../src/engine/testing/contract-rules.ts";
import { decimal, type Price, type Quantity } from "../src/money/decimal.ts";

export const CONTRACT = contractRules("BTC");
/** Within every limit of a strategy's 1,000 USDT, at the default leverage of 20. */
export const QUANTITY = decimal<Quantity>("0.002");

/** An order of that size: at the market's price, or at a limit. */
export function order(side: "BUY" | "SELL", price: Price | null = null): PlaceOrder {
  return {
    type: "PlaceOrder",
    symbol: CONTRACT.symbol,
    side,
    orderType: price === null ? "MARKET" : "LIMIT",
    size: { quantity: QUANTITY },
    price,
    stopPrice: null,
    clientOrderId: "bench-1",
  };
}
