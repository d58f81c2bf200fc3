// How futures orders are filled under `strict`: a taker walks the book, and what is left expires or joins the
// queue at its limit; an open order is filled by the market's trades, and by levels that cross it. Margin,
// locks and legs follow after every order, as in every profile. Source: strict fills, sections 5 to 8 and 13.
import type { Account } from "../../domain/account.ts";
import { closingSide } from "../../domain/account.ts";
import type { MatchCrossing, MatchTrade } from "../../domain/command.ts";
import type { BookView } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { FillCause } from "../../domain/receipt.ts";
import type { Refusal } from "../../domain/refusal.ts";
import {
  divideDown,
  divideUp,
  least,
  type Price,
  type Quantity,
  type Rate,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import {
  aheadIn,
  type Evidence,
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
  isWithin,
  takenSide,
  type Walk,
  walkFor,
  wouldTake,
} from "../matching/walk.ts";
import { placed } from "../new-order.ts";
import { endUnfilled, expired } from "../release.ts";
import { conclude } from "./aftermath.ts";
import { armAttached, expireAttached, placeAttached } from "./attached-legs.ts";
import { type Contract, openContractOf } from "./contract.ts";
import { type FillTerms, fillClosing, fillOf } from "./fill.ts";
import { quantityToFill } from "./fill-resting-order.ts";

/** The market that a taker meets: the book, and the mark price that its fills are measured by. */
type Met = { readonly book: BookView; readonly mark: Price };

/** Places an order that takes the market's price, once its checks are done. */
export function takeAtMarket(
  draft: Draft,
  order: Order,
  met: Met,
  contract: Contract,
  circumstances: Circumstances,
): Refusal | null {
  const { at, admittedAt } = circumstances;
  const walk = walkAtMarket(draft.account, order, met, contract, at);
  draft.add(placed(order, admittedAt));
  if (!take(draft, order, walk, met, contract, circumstances)) return { refusal: "MARGIN_INSUFFICIENT" };
  endUnfilled(draft, order.orderId, at);
  placeLegs(draft, order, at);
  return null;
}

/**
 * Places an order with a limit, once its checks are done. `refusesLegs` says why its legs do not suit a fill
 * at this mark price.
 */
export function takeAtLimit(
  draft: Draft,
  order: Order,
  contract: Contract,
  circumstances: Circumstances,
  refusesLegs: (mark: Price) => Refusal | null,
): Refusal | null {
  const { market, at, admittedAt } = circumstances;
  const { symbol, timeInForce } = order;
  const book = market.book(symbol);
  const mark = market.markPrice(symbol);
  // Without a mark price the loss on opening is unknown: nothing is taken.
  if (book === null || mark === null) {
    if (timeInForce !== undefined) return { refusal: "MARKET_SILENT" };
    draft.add(placed(order, admittedAt));
    expireOwn(draft, order, noWalk(order), circumstances);
    draft.add(rested(order, null, at));
    placeAttached(draft, order, "PENDING");
    return null;
  }
  if (timeInForce === "GTX" && wouldTake(draft.account, order, book)) {
    return { refusal: "POST_ONLY_WOULD_TAKE" };
  }
  const walk = walkWithin(draft.account, order, book, order.price, contract, at);
  if (timeInForce === "FOK" && walk.left > 0n) return { refusal: "FILL_OR_KILL_UNFILLED" };
  const refusal = walk.takes.length === 0 ? null : refusesLegs(mark);
  if (refusal !== null) return refusal;
  draft.add(placed(order, admittedAt));
  if (!take(draft, order, walk, { book, mark }, contract, circumstances)) {
    return { refusal: "MARGIN_INSUFFICIENT" };
  }
  const rest = draft.account.openOrders.get(order.orderId);
  if (rest !== undefined) {
    draft.add(
      timeInForce === "IOC" ? expired(rest, "UNFILLED_IOC_QUANTITY_EXPIRED", at) : rested(rest, book, at),
    );
  }
  placeLegs(draft, order, at);
  return null;
}

/** Fills the open orders that a trade of the market reaches. */
export function matchMarketTrade(
  draft: Draft,
  command: MatchTrade,
  { market, at }: Circumstances,
): Refusal | null {
  const { symbol, trade, seenAt } = command;
  const contract = openContractOf(market, symbol);
  if (contract === null) return { refusal: "NOTHING_TO_FILL" };
  const step = stepOf(contract);
  let left = trade.quantity;
  for (const { orderId } of ordersReached(draft.account, symbol, trade)) {
    // It may have ended with a fill before it.
    const order = draft.account.openOrders.get(orderId);
    if (order === undefined) continue;
    const remaining = quantityToFill(draft, order);
    const waiting = { price: order.price, remaining, ahead: aheadIn(command.queues, order) };
    const matched = matchTrade(trade, left, waiting, step);
    if (matched === null || matched.fill === 0n) continue;
    // A trade that was found afterwards opens nothing at a loss: the present mark price does not apply to it.
    const mark = seenAt === undefined ? market.markPrice(symbol) : order.price;
    if (mark === null) return { refusal: "MARKET_SILENT" };
    const evidence = matchedBy(draft.account, order, command, matched, { available: left, remaining, step });
    const isFilled = fillAsMaker(draft, order, matched.fill, evidence, contract, { mark, at, seenAt });
    if (isFilled) left = subtract(left, matched.fill);
  }
  return draft.events.length === 0 ? { refusal: "NOTHING_TO_FILL" } : null;
}

/** Fills an open order by levels of the other side that have come to its limit, as maker at that limit. */
export function matchCrossing(
  draft: Draft,
  { orderId, levels, book }: MatchCrossing,
  { market, at }: Circumstances,
): Refusal | null {
  const crossed = draft.account.openOrders.get(orderId);
  const contract = crossed === undefined ? null : openContractOf(market, crossed.symbol);
  if (crossed?.queue === undefined || contract === null) return { refusal: "NOTHING_TO_FILL" };
  const { side, price, symbol } = crossed;
  const mark = market.markPrice(symbol);
  if (mark === null) return { refusal: "MARKET_SILENT" };
  for (const [index, level] of levels.entries()) {
    const order = draft.account.openOrders.get(orderId);
    if (order === undefined) break;
    if (!isWithin(side, price, level.price)) continue;
    const availability = availabilityFor(draft.account, symbol, { step: stepOf(contract), at });
    const taken = availableAt(takenSide(side), level, index, availability);
    const remaining = quantityToFill(draft, order);
    const quantity = least(taken.available, remaining);
    if (quantity === 0n) continue;
    const of = { level: taken, quantity, cause: "BOOK_CROSSED", book, at, remaining } as const;
    const evidence = takenFrom(draft.account, order, of);
    fillAsMaker(draft, order, quantity, evidence, contract, { mark, at });
  }
  return draft.events.length === 0 ? { refusal: "NOTHING_TO_FILL" } : null;
}

/** What an order takes at the market's price: at most so far from the mark price as the contract permits. */
export function walkAtMarket(
  account: Account,
  order: Order,
  { book, mark }: Met,
  contract: Contract,
  at: number,
): Walk {
  const { marketTakeBound: bound } = contract.contract;
  const limit =
    order.side === "BUY"
      ? divideDown(mark * (SCALE + bound), SCALE)
      : divideUp(mark * (SCALE - bound), SCALE);
  return walkWithin(account, order, book, bound === 0n ? null : (limit as Price), contract, at);
}

/** What an order takes within a limit. */
export function walkWithin(
  account: Account,
  { symbol, side, quantity }: Order,
  book: BookView,
  limit: Price | null,
  contract: Contract,
  at: number,
): Walk {
  const availability = availabilityFor(account, symbol, { step: stepOf(contract), at });
  return walkFor(quantity, book, { ...availability, side, limit });
}

type ClosingTerms = Pick<FillTerms, "feeRate" | "clearanceRate" | "seenAt">;

/** The trades of an order that only closes. */
export function takeClosing(
  draft: Draft,
  { orderId }: Order,
  { takes }: Walk,
  by: {
    readonly book: BookView;
    readonly at: number;
    readonly cause: Extract<FillCause, "WALK" | "LIQUIDATION">;
  },
  contract: Contract,
  terms: ClosingTerms,
): void {
  for (const { price, quantity, level } of takes) {
    const order = draft.openOrder(orderId);
    const evidence = takenFrom(draft.account, order, { level, quantity, ...by });
    fillClosing(draft, order, contract, { ...terms, price, quantity, at: by.at, evidence });
  }
}

/** The own orders that a walk reaches expire before it, and their legs with them. */
export function expireOwn(draft: Draft, order: Order, walk: Walk, circumstances: Circumstances): void {
  for (const ended of expiredByWalk(draft.account, order, walk, circumstances)) {
    draft.add(ended);
    expireAttached(draft, ended, circumstances.at);
  }
}

/** The quantity of a walk and its mean price, rounded down; both are zero if it took nothing. */
export function averageOf({ takes }: Walk): { readonly price: Price; readonly quantity: Quantity } {
  let quantity = 0n;
  let value = 0n;
  for (const taken of takes) {
    quantity += taken.quantity;
    value += taken.price * taken.quantity;
  }
  const price = quantity === 0n ? 0n : value / quantity;
  return { price: price as Price, quantity: quantity as Quantity };
}

/** One trade a level, as taker; false if one of them cannot be paid for. */
function take(
  draft: Draft,
  { orderId }: Order,
  walk: Walk,
  { book, mark }: Met,
  contract: Contract,
  circumstances: Circumstances,
): boolean {
  const { at } = circumstances;
  const feeRate: Rate = draft.account.profile.takerFee;
  expireOwn(draft, draft.openOrder(orderId), walk, circumstances);
  for (const { price, quantity, level } of walk.takes) {
    const order = draft.openOrder(orderId);
    const evidence = takenFrom(draft.account, order, { level, quantity, cause: "WALK", book, at });
    const terms = { price, quantity, isMaker: false, feeRate, mark, at, evidence };
    const filled = fillOf(draft.account, order, contract, terms);
    if (filled === null) return false;
    draft.add(filled);
  }
  return true;
}

/**
 * Fills a part of an open order at its limit, or ends the order if what it opens cannot be paid for any more.
 * The reserves of all orders follow at once, so that one fill does not spend what others have reserved.
 */
function fillAsMaker(
  draft: Draft,
  order: Order,
  quantity: Quantity,
  evidence: Evidence,
  contract: Contract,
  when: Pick<FillTerms, "mark" | "at" | "seenAt">,
): boolean {
  const feeRate = draft.account.profile.makerFee;
  const terms = { price: order.price, quantity, isMaker: true, feeRate, evidence, ...when };
  const filled = fillOf(draft.account, order, contract, terms);
  if (filled === null) {
    draft.add(expired(order, "INSUFFICIENT_BALANCE", when.at));
    expireAttached(draft, order, when.at);
  } else {
    draft.add(filled);
    const isOver = !draft.account.openOrders.has(order.orderId);
    if (isOver || isOpenedBy(draft.account, order)) armAttached(draft, order, when.at);
  }
  conclude(draft, contract, when.at);
  return filled !== null;
}

/**
 * The legs of an entry that was just placed: armed if it has opened something, else pending while it is open.
 */
function placeLegs(draft: Draft, order: Order, at: number): void {
  if (order.legs === undefined) return;
  const rest = draft.account.openOrders.get(order.orderId);
  const hasTraded = draft.events.some(
    (event) => event.type === "OrderFilled" && event.trade.orderId === order.orderId,
  );
  if (hasTraded && isOpenedBy(draft.account, order)) {
    placeAttached(draft, order, "NEW");
    return;
  }
  placeAttached(draft, order, "PENDING");
  if (rest !== undefined) return;
  if (hasTraded) armAttached(draft, order, at);
  else expireAttached(draft, order, at);
}

/** Whether the position is one that an order of this side opens. */
function isOpenedBy({ positions }: Account, { symbol, side }: Order): boolean {
  const position = positions.get(symbol);
  return position !== undefined && closingSide(position) !== side;
}

function stepOf({ lotSize }: Contract): Quantity {
  return lotSize?.stepSize ?? ZERO;
}
