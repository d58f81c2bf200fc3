// Places a futures order. Checks run from general to particular: strategy, symbol, filters, reduction, legs,
// market, position limit, margin; the first failure is the answer.
// Fills follow the standard profile: a market order is filled in full at the opposite best price, as taker; a
// limit order at its limit, as maker, at once if the market meets it already. Source: specification 4.2;
// design, section 6; reference exchange, sections 10.2, 12.1 and 14.
import type { EntryOptions, PlaceOrder } from "../../domain/command.ts";
import type { Market } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { type Price, proceedsDown, type Quantity, ZERO } from "../../money/decimal.ts";
import { freeOf } from "../../money/posting.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { bestDisplayed } from "../matching/walk.ts";
import { arrived, exhaustedOrders, orderOf, placed, refusedByStandard } from "../new-order.ts";
import { bestOpposite, isTriggeredBy, limitTrigger } from "../trigger.ts";
import { conclude } from "./aftermath.ts";
import { attachedLegsOf, attachedRefusal, placeAttached, refusalOnFill } from "./attached-legs.ts";
import { type Contract, contractOf, untradableRefusal } from "./contract.ts";
import {
  bandRefusal,
  counterpartyRefusal,
  notionalRefusal,
  orderCountRefusal,
  priceRefusal,
  quantityRefusal,
} from "./contract-filters.ts";
import { closingPart, fillOf } from "./fill.ts";
import { takeEntryLeverage } from "./leverage.ts";
import { exposureOf, isUnderReserved, reserveOf } from "./locks.ts";
import { leverageOf, notionalMaxAt } from "./margin.ts";
import { takeAtLimit, takeAtMarket } from "./strict.ts";

const NO_OPTIONS: EntryOptions = { reduceOnly: false, attached: null, leverage: null };

export function placeOrder(draft: Draft, command: PlaceOrder, circumstances: Circumstances): Refusal | null {
  const { market } = circumstances;
  const exhausted = exhaustedOrders(draft.account, circumstances);
  if (exhausted !== null) return exhausted;
  if (draft.account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  // The order that a leg places has the leg's client id: by that id no other order may be found.
  if ([...draft.account.openLegs.values()].some(({ clientLegId }) => clientLegId === command.clientOrderId))
    return { refusal: "CLIENT_ID_TAKEN" };
  const contract = contractOf(market, command.symbol);
  if (contract === null) return { refusal: "SYMBOL_UNKNOWN" };
  if (contract.status !== "TRADING") return { refusal: "CONTRACT_NOT_TRADING" };
  const overRefusal = untradableRefusal(market);
  if (overRefusal !== null) return overRefusal;
  if (!contract.orderTypes.includes(command.orderType)) {
    return { refusal: "ORDER_TYPE_UNSUPPORTED", orderType: command.orderType };
  }
  const standardRefusal = refusedByStandard(draft.account, command);
  if (standardRefusal !== null) return standardRefusal;
  const unfit = filterRefusal(draft, command, contract, market);
  if (unfit !== null) return unfit;
  const quantity = quantityToPlace(draft, command);
  if (quantity === 0n) return { refusal: "REDUCE_ONLY_REJECTED" };
  const { attached, leverage } = optionsOf(command);
  const unfitLegs = attached && attachedRefusal(draft.account, command, attached, contract, market);
  if (unfitLegs !== null) return unfitLegs;

  const tooHigh = leverage === null ? null : takeEntryLeverage(draft, contract, leverage, circumstances);
  if (tooHigh !== null) return tooHigh;
  const { nextOrderId: orderId } = draft.account;
  const refusal =
    command.price === null
      ? placeAtMarket(draft, command, quantity, contract, circumstances)
      : placeAtLimit(draft, command, quantity, contract, circumstances);
  if (refusal !== null) return refusal;
  conclude(draft, contract, circumstances.at);
  // What was taken at a loss against the mark price cannot be reserved for what is left.
  if (isUnderReserved(draft.account, orderId, contract)) return { refusal: "MARGIN_INSUFFICIENT" };
  return null;
}

function filterRefusal(
  draft: Draft,
  command: PlaceOrder,
  contract: Contract,
  market: Market,
): Refusal | null {
  const { side, price } = command;
  const quantity = quantityOf(command);
  return (
    (price === null ? null : (priceRefusal(contract, price) ?? bandRefusal(contract, side, price, market))) ??
    quantityRefusal(contract, quantity, price === null) ??
    (optionsOf(command).reduceOnly ? null : notionalRefusal(contract, price, quantity, market)) ??
    (price === null ? null : orderCountRefusal(contract, draft.account))
  );
}

function placeAtMarket(
  draft: Draft,
  command: PlaceOrder,
  quantity: Quantity,
  contract: Contract,
  circumstances: Circumstances,
): Refusal | null {
  const { market, at, admittedAt } = circumstances;
  const { profile } = draft.account;
  const { symbol, side } = command;
  // Under `strict` at the prices of the book, as far as it has the quantity; else whole at the best price.
  const book = profile.strict === null ? null : market.book(symbol);
  const quote = profile.strict === null ? market.quote(symbol) : null;
  const mark = market.markPrice(symbol);
  if ((book ?? quote) === null || mark === null) return { refusal: "MARKET_SILENT" };
  const price = book === null ? quote && bestOpposite(side, quote) : bestDisplayed(side, book);
  if (price === null) return { refusal: "BOOK_EMPTY" };
  const outOfBounds = counterpartyRefusal(contract, side, price, mark);
  if (outOfBounds !== null) return outOfBounds;
  if (isTooLarge(draft, command, price, quantity, contract, market)) {
    return { refusal: "POSITION_LIMIT_EXCEEDED" };
  }
  const unfitLegs = refusalOnFill(draft.account, command, mark);
  if (unfitLegs !== null) return unfitLegs;
  const order = newOrder(draft, command, quantity, contract, circumstances);
  if (book !== null) return takeAtMarket(draft, order, { book, mark }, contract, circumstances);
  const terms = { price, quantity, isMaker: false, feeRate: profile.takerFee, mark, at };
  const filled = fillOf(draft.account, order, contract, terms);
  if (filled === null) return { refusal: "MARGIN_INSUFFICIENT" };
  // From here on nothing may fail.
  draft.add(placed(order, admittedAt));
  draft.add(filled);
  placeAttached(draft, order, "NEW");
  return null;
}

function placeAtLimit(
  draft: Draft,
  command: PlaceOrder,
  quantity: Quantity,
  contract: Contract,
  circumstances: Circumstances,
): Refusal | null {
  const { market, at, admittedAt } = circumstances;
  const { profile } = draft.account;
  const price = command.price ?? ZERO;
  if (isTooLarge(draft, command, price, quantity, contract, market)) {
    return { refusal: "POSITION_LIMIT_EXCEEDED" };
  }
  const resting = newOrder(draft, command, quantity, contract, circumstances);
  const order = { ...resting, reserved: reserveOf(draft.account, resting, contract) };
  if (order.reserved > freeOf(draft.account.balances, order.reservedAsset)) {
    return { refusal: "MARGIN_INSUFFICIENT" };
  }
  if (profile.strict !== null) {
    const refusesLegs = (mark: Price) => refusalOnFill(draft.account, command, mark);
    return takeAtLimit(draft, order, contract, circumstances, refusesLegs);
  }
  draft.add(placed(order, admittedAt));
  const quote = market.quote(command.symbol);
  const mark = market.markPrice(command.symbol);
  const opposite = quote && bestOpposite(command.side, quote);
  // Without a mark price the loss on opening is unknown: the order stays open until there is one.
  if (opposite === null || mark === null || !isTriggeredBy(limitTrigger(order), opposite)) {
    placeAttached(draft, order, "PENDING");
    return null;
  }
  const unfitLegs = refusalOnFill(draft.account, command, mark);
  if (unfitLegs !== null) return unfitLegs;
  const terms = { price, quantity, isMaker: true, feeRate: profile.makerFee, mark, at };
  const filled = fillOf(draft.account, order, contract, terms);
  if (filled === null) return { refusal: "MARGIN_INSUFFICIENT" };
  draft.add(filled);
  placeAttached(draft, order, "NEW");
  return null;
}

/**
 * Whether the position would be too large for its leverage if this order and all others of its side were
 * filled.
 */
function isTooLarge(
  { account }: Draft,
  command: PlaceOrder,
  price: Price,
  quantity: Quantity,
  contract: Contract,
  market: Market,
): boolean {
  if (optionsOf(command).reduceOnly) return false;
  const leverage = leverageOf(account, contract.symbol, contract.contract);
  const added = proceedsDown(price, quantity);
  return (
    exposureOf(account, command.side, contract, market) + added > notionalMaxAt(leverage, contract.contract)
  );
}

/** A reduce-only order cut to the reducible quantity, and any other unchanged. */
function quantityToPlace({ account }: Draft, command: PlaceOrder): Quantity {
  const quantity = quantityOf(command);
  if (!optionsOf(command).reduceOnly) return quantity;
  return closingPart(account.positions.get(command.symbol) ?? null, command.side, quantity);
}

function newOrder(
  { account }: Draft,
  command: PlaceOrder,
  quantity: Quantity,
  contract: Contract,
  circumstances: Circumstances,
): Order {
  const { at } = circumstances;
  const { reduceOnly, attached } = optionsOf(command);
  const reservedAsset = contract.contract.marginAsset;
  const { nextOrderId: orderId, profile } = account;
  const order = orderOf(command, { orderId, quantity, reserved: ZERO, reservedAsset, at });
  return {
    ...(profile.strict === null ? order : arrived(order, command, circumstances)),
    ...(reduceOnly ? { reduceOnly } : {}),
    ...(attached === null
      ? {}
      : { legs: attachedLegsOf(attached, { entryId: orderId, firstLegId: orderId + 1 }) }),
  };
}

function optionsOf({ entry }: PlaceOrder): EntryOptions {
  return entry ?? NO_OPTIONS;
}

function quantityOf({ size }: PlaceOrder): Quantity {
  if ("quantity" in size) return size.quantity;
  throw new Error("a futures order is placed by its quantity");
}
