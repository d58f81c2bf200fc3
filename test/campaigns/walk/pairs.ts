// The spot pairs of the walk. Every one limits something else, so that every limit is met.
import { symbolRules } from "../../../src/engine/testing/market-stub.ts";
import { decimal, type Rate } from "../../../src/money/decimal.ts";
import type { Listing } from "./random/market.ts";

const BAND = { up: decimal<Rate>("1.03"), down: decimal<Rate>("0.97") };

export const PAIRS: readonly Listing[] = [
  { rules: symbolRules("BTC", { maxNumOrders: 3, maxNumAlgoOrders: 2 }), startsAt: decimal("60000") },
  {
    rules: symbolRules("ETH", { percentPriceBySide: { buy: BAND, sell: BAND, reference: "AVERAGE" } }),
    startsAt: decimal("3000"),
  },
  {
    rules: symbolRules("DOGE", { maxPosition: decimal("0.5"), maxNumAlgoOrders: 4 }),
    startsAt: decimal("150"),
  },
];
