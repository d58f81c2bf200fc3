// What an entry of a strategy's journal means to its copies: the account as of the entry before, and the entry, give the account
// as of the entry and the actions, in the order in which copies carry them out. Pure, so that whoever replays a journal gets the
// same actions, however it is cut into parts.
//
// An action is what the strategy wanted of the market. Funding is none, and neither is a stop that has reached its trigger: the
// venue's own stop does that by itself. The order that a leg places when it fires belongs to the leg (FIRE_LEG), that of a
// liquidation to the liquidation (LIQUIDATE); what a strategy does to be closed, and all that comes after, is one CLOSE.
//
// An order that is over in the entry that placed it without having been filled whole stands for what was executed of it; if that
// is nothing it is no action.
//
// The order within an entry is that of its events: a fired leg closes the position before its sibling is taken back, and a fill
// that empties a position comes before the legs and the reduce-only orders that go with it, since what only reduces can wait. A
// liquidation cancels the resting orders first, since one of them might open something anew; its legs, which protect until the
// position is closed, are taken back after it.
import type { Account } from "../../domain/account.ts";
import { collectiveId } from "../../domain/collective-id.ts";
import type { LeadAction, LeadDeed, LeadFilled, LeadPlacement } from "../../domain/copying.ts";
import type { DomainEvent, LegFired, OrderPlaced } from "../../domain/event.ts";
import type { Leg } from "../../domain/leg.ts";
import type { Order, Trade } from "../../domain/order.ts";
import { apply } from "../../engine/apply.ts";
import { LEVERAGE_DEFAULT } from "../../engine/futures/margin.ts";
import { add, divideDown, type Price, product, type Quantity, ZERO } from "../../money/decimal.ts";
import type { JournalEntry } from "../../store/store.ts";
import { holdsNothing, leadStateOf } from "./lead-state.ts";

/**
 * The actions of an entry, numbered after the last action of the entries before it. The account, which stands as of the entry
 * before, is changed in place: it belongs to whoever replays.
 */
export function actionsOf(
  account: Account,
  last: LeadAction | null,
  { version, at, events }: Pick<JournalEntry, "version" | "at" | "events">,
): readonly LeadAction[] {
  const actions: LeadAction[] = [];
  const before = () => actions.at(-1) ?? last;
  const stateNow = () => leadStateOf(account, before());
  const note = (deed: LeadDeed, lead = stateNow()) =>
    actions.push({ seq: (before()?.seq ?? 0) + 1, version, at, lead, ...deed });

  const isLive = account.status === "LIVE";
  if (!isLive || events.some(endsTheStrategy)) {
    if (isLive) note({ kind: "CLOSE" });
    for (const event of events) apply(account, event);
    return actions;
  }
  const outline = outlineOf(events);
  /** Of legs whose position is liquidated. */
  const legCancels: LeadDeed[] = [];
  for (const event of events) {
    // What was filled at once is told with its placement.
    if (event.type === "OrderFilled" && !outline.placed.has(event.trade.orderId)) {
      const order = orderOf(account, event.trade.orderId);
      const lead = stateNow();
      apply(account, event);
      note(deedOfFill(account, order, event.trade), lead);
      continue;
    }
    const deed = deedOf(account, event, outline);
    if (deed?.kind === "CANCEL_LEG" && outline.isLiquidation) legCancels.push(deed);
    else if (deed !== null) note(deed);
    apply(account, event);
  }
  for (const deed of legCancels) note(deed);
  return actions;
}

/** What has to be known of an entry before its events are walked through. */
type Outline = {
  /** The orders that it places. */
  readonly placed: ReadonlySet<number>;
  /** Those of them that are over without having been filled whole. */
  readonly ended: ReadonlySet<number>;
  /** Its trades, by order. */
  readonly trades: ReadonlyMap<number, readonly Trade[]>;
  /** Its fired legs, by the orders that they placed. */
  readonly fired: ReadonlyMap<number, LegFired>;
  readonly isLiquidation: boolean;
};

function outlineOf(events: readonly DomainEvent[]): Outline {
  const placed = new Set<number>();
  const ended = new Set<number>();
  const trades = new Map<number, Trade[]>();
  const fired = new Map<number, LegFired>();
  let isLiquidation = false;
  for (const event of events) {
    if (event.type === "OrderPlaced") placed.add(event.order.orderId);
    if (event.type === "OrderPlaced" && event.order.type === "LIQUIDATION") isLiquidation = true;
    if (event.type === "LegFired") fired.set(event.fired.orderId, event);
    if (event.type === "OrderFilled") {
      const { trade } = event;
      trades.set(trade.orderId, [...(trades.get(trade.orderId) ?? []), trade]);
    }
    const isOver = event.type === "OrderCanceled" || event.type === "OrderExpired";
    if (isOver && placed.has(event.orderId)) ended.add(event.orderId);
  }
  return { placed, ended, trades, fired, isLiquidation };
}

function endsTheStrategy({ type }: DomainEvent): boolean {
  return type === "StrategyClosing" || type === "StrategyClosed";
}

/** What an event means, given the account before it; null for nothing. */
function deedOf(account: Account, event: DomainEvent, outline: Outline): LeadDeed | null {
  switch (event.type) {
    case "OrderPlaced":
      return deedOfOrder(account, event, outline);
    case "OrderCanceled":
    case "OrderExpired": {
      if (outline.placed.has(event.orderId)) return null;
      const because = event.type === "OrderCanceled" ? "CANCELED" : "EXPIRED";
      return { kind: "CANCEL", ...ofOrder(account, orderOf(account, event.orderId)), because };
    }
    // A pending leg is nothing to copies until its entry is filled; one that ends before was never mirrored.
    case "LegPlaced":
      return event.leg.status === "PENDING" ? null : deedOfLeg(account, event.leg);
    case "LegArmed":
      return deedOfLeg(account, legOf(account, event.legId));
    case "LegCanceled":
    case "LegExpired": {
      const leg = legOf(account, event.legId);
      return leg.status === "PENDING" ? null : { kind: "CANCEL_LEG", ...ofLeg(account, leg) };
    }
    case "LeverageChanged":
      return { kind: "SET_LEVERAGE", symbol: event.symbol, leverage: event.leverage };
    // The rest of what fills and fires is told with its order; the others are no wish of the strategy's.
    case "OrderFilled":
    case "LegFired":
    case "OrderTriggered":
    case "OrderReserveChanged":
    case "FundingSettled":
    case "StrategyOpened":
    case "StrategyClosing":
    case "StrategyClosed":
    case "SignalExecuted":
    case "SignalRejected":
      return null;
  }
}

/** What an order that was placed means; null if it is over, and nothing of it was executed. */
function deedOfOrder(account: Account, { order }: OrderPlaced, outline: Outline): LeadDeed | null {
  const { orderId, side, type } = order;
  const filled = filledBy(outline.trades.get(orderId) ?? []);
  const fired = outline.fired.get(orderId);
  if (fired !== undefined) {
    const { quantity, price } = fired.fired;
    const leg = legOf(account, fired.legId);
    return { kind: "FIRE_LEG", ...ofLeg(account, leg), side, filled: { quantity, price } };
  }
  if (type === "LIQUIDATION") {
    if (filled === null) throw new Error(`a liquidation is filled at once: order ${orderId}`);
    return { kind: "LIQUIDATE", ...ofOrder(account, order), side, filled };
  }
  const isOver = outline.ended.has(orderId);
  if (isOver && filled === null) return null;
  const quantity = isOver && filled !== null ? filled.quantity : order.quantity;
  return placementOf(account, { ...order, type, quantity }, filled);
}

function deedOfLeg(account: Account, leg: Leg): LeadDeed {
  const { side, type: legType, triggerPrice } = leg;
  return { kind: "PLACE_LEG", ...ofLeg(account, leg), side, legType, triggerPrice };
}

function placementOf(
  account: Account,
  order: Order & { readonly type: LeadPlacement["orderType"] },
  filled: LeadFilled | null,
): LeadPlacement {
  const { symbol, side, type: orderType, quantity, price, stopPrice, reduceOnly = false } = order;
  const leverage = account.type === "FUTURES" ? (account.leverages.get(symbol) ?? LEVERAGE_DEFAULT) : null;
  const of = ofOrder(account, order);
  return { kind: "PLACE", ...of, side, orderType, quantity, price, stopPrice, reduceOnly, leverage, filled };
}

function deedOfFill(account: Account, order: Order, { quantity, price }: Trade): LeadDeed {
  const empties = holdsNothing(account, order, price);
  return { kind: "FILL", ...ofOrder(account, order), side: order.side, filled: { quantity, price }, empties };
}

/** What trades of one order come to; null for none. */
function filledBy(trades: readonly Trade[]): LeadFilled | null {
  if (trades.length === 0) return null;
  let quantity: Quantity = ZERO;
  let value = 0n;
  for (const trade of trades) {
    quantity = add(quantity, trade.quantity);
    value += product(trade.price, trade.quantity);
  }
  return { quantity, price: divideDown(value, quantity) as Price };
}

function ofOrder({ strategyId }: Account, { symbol, orderId }: Pick<Order, "symbol" | "orderId">) {
  return { symbol, orderId, collectiveId: collectiveId(strategyId, orderId) };
}

function ofLeg({ strategyId }: Account, { symbol, legId }: Leg) {
  return { symbol, legId, collectiveId: collectiveId(strategyId, legId) };
}

function orderOf({ openOrders }: Account, orderId: number): Order {
  const order = openOrders.get(orderId);
  if (order === undefined) throw new Error(`an event concerns an order that is open: ${orderId}`);
  return order;
}

function legOf({ openLegs }: Account, legId: number): Leg {
  const leg = openLegs.get(legId);
  if (leg === undefined) throw new Error(`an event concerns a leg that is open: ${legId}`);
  return leg;
}
