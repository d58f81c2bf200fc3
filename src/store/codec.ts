// How domain values are written into rows, for every store alike. Decimals are decimal text, no longer than they need: no
// integer column holds the quantities that some coins trade in, and a person can read the row.

import type { HeldBefore, Position } from "../domain/account.ts";
import { type Account, emptyAccount, type StrategyStatus, type StrategyType } from "../domain/account.ts";
import type { ConsumedLot } from "../domain/consumed.ts";
import type { DomainEvent, OrderFilled, StrategyOpened } from "../domain/event.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import type { Leg } from "../domain/leg.ts";
import type { Order, Trade } from "../domain/order.ts";
import { NO_ORDERS, type OrderCounts } from "../domain/order-counts.ts";
import { decimal, formatBriefly } from "../money/decimal.ts";
import { emptyPockets, type Pocket, type Pockets } from "../money/posting.ts";
import {
  reviveFiring,
  reviveLeg,
  reviveLot,
  reviveOrder,
  revivePosition,
  revivePosting,
  reviveProfile,
  reviveQueue,
  reviveTrade,
  type Stored,
  storedFiring,
  storedLeg,
  storedLot,
  storedOrder,
  storedPosition,
  storedPosting,
  storedProfile,
  storedQueue,
  storedTrade,
} from "./stored-forms.ts";

export function encodeOrder(order: Order): string {
  return JSON.stringify(storedOrder(order));
}

export function encodeTrade(trade: Trade): string {
  return JSON.stringify(storedTrade(trade));
}

export function encodeLeg(leg: Leg): string {
  return JSON.stringify(storedLeg(leg));
}

export function encodeEvents(events: readonly DomainEvent[]): string {
  return JSON.stringify(events.map(storedEvent));
}

export function decodeOrder(text: string): Order {
  return reviveOrder(JSON.parse(text));
}

export function decodeTrade(text: string): Trade {
  return reviveTrade(JSON.parse(text));
}

export function decodeLeg(text: string): Leg {
  return reviveLeg(JSON.parse(text));
}

export function decodeEvents(text: string): DomainEvent[] {
  return JSON.parse(text).map(reviveEvent);
}

/** Separates the orders in one text. The JSON of an order contains no line break. */
export const BETWEEN_ORDERS = "\n";

/** Decodes several orders from one text; null means no orders. */
export function decodeOrders(text: string | null): Order[] {
  return text === null ? [] : text.split(BETWEEN_ORDERS).map(decodeOrder);
}

/**
 * What an account's row carries. A part that only futures, or the profile `strict`, have is written where there
 * is something in it.
 */
type State = {
  readonly balances: Readonly<Record<string, Partial<Stored<Pockets>>>>;
  readonly nextOrderId: number;
  readonly nextTradeId: number;
  readonly nextIncomeId?: number;
  readonly positions?: readonly Stored<Position>[];
  readonly legs?: readonly Stored<Leg>[];
  readonly leverages?: readonly (readonly [symbol: string, leverage: number])[];
  readonly heldBefore?: readonly (readonly [symbol: string, held: readonly Stored<HeldBefore>[]])[];
  readonly fundedUntil?: readonly (readonly [symbol: string, until: number])[];
  /** Absent for `standard`. */
  readonly profile?: Stored<FillProfile>;
  readonly consumed?: readonly (readonly [symbol: string, lots: readonly Stored<ConsumedLot>[]])[];
  /** Absent in a row from before there were counts. */
  readonly orderCounts?: OrderCounts;
  readonly updatedAt: number;
};

/** The part of an account that its row carries; open orders are rows of their own. */
export function encodeState(account: Account): string {
  const { nextOrderId, nextTradeId, nextIncomeId, positions, openLegs, leverages } = account;
  const { heldBefore, fundedUntil, profile, consumed } = account;
  const balances: Record<string, Partial<Stored<Pockets>>> = {};
  for (const [asset, pockets] of account.balances) balances[asset] = storedPockets(pockets);
  const state: State = {
    balances,
    nextOrderId,
    nextTradeId,
    ...(nextIncomeId !== 1 && { nextIncomeId }),
    ...(positions.size > 0 && { positions: [...positions.values()].map(storedPosition) }),
    ...(openLegs.size > 0 && { legs: [...openLegs.values()].map(storedLeg) }),
    ...(leverages.size > 0 && { leverages: [...leverages] }),
    ...(heldBefore.size > 0 && { heldBefore: [...heldBefore].map(storedHolding) }),
    ...(fundedUntil.size > 0 && { fundedUntil: [...fundedUntil] }),
    ...(profile.strict !== null && { profile: storedProfile(profile) }),
    ...(consumed.size > 0 && { consumed: [...consumed].map(storedConsumption) }),
    orderCounts: account.orderCounts,
    updatedAt: account.updatedAt,
  };
  return JSON.stringify(state);
}

export type StrategyRow = { id: string; type: StrategyType; status: StrategyStatus; state: string };

export function decodeAccount(row: StrategyRow, openOrders: readonly Order[]): Account {
  const state = JSON.parse(row.state) as State;
  const account = emptyAccount(row.id, row.type);
  account.status = row.status;
  account.nextOrderId = state.nextOrderId;
  account.nextTradeId = state.nextTradeId;
  account.nextIncomeId = state.nextIncomeId ?? 1;
  account.orderCounts = state.orderCounts ?? NO_ORDERS;
  account.updatedAt = state.updatedAt;
  for (const [asset, stored] of Object.entries(state.balances)) {
    account.balances.set(asset, revivePockets(stored));
  }
  for (const order of openOrders) account.openOrders.set(order.orderId, order);
  const { positions, legs, leverages, fundedUntil, heldBefore } = state;
  if (positions)
    account.positions = new Map(positions.map(revivePosition).map((each) => [each.symbol, each]));
  if (legs) account.openLegs = new Map(legs.map(reviveLeg).map((each) => [each.legId, each]));
  if (leverages) account.leverages = new Map(leverages);
  if (fundedUntil) account.fundedUntil = new Map(fundedUntil);
  const { profile, consumed } = state;
  if (profile) account.profile = reviveProfile(profile);
  if (consumed) account.consumed = new Map(consumed.map(([symbol, lots]) => [symbol, lots.map(reviveLot)]));
  if (heldBefore) {
    account.heldBefore = new Map(heldBefore.map(([symbol, held]) => [symbol, held.map(reviveHeld)]));
  }
  return account;
}

/** Pockets that are empty in most accounts: they are written where there is something in them. */
const RARE_POCKETS = ["isolated", "funding", "clearance"] as const satisfies readonly Pocket[];

function storedPockets(pockets: Pockets): Partial<Stored<Pockets>> {
  const { free, locked, seed, market, fees } = pockets;
  const stored: Partial<Record<Pocket, string>> = {
    free: formatBriefly(free),
    locked: formatBriefly(locked),
    seed: formatBriefly(seed),
    market: formatBriefly(market),
    fees: formatBriefly(fees),
  };
  for (const pocket of RARE_POCKETS) {
    if (pockets[pocket] !== 0n) stored[pocket] = formatBriefly(pockets[pocket]);
  }
  return stored;
}

function revivePockets(stored: Partial<Stored<Pockets>>): Pockets {
  const pockets = emptyPockets();
  for (const [pocket, text] of Object.entries(stored)) pockets[pocket as Pocket] = decimal(text);
  return pockets;
}

function storedHolding([symbol, held]: readonly [string, readonly HeldBefore[]]) {
  return [
    symbol,
    held.map(({ changedAt, quantity }) => ({ changedAt, quantity: formatBriefly(quantity) })),
  ] as const;
}

function storedConsumption([symbol, lots]: readonly [string, readonly ConsumedLot[]]) {
  return [symbol, lots.map(storedLot)] as const;
}

function reviveHeld({ changedAt, quantity }: Stored<HeldBefore>): HeldBefore {
  return { changedAt, quantity: decimal(quantity) };
}

function storedEvent(event: DomainEvent): Stored<DomainEvent> {
  const postings = event.postings.map(storedPosting);
  switch (event.type) {
    case "StrategyOpened": {
      const { profile } = event;
      return {
        ...event,
        postings,
        ...(profile !== undefined && { profile: storedProfile(profile) }),
      } as Stored<StrategyOpened>;
    }
    case "OrderPlaced":
      return { ...event, postings, order: storedOrder(event.order) };
    case "OrderRested":
      return { ...event, postings, queue: storedQueue(event.queue) };
    case "OrderFilled": {
      const { position, consumed } = event;
      return {
        ...event,
        postings,
        trade: storedTrade(event.trade),
        ...(position !== undefined && { position: position && storedPosition(position) }),
        ...(consumed !== undefined && { consumed: storedLot(consumed) }),
      } as Stored<OrderFilled>;
    }
    case "OrderReserveChanged":
      return { ...event, postings, reserved: formatBriefly(event.reserved) };
    case "LegPlaced":
      return { ...event, postings, leg: storedLeg(event.leg) };
    case "LegFired":
      return { ...event, postings, fired: storedFiring(event.fired) };
    case "FundingSettled":
      return {
        ...event,
        postings,
        rate: formatBriefly(event.rate),
        markPrice: formatBriefly(event.markPrice),
        position: event.position && storedPosition(event.position),
      };
    default:
      return { ...event, postings };
  }
}

function reviveEvent(stored: Stored<DomainEvent>): DomainEvent {
  const postings = stored.postings.map(revivePosting);
  switch (stored.type) {
    case "StrategyOpened": {
      const { profile } = stored;
      return {
        ...stored,
        postings,
        ...(profile !== undefined && { profile: reviveProfile(profile) }),
      } as StrategyOpened;
    }
    case "OrderPlaced":
      return { ...stored, postings, order: reviveOrder(stored.order) };
    case "OrderRested":
      return { ...stored, postings, queue: reviveQueue(stored.queue) };
    case "OrderFilled": {
      const { position, consumed } = stored;
      return {
        ...stored,
        postings,
        trade: reviveTrade(stored.trade),
        ...(position !== undefined && { position: position && revivePosition(position) }),
        ...(consumed !== undefined && { consumed: reviveLot(consumed) }),
      } as OrderFilled;
    }
    case "OrderReserveChanged":
      return { ...stored, postings, reserved: decimal(stored.reserved) };
    case "LegPlaced":
      return { ...stored, postings, leg: reviveLeg(stored.leg) };
    case "LegFired":
      return { ...stored, postings, fired: reviveFiring(stored.fired) };
    case "FundingSettled":
      return {
        ...stored,
        postings,
        rate: decimal(stored.rate),
        markPrice: decimal(stored.markPrice),
        position: stored.position && revivePosition(stored.position),
      };
    default:
      return { ...stored, postings };
  }
}
