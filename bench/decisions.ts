// Decisions by themselves: `decide` and `apply` on a thousand accounts, in a mix of what traders do.
import type { Account } from "../src/domain/account.ts";
import type { Command, PlaceOrder } from "../src/domain/command.ts";
import type { Market } from "../src/domain/market.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { SymbolRules } from "../src/domain/symbol.ts";
import { apply } from "../src/engine/apply.ts";
import { decide } from "../src/engine/decide.ts";
import { openStrategy } from "../src/engine/open-strategy.ts";
import { STANDARD_SPOT } from "../src/engine/profiles.ts";
import { type Amount, decimal, type Price, type Quantity } from "../src/money/decimal.ts";

const ACCOUNTS = 1_000;
const CYCLES = 10;
const AT = 1_790_000_000_000;

const LOT = {
  minQuantity: decimal<Quantity>("0.1"),
  maxQuantity: decimal<Quantity>("900000"),
  stepSize: decimal<Quantity>("0.1"),
};
const RULES: SymbolRules = {
  symbol: "TRXUSDT",
  status: "TRADING",
  baseAsset: "TRX",
  quoteAsset: "USDT",
  orderTypes: ["LIMIT", "MARKET"],
  isSpotTradingAllowed: true,
  priceFilter: { minPrice: decimal("0.0001"), maxPrice: decimal("1000"), tickSize: decimal("0.0001") },
  lotSize: LOT,
  marketLotSize: LOT,
  notional: {
    minNotional: decimal<Amount>("5"),
    maxNotional: decimal<Amount>("9000000"),
    appliesMinToMarket: true,
    appliesMaxToMarket: false,
    reference: "AVERAGE",
  },
  percentPrice: null,
  percentPriceBySide: {
    buy: { up: decimal("5"), down: decimal("0.2") },
    sell: { up: decimal("5"), down: decimal("0.2") },
    reference: "AVERAGE",
  },
  maxPosition: null,
  maxNumOrders: 200,
  maxNumAlgoOrders: 5,
};
const QUOTE = { bid: decimal<Price>("0.3271"), ask: decimal<Price>("0.3272") };
const MARKET: Market = {
  rules: () => RULES,
  quote: () => QUOTE,
  lastPrice: () => QUOTE.bid,
  averagePrice: () => QUOTE.bid,
};
const CIRCUMSTANCES = { market: MARKET, profile: STANDARD_SPOT, at: AT };

const MARKET_BUY = order("BUY", "36.7", null);
const MARKET_SELL = order("SELL", "36.6", null);
const FAR_LIMIT_BUY = order("BUY", "40", "0.3");
const NEAR_LIMIT_BUY = order("BUY", "36.7", "0.32");
const LIMIT_SELL = order("SELL", "36.6", "0.33");
const UNAFFORDABLE_BUY = order("BUY", "5000", null);
const OFF_STEP_SELL = order("SELL", "36.65", null);
const BUYER_MET = decimal<Price>("0.3199");
const SELLER_MET = decimal<Price>("0.33");

/** In this order for every account, over and over; a command is told the number of the newest order. */
const SCRIPT: readonly ((newest: number) => Command)[] = [
  () => MARKET_BUY,
  () => FAR_LIMIT_BUY,
  (newest) => ({ type: "CancelOrder", orderId: newest }),
  () => MARKET_SELL,
  () => NEAR_LIMIT_BUY,
  (newest) => ({ type: "FillRestingOrder", orderId: newest, seen: BUYER_MET }),
  () => LIMIT_SELL,
  (newest) => ({ type: "FillRestingOrder", orderId: newest, seen: SELLER_MET }),
  () => UNAFFORDABLE_BUY,
  () => OFF_STEP_SELL,
];
const REFUSED_IN_SCRIPT = 2;
export const DECISION_MIX = "of ten: 4 MARKET (2 refused), 3 LIMIT, 2 fills of resting orders, 1 cancel";

/** One pass over new accounts: decisions per second, each applied. */
export function decisionsPerSecond(): number {
  const accounts = Array.from(
    { length: ACCOUNTS },
    (_, index) => openStrategy(`s${index}`, "SPOT", AT).account,
  );
  let decided = 0;
  let refused = 0;
  const start = performance.now();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    for (const next of SCRIPT) {
      for (const account of accounts) {
        if (!carryOut(account, next(account.nextOrderId - 1))) refused += 1;
        decided += 1;
      }
    }
  }
  const seconds = (performance.now() - start) / 1_000;
  const expected = (decided * REFUSED_IN_SCRIPT) / SCRIPT.length;
  if (refused !== expected)
    throw new Error(`of ${decided} decisions ${refused} were refused, not ${expected}`);
  return decided / seconds;
}

function carryOut(account: Account, command: Command): boolean {
  const decision = decide(account, command, CIRCUMSTANCES);
  if (isRefusal(decision)) return false;
  for (const event of decision.events) apply(account, event);
  return true;
}

function order(side: "BUY" | "SELL", quantity: string, price: string | null): PlaceOrder {
  return {
    type: "PlaceOrder",
    symbol: RULES.symbol,
    side,
    orderType: price === null ? "MARKET" : "LIMIT",
    size: { quantity: decimal<Quantity>(quantity) },
    stopPrice: null,
    price: price === null ? null : decimal<Price>(price),
    clientOrderId: "bench-1",
  };
}
