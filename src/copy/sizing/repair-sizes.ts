// What would bring a holding to its target: an order that reduces, one that increases, or both where the
// target lies on the other side. Only what the copy holds itself and the account still has is reduced; what
// is missing in the account was sold by its owner, and is not bought again. Open orders on the same side
// count as done.
import type { StrategyType } from "../../domain/account.ts";
import type { MirrorEntry, Scale } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  least,
  magnitude,
  type Price,
  type Quantity,
  quantityFor,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import { affordableOpening, type Payment, paymentOf, worthOfOpening } from "./funds.ts";
import { unexecuted } from "./proportion.ts";
import { marketQuantity } from "./snap.ts";

/** A symbol's holding in base units; of contracts negative for a short. */
export type Position = {
  readonly symbol: string;
  /** The target that the strategy's holding scales to. */
  readonly target: Quantity;
  /** The copy's holding by its own orders, and the account's. */
  readonly own: Quantity;
  readonly actual: Quantity;
};

/** An order at the market's price. */
export type RepairOrder = {
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Quantity;
  /** Whether it opens or increases something; one that does not never goes beyond what is held. */
  readonly increases: boolean;
  readonly reduceOnly: boolean;
  readonly scale: Scale;
};

export type RepairSizes = {
  readonly reduction: RepairOrder | null;
  readonly increase: RepairOrder | null;
};

export type RepairTerms = {
  readonly family: StrategyType;
  readonly rules: SymbolRules | null;
  readonly price: Price | null;
  readonly scale: Scale;
  readonly maxPerOrder: Amount | null;
  /** As much of an opening as the copier's bounds for symbols, positions and exposure permit. */
  readonly withinBounds: (opening: Quantity, side: Side) => Quantity;
  /** Of the contract; ignored on spot. */
  readonly leverage: number;
  /** The open orders among the entries of the symbol. */
  readonly resting: readonly MirrorEntry[];
  /** The usable funds for openings. */
  readonly room: Amount;
};

/** The orders, and what the one that increases would take of the available. */
export function repairSizes(
  position: Position,
  terms: RepairTerms,
): RepairSizes & { readonly worth: Amount } {
  const { own, target } = position;
  const held = heldOf(position);
  const isSameSide = held === 0n || target === 0n || held > 0n === target > 0n;
  const toReduce = isSameSide ? atLeastZero(magnitude(held) - magnitude(target)) : magnitude(held);
  const toIncrease = isSameSide ? atLeastZero(magnitude(target) - magnitude(held)) : magnitude(target);

  const reducing: Side = held > 0n ? "SELL" : "BUY";
  const resting = restingOf(terms.resting, toReduce > 0n ? reducing : sideTowards(target));
  const reduction = orderOf(position, terms, {
    side: reducing,
    quantity: atLeastZero(toReduce - resting),
    increases: false,
  });
  const missing = held === own ? atLeastZero(toIncrease - atLeastZero(resting - toReduce)) : ZERO;
  const increase = orderOf(position, terms, {
    side: sideTowards(target),
    quantity: affordable(terms.withinBounds(missing, sideTowards(target)), terms),
    increases: true,
  });
  const worth =
    increase === null || terms.price === null
      ? ZERO
      : worthOfOpening(paymentAt(terms, terms.price), increase.quantity);
  return { reduction, increase, worth };
}

/** Whether a difference is less than the venue takes as an order. */
export function isTooSmall(
  { own, target }: Position,
  { rules, price, family }: Pick<RepairTerms, "rules" | "price" | "family">,
): boolean {
  if (rules === null) return false;
  const difference = subtract(own, target);
  const { skip } = marketQuantity(rules, magnitude(difference), {
    price,
    side: difference > 0n ? "SELL" : "BUY",
    isReduction: magnitude(target) < magnitude(own),
    family,
  });
  return skip?.reason === "BELOW_MIN_QUANTITY" || skip?.reason === "BELOW_MIN_NOTIONAL";
}

/** The copy's own holding that the account still has, on the copy's side. */
export function heldOf({ own, actual }: Pick<Position, "own" | "actual">): Quantity {
  if (own === 0n || actual === 0n || own > 0n !== actual > 0n) return ZERO;
  return magnitude(own) <= magnitude(actual) ? own : actual;
}

/** The side of the order that leads from nothing to a holding. */
function sideTowards(target: Quantity): Side {
  return target < 0n ? "SELL" : "BUY";
}

/** The remainder of the open orders of a side. */
function restingOf(resting: readonly MirrorEntry[], side: Side): Quantity {
  return sum(resting.filter((entry) => entry.side === side).map(unexecuted));
}

/**
 * The part of a quantity that the copier's bound per order and the room permit to open; zero where no price
 * is known.
 */
function affordable(quantity: Quantity, terms: RepairTerms): Quantity {
  const { price, maxPerOrder, room } = terms;
  if (price === null || price <= 0n) return ZERO;
  const bounded = maxPerOrder === null ? quantity : least(quantity, quantityFor(maxPerOrder, price));
  return least(bounded, affordableOpening(paymentAt(terms, price), room));
}

/** Repairs are orders at the market's price. */
function paymentAt(terms: RepairTerms, price: Price): Payment {
  // To either side it may lose as much.
  return paymentOf(terms, { side: "BUY", known: price, takesMarketPrice: true, limit: null, mark: price });
}

function orderOf(
  { symbol }: Position,
  { family, rules, price, scale }: RepairTerms,
  order: Pick<RepairOrder, "side" | "quantity" | "increases">,
): RepairOrder | null {
  if (rules === null || rules.status !== "TRADING" || order.quantity === 0n) return null;
  const { side, increases } = order;
  const { quantity, skip } = marketQuantity(rules, order.quantity, {
    price,
    side,
    isReduction: !increases,
    family,
  });
  if (skip !== null) return null;
  return { symbol, side, quantity, increases, reduceOnly: family === "FUTURES" && !increases, scale };
}

function atLeastZero(value: bigint): Quantity {
  return (value > 0n ? value : 0n) as Quantity;
}
