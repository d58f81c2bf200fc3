// Decisions of a futures trader with open orders on the symbol, whose reserves every change of the position
// has to check.
import { MarketStub } from "../../src/engine/testing/market-stub.ts";
import { decimal, type Price } from "../../src/money/decimal.ts";
import type { DecisionMix } from "./decisions.ts";
import { CONTRACT, order } from "./positions.ts";

const RESTING = 10;
const FAR_BELOW = decimal<Price>("40000");

const MARKET = new MarketStub([CONTRACT]);
MARKET.setQuote(CONTRACT.symbol, { bid: decimal("59999.9"), ask: decimal("60000") });
MARKET.setMarkPrice(CONTRACT.symbol, decimal("60000"));

const OPEN = order("BUY");
const CLOSE = order("SELL");

export const FUTURES_DECISIONS: DecisionMix = {
  type: "FUTURES",
  market: MARKET,
  before: Array.from({ length: RESTING }, () => order("BUY", FAR_BELOW)),
  script: [() => OPEN, () => CLOSE],
  refusedInScript: 0,
  text: `a position is opened and closed at the market's price, by turns, with ${RESTING} orders resting`,
};
