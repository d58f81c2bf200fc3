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
export const WAITS_FOR = [
  "ASK_FALLS",
  "BID_RISES",
  "TRADE_FALLS",
  "TRADE_RISES",
  "MARK_FALLS",
  "MARK_RISES",
] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/**
 * Execution order when one price hits several triggers; lower runs first: liquidation, then stop loss, then
 * take profit. Source: design, section 6.
 */
const TURNS = { LIQUIDATION: 1, STOP_LEG: 2, PROFIT_LEG: 3, STOP: 4, LIMIT: 5 } as const;

export type Waiting = Waiter & {
  readonly strategyId: string;
  readonly symbol: string;
  readonly waitsFor: WaitsFor;
  readonly price: Price;
  /** Creation, market time, Unix ms. */
  readonly since: number;
};

/**
 * The id is unique within the strategy: that of the order or leg, which share one sequence, or the symbol of
 * the position.
 */
type Waiter =
  | { readonly kind: Exclude<keyof typeof TURNS, "LIQUIDATION">; readonly id: number }
  | { readonly kind: "LIQUIDATION"; readonly id: string };

/** A trigger that the market has hit, and the price that hit it. */
export type Reached = {
  readonly waiting: Waiting;
  readonly seen: Price;
  /** When, market time in Unix ms, if it was found afterwards. */
  readonly seenAt?: number;
};

/** All triggers of an account; a position has none while its contract's terms are not known. */
export function waitingsOf(
  account: Account,
  termsOf: (symbol: string) => ContractTerms | null,
): readonly Waiting[] {
  const { strategyId, openOrders, openLegs, positions } = account;
  const waitings = [...openOrders.values()].map((order) => waitingOf(strategyId, order));
  for (const leg of openLegs.values()) {
    const waiting = waitingOfLeg(strategyId, leg);
    if (waiting !== null) waitings.push(waiting);
  }
  for (const position of positions.values()) {
    const waiting = waitingOfPosition(strategyId, position, termsOf(position.symbol));
    if (waiting !== null) waitings.push(waiting);
  }
  return waitings;
}

/**
 * The trigger of an open order: a stop is hit by a trade at its stop price, any other by the opposite best
 * price at its limit.
 */
export function waitingOf(strategyId: string, order: Order): Waiting {
  const { orderId: id, symbol, side, price, stopPrice, placedAt, workingAt } = order;
  const isBuy = side === "BUY";
  return awaitsTrigger(order)
    ? {
        strategyId,
        kind: "STOP",
        id,
        symbol,
        waitsFor: isBuy ? "TRADE_RISES" : "TRADE_FALLS",
        price: stopPrice,
        since: placedAt,
      }
    : {
        strategyId,
        kind: "LIMIT",
        id,
        symbol,
        waitsFor: isBuy ? "ASK_FALLS" : "BID_RISES",
        price,
        since: workingAt ?? placedAt,
      };
}

/**
 * The trigger of a leg: a mark price at its trigger price. Null once the leg has ended, and while it is
 * pending: no price fires it then.
 */
export function waitingOfLeg(strategyId: string, leg: Leg): Waiting | null {
  if (leg.status !== "NEW") return null;
  return {
    strategyId,
    kind: leg.type === "STOP_MARKET" ? "STOP_LEG" : "PROFIT_LEG",
    id: leg.legId,
    symbol: leg.symbol,
    waitsFor: waitsForRise(leg) ? "MARK_RISES" : "MARK_FALLS",
    price: leg.triggerPrice,
    // An armed leg does not change: this is when it was placed, or armed.
    since: leg.updatedAt,
  };
}

/**
 * The trigger of a position: a mark price that liquidates it; null if none does, or while its contract's
 * terms are unknown.
 */
export function waitingOfPosition(
  strategyId: string,
  position: Position,
  terms: ContractTerms | null,
): Waiting | null {
  const price = terms === null ? null : liquidationPrice(position, terms);
  if (price === null) return null;
  const { symbol, quantity, updatedAt } = position;
  const waitsFor = quantity > 0n ? "MARK_FALLS" : "MARK_RISES";
  return { strategyId, kind: "LIQUIDATION", id: symbol, symbol, waitsFor, price, since: updatedAt };
}

/** A trigger's name, unique across strategies. */
export function nameOf({ strategyId, id }: Waiting): string {
  return `${strategyId}:${id}`;
}

export function isSame(one: Waiting, other: Waiting): boolean {
  return one.strategyId === other.strategyId && one.id === other.id;
}

/** Orders triggers that one price hits together. */
export function byTurn(one: Reached, other: Reached): number {
  return TURNS[one.waiting.kind] - TURNS[other.waiting.kind];
}

export function waitsForMark({ waitsFor }: Waiting): boolean {
  return waitsFor === "MARK_FALLS" || waitsFor === "MARK_RISES";
}

/** Whether a price hits a trigger. */
export function isReachedBy({ waitsFor, price }: Waiting, seen: Price): boolean {
  const isFall = waitsFor === "ASK_FALLS" || waitsFor === "TRADE_FALLS" || waitsFor === "MARK_FALLS";
  return isFall ? seen <= price : seen >= price;
}

/** The extreme that comes closest to hitting a trigger. */
export function extremeFor({ waitsFor }: Waiting, extremes: Extremes): Price | null {
  switch (waitsFor) {
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
