// Scenarios of spot strategies: the pairs they are played on, and the steps that only they have.
import type { Account } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import type { ClientOrderType, Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { decimal, formatBriefly, type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { symbolRules } from "./market-stub.ts";
import {
  inOrder,
  priceAfter,
  quietly,
  type ScenarioSetup,
  timeInForceIn,
  type Workbench,
} from "./workbench.ts";

const FINEST = decimal<Price & Quantity>("0.00000001");

const RULES: readonly SymbolRules[] = [
  // As the exchange publishes them for its first pair.
  symbolRules("BTC"),
  // A coin of whole units and tiny prices.
  symbolRules("SHIB", {
    priceFilter: { minPrice: FINEST, maxPrice: decimal("1"), tickSize: FINEST },
    lotSize: { minQuantity: decimal("1"), maxQuantity: decimal("46116860414"), stepSize: decimal("1") },
    marketLotSize: null,
  }),
  // Every digit may be used.
  symbolRules("FINE", {
    priceFilter: { minPrice: FINEST, maxPrice: ZERO, tickSize: FINEST },
    lotSize: { minQuantity: FINEST, maxQuantity: ZERO, stepSize: FINEST },
    marketLotSize: null,
  }),
  // Whole units for a notional between 5 and 150, which market orders need not keep.
  symbolRules("ABC", {
    lotSize: { minQuantity: decimal("1"), maxQuantity: decimal("1000"), stepSize: decimal("1") },
    notional: {
      minNotional: decimal("5"),
      maxNotional: decimal("150"),
      appliesMinToMarket: false,
      appliesMaxToMarket: false,
      reference: "AVERAGE",
    },
  }),
  // Limit orders only.
  symbolRules("CALM", { orderTypes: ["LIMIT"] }),
  // A limit may be up to a fifth above and down to half of the average for a buyer, twice and four fifths for
  // a seller.
  symbolRules("BAND", {
    percentPriceBySide: {
      buy: { up: decimal("1.2"), down: decimal("0.5") },
      sell: { up: decimal("2"), down: decimal("0.8") },
      reference: "AVERAGE",
    },
  }),
  // The older filter, of both sides, against the last price.
  symbolRules("LAST", {
    percentPrice: {
      buy: { up: decimal("1.1"), down: decimal("0.9") },
      sell: { up: decimal("1.1"), down: decimal("0.9") },
      reference: "LAST",
    },
  }),
  // At most 3 units, two open orders, one of them a stop.
  symbolRules("FEW", { maxPosition: decimal("3"), maxNumOrders: 2, maxNumAlgoOrders: 1 }),
  // Filters that are published and, being zero, ask nothing.
  symbolRules("OPEN", {
    percentPriceBySide: {
      buy: { up: ZERO, down: ZERO },
      sell: { up: ZERO, down: ZERO },
      reference: "AVERAGE",
    },
    maxPosition: ZERO,
    maxNumOrders: 0,
    maxNumAlgoOrders: 0,
  }),
  // A market order is for at most 100 at the average price.
  symbolRules("PART", {
    notional: {
      minNotional: decimal("5"),
      maxNotional: decimal("100"),
      appliesMinToMarket: true,
      appliesMaxToMarket: true,
      reference: "AVERAGE",
    },
  }),
  // USDT for lira: the other way round.
  symbolRules("USDT", {
    ...{ symbol: "USDTTRY", baseAsset: "USDT", quoteAsset: "TRY" },
    lotSize: { minQuantity: decimal("1"), maxQuantity: decimal("92141578"), stepSize: decimal("1") },
    marketLotSize: null,
    notional: {
      minNotional: decimal("10"),
      maxNotional: ZERO,
      appliesMinToMarket: true,
      appliesMaxToMarket: false,
      reference: "AVERAGE",
    },
  }),
  symbolRules("FREE", { priceFilter: null, lotSize: null, marketLotSize: null, notional: null }),
];

export const SPOT: ScenarioSetup = {
  type: "SPOT",
  rules: RULES,
  steps: {
    buy: (bench, words) => bench.carryOut(placement(bench, "BUY", words)),
    sell: (bench, words) => bench.carryOut(placement(bench, "SELL", words)),
    signal,
    trade: (bench, [symbol = "", price = ""]) => trade(bench, symbol, decimal(price)),
    average: quietly((market, [symbol = "", price = ""]) => market.setAveragePrice(symbol, decimal(price))),
  },
  held,
};

/** The order of the signal is what the words say, its side the first of them. */
function signal(bench: Workbench, [side = "", ...words]: readonly string[]): string {
  const order = placement(bench, side === "buy" ? "BUY" : "SELL", words);
  const processedAt = bench.at;
  return bench.carryOut({ type: "ExecuteSignal", signalId: order.clientOrderId, order, processedAt });
}

function placement(bench: Workbench, side: Side, words: readonly string[]): PlaceOrder {
  const isByQuote = words[0] === "for";
  const [amount = "", symbol = ""] = isByQuote ? words.slice(1) : words;
  const price = priceAfter("@", words);
  const stopPrice = priceAfter("stop", words);
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType: words.includes("maker") ? "LIMIT_MAKER" : orderType(price, stopPrice),
    timeInForce: timeInForceIn(words),
    size: isByQuote ? { quoteQuantity: decimal(amount) } : { quantity: decimal(amount) },
    price,
    stopPrice,
    clientOrderId: `step-${bench.at}`,
  };
}

function orderType(price: Price | null, stopPrice: Price | null): ClientOrderType {
  if (stopPrice !== null) return price === null ? "STOP_LOSS" : "STOP_LOSS_LIMIT";
  return price === null ? "MARKET" : "LIMIT";
}

/** The market trades at this price, and triggers the stops that it reaches. */
function trade(bench: Workbench, symbol: string, price: Price): string {
  bench.market.setLastPrice(symbol, price);
  const confirmed = bench.confirm(symbol);
  return inOrder([confirmed, bench.executeHits(bench.index().takeAtTrade(symbol, price))]);
}

/** Assets that the account holds nothing of are not listed. */
function held({ balances }: Account): string {
  return [...balances]
    .filter(([, { free, locked }]) => free !== 0n || locked !== 0n)
    .map(([asset, { free, locked }]) => `${formatBriefly(free)}+${formatBriefly(locked)} ${asset}`)
    .join(", ");
}
