// Drift: what a copy holds against its target, symbol by symbol, with the cause, as data and as a sentence,
// and with the repair. A target is what a copy that began now would hold, on the venue's step, rounded
// towards zero. A holding is what the copy bought and the account still has. Repairs never sell more than
// that, and leave alone what open orders are about to correct. Source: design, section 6 (copiers).

import type { StrategyType } from "../../domain/account.ts";
import {
  COPY_QUOTE_ASSET,
  type CopyBook,
  type CopySettings,
  type LeadState,
  type MirrorEntry,
  type Scale,
  type VenueSnapshot,
} from "../../domain/copying.ts";
import { STANDARD } from "../../domain/fill-profile.ts";
import type { Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  add,
  atLeastZero,
  costUp,
  formatBriefly,
  least,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  quantityFor,
  SCALE,
  shareOf,
  subtract,
  sum,
  withSignOf,
  ZERO,
} from "../../money/decimal.ts";
import { type CauseOfDrift, causeOf, heldOf, type Position } from "./drift-cause.ts";
import {
  affordableOpening,
  type Funds,
  hasUnvalued,
  leadEquity,
  type Payment,
  paymentOf,
  priceOf,
  restingElsewhere,
  restingOn,
  restingWorth,
  roomOf,
  scaleOfFunds,
  symbolsHeld,
  unexecuted,
  type VenuePrices,
  worthOfOpening,
} from "./proportion.ts";
import { boundedOpening, copiedLeverage, symbolSkip } from "./scale-order.ts";
import { leastQuantity, marketQuantity, snapQuantity } from "./snap.ts";

export type DriftInput = {
  readonly type: StrategyType;
  /** The strategy's current state. */
  readonly lead: LeadState;
  /** The strategy when the copy began; null if that is not known. */
  readonly leadAtStart: LeadState | null;
  readonly settings: CopySettings;
  readonly book: CopyBook;
  /** Whether the strategy has done something that the copy has not dealt with yet. */
  readonly isPending: boolean;
  /** Of the copy's log, newest first, open orders included. */
  readonly entries: readonly MirrorEntry[];
  /** The venue's; null for what it does not list. */
  readonly rulesOf: (symbol: string) => SymbolRules | null;
  readonly prices: VenuePrices;
  /** Of futures the strategy's leverage by symbol; where it is unknown, one is assumed. */
  readonly leverages: ReadonlyMap<string, number>;
};

export type Drift = Position &
  RepairSizes &
  CauseOfDrift & {
    /** The base asset. */
    readonly asset: string;
    /** The strategy's holding. */
    readonly lead: Quantity;
    readonly scale: Scale;
    /** own − target */
    readonly difference: Quantity;
    /** The value of the difference, in the quote asset; null without a price. */
    readonly value: Amount | null;
    /** The first order of a repair; null if there is none. */
    readonly repair: RepairOrder | null;
  };

/** The funds that a repair's increasing orders use, and their value: of the symbols so far. */
type Increases = { readonly spent: Amount; readonly exposure: Amount };
const NO_REPAIR: RepairSizes = { reduction: null, increase: null };
/** Holdings are bought and sold, by repairs at least, at the market's price. */
const AT_MARKET = { takesMarketPrice: true } as const;

/** A row for each symbol that the strategy or the copy holds, by name; none before the first poll. */
export function driftOf(input: DriftInput): readonly Drift[] {
  const { snapshot } = input.book;
  if (snapshot === null) return [];
  let before: Increases = { spent: ZERO, exposure: ZERO };
  return symbolsOf(input).map((symbol) => {
    const row = rowOf(input, snapshot, symbol, before);
    before = { spent: add(before.spent, row.worth), exposure: add(before.exposure, row.exposure) };
    return row.drift;
  });
}

/**
 * The orders of a repair, those that reduce first; without `mayIncrease` only those. Once they are executed
 * there is nothing more to repair, but for what one repair could not bring: for want of money, or by the
 * copier's or the venue's bound for an order.
 */
export function repairOrders(
  drifts: readonly Drift[],
  { mayIncrease }: { readonly mayIncrease: boolean },
): readonly RepairOrder[] {
  const reductions = drifts.flatMap(({ reduction }) => (reduction === null ? [] : [reduction]));
  const increases = drifts.flatMap(({ increase }) => (increase === null ? [] : [increase]));
  return mayIncrease ? [...reductions, ...increases] : reductions;
}

function symbolsOf({ type, lead, book }: DriftInput): readonly string[] {
  return [...new Set([...symbolsHeld(type, lead), ...book.holdings.keys()])].sort();
}

function rowOf(
  input: DriftInput,
  snapshot: VenueSnapshot,
  symbol: string,
  before: Increases,
): { readonly drift: Drift; readonly worth: Amount; readonly exposure: Amount } {
  const { lead, leadAtStart, prices, book, type, settings, isPending } = input;
  const rules = input.rulesOf(symbol);
  const price = priceOf(symbol, prices, lead);
  const asset = rules?.baseAsset ?? symbol.slice(0, -COPY_QUOTE_ASSET.length);
  const heldAs = type === "SPOT" ? asset : symbol;
  const theirs: Quantity = lead.held.get(heldAs) ?? ZERO;
  const { wallet, available } = snapshot;
  const funds: Funds = { type, settings, wallet, holdings: book.holdings, prices, lead };
  const scale = scaleOf(input, funds);
  const own: Quantity = book.holdings.get(symbol)?.quantity ?? ZERO;
  const entries = input.entries.filter((entry) => entry.symbol === symbol);
  // Changes after the poll are not in its result.
  const isSeen = entries.every(({ updatedAt }) => updatedAt <= snapshot.at);
  const actual: Quantity = isSeen ? (snapshot.held.get(symbol) ?? ZERO) : own;
  const target = targetOf(theirs, own, { scale, rules });
  const position: Position = { symbol, target, own, actual };
  const open = input.entries.filter(({ status }) => status === "RESTING");
  const room = roomOf({ ...funds, available, restingWorth: restingWorth(open) });
  const difference = subtract(own, position.target);
  const terms = {
    type,
    rules,
    price,
    scale,
    maxPerOrder: settings.maxPerOrder,
    withinBounds: boundsFor(funds, open, { symbol, price, exposure: before.exposure }),
    leverage: leverageFor(input, symbol, rules),
    resting: open.filter((entry) => entry.symbol === symbol),
    room: subtract(room, before.spent),
  };
  const { worth, ...sizes } = repairSizes(position, terms);
  const atStart: Quantity = leadAtStart?.held.get(heldAs) ?? ZERO;
  const heldAtStart = leadAtStart === null ? null : targetOf(atStart, own, { scale, rules: null });
  const cause = causeOf(position, {
    type,
    isPending,
    isTooSmall: isTooSmall(position, terms),
    heldBack: heldBackOf(position, terms),
    heldAtStart,
    lead: theirs,
    scale,
    slack: slackOf(position, { rules, type }),
    entries,
  });
  // While an order is in flight the size of a repair is unknown; the target of a strategy that cannot be
  // valued is too large.
  const { reduction, increase } = isPending
    ? NO_REPAIR
    : settings.size.by === "RATIO" && hasUnvalued(type, lead, prices)
      ? { ...sizes, increase: null }
      : sizes;
  return {
    worth: increase === null ? ZERO : worth,
    exposure: increase === null || price === null ? ZERO : costUp(price, increase.quantity),
    drift: {
      ...position,
      ...cause,
      asset,
      lead: theirs,
      scale,
      difference,
      value: price === null ? null : proceedsDown(price, magnitude(difference)),
      reduction,
      increase,
      repair: reduction ?? increase,
    },
  };
}

/**
 * Holding × ours / theirs on the venue's step, rounded towards nothing; nothing of a strategy that has
 * nothing. With a fixed amount per order no size belongs to the strategy's holding: what the copy has is
 * right as long as the strategy holds that side.
 */
function targetOf(
  theirs: Quantity,
  own: Quantity,
  { scale, rules }: { readonly scale: Scale; readonly rules: SymbolRules | null },
): Quantity {
  if (scale.by === "FIXED_AMOUNT") return theirs !== 0n && theirs > 0n === own > 0n ? own : ZERO;
  const { ours, theirs: whole } = scale;
  const exact = shareOf(magnitude(theirs), ours, atLeastZero(whole as Amount));
  const size = rules === null ? exact : snapQuantity(rules, exact, AT_MARKET);
  return withSignOf(size, theirs);
}

/**
 * The venue's least order: holdings and targets are on its steps. On spot also the fee, which one of the two
 * may pay in the base asset and the other not.
 */
function slackOf({ own, target }: Position, { rules, type }: Pick<RepairTerms, "rules" | "type">): Quantity {
  const step = rules === null ? ZERO : leastQuantity(rules, AT_MARKET);
  const larger = magnitude(magnitude(own) > magnitude(target) ? own : target);
  return type === "FUTURES" ? step : add(step, shareOf(larger, STANDARD.SPOT.takerFee, SCALE));
}

function scaleOf({ type, lead, prices, settings: { size } }: DriftInput, funds: Funds): Scale {
  if (size.by === "FIXED_RATIO") return { by: size.by, ours: size.ratio, theirs: SCALE };
  if (size.by === "FIXED_AMOUNT") return { by: size.by, ours: size.amount, theirs: SCALE };
  return scaleOfFunds(funds, leadEquity(type, lead, prices));
}

/** The part of the shortfall that the copier's limits do not permit to open. */
function heldBackOf(position: Position, { withinBounds }: Pick<RepairTerms, "withinBounds">): Quantity {
  const { own, target } = position;
  const isOtherSide = own !== 0n && own > 0n !== target > 0n;
  const held = isOtherSide ? ZERO : magnitude(own);
  const missing = subtract(magnitude(target), least(held, magnitude(target)));
  return subtract(missing, withinBounds(missing, target > 0n ? "BUY" : "SELL"));
}

function leverageFor({ leverages, settings }: DriftInput, symbol: string, rules: SymbolRules | null): number {
  const leverage = leverages.get(symbol) ?? 1;
  return rules === null ? leverage : (copiedLeverage({ leverage }, rules, settings) ?? leverage);
}

/** The part of an opening in a symbol within the copier's bounds, beside a repair's openings of others. */
function boundsFor(
  funds: Funds,
  open: readonly MirrorEntry[],
  of: { readonly symbol: string; readonly price: Price | null; readonly exposure: Amount },
): RepairTerms["withinBounds"] {
  const { symbol, price, exposure } = of;
  const { settings } = funds;
  const resting = open.filter(({ reduceOnly }) => reduceOnly !== true);
  const isSpot = funds.type === "SPOT";
  const elsewhere = restingElsewhere(funds.type, resting, symbol);
  return (opening, side) => {
    const placement = { symbol, side };
    if (opening === 0n || price === null || price <= 0n || symbolSkip({ settings, placement }) !== null)
      return ZERO;
    const bounds = {
      ...funds,
      placement,
      restingWorth: isSpot ? add(restingWorth(resting), exposure) : ZERO,
      restingElsewhere: isSpot ? ZERO : add(elsewhere, exposure),
      restingOnSymbol: restingOn(resting.filter((entry) => entry.symbol === symbol)),
    };
    return boundedOpening(bounds, { opening, price }).quantity;
  };
}

/** A sentence for the person whose copy it is. */
export function driftWords(drift: Drift): string {
  const { asset, own, actual, difference } = drift;
  const gap = `${formatBriefly(magnitude(difference))} ${asset}`;
  const isOff = offWords(drift);
  switch (drift.cause) {
    case "IN_LINE":
      return "The copy holds what the strategy's holding scales to.";
    case "ROUNDING":
      if (drift.entryId !== null)
        return `Sizes are rounded down to the exchange's step size, which has added up. ${isOff}`;
      return `The difference of ${gap} is below the exchange's minimum order.`;
    case "BEGAN_LATER":
      return `The strategy held it before the copy started. Only later orders are copied, so ${gap} are missing.`;
    case "RESTING":
      return `An order of the copy for it is still open at the exchange. ${isOff}`;
    case "SKIPPED":
      return `An order was not copied, or only in part; the log says why. ${isOff}`;
    case "FAILED":
      return `The exchange rejected or ended an order of the copy. ${isOff}`;
    case "OVERTAKEN":
      return `The strategy's own order ended before the copy's was filled. ${isOff}`;
    case "PAUSED":
      return `The copy was paused or halted when the strategy traded. ${isOff}`;
    case "CLOSED":
      return `The copy closed everything that it held, by its stop loss or because it was being closed. ${isOff}`;
    case "STOPPED":
      return `The copy's stop or take profit was reached at the exchange's prices; the strategy's was not. ${isOff}`;
    case "OUTSIDE":
      if (drift.entryId !== null)
        return `Part of what the copy held is gone from the account and was written off; the log says when. ${isOff}`;
      return `The account has ${formatBriefly(actual)} ${asset}, the copy holds ${formatBriefly(own)} by its own orders: somebody else traded on the account.`;
    case "LIQUIDATED":
      return `The exchange liquidated what the copy held; the log has the order and its figures. ${isOff}`;
    case "VENUE_CLOSED":
      return `The exchange closed what the copy held, by auto-deleveraging (ADL) or by settling the contract; the log has the order. ${isOff}`;
    case "PENDING":
      return "The strategy has just traded, and the copy is catching up.";
    case "LIMITED":
      return `Your limits for symbols and positions permit no more: the copy has ${gap} less than a new copy would hold.`;
    case "PRICE_MOVED":
      return `The ratio of the two accounts has changed since, by prices, fees, deposits, withdrawals or your settings. ${isOff}`;
    case "UNEXPLAINED":
      return `${unexplainedWords(drift)} Search the mirror log for the symbol; a repair brings the copy to what a new copy would hold. ${isOff}`;
  }
}

function unexplainedWords({ asset, parts }: Drift): string {
  const rest = parts.find(({ cause }) => cause === "UNEXPLAINED");
  const explains = "Neither the log nor the ratio of the two accounts explains";
  if (rest === undefined || parts.length === 1) return `${explains} the difference.`;
  return `${explains} ${formatBriefly(rest.quantity)} ${asset} of the difference.`;
}

/**
 * How far the copy's position is from its target, the scaled holding, as a sentence. A short position that is
 * too small is not more than that.
 */
export function offWords({ asset, own, target, difference }: Drift): string {
  const amount = (quantity: Quantity) => `${formatBriefly(magnitude(quantity))} ${asset}`;
  if (own >= 0n && target >= 0n)
    return `The copy has ${amount(difference)} ${difference > 0n ? "more" : "less"} than a new copy would hold.`;
  if (own <= 0n && target <= 0n) {
    const compared = difference > 0n ? "smaller" : "larger";
    return `The copy's short position is ${amount(difference)} ${compared} than a new copy's would be.`;
  }
  const [has, wanted] = own > 0n ? ["long", "short"] : ["short", "long"];
  return `The copy is ${has} ${amount(own)}, and a new copy would be ${wanted} ${amount(target)}.`;
}

// What would bring a holding to its target: an order that reduces, one that increases, or both where the
// target lies on the other side. Only what the copy holds itself and the account still has is reduced; what
// is missing in the account was sold by its owner, and is not bought again. Open orders on the same side
// count as done.

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
  readonly type: StrategyType;
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
  const toReduce = isSameSide ? atLeastZero(subtract(magnitude(held), magnitude(target))) : magnitude(held);
  const toIncrease = isSameSide
    ? atLeastZero(subtract(magnitude(target), magnitude(held)))
    : magnitude(target);

  const reducing: Side = held > 0n ? "SELL" : "BUY";
  const resting = restingOf(terms.resting, toReduce > 0n ? reducing : sideTowards(target));
  const reduction = orderOf(position, terms, {
    side: reducing,
    quantity: atLeastZero(subtract(toReduce, resting)),
    increases: false,
  });
  const missing =
    held === own ? atLeastZero(subtract(toIncrease, atLeastZero(subtract(resting, toReduce)))) : ZERO;
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
  { rules, price, type }: Pick<RepairTerms, "rules" | "price" | "type">,
): boolean {
  if (rules === null) return false;
  const difference = subtract(own, target);
  const { skip } = marketQuantity(rules, magnitude(difference), {
    price,
    side: difference > 0n ? "SELL" : "BUY",
    isReduction: magnitude(target) < magnitude(own),
    type,
  });
  return skip?.reason === "BELOW_MIN_QUANTITY" || skip?.reason === "BELOW_MIN_NOTIONAL";
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
  { type, rules, price, scale }: RepairTerms,
  order: Pick<RepairOrder, "side" | "quantity" | "increases">,
): RepairOrder | null {
  if (rules === null || rules.status !== "TRADING" || order.quantity === 0n) return null;
  const { side, increases } = order;
  const { quantity, skip } = marketQuantity(rules, order.quantity, {
    price,
    side,
    isReduction: !increases,
    type,
  });
  if (skip !== null) return null;
  return { symbol, side, quantity, increases, reduceOnly: type === "FUTURES" && !increases, scale };
}
