// How domain values are written into rows, for every store alike. Decimals are decimal text, no longer than
// they need: no integer column holds the quantities that some coins trade in, and a person can read the row.

import type { HeldBefore, Position, TimeOrder } from "../domain/account.ts";
import { type Account, emptyAccount, type StrategyStatus, type StrategyType } from "../domain/account.ts";
import type { ConsumedLot } from "../domain/consumed.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import type { Leg } from "../domain/leg.ts";
import type { Order, Trade } from "../domain/order.ts";
import { NO_ORDERS, type OrderCounts } from "../domain/order-counts.ts";
import { decimal, formatBriefly, ZERO } from "../money/decimal.ts";
import { emptyLedgerAccounts, type LedgerAccount, type LedgerAccounts } from "../money/posting.ts";
import {
  decoded,
  encoded,
  FIRING,
  type Form,
  LEG,
  LOT,
  ORDER,
  POSITION,
  PROFILE,
  QUEUE,
  stored,
  storedOrder,
  storedPosting,
  storedTrade,
  TRADE,
} from "./stored-forms.ts";

const EVENT: Form<DomainEvent> = {
  postings: { amount: "DECIMAL" },
  profile: PROFILE,
  order: ORDER,
  queue: QUEUE,
  trade: TRADE,
  position: POSITION,
  consumed: LOT,
  reserved: "DECIMAL",
  leg: LEG,
  fired: FIRING,
  rate: "DECIMAL",
  markPrice: "DECIMAL",
};

export function encodeOrder(order: Order): string {
  return JSON.stringify(storedOrder(order));
}

export function encodeTrade(trade: Trade): string {
  return JSON.stringify(storedTrade(trade));
}

export function encodeLeg(leg: Leg): string {
  return encoded(leg, LEG);
}

export function encodeEvents(events: readonly DomainEvent[]): string {
  return JSON.stringify(events.map(storedEvent));
}

function storedEvent(event: DomainEvent) {
  switch (event.type) {
    case "OrderPlaced":
      return { ...event, postings: event.postings.map(storedPosting), order: storedOrder(event.order) };
    case "OrderFilled": {
      const { position, consumed } = event;
      return {
        ...event,
        postings: event.postings.map(storedPosting),
        trade: storedTrade(event.trade),
        ...(position !== undefined && { position: stored(position, POSITION) }),
        ...(consumed !== undefined && { consumed: stored(consumed, LOT) }),
      };
    }
    default:
      return stored(event, EVENT);
  }
}

/** Orders from before there were stops lack what only stops need. */
export function decodeOrder(text: string): Order {
  return withStop(decoded(text, ORDER));
}

export function decodeTrade(text: string): Trade {
  return decoded(text, TRADE);
}

export function decodeLeg(text: string): Leg {
  return decoded(text, LEG);
}

export function decodeEvents(text: string): DomainEvent[] {
  const events: DomainEvent[] = decoded(text, EVENT);
  return events.map((event) =>
    event.type === "OrderPlaced" ? { ...event, order: withStop(event.order) } : event,
  );
}

function withStop(order: Order): Order {
  return order.stopPrice === undefined ? { ...order, stopPrice: ZERO, workingAt: order.placedAt } : order;
}

/** Separates the orders in one text. The JSON of an order contains no line break. */
export const BETWEEN_ORDERS = "\n";

/** Decodes several orders from one text; null means no orders. */
export function decodeOrders(text: string | null): Order[] {
  return text === null ? [] : text.split(BETWEEN_ORDERS).map(decodeOrder);
}

/**
 * What an account's row carries. A part that only futures, or the profile `strict`, have is written where
 * there is something in it.
 */
type State = {
  readonly balances: Readonly<Record<string, StoredLedgerAccounts>>;
  readonly nextOrderId: number;
  readonly nextTradeId: number;
  readonly nextIncomeId?: number;
  readonly positions?: readonly Position[];
  readonly legs?: readonly Leg[];
  readonly leverages?: readonly (readonly [symbol: string, leverage: number])[];
  readonly heldBefore?: ReadonlyMap<string, readonly HeldBefore[]>;
  readonly fundedUntil?: readonly (readonly [symbol: string, until: number])[];
  /** Absent for `standard`. */
  readonly profile?: FillProfile;
  readonly consumed?: ReadonlyMap<string, readonly ConsumedLot[]>;
  /** Absent in a row from before there were counts. */
  readonly orderCounts?: OrderCounts;
  readonly updatedAt: number;
  /** Absent in a row from before it was known. */
  readonly ascendsFrom?: TimeOrder;
};

const STATE: Form<State> = {
  positions: POSITION,
  legs: LEG,
  heldBefore: { mapOf: { quantity: "DECIMAL" } },
  profile: PROFILE,
  consumed: { mapOf: LOT },
};

/** The part of an account that its row carries; open orders are rows of their own. */
export function encodeState(account: Account): string {
  const { nextOrderId, nextTradeId, nextIncomeId, positions, openLegs, leverages } = account;
  const { heldBefore, fundedUntil, profile, consumed } = account;
  const balances: Record<string, StoredLedgerAccounts> = {};
  for (const [asset, ledgerAccounts] of account.balances)
    balances[asset] = storedLedgerAccounts(ledgerAccounts);
  const state: State = {
    balances,
    nextOrderId,
    nextTradeId,
    ...(nextIncomeId !== 1 && { nextIncomeId }),
    ...(positions.size > 0 && { positions: [...positions.values()] }),
    ...(openLegs.size > 0 && { legs: [...openLegs.values()] }),
    ...(leverages.size > 0 && { leverages: [...leverages] }),
    ...(heldBefore.size > 0 && { heldBefore }),
    ...(fundedUntil.size > 0 && { fundedUntil: [...fundedUntil] }),
    ...(profile.strict !== null && { profile }),
    ...(consumed.size > 0 && { consumed }),
    orderCounts: account.orderCounts,
    updatedAt: account.updatedAt,
    ascendsFrom: account.ascendsFrom,
  };
  return encoded(state, STATE);
}

/** The ids from which the times of a strategy's orders, legs and trades ascend. */
export function decodeTimeOrder(text: string): TimeOrder {
  return timeOrderOf(JSON.parse(text));
}

/** Times from before it was known may be in any order. */
function timeOrderOf(state: Pick<State, "ascendsFrom" | "nextOrderId" | "nextTradeId">): TimeOrder {
  return state.ascendsFrom ?? { orderId: state.nextOrderId, tradeId: state.nextTradeId };
}

export type StrategyRow = { id: string; type: StrategyType; status: StrategyStatus; state: string };

export function decodeAccount(row: StrategyRow, openOrders: readonly Order[]): Account {
  const state: State = decoded(row.state, STATE);
  const account = emptyAccount(row.id, row.type);
  account.status = row.status;
  account.nextOrderId = state.nextOrderId;
  account.nextTradeId = state.nextTradeId;
  account.nextIncomeId = state.nextIncomeId ?? 1;
  account.orderCounts = state.orderCounts ?? NO_ORDERS;
  account.updatedAt = state.updatedAt;
  account.ascendsFrom = timeOrderOf(state);
  for (const [asset, stored] of Object.entries(state.balances)) {
    account.balances.set(asset, reviveLedgerAccounts(stored));
  }
  for (const order of openOrders) account.openOrders.set(order.orderId, order);
  const { positions, legs, leverages, fundedUntil, heldBefore, profile, consumed } = state;
  if (positions) account.positions = new Map(positions.map((each) => [each.symbol, each]));
  if (legs) account.openLegs = new Map(legs.map((each) => [each.legId, each]));
  if (leverages) account.leverages = new Map(leverages);
  if (fundedUntil) account.fundedUntil = new Map(fundedUntil);
  if (profile) account.profile = profile;
  if (consumed) account.consumed = consumed;
  if (heldBefore) account.heldBefore = heldBefore;
  return account;
}

type StoredLedgerAccounts = Partial<Record<LedgerAccount, string>>;

/** LedgerAccounts that are empty in most accounts: they are written where there is something in them. */
const RARE_POCKETS = ["isolated", "funding", "clearance"] as const satisfies readonly LedgerAccount[];

function storedLedgerAccounts(ledgerAccounts: LedgerAccounts): StoredLedgerAccounts {
  const { free, locked, seed, market, fees } = ledgerAccounts;
  const stored: StoredLedgerAccounts = {
    free: formatBriefly(free),
    locked: formatBriefly(locked),
    seed: formatBriefly(seed),
    market: formatBriefly(market),
    fees: formatBriefly(fees),
  };
  for (const ledgerAccount of RARE_POCKETS) {
    if (ledgerAccounts[ledgerAccount] !== 0n)
      stored[ledgerAccount] = formatBriefly(ledgerAccounts[ledgerAccount]);
  }
  return stored;
}

function reviveLedgerAccounts(stored: StoredLedgerAccounts): LedgerAccounts {
  const ledgerAccounts = emptyLedgerAccounts();
  for (const [ledgerAccount, text] of Object.entries(stored))
    ledgerAccounts[ledgerAccount as LedgerAccount] = decimal(text);
  return ledgerAccounts;
}
