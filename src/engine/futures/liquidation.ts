// Liquidation: the mark price has used up a position's maintenance margin. Its orders and legs are canceled
// and it is closed at its liquidation price, without commission; the insurance fund takes the clearance fee
// from the remaining margin, and the rest is freed. If the mark price jumped beyond the bankruptcy price the
// whole wallet is lost, and never more. Source: specification section 1; design, section 6 (liquidation);
// reference exchange, section 15.6.

import type { Account, Position } from "../../domain/account.ts";
import type { LiquidatePosition } from "../../domain/command.ts";
import type { Market } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { asProduct, magnitude, type Price, subtract, ZERO } from "../../money/decimal.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { takenOver } from "../matching/evidence.ts";
import { placed } from "../new-order.ts";
import { canceled, canceledLeg } from "../release.ts";
import { isTriggeredBy, liquidationTrigger } from "../trigger.ts";
import { type Contract, contractOf } from "./contract.ts";
import { closingOrder, fillClosing } from "./fill.ts";
import { openLegsOn, restingOn } from "./locks.ts";
import { bankruptcyPrice, gain, liquidationPrice, profitAt } from "./margin.ts";
import { takeClosing, walkWithin } from "./strict.ts";

export function liquidatePosition(
  draft: Draft,
  { symbol, openedAt, seen, seenAt }: LiquidatePosition,
  { market, at }: Circumstances,
): Refusal | null {
  const contract = contractOf(market, symbol);
  if (contract === null) return { refusal: "NOTHING_TO_FILL" };
  // The price was seen of a former position: one that was opened since is not liquidated by it.
  if (openedAt !== undefined && draft.account.positions.get(symbol)?.openedAt !== openedAt)
    return { refusal: "NOTHING_TO_FILL" };
  const isReached = liquidateIfReached(draft, contract, { mark: seen, at, seenAt, market });
  return isReached ? null : { refusal: "NOTHING_TO_FILL" };
}

/**
 * A mark price and the market time of the decision, Unix ms; and when it was seen, if that was found out
 * afterwards.
 */
type Seen = {
  readonly mark: Price;
  readonly at: number;
  readonly seenAt: number | undefined;
  /** Whose book a position under `strict` is closed with. */
  readonly market: Pick<Market, "book">;
};

/** Liquidates the position if a mark price has reached its liquidation price; returns whether it has. */
export function liquidateIfReached(draft: Draft, contract: Contract, seen: Seen): boolean {
  const { mark, at } = seen;
  const { symbol } = contract;
  const position = draft.account.positions.get(symbol);
  const price = position && liquidationPrice(position, contract.contract);
  if (position === undefined || price == null) return false;
  if (!isTriggeredBy(liquidationTrigger(position, price), mark)) return false;
  for (const order of restingOn(draft.account, symbol)) draft.add(canceled(order, at));
  for (const leg of openLegsOn(draft.account, symbol)) draft.add(canceledLeg(leg, "LIQUIDATION", at));
  if (draft.account.profile.strict !== null) closeByWalk(draft, position, contract, seen);
  else close(draft, position, closingPrice(position, price, mark), contract, seen);
  return true;
}

/**
 * The liquidation price, unless the mark price jumped beyond the price at which the wallet is used up. Where
 * the liquidation price lies at a gain (funding has used up the wallet, or the brackets require more than
 * before) it is the mark price: a liquidation pays no more than the market.
 */
function closingPrice(position: Position, liquidation: Price, mark: Price): Price {
  const { quantity, entryValue, isolatedWallet } = position;
  // Exactly: the bankruptcy price is on the grid of prices, and may leave a little.
  if (gain(quantity, entryValue, mark) + asProduct(isolatedWallet) <= 0n) return bankruptcyPrice(position);
  return profitAt(position, liquidation) > 0n ? mark : liquidation;
}

function close(
  draft: Draft,
  position: Position,
  price: Price,
  contract: Contract,
  { at, seenAt }: Seen,
): void {
  const order = liquidationOrder(draft.account, position, contract, at);
  const { quantity } = order;
  const clearanceRate = contract.contract.liquidationFee;
  draft.add(placed(order));
  fillClosing(draft, order, contract, { price, quantity, feeRate: ZERO, clearanceRate, at, seenAt });
}

/**
 * The same under `strict`: what the book has within the bankruptcy price is closed at the book's prices, each
 * trade paying the clearance fee out of the margin that it released; the rest is taken over at the bankruptcy
 * price. Source: strict fills, section 13.
 */
function closeByWalk(
  draft: Draft,
  position: Position,
  contract: Contract,
  { at, seenAt, market }: Seen,
): void {
  const order = liquidationOrder(draft.account, position, contract, at);
  draft.add(placed(order));
  const book = market.book(position.symbol);
  if (book !== null) {
    const walk = walkWithin(draft.account, order, book, order.price, contract, at);
    const terms = { feeRate: ZERO, clearanceRate: contract.contract.liquidationFee, seenAt };
    takeClosing(draft, order, walk, { book, at, cause: "LIQUIDATION" }, contract, terms);
  }
  const rest = draft.account.openOrders.get(order.orderId);
  if (rest === undefined) return;
  const quantity = subtract(rest.quantity, rest.executedQuantity);
  const evidence = takenOver(draft.account, rest);
  fillClosing(draft, rest, contract, { price: order.price, quantity, feeRate: ZERO, at, seenAt, evidence });
}

function liquidationOrder(account: Account, position: Position, contract: Contract, at: number): Order {
  const quantity = magnitude(position.quantity);
  const terms = {
    clientOrderId: `liquidation#${account.nextOrderId}`,
    type: "LIQUIDATION",
    quantity,
  } as const;
  return { ...closingOrder(account, position, terms, contract, at), price: bankruptcyPrice(position) };
}
