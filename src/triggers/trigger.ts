// The triggers of an account: each open order at its limit or stop price, each open leg at its trigger price,
// and each position at its liquidation price. `engine/trigger.ts` says which market price triggers them.
import type { Account, Position } from "../domain/account.ts";
import type { Leg } from "../domain/leg.ts";
import { awaitsTrigger, type Order } from "../domain/order.ts";
import type { ContractTerms } from "../domain/symbol.ts";
import { liquidationPrice } from "../engine/futures/margin.ts";
import { isWorking } from "../engine/matching/walk.ts";
import {
  CONDITIONS,
  type Condition,
  isTriggeredBy,
  legTrigger,
  limitTrigger,
  liquidationTrigger,
  type PriceTrigger,
  stopTrigger,
} from "../engine/trigger.ts";
import type { PriceExtremes } from "../market/feed.ts";
import type { Price } from "../money/decimal.ts";

/**
 * Execution order when one price hits several triggers; lower runs first: liquidation, then stop loss, then
 * take profit. Source: design, section 6.
 */
const PRIORITIES = { LIQUIDATION: 1, STOP_LEG: 2, PROFIT_LEG: 3, STOP: 4, LIMIT: 5 } as const;

export type Trigger = PriceTrigger &
  Subject & {
    readonly strategyId: string;
    readonly symbol: string;
    /** Creation, market time, Unix ms. */
    readonly since: number;
    /** Of a leg: whether it is not triggered while the last price is far from the mark price. */
    readonly priceProtect?: true;
  };

/**
 * The id is unique within the strategy: that of the order or leg, which share one sequence, or the symbol of
 * the position. A symbol's positions follow each other: `openedAt` says which of them it is.
 */
type Subject =
  | { readonly kind: Exclude<keyof typeof PRIORITIES, "LIQUIDATION">; readonly id: number }
  | { readonly kind: "LIQUIDATION"; readonly id: string; readonly openedAt: number };

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
  return [
    ...[...openOrders.values()].map((order) => triggerOfOrder(strategyId, order)),
    ...[...openLegs.values()].map((leg) => triggerOfLeg(strategyId, leg)),
    ...[...positions.values()].map((each) => triggerOfPosition(strategyId, each, termsOf(each.symbol))),
  ].filter((trigger) => trigger !== null);
}

/** Whether an order waits in a queue at its limit, under `strict`: then no price triggers it. */
export function isInQueue(order: Order): boolean {
  return order.queue !== undefined && isWorking(order);
}

/** The trigger of an open order; null for one that waits in a queue. */
export function triggerOfOrder(strategyId: string, order: Order): Trigger | null {
  if (isInQueue(order)) return null;
  const { orderId: id, symbol, placedAt, workingAt } = order;
  return awaitsTrigger(order)
    ? { strategyId, kind: "STOP", id, symbol, ...stopTrigger(order), since: placedAt }
    : { strategyId, kind: "LIMIT", id, symbol, ...limitTrigger(order), since: workingAt ?? placedAt };
}

/** The trigger of a leg; null once the leg has ended, and while it is pending: no price triggers it then. */
export function triggerOfLeg(strategyId: string, leg: Leg): Trigger | null {
  if (leg.status !== "NEW") return null;
  const kind = leg.type === "STOP_MARKET" ? "STOP_LEG" : "PROFIT_LEG";
  // An armed leg does not change: `updatedAt` is when it was placed, or armed.
  const { legId: id, symbol, updatedAt: since, priceProtect } = leg;
  const trigger = { strategyId, kind, id, symbol, ...legTrigger(leg), since } as const;
  return priceProtect === true ? { ...trigger, priceProtect } : trigger;
}

/**
 * The trigger of a position: its liquidation price; null if no price liquidates it, or while its contract's
 * terms are unknown.
 */
export function triggerOfPosition(
  strategyId: string,
  position: Position,
  terms: ContractTerms | null,
): Trigger | null {
  const price = terms === null ? null : liquidationPrice(position, terms);
  if (price === null) return null;
  const { symbol, openedAt, updatedAt: since } = position;
  return {
    strategyId,
    kind: "LIQUIDATION",
    id: symbol,
    openedAt,
    symbol,
    ...liquidationTrigger(position, price),
    since,
  };
}

/** A trigger's name, unique across strategies. */
export function nameOf(trigger: Trigger): string {
  const { strategyId, kind, id } = trigger;
  return kind === "LIQUIDATION" ? `${strategyId}:${id}:${trigger.openedAt}` : `${strategyId}:${id}`;
}

/** Orders triggers that one price hits together. */
export function byPriority(one: Hit, other: Hit): number {
  return PRIORITIES[one.trigger.kind] - PRIORITIES[other.trigger.kind];
}

/** The hit of a trigger by a price; null if the price is not known or does not hit it. */
export function hitBy(trigger: Trigger, seen: Price | null): Hit | null {
  return seen !== null && isTriggeredBy(trigger, seen) ? { trigger, seen } : null;
}

/** The conditions on mark prices, and all others: those on quotes and trades. */
export const ON_MARK_PRICES: readonly Condition[] = ["MARK_FALLS", "MARK_RISES"];
export const ON_TRADES = CONDITIONS.filter((condition) => !ON_MARK_PRICES.includes(condition));

/** Whether a trigger waits for trades. Those of contracts are streamed only with their books. */
export function isOnTrades({ condition }: PriceTrigger): boolean {
  return condition === "TRADE_FALLS" || condition === "TRADE_RISES";
}

/** The extreme that comes closest to hitting a trigger. */
export function extremeFor({ condition }: PriceTrigger, extremes: PriceExtremes): Price | null {
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
