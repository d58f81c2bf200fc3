// A futures position as the wire has it, of the present mark price. One body serves every version of the
// routes: the older versions' keys and the newer ones'.
//
// A contract that is not listed any more has no brackets: its position is shown without what follows from
// them. Source: reference exchange, sections 11.1 to 11.4 and 15.
import type { Account } from "../../domain/account.ts";
import type { Order } from "../../domain/order.ts";
import {
  breakEvenPrice,
  entryPriceOf,
  initialMargin,
  isolatedMarginOf,
  leverageOf,
  liquidationPrice,
  maintenanceMargin,
  notionalMaxAt,
  notionalOf,
  profitAt,
} from "../../engine/futures/margin.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import {
  type Amount,
  add,
  formatBriefly,
  formatDecimal,
  magnitude,
  proceedsDown,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { digitsOf, withDigits } from "./digits.ts";

/** The market data that a position needs. */
export type MarkedMarket = Pick<MarketFeed, "rules" | "lastMarkPrice">;

/** An account's state on a symbol: its position, its value, and the reserves of its orders. */
export type Standing = ReturnType<typeof standingOf>;

/** The account's state on a symbol, with a position or without. */
export function standingOf(account: Account, symbol: string, market: MarkedMarket) {
  const rules = market.rules(symbol);
  const terms = rules?.contract ?? null;
  const leverage = terms === null ? (account.leverages.get(symbol) ?? 1) : leverageOf(account, symbol, terms);
  const orders = [...account.openOrders.values()].filter((order) => order.symbol === symbol);
  const position = account.positions.get(symbol) ?? null;
  const known = market.lastMarkPrice(symbol);
  const common = {
    symbol,
    asset: terms?.marginAsset ?? "",
    digits: digitsOf(rules),
    leverage,
    notionalMax: terms === null ? ZERO : notionalMaxAt(leverage, terms),
    ordersMargin: orders.reduce((sum, { reserved }) => add(sum, reserved), ZERO as Amount),
    /** The notionals of open entries to buy and to sell. */
    bidNotional: notionalOfEntries(orders, "BUY"),
    askNotional: notionalOfEntries(orders, "SELL"),
  };
  if (position === null) return { ...common, ...FLAT, markPrice: known ?? ZERO };
  const entryPrice = entryPriceOf(position);
  // Before the first mark price the unrealized profit is zero.
  const markPrice = known ?? entryPrice;
  return {
    ...common,
    /** Signed; zero if there is no position. */
    quantity: position.quantity,
    entryPrice,
    breakEvenPrice: breakEvenPrice(position),
    markPrice,
    /** Zero if no price is that low. */
    liquidationPrice: (terms && liquidationPrice(position, terms)) ?? ZERO,
    profit: profitAt(position, markPrice),
    notional: notionalOf(position, markPrice),
    isolatedWallet: position.isolatedWallet,
    isolatedMargin: isolatedMarginOf(position, markPrice),
    positionMargin: initialMargin(markPrice, magnitude(position.quantity), leverage),
    maintenanceMargin: terms === null ? ZERO : maintenanceMargin(position.quantity, markPrice, terms),
    updatedAt: position.updatedAt,
  };
}

/** A row of positionRisk. */
export function presentRisk(standing: Standing) {
  return {
    ...shared(standing),
    markPrice: formatDecimal(standing.markPrice),
    unRealizedProfit: formatDecimal(standing.profit),
    liquidationPrice: formatBriefly(standing.liquidationPrice),
    marginType: "isolated",
    isAutoAddMargin: "false",
    maxNotionalValue: formatBriefly(standing.notionalMax),
    marginAsset: standing.asset,
    adl: 0,
  };
}

/** An entry of the account's `positions`. */
export function presentPosition(standing: Standing) {
  return {
    ...shared(standing),
    unrealizedProfit: formatDecimal(standing.profit),
    isolated: true,
    maxNotional: formatBriefly(standing.notionalMax),
  };
}

function shared(standing: Standing) {
  return {
    symbol: standing.symbol,
    positionSide: "BOTH",
    positionAmt: withDigits(standing.quantity, standing.digits.quantity),
    entryPrice: formatBriefly(standing.entryPrice),
    breakEvenPrice: formatBriefly(standing.breakEvenPrice),
    leverage: String(standing.leverage),
    notional: formatDecimal(standing.notional),
    isolatedMargin: formatDecimal(standing.isolatedMargin),
    isolatedWallet: formatDecimal(standing.isolatedWallet),
    initialMargin: formatDecimal(add(standing.positionMargin, standing.ordersMargin)),
    maintMargin: formatDecimal(standing.maintenanceMargin),
    positionInitialMargin: formatDecimal(standing.positionMargin),
    openOrderInitialMargin: formatDecimal(standing.ordersMargin),
    bidNotional: formatDecimal(standing.bidNotional),
    askNotional: formatDecimal(standing.askNotional),
    updateTime: standing.updatedAt,
  };
}

const FLAT = {
  quantity: ZERO,
  entryPrice: ZERO,
  breakEvenPrice: ZERO,
  liquidationPrice: ZERO,
  profit: ZERO,
  notional: ZERO,
  isolatedWallet: ZERO,
  isolatedMargin: ZERO,
  positionMargin: ZERO,
  maintenanceMargin: ZERO,
  updatedAt: 0,
};

/** Source: reference exchange, section 15.7. */
function notionalOfEntries(orders: readonly Order[], side: Order["side"]): Amount {
  const entries = orders.filter((order) => order.side === side && order.reduceOnly !== true);
  return entries.reduce(
    (sum, { price, quantity, executedQuantity }) =>
      add(sum, proceedsDown(price, subtract(quantity, executedQuantity))),
    ZERO as Amount,
  );
}
