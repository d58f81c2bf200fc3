// The mix of what spot traders do.
import type { Command, PlaceOrder } from "../../src/domain/command.ts";
import type { Market } from "../../src/domain/market.ts";
import type { BookSide } from "../../src/domain/receipt.ts";
import type { SymbolRules } from "../../src/domain/symbol.ts";
import { type Amount, decimal, type Price, type Quantity } from "../../src/money/decimal.ts";
import { bookOf } from "./books.ts";
import { type DecisionMix, STRICT_SPOT } from "./decisions.ts";

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
  contract: null,
};
const QUOTE = { bid: decimal<Price>("0.3271"), ask: decimal<Price>("0.3272") };
/** An order of the mix takes two levels. */
const BOOK = bookOf({
  bids: [
    ["0.3271", "20"],
    ["0.327", "900000"],
  ],
  asks: [
    ["0.3272", "20"],
    ["0.3273", "900000"],
  ],
});
export const MARKET: Market = {
  rules: () => RULES,
  quote: () => QUOTE,
  lastPrice: () => QUOTE.bid,
  averagePrice: () => QUOTE.bid,
  markPrice: () => null,
  book: () => BOOK,
  untradable: () => null,
  delisted: () => null,
};
const MARKET_BUY = order("BUY", "36.7", null);
const MARKET_SELL = order("SELL", "36.6", null);
const FAR_LIMIT_BUY = order("BUY", "40", "0.3");
export const NEAR_LIMIT_BUY = order("BUY", "36.7", "0.32");
const LIMIT_SELL = order("SELL", "36.6", "0.33");
const UNAFFORDABLE_BUY = order("BUY", "5000", null);
const OFF_STEP_SELL = order("SELL", "36.65", null);
const BUYER_MET = decimal<Price>("0.3199");
const SELLER_MET = decimal<Price>("0.3301");
/** The market trades more than an order of the mix has. */
const MATCHED = decimal<Quantity>("1000");
const NO_QUEUES = new Map();

/** What fills an open order: the price that it was for, on the side of the book that it is on. */
type Fill = (newest: number, at: number, seen: Price, side: BookSide) => Command;

function scriptWith(fill: Fill): DecisionMix["script"] {
  return [
    () => MARKET_BUY,
    () => FAR_LIMIT_BUY,
    (newest) => ({ type: "CancelOrder", orderId: newest }),
    () => MARKET_SELL,
    () => NEAR_LIMIT_BUY,
    (newest, at) => fill(newest, at, BUYER_MET, "BID"),
    () => LIMIT_SELL,
    (newest, at) => fill(newest, at, SELLER_MET, "ASK"),
    () => UNAFFORDABLE_BUY,
    () => OFF_STEP_SELL,
  ];
}

export const SPOT_DECISIONS: DecisionMix = {
  type: "SPOT",
  market: MARKET,
  before: [],
  script: scriptWith((newest, _, seen) => ({ type: "FillRestingOrder", orderId: newest, seen })),
  refusedInScript: 2,
  text: "of ten: 4 MARKET (2 refused), 3 LIMIT, 2 fills of resting orders, 1 cancel",
};

/** The same under `strict`. */
export const STRICT_DECISIONS: DecisionMix = {
  ...SPOT_DECISIONS,
  profile: STRICT_SPOT,
  script: scriptWith((_, at, price, side) => ({
    type: "MatchTrade",
    symbol: RULES.symbol,
    trade: { aggregateId: 1, price, quantity: MATCHED, side, time: at },
    queues: NO_QUEUES,
  })),
};

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
