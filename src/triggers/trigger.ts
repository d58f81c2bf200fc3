// The triggers of an account: each open order at its limit or stop price, each open leg at its trigger price,
// and each position at its liquidation price. Also which market prices hit them.
import type { Account, Position } from "../domain/account.ts";
import { type Leg, waitsForRise } from "../domain/leg.ts";
import { awaitsTrigger, type Order } from "../domain/order.ts";
import type { ContractTerms } from "../domain/symbol.ts";
import { liquidationPrice } from "../engine/futures/margin.ts";
import type { Price } from "../money/decimal.ts";
import type { Extremes } from "./watched-market.ts";

/** The market price that a trigger compares with, and the direction in which it hits. */
export const CONDITIONS = [
  "ASK_FALLS",
  "BID_RISES",
  "TRADE_FALLS",
  "TRADE_RISES",
  "MARK_FALLS",
  "MARK_RISES",
] as const;
export type Condition = (typeof CONDITIONS)[number];

/**
 * Execution order when one price hits several triggers; lower runs first: liquidation, then stop loss, then
 * take profit. Source: design, section 6.
 */
const PRIORITIES = { LIQUIDATION: 1, STOP_LEG: 2, PROFIT_LEG: 3, STOP: 4, LIMIT: 5 } as const;

export type Trigger = Waiter & {
  readonly strategyId: string;
  readonly symbol: string;
  readonly condition: Condition;
  readonly price: Price;
  /** Creation, market time, Unix ms. */
  readonly since: number;
};

/**
 * The id is unique within the strategy: that of the order or leg, which share one sequence, or the symbol of
 * the position.
 */
type Waiter =
  | { readonly kind: Exclude<keyof typeof PRIORITIES, "LIQUIDATION">; readonly id: number }
  | { readonly kind: "LIQUIDATION"; readonly id: string };

/** A trigger that the market has hit, and the price that hit it. */
export type Hit = {
  readonly trigger: Trigger;
  readonly seen: Price;
  /** When, market time in Unix ms, if it was found afterwards. */
  readonly seenAt?: number;
};

/** All triggers of an account; a position has none while its contract's terms are not known. */
export function triggersOf(
  account: Account,
  termsOf: (symbol: string) => ContractTerms | null,
): readonly Trigger[] {
  const { strategyId, openOrders, openLegs, positions } = account;
  const all = [...openOrders.values()].map((order) => orderTrigger(strategyId, order));
  for (const leg of openLegs.values()) {
    const trigger = legTrigger(strategyId, leg);
    if (trigger !== null) all.push(trigger);
  }
  for (const position of positions.values()) {
    const trigger = positionTrigger(strategyId, position, termsOf(position.symbol));
    if (trigger !== null) all.push(trigger);
  }
  return all;
}

/**
 * The trigger of an open order: a stop is hit by a trade at its stop price, any other by the opposite best
 * price at its limit.
 */
export function orderTrigger(strategyId: string, order: Order): Trigger {
  const { orderId: id, symbol, side, price, stopPrice, placedAt, workingAt } = order;
  const isBuy = side === "BUY";
  return awaitsTrigger(order)
    ? {
        strategyId,
        kind: "STOP",
        id,
        symbol,
        condition: isBuy ? "TRADE_RISES" : "TRADE_FALLS",
        price: stopPrice,
        since: placedAt,
      }
    : {
        strategyId,
        kind: "LIMIT",
        id,
        symbol,
        condition: isBuy ? "ASK_FALLS" : "BID_RISES",
        price,
        since: workingAt ?? placedAt,
      };
}

/**
 * The trigger of a leg: a mark price at its trigger price. Null once the leg has ended, and while it is
 * pending: no price fires it then.
 */
export function legTrigger(strategyId: string, leg: Leg): Trigger | null {
  if (leg.status !== "NEW") return null;
  return {
    strategyId,
    kind: leg.type === "STOP_MARKET" ? "STOP_LEG" : "PROFIT_LEG",
    id: leg.legId,
    symbol: leg.symbol,
    condition: waitsForRise(leg) ? "MARK_RISES" : "MARK_FALLS",
    price: leg.triggerPrice,
    // An armed leg does not change: this is when it was placed, or armed.
    since: leg.updatedAt,
  };
}

/**
 * The trigger of a position: a mark price that liquidates it; null if none does, or while its contract's
 * terms are unknown.
 */
export function positionTrigger(
  strategyId: string,
  position: Position,
  terms: ContractTerms | null,
): Trigger | null {
  const price = terms === null ? null : liquidationPrice(position, terms);
  if (price === null) return null;
  const { symbol, quantity, updatedAt } = position;
  const condition = quantity > 0n ? "MARK_FALLS" : "MARK_RISES";
  return { strategyId, kind: "LIQUIDATION", id: symbol, symbol, condition, price, since: updatedAt };
}

/** A trigger's name, unique across strategies. */
export function nameOf({ strategyId, id }: Trigger): string {
  return `${strategyId}:${id}`;
}

export function isSame(one: Trigger, other: Trigger): boolean {
  return one.strategyId === other.strategyId && one.id === other.id;
}

/** Orders triggers that one price hits together. */
export function byPriority(one: Hit, other: Hit): number {
  return PRIORITIES[one.trigger.kind] - PRIORITIES[other.trigger.kind];
}

export function waitsForMark({ condition }: Trigger): boolean {
  return condition === "MARK_FALLS" || condition === "MARK_RISES";
}

/** Whether a price hits a trigger. */
export function isReachedBy({ condition, price }: Trigger, seen: Price): boolean {
  const isFall = condition === "ASK_FALLS" || condition === "TRADE_FALLS" || condition === "MARK_FALLS";
  return isFall ? seen <= price : seen >= price;
}

/** The extreme that comes closest to hitting a trigger. */
export function extremeFor({ condition }: Trigger, extremes: Extremes): Price | null {
  switch (condition) {
    case "ASK_FALLS":
      return extremes.lowestAsk;
    case "BID_RISES":
      return extremes.highestBid;
    case "TRADE_FALLS":
      return extremes.lowestTrade;
    case "TRADE_RISES":
      return extremes.highestTrade;
    case "MARK_FALLS":
      return extremes.lowestMark;
    case "MARK_RISES":
      return extremes.highestMark;
  }
}
