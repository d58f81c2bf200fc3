// Placing a spot order. The checks run from the most general to the most particular: strategy, symbol, filters, market,
// funds; the first that fails is the answer.
//
// Fills follow the standard profile (specification section 1): a MARKET order is filled whole at the opposite best price,
// however large it is; a LIMIT order that the market already meets is filled at once at that price, as taker; any other
// rests, with its funds locked.
import type { Account } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import type { Order } from "../../domain/order.ts";
import type { FilterName, Refusal } from "../../domain/refusal.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  asAmount,
  costUp,
  floorToStep,
  type Price,
  proceedsDown,
  type Quantity,
  quantityFor,
  ZERO,
} from "../../money/decimal.ts";
import { freeOf, type Posting } from "../../money/posting.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { failsLotSizes, failsNotional, failsPriceFilter } from "../filters.ts";
import { bestOpposite, isMetBy } from "./crossing.ts";
import { fillWhole } from "./fill.ts";

export function placeOrder(account: Account, command: PlaceOrder, circumstances: Circumstances): Decision {
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const rules = circumstances.market.rules(command.symbol);
  if (rules === null) return { refusal: "SYMBOL_UNKNOWN" };
  if (rules.status !== "TRADING" || !rules.isSpotTradingAllowed) return { refusal: "MARKET_CLOSED" };
  if (!rules.orderTypes.includes(command.orderType)) {
    return { refusal: "ORDER_TYPE_UNSUPPORTED", orderType: command.orderType };
  }
  return command.price === null
    ? placeAtMarket(account, command, rules, circumstances)
    : placeAtLimit(account, command, command.price, rules, circumstances);
}

function placeAtMarket(
  account: Account,
  command: PlaceOrder,
  rules: SymbolRules,
  circumstances: Circumstances,
): Decision {
  const { size, side, symbol } = command;
  if ("quantity" in size) {
    const failed = failsLotSizes(rules, size.quantity, true);
    if (failed !== null) return filterFailed(failed);
  }
  const quote = circumstances.market.quote(symbol);
  if (quote === null) return { refusal: "MARKET_SILENT" };
  const price = bestOpposite(side, quote);
  if (price === null) return { refusal: "BOOK_EMPTY" };

  // An order by quote amount is for the largest quantity on the step that the amount buys; its notional is the amount.
  const byQuote = "quoteQuantity" in size;
  const quantity = byQuote ? buyableFor(size.quoteQuantity, price, rules) : size.quantity;
  const notional = byQuote ? size.quoteQuantity : proceedsDown(price, quantity);
  const failed =
    failsNotional(rules, notional, true) ?? (byQuote ? failsLotSizes(rules, quantity, true) : null);
  if (failed !== null) return filterFailed(failed);

  const payment = side === "BUY" ? costUp(price, quantity) : asAmount(quantity);
  const asset = paidAsset(command, rules);
  if (payment > freeOf(account.balances, asset)) return { refusal: "INSUFFICIENT_BALANCE" };
  // From here on the order stands.
  const order = newOrder(
    account,
    command,
    { quantity, price: ZERO, reserved: ZERO, asset },
    circumstances.at,
  );
  const placed = { type: "OrderPlaced", at: circumstances.at, order, postings: [] } as const;
  return {
    events: [placed, fillWhole(account, order, { price, isMaker: false }, rules, circumstances)],
  };
}

function placeAtLimit(
  account: Account,
  command: PlaceOrder,
  price: Price,
  rules: SymbolRules,
  circumstances: Circumstances,
): Decision {
  const { size, side, symbol } = command;
  if (!("quantity" in size)) throw new Error("a LIMIT order is placed by quantity");
  const { quantity } = size;
  const failed =
    failsPriceFilter(rules, price) ??
    failsLotSizes(rules, quantity, false) ??
    failsNotional(rules, proceedsDown(price, quantity), false);
  if (failed !== null) return filterFailed(failed);

  const asset = paidAsset(command, rules);
  const reserved = side === "BUY" ? costUp(price, quantity) : asAmount(quantity);
  if (reserved > freeOf(account.balances, asset)) return { refusal: "INSUFFICIENT_BALANCE" };
  // From here on the order stands.
  const order = newOrder(account, command, { quantity, price, reserved, asset }, circumstances.at);
  const lock: Posting = { from: "free", to: "locked", asset, amount: reserved };
  const placed = { type: "OrderPlaced", at: circumstances.at, order, postings: [lock] } as const;
  const quote = circumstances.market.quote(symbol);
  const opposite = quote === null ? null : bestOpposite(side, quote);
  if (opposite === null || !isMetBy(order, opposite)) return { events: [placed] };
  return {
    events: [placed, fillWhole(account, order, { price: opposite, isMaker: false }, rules, circumstances)],
  };
}

function newOrder(
  account: Account,
  command: PlaceOrder,
  terms: { quantity: Quantity; price: Price; reserved: Amount; asset: string },
  at: number,
): Order {
  return {
    orderId: account.nextOrderId,
    clientOrderId: command.clientOrderId,
    symbol: command.symbol,
    side: command.side,
    type: command.orderType,
    status: "NEW",
    price: terms.price,
    quantity: terms.quantity,
    quoteQuantity: "quoteQuantity" in command.size ? command.size.quoteQuantity : ZERO,
    executedQuantity: ZERO,
    executedQuote: ZERO,
    reserved: terms.reserved,
    reservedAsset: terms.asset,
    placedAt: at,
    updatedAt: at,
  };
}

function buyableFor(amount: Amount, price: Price, rules: SymbolRules): Quantity {
  const quantity = quantityFor(amount, price);
  const onLot = floorToStep(quantity, rules.lotSize?.stepSize ?? ZERO);
  return floorToStep(onLot, rules.marketLotSize?.stepSize ?? ZERO);
}

function paidAsset(command: PlaceOrder, rules: SymbolRules): string {
  return command.side === "BUY" ? rules.quoteAsset : rules.baseAsset;
}

function filterFailed(filter: FilterName): Refusal {
  return { refusal: "FILTER_FAILED", filter };
}
