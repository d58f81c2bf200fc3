// Translates an entry of a strategy's journal into copy actions, in the order in which copies execute them.
// Invariant: every replay of a journal gives the same actions, however it is split. An action is an order
// intent of the strategy: funding is none, nor is a triggered stop, which the venue triggers itself. A fired
// leg's order belongs to the leg (FIRE_LEG), a liquidation's to the liquidation (LIQUIDATE); closing a
// strategy is one CLOSE. An order that ends in the entry that placed it counts with its executed quantity.
// Under `strict` an order is mirrored once, at its placement, and each of its later fills is a FILL.
import type { Account, StrategyType } from "../../domain/account.ts";
import { collectiveId } from "../../domain/collective-id.ts";
import {
  COPY_QUOTE_ASSET,
  type LeadAction,
  type LeadFilled,
  type LeadPlacement,
  type LeadState,
  type OrderIntent,
} from "../../domain/copying.ts";
import type { DomainEvent, LegFired, OrderPlaced } from "../../domain/event.ts";
import type { Leg } from "../../domain/leg.ts";
import type { ClientOrderType, Order, Side, Trade } from "../../domain/order.ts";
import type { JournalEntry } from "../../domain/strategy.ts";
import { apply } from "../../engine/apply.ts";
import { LEVERAGE_DEFAULT } from "../../engine/futures/margin.ts";
import {
  type Amount,
  add,
  divideDown,
  magnitude,
  type Price,
  proceedsDown,
  product,
  type Quantity,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";

/**
 * The actions of an entry, numbered after the last action of earlier entries. Changes the caller's account,
 * which is as of the entry before, in place.
 *
 * Actions follow the order of events. A fired leg closes the position before its sibling is canceled. A fill
 * that empties a position comes before the cancels of its legs and reduce-only orders, since these can wait.
 * A liquidation first cancels open orders, since one of them might open a position again; it cancels the
 * legs, which protect until the position is closed, after it.
 */
export function actionsOf(
  account: Account,
  last: LeadAction | null,
  { version, at, events }: Pick<JournalEntry, "version" | "at" | "events">,
): readonly LeadAction[] {
  const actions: LeadAction[] = [];
  const before = () => actions.at(-1) ?? last;
  const stateNow = () => leadStateOf(account, before());
  const note = (intent: OrderIntent, lead = stateNow()) =>
    actions.push({ seq: (before()?.seq ?? 0) + 1, version, at, lead, ...intent });

  const isLive = account.status === "LIVE";
  if (!isLive || events.some(endsTheStrategy)) {
    if (isLive) note({ kind: "CLOSE" });
    for (const event of events) apply(account, event);
    return actions;
  }
  const outline = outlineOf(events);
  /** The legs whose position is liquidated. */
  const legCancels: OrderIntent[] = [];
  for (const event of events) {
    // An immediate fill is part of its placement.
    if (event.type === "OrderFilled" && !outline.placed.has(event.trade.orderId)) {
      const order = orderOf(account, event.trade.orderId);
      const lead = stateNow();
      apply(account, event);
      note(intentOfFill(account, order, event.trade), lead);
      continue;
    }
    const intent = intentOf(account, event, outline);
    if (intent?.kind === "CANCEL_LEG" && outline.isLiquidation) legCancels.push(intent);
    else if (intent !== null) note(intent);
    apply(account, event);
  }
  for (const intent of legCancels) note(intent);
  return actions;
}

/** Facts of an entry that are needed before its events are processed. */
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

/** The action of an event, given the account before it; null if it has none. */
function intentOf(account: Account, event: DomainEvent, outline: Outline): OrderIntent | null {
  switch (event.type) {
    case "OrderPlaced":
      return intentOfOrder(account, event, outline);
    case "OrderCanceled":
    case "OrderExpired": {
      if (outline.placed.has(event.orderId)) return null;
      const because = event.type === "OrderCanceled" ? "CANCELED" : "EXPIRED";
      const order = orderOf(account, event.orderId);
      const { quantity, executedQuantity: executed } = order;
      return { kind: "CANCEL", ...ofOrder(account, order), because, quantity, executed };
    }
    // A pending leg is nothing to copies until its entry is filled; one that ends before was never mirrored.
    case "LegPlaced":
      return event.leg.status === "PENDING" ? null : intentOfLeg(account, event.leg);
    case "LegArmed":
      return intentOfLeg(account, legOf(account, event.legId));
    case "LegCanceled":
    case "LegExpired": {
      const leg = legOf(account, event.legId);
      return leg.status === "PENDING" ? null : { kind: "CANCEL_LEG", ...ofLeg(account, leg) };
    }
    case "LeverageChanged":
      return { kind: "SET_LEVERAGE", symbol: event.symbol, leverage: event.leverage };
    case "LegFired": {
      // The market did not have the whole position: the leg is over, and what its order did is a placement.
      const leg = legOf(account, event.legId);
      return account.positions.has(leg.symbol) ? { kind: "CANCEL_LEG", ...ofLeg(account, leg) } : null;
    }
    // Other fills are part of their order; the remaining events are no intents of the strategy.
    case "OrderFilled":
    case "OrderRested":
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

/** The action of a placed order; null if it has ended without any execution. */
function intentOfOrder(account: Account, { order }: OrderPlaced, outline: Outline): OrderIntent | null {
  const { orderId, side, type } = order;
  const filled = filledBy(outline.trades.get(orderId) ?? []);
  const fired = outline.fired.get(orderId);
  if (fired !== undefined && fired.fired.quantity === order.quantity) {
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

function intentOfLeg(account: Account, leg: Leg): OrderIntent {
  const { side, type: legType, triggerPrice } = leg;
  return { kind: "PLACE_LEG", ...ofLeg(account, leg), side, legType, triggerPrice };
}

function placementOf(
  account: Account,
  order: Order & { readonly type: ClientOrderType },
  filled: LeadFilled | null,
): LeadPlacement {
  const { symbol, side, type, quantity, price, stopPrice, reduceOnly = false } = order;
  // What the strategy's order would have taken at its price is not there for the copy's to take.
  const orderType = type === "LIMIT_MAKER" ? "LIMIT" : type;
  const leverage = account.type === "FUTURES" ? (account.leverages.get(symbol) ?? LEVERAGE_DEFAULT) : null;
  const of = ofOrder(account, order);
  return { kind: "PLACE", ...of, side, orderType, quantity, price, stopPrice, reduceOnly, leverage, filled };
}

function intentOfFill(account: Account, order: Order, { quantity, price }: Trade): OrderIntent {
  const empties = holdsNothing(account, order, price);
  return { kind: "FILL", ...ofOrder(account, order), side: order.side, filled: { quantity, price }, empties };
}

/** The sum of the trades of one order; null if there are none. */
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

// The state of a strategy right before an action, by which copies are scaled; and its holding of a symbol
// before and after an execution, from which a copy's target follows.

/**
 * The remainder of a spot holding that is worth less than this counts as zero: fees are taken out of
 * purchases, so that hardly any holding can be sold to the last unit. No exchange takes an order of so
 * little.
 */
export const DUST_WORTH: Amount = SCALE as Amount;

const NO_PRICES: ReadonlyMap<string, Price> = new Map();
/** On spot everything that is sold is held. */
const LONG = SCALE as Quantity;

/** The strategy's present state, given its last action before. */
export function leadStateOf(account: Account, last: LeadAction | null): LeadState {
  const held = heldBy(account);
  return {
    wallet: ownedOf(account.balances, COPY_QUOTE_ASSET),
    held,
    lastPrices: last === null ? NO_PRICES : pricesOfHeld(held, account, pricesAfter(last)),
    promised: promisedBy(account),
  };
}

/** By symbol what open orders still sell on spot, and of contracts what they still take off the position. */
function promisedBy({ type, positions, openOrders }: Account): ReadonlyMap<string, Quantity> {
  const promised = new Map<string, Quantity>();
  for (const { symbol, side, quantity, executedQuantity } of openOrders.values()) {
    const position = type === "SPOT" ? LONG : (positions.get(symbol)?.quantity ?? ZERO);
    const isExit = position !== 0n && position > 0n === (side === "SELL");
    if (!isExit) continue;
    const left = subtract(quantity, executedQuantity);
    promised.set(symbol, add(promised.get(symbol) ?? ZERO, left));
  }
  return promised;
}

/**
 * Whether a fill of this order has left nothing of its symbol that could be sold or closed; `account` is as
 * of the fill.
 */
export function holdsNothing(
  account: Account,
  { symbol, side, reservedAsset }: Order,
  price: Price,
): boolean {
  if (account.type === "FUTURES") return !account.positions.has(symbol);
  if (side === "BUY") return false;
  // A sale reserves the asset that it sells.
  const left = ownedOf(account.balances, reservedAsset) as bigint as Quantity;
  return left === 0n || (isReckoned(symbol) && proceedsDown(price, left) < DUST_WORTH);
}

function heldBy({ type, balances, positions }: Account): ReadonlyMap<string, Quantity> {
  const held = new Map<string, Quantity>();
  if (type === "FUTURES") {
    for (const { symbol, quantity } of positions.values()) held.set(symbol, quantity);
    return held;
  }
  for (const asset of balances.keys()) {
    const owned = ownedOf(balances, asset) as bigint as Quantity;
    if (asset !== COPY_QUOTE_ASSET && owned > 0n) held.set(asset, owned);
  }
  return held;
}

/** The last prices as an action leaves them. */
function pricesAfter(action: LeadAction): ReadonlyMap<string, Price> {
  const { lastPrices } = action.lead;
  const filled = "filled" in action ? action.filled : null;
  if (filled === null || !("symbol" in action)) return lastPrices;
  return new Map(lastPrices).set(action.symbol, filled.price);
}

/** Only what is held has to be valued; actions are many, and each has its own. */
function pricesOfHeld(
  held: ReadonlyMap<string, Quantity>,
  { type }: Pick<Account, "type">,
  prices: ReadonlyMap<string, Price>,
): ReadonlyMap<string, Price> {
  const isHeld = (symbol: string) =>
    type === "FUTURES" ? held.has(symbol) : isReckoned(symbol) && held.has(baseOf(symbol));
  return new Map([...prices].filter(([symbol]) => isHeld(symbol)));
}

/** Whether a symbol's prices are in the asset that copies are reckoned in. */
function isReckoned(symbol: string): boolean {
  return symbol.endsWith(COPY_QUOTE_ASSET);
}

/** The base asset of a pair that is quoted in `COPY_QUOTE_ASSET`. */
export function baseOf(symbol: string): string {
  return symbol.slice(0, -COPY_QUOTE_ASSET.length);
}

/** Base units, negative of a short. */
export function leadHeld(type: StrategyType, { held }: Pick<LeadState, "held">, symbol: string): Quantity {
  if (type === "FUTURES") return held.get(symbol) ?? ZERO;
  return isReckoned(symbol) ? (held.get(baseOf(symbol)) ?? ZERO) : ZERO;
}

/**
 * The size that an execution leaves of a position which it reduces, zero if it goes through zero; null if it
 * reduces none.
 */
export function reduced(before: Quantity, side: Side, quantity: Quantity): Quantity | null {
  if (before === 0n || before > 0n === (side === "BUY")) return null;
  const size = magnitude(before);
  return quantity >= size ? ZERO : subtract(size, quantity);
}

/** Whether a position that is left could not be sold or closed: of a spot pair a remainder of a fee. */
export function isFlat(type: StrategyType, left: Quantity, price: Price): boolean {
  return left === 0n || (type === "SPOT" && proceedsDown(price, left) < DUST_WORTH);
}
