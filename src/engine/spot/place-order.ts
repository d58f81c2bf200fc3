// Places a spot order. Checks run from general to particular: strategy, symbol, filters, market, funds; the
// first failure is the answer. `working-order.ts` handles a placed order.
import type { Account } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import type { Market } from "../../domain/market.ts";
import { isStopType, type Order, type Side } from "../../domain/order.ts";
import { type FilterFailure, isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  asAmount,
  costUp,
  type Price,
  type Quantity,
  quantityFor,
  ZERO,
} from "../../money/decimal.ts";
import { freeOf } from "../../money/posting.ts";
import type { Circumstances, Decision } from "../decision.ts";
import {
  failsAsLimit,
  failsAsMarket,
  failsMarketLotSizes,
  failsMarketNotional,
  failsNotional,
  failsOrderCounts,
  failsPosition,
  failsPriceFilter,
  onLot,
} from "../filters.ts";
import { bestDisplayed } from "../matching/walk.ts";
import { arrived, exhaustedOrders, orderOf, placed, refusedByStandard } from "../new-order.ts";
import { bestOpposite, isTriggeredBy, stopTrigger } from "../trigger.ts";
import { fillWhole } from "./fill.ts";
import { takeAtLimit, takeAtMarket } from "./strict.ts";
import { canPay, fillIfMet } from "./working-order.ts";

export function placeOrder(account: Account, command: PlaceOrder, circumstances: Circumstances): Decision {
  const exhausted = exhaustedOrders(account, circumstances);
  if (exhausted !== null) return exhausted;
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const rules = circumstances.market.rules(command.symbol);
  if (rules === null) return { refusal: "SYMBOL_UNKNOWN" };
  if (rules.status !== "TRADING" || !rules.isSpotTradingAllowed) return { refusal: "MARKET_CLOSED" };
  if (circumstances.market.untradable() !== null) return { refusal: "RECORDING_ENDED" };
  if (!rules.orderTypes.includes(command.orderType)) {
    return { refusal: "ORDER_TYPE_UNSUPPORTED", orderType: command.orderType };
  }
  const standardRefusal = refusedByStandard(account, command);
  if (standardRefusal !== null) return standardRefusal;
  if (isStopType(command.orderType)) return placeStop(account, command, rules, circumstances);
  return command.price === null
    ? placeAtMarket(account, command, rules, circumstances)
    : placeAtLimit(account, command, rules, circumstances);
}

function placeAtMarket(
  account: Account,
  command: PlaceOrder,
  rules: SymbolRules,
  circumstances: Circumstances,
): Decision {
  const { size, side, symbol } = command;
  const { market } = circumstances;
  const wrongLot = "quantity" in size ? failsMarketLotSizes(rules, size.quantity) : null;
  if (wrongLot !== null) return filterFailed(wrongLot);
  const price = bestPrice(account, side, symbol, market);
  if (isRefusal(price)) return price;
  // An order by quote amount is for the largest quantity on the step that the amount buys. The amount and,
  // like any market order, the quantity keep NOTIONAL: what is bought for less than the smallest notional
  // could not be sold again.
  const byQuote = "quoteQuantity" in size;
  const quantity = byQuote ? buyableFor(size.quoteQuantity, price, rules) : size.quantity;
  const order = newOrder(account, command, rules, { quantity, reserved: ZERO }, circumstances);
  const wrongAmount = byQuote
    ? (failsNotional(rules, size.quoteQuantity, true) ?? failsMarketLotSizes(rules, quantity))
    : null;
  const failed =
    wrongAmount ?? failsMarketNotional(rules, order, market) ?? failsPosition(rules, order, account);
  if (failed !== null) return filterFailed(failed);
  if (account.profile.strict !== null) {
    return takeAtMarket(
      account,
      order,
      rules,
      circumstances,
      byQuote ? (bought) => onLot(bought, rules) : null,
    );
  }
  if (!canPay(account, order, price)) return { refusal: "INSUFFICIENT_BALANCE" };
  // From here on nothing may fail.
  const filled = fillWhole(account, order, { price, isMaker: false }, rules, circumstances.at);
  return { events: [placed(order, circumstances.admittedAt), filled] };
}

function placeAtLimit(
  account: Account,
  command: PlaceOrder,
  rules: SymbolRules,
  circumstances: Circumstances,
): Decision {
  const quantity = quantityOf(command);
  const price = command.price ?? ZERO;
  const reserved = command.side === "BUY" ? costUp(price, quantity) : asAmount(quantity);
  const order = newOrder(account, command, rules, { quantity, reserved }, circumstances);
  const failed =
    failsAsLimit(rules, order, circumstances.market) ??
    failsPosition(rules, order, account) ??
    failsOrderCounts(rules, false, account);
  if (failed !== null) return filterFailed(failed);
  if (!canReserve(account, order)) return { refusal: "INSUFFICIENT_BALANCE" };
  if (account.profile.strict !== null) return takeAtLimit(account, order, rules, circumstances);
  // From here on nothing may fail.
  return {
    events: [placed(order, circumstances.admittedAt), ...fillIfMet(account, order, rules, circumstances)],
  };
}

/** A stop waits for the last price; a BUY without a limit reserves what it would cost at its trigger. */
function placeStop(
  account: Account,
  command: PlaceOrder,
  rules: SymbolRules,
  circumstances: Circumstances,
): Decision {
  const { side, symbol, stopPrice } = command;
  const { market } = circumstances;
  if (stopPrice === null) throw new Error("a stop order has a stop price");
  const quantity = quantityOf(command);
  const reserved = side === "BUY" ? costUp(command.price ?? stopPrice, quantity) : asAmount(quantity);
  const order: Order = {
    ...newOrder(account, command, rules, { quantity, reserved }, circumstances),
    stopPrice,
    workingAt: null,
  };
  const failed =
    failsPriceFilter(rules, stopPrice) ??
    (command.price === null ? failsAsMarket(rules, order, market) : failsAsLimit(rules, order, market)) ??
    failsPosition(rules, order, account) ??
    failsOrderCounts(rules, true, account);
  if (failed !== null) return filterFailed(failed);
  // The side of the market that a stop is on is known only while there is a market.
  const last = market.lastPrice(symbol);
  if (last === null || market.quote(symbol) === null) return { refusal: "MARKET_SILENT" };
  if (isTriggeredBy(stopTrigger(order), last)) return { refusal: "STOP_WOULD_TRIGGER" };
  if (!canReserve(account, order)) return { refusal: "INSUFFICIENT_BALANCE" };
  // From here on nothing may fail.
  return { events: [placed(order, circumstances.admittedAt)] };
}

function newOrder(
  { nextOrderId: orderId, profile }: Account,
  command: PlaceOrder,
  rules: SymbolRules,
  terms: { readonly quantity: Quantity; readonly reserved: Amount },
  circumstances: Circumstances,
): Order {
  const { at } = circumstances;
  const reservedAsset = command.side === "BUY" ? rules.quoteAsset : rules.baseAsset;
  const order = orderOf(command, { orderId, ...terms, reservedAsset, at });
  return profile.strict === null ? order : arrived(order, command, circumstances);
}

/** The price that an order at the market's price takes first. */
function bestPrice({ profile }: Account, side: Side, symbol: string, market: Market): Price | Refusal {
  if (profile.strict === null) {
    const quote = market.quote(symbol);
    if (quote === null) return { refusal: "MARKET_SILENT" };
    return bestOpposite(side, quote) ?? { refusal: "BOOK_EMPTY" };
  }
  const book = market.book(symbol);
  if (book === null) return { refusal: "MARKET_SILENT" };
  return bestDisplayed(side, book) ?? { refusal: "BOOK_EMPTY" };
}

function canReserve(account: Account, { reserved, reservedAsset }: Order): boolean {
  return reserved <= freeOf(account.balances, reservedAsset);
}

function quantityOf({ size }: PlaceOrder): Quantity {
  if ("quantity" in size) return size.quantity;
  throw new Error("only a MARKET order is placed by its quote amount");
}

function buyableFor(amount: Amount, price: Price, rules: SymbolRules): Quantity {
  return onLot(quantityFor(amount, price), rules);
}

function filterFailed({ filter }: FilterFailure): Refusal {
  return { refusal: "FILTER_FAILED", filter };
}
