// How spot orders are filled under `strict`: a taker walks the book, and what is left expires or joins the
// queue at its limit; an open order is filled by the market's trades, and by levels that cross it. Every fill
// has a receipt. The checks before it are those of every profile. Source: strict fills, sections 5 to 8.
import type { Account } from "../../domain/account.ts";
import type { MatchCrossing, MatchTrade } from "../../domain/command.ts";
import type { DomainEvent, OrderTriggered } from "../../domain/event.ts";
import type { BookView } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  add,
  asAmount,
  costUp,
  least,
  type Quantity,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import { freeOf } from "../../money/posting.ts";
import type { Circumstances, Decision } from "../decision.ts";
import { Draft } from "../draft.ts";
import {
  aheadIn,
  expiredByWalk,
  matchedBy,
  noWalk,
  ordersReached,
  rested,
  takenFrom,
} from "../matching/evidence.ts";
import { matchTrade } from "../matching/queue.ts";
import {
  availabilityFor,
  availableAt,
  bestDisplayed,
  isWithin,
  type Taking,
  takenSide,
  type Walk,
  walkFor,
  walkForAmount,
  wouldTake,
} from "../matching/walk.ts";
import { placed } from "../new-order.ts";
import { endUnfilled, expired } from "../release.ts";
import { fillPart } from "./fill.ts";

/**
 * Places an order that takes the market's price, once its checks are done. `onLot` cuts the quantities of an
 * order by quote amount; null for an order by quantity.
 */
export function takeAtMarket(
  account: Account,
  order: Order,
  rules: SymbolRules,
  circumstances: Circumstances,
  onLot: ((quantity: Quantity) => Quantity) | null,
): Decision {
  const book = circumstances.market.book(order.symbol);
  if (book === null) return { refusal: "MARKET_SILENT" };
  const taking = takingOf(account, order, rules, circumstances);
  const { walk, quantity } =
    onLot === null
      ? { walk: walkFor(order.quantity, book, taking), quantity: order.quantity }
      : walkOfAmount(order, book, taking, onLot);
  if (onLot !== null && walk.takes.length === 0) return { refusal: "LIQUIDITY_TOO_SMALL" };
  if (paymentOf(order, walk) > freeOf(account.balances, order.reservedAsset)) {
    return { refusal: "INSUFFICIENT_BALANCE" };
  }
  // From here on nothing may fail.
  const draft = new Draft(account);
  draft.add(placed({ ...order, quantity }, circumstances.admittedAt));
  take(draft, order, { walk, book }, rules, circumstances);
  endUnfilled(draft, order.orderId, circumstances.at);
  return { events: draft.events };
}

/** Places an order with a limit, once its checks are done. */
export function takeAtLimit(
  account: Account,
  order: Order,
  rules: SymbolRules,
  circumstances: Circumstances,
): Decision {
  const { market, admittedAt } = circumstances;
  const book = market.book(order.symbol);
  const isPostOnly = order.type === "LIMIT_MAKER" || order.timeInForce === "GTX";
  if (book === null && (isPostOnly || order.timeInForce !== undefined)) return { refusal: "MARKET_SILENT" };
  if (isPostOnly && book !== null && wouldTake(account, order, book)) {
    return { refusal: "LIMIT_MAKER_WOULD_TAKE" };
  }
  // From here on nothing may fail.
  const draft = new Draft(account);
  draft.add(placed(order, admittedAt));
  work(draft, order, rules, circumstances);
  return { events: draft.events };
}

/** What becomes of a stop that was just triggered. */
export function takeTriggered(
  account: Account,
  triggered: OrderTriggered,
  rules: SymbolRules,
  circumstances: Circumstances,
): readonly DomainEvent[] {
  const { market, at } = circumstances;
  const draft = new Draft(account);
  draft.add(triggered);
  const order = draft.openOrder(triggered.orderId);
  if (order.price > 0n) {
    work(draft, order, rules, circumstances);
    return draft.events;
  }
  const book = market.book(order.symbol);
  if (book === null || bestDisplayed(order.side, book) === null) {
    draft.add(expired(order, "BOOK_EMPTY", at));
    return draft.events;
  }
  const taking = takingOf(draft.account, order, rules, circumstances);
  const walk = walkFor(order.quantity, book, taking);
  if (paymentOf(order, walk) > payMaxOf(draft.account, order)) {
    draft.add(expired(order, "INSUFFICIENT_BALANCE", at));
    return draft.events;
  }
  take(draft, order, { walk, book }, rules, circumstances);
  endUnfilled(draft, order.orderId, at);
  return draft.events;
}

/**
 * Places an order of a close at the market's price for what the book has; false if that is not all of it. A
 * purchase, whose quantities `onLot` cuts, is for what can be paid.
 */
export function liquidate(
  draft: Draft,
  order: Order,
  rules: SymbolRules,
  circumstances: Circumstances,
  onLot: (quantity: Quantity) => Quantity,
): boolean {
  const book = circumstances.market.book(order.symbol);
  if (book === null) return false;
  const taking = takingOf(draft.account, order, rules, circumstances);
  const money = payMaxOf(draft.account, order);
  const whole = walkFor(order.quantity, book, taking);
  const isPaid = paymentOf(order, whole) <= money;
  const { takes } = isPaid ? whole : walkForAmount(money, book, taking, onLot);
  if (takes.length === 0) return false;
  const walk = isPaid ? whole : { takes, left: ZERO };
  const quantity = isPaid ? order.quantity : sum(takes.map((taken) => taken.quantity));
  draft.add(placed({ ...order, quantity }));
  take(draft, order, { walk, book }, rules, circumstances);
  endUnfilled(draft, order.orderId, circumstances.at);
  return walk.left === 0n;
}

/** Fills the open orders that a trade of the market reaches. */
export function matchMarketTrade(
  account: Account,
  command: MatchTrade,
  circumstances: Circumstances,
): Decision {
  const { symbol, trade } = command;
  const rules = tradingRules(symbol, circumstances);
  if (rules === null) return { refusal: "NOTHING_TO_FILL" };
  const draft = new Draft(account);
  const step = stepOf(rules);
  let left = trade.quantity;
  for (const order of ordersReached(account, symbol, trade)) {
    const remaining = subtract(order.quantity, order.executedQuantity);
    const waiting = { price: order.price, remaining, ahead: aheadIn(command.queues, order) };
    const matched = matchTrade(trade, left, waiting, step);
    if (matched === null || matched.fill === 0n) continue;
    const { fill: quantity } = matched;
    const evidence = matchedBy(account, order, command, matched, { available: left, remaining, step });
    const strict = { ...evidence, payMax: payMaxOf(draft.account, order) };
    const fill = { price: order.price, isMaker: true, strict };
    draft.add(fillPart(draft.account, order, quantity, fill, rules, circumstances.at));
    left = subtract(left, quantity);
  }
  return draft.events.length === 0 ? { refusal: "NOTHING_TO_FILL" } : { events: draft.events };
}

/** Fills an open order by levels of the other side that have come to its limit, as maker at that limit. */
export function matchCrossing(
  account: Account,
  { orderId, levels, book }: MatchCrossing,
  circumstances: Circumstances,
): Decision {
  const { at } = circumstances;
  const crossed = account.openOrders.get(orderId);
  const rules = crossed === undefined ? null : tradingRules(crossed.symbol, circumstances);
  if (crossed?.queue === undefined || rules === null) return { refusal: "NOTHING_TO_FILL" };
  const { side, price, symbol } = crossed;
  const draft = new Draft(account);
  for (const [index, level] of levels.entries()) {
    const order = draft.account.openOrders.get(orderId);
    if (order === undefined) break;
    if (!isWithin(side, price, level.price)) continue;
    const availability = availabilityFor(draft.account, symbol, { step: stepOf(rules), at });
    const taken = availableAt(takenSide(side), level, index, availability);
    const quantity = least(taken.available, subtract(order.quantity, order.executedQuantity));
    if (quantity === 0n) continue;
    const evidence = takenFrom(account, order, { level: taken, quantity, cause: "BOOK_CROSSED", book, at });
    const strict = { ...evidence, payMax: payMaxOf(draft.account, order) };
    draft.add(fillPart(draft.account, order, quantity, { price, isMaker: true, strict }, rules, at));
  }
  return draft.events.length === 0 ? { refusal: "NOTHING_TO_FILL" } : { events: draft.events };
}

/** An order with a limit takes what it can; the rest of it joins the queue, or expires. */
function work(draft: Draft, order: Order, rules: SymbolRules, circumstances: Circumstances): void {
  const { market, at } = circumstances;
  const book = market.book(order.symbol);
  if (book === null) {
    for (const ended of expiredByWalk(draft.account, order, noWalk(order), circumstances)) draft.add(ended);
    draft.add(rested(order, null, at));
    return;
  }
  const taking = takingOf(draft.account, order, rules, circumstances);
  const walk = walkFor(order.quantity, book, taking);
  if (order.timeInForce === "FOK" && walk.left > 0n) {
    draft.add(expired(order, "UNFILLED_FOK_ORDER_EXPIRED", at));
    return;
  }
  take(draft, order, { walk, book }, rules, circumstances);
  if (walk.left === 0n) return;
  const rest = draft.openOrder(order.orderId);
  if (order.timeInForce === "IOC") draft.add(expired(rest, "UNFILLED_IOC_QUANTITY_EXPIRED", at));
  else draft.add(rested(rest, book, at));
}

/** One trade a level, as taker. Own orders that the walk reaches end before it. */
function take(
  draft: Draft,
  { orderId }: Order,
  { walk, book }: { readonly walk: Walk; readonly book: BookView },
  rules: SymbolRules,
  circumstances: Circumstances,
): void {
  const { at } = circumstances;
  const taker = draft.openOrder(orderId);
  for (const ended of expiredByWalk(draft.account, taker, walk, circumstances)) draft.add(ended);
  for (const { price, quantity, level } of walk.takes) {
    const order = draft.openOrder(orderId);
    const evidence = takenFrom(draft.account, order, { level, quantity, cause: "WALK", book, at });
    const strict = { ...evidence, payMax: payMaxOf(draft.account, order) };
    draft.add(fillPart(draft.account, order, quantity, { price, isMaker: false, strict }, rules, at));
  }
}

/**
 * The walk of an order by quote amount, and the order's quantity: what was bought where the money was spent,
 * else what the amount would have bought at the best price, which the book did not have.
 */
function walkOfAmount(
  { quoteQuantity, quantity }: Order,
  book: BookView,
  taking: Taking,
  onLot: (quantity: Quantity) => Quantity,
): { readonly walk: Walk; readonly quantity: Quantity } {
  const { takes, isSpent } = walkForAmount(quoteQuantity, book, taking, onLot);
  const bought = sum(takes.map((taken) => taken.quantity));
  if (isSpent) return { walk: { takes, left: ZERO }, quantity: bought };
  return { walk: { takes, left: subtract(quantity, bought) }, quantity };
}

function paymentOf({ side }: Order, { takes }: Walk): Amount {
  return sum(
    takes.map(({ price, quantity }) => (side === "BUY" ? costUp(price, quantity) : asAmount(quantity))),
  );
}

function payMaxOf({ balances }: Account, { reserved, reservedAsset }: Order): Amount {
  return add(reserved, freeOf(balances, reservedAsset));
}

function takingOf(
  account: Account,
  { symbol, side, price }: Order,
  rules: SymbolRules,
  { at }: Circumstances,
): Taking {
  const limit = price === 0n ? null : price;
  return { ...availabilityFor(account, symbol, { step: stepOf(rules), at }), side, limit };
}

function stepOf({ lotSize }: SymbolRules): Quantity {
  return lotSize?.stepSize ?? ZERO;
}

function tradingRules(symbol: string, { market }: Circumstances): SymbolRules | null {
  const rules = market.rules(symbol);
  return rules?.status === "TRADING" ? rules : null;
}
