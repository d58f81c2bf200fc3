// The oracle of state: compares a copy's account at the venue with what its strategy's history entitles it
// to. A copy is entitled to what its orders opened for executed orders of the strategy, less what the
// strategy closed: an exit of a third leaves two thirds, and a flat strategy entitles to nothing. An excess
// is a fault unless an open exit is about to sell it, or what that leaves is too small to trade. An exit that
// is open at the strategy is for what the strategy still has. A deficit is no fault: a copy opens nothing
// without consent.

import { collectiveId } from "../../../src/domain/collective-id.ts";
import { isOpen, type Order } from "../../../src/domain/order.ts";
import { magnitude } from "../../support/exact.ts";
import { unmatchedOf } from "./audit.ts";
import { type CopyBooks, logOf } from "./books.ts";
import type { CopyFault } from "./faults.ts";
import type { Moment } from "./history.ts";

/** The accounts of a copy and of its strategy, as their gateways' journals have them. */
export type Histories = {
  readonly lead: readonly Moment[];
  readonly copy: readonly Moment[];
};

/**
 * The least and the most that a copy may hold, in its direction, and what rounding may have left. Units of
 * 1e-8.
 */
type Entitlement = { readonly least: bigint; readonly most: bigint; readonly rounding: bigint };

const ONE = 100_000_000n;
/** Of every symbol of a campaign: the step of a quantity. */
const STEP = ONE;
/** The least that an order may be worth, in the quote asset, with some room for the price to move. */
const LEAST_WORTH = (55n * ONE) / 10n;
/** On spot the fee of a purchase is taken from what was bought, in parts of a thousand. */
const FEE_PER_MILLE = 1n;
const NOTHING: Entitlement = { least: 0n, most: 0n, rounding: 0n };
/** The symbols of which a copy holds too much. `price`: of a symbol at the venue, units of 1e-8. */
export function targetFaults(
  books: CopyBooks,
  histories: Histories,
  price: (symbol: string) => bigint,
): CopyFault[] {
  return excessesOf(books, histories, price).map(({ symbol, what }) => {
    const unmatched = unmatchedOf(books, symbol);
    const cause = unmatched === "" ? "" : `; it may follow from what is LOST or DOUBLED: ${unmatched}`;
    const executed = `the strategy executed ${executedBy(histories.lead, symbol)}`;
    return { kind: "OFF_TARGET", what: `${what}${cause}: ${logOf(books, symbol)}; ${executed}` };
  });
}

/**
 * Whether a copy holds too much of a symbol while it does not know whether an order has sold it: what that
 * may have sold is not sold again.
 */
export function isSaleInDoubt(
  books: CopyBooks,
  histories: Histories,
  price: (symbol: string) => bigint,
): boolean {
  const inDoubt = books.entries.filter(
    ({ kind, status, quantity, executedQuantity }) =>
      kind !== "PLACE_LEG" && status === "UNCONFIRMED" && executedQuantity < (quantity ?? 0n),
  );
  return excessesOf(books, histories, price).some(({ symbol, side }) =>
    inDoubt.some((entry) => entry.symbol === symbol && entry.side === side),
  );
}

/** What a copy holds too much of, by which orders that is sold, and how much it is, in words. */
type Excess = { readonly symbol: string; readonly side: Order["side"]; readonly what: string };

function excessesOf(
  books: CopyBooks,
  histories: Histories,
  price: (symbol: string) => bigint,
): readonly Excess[] {
  const held = [...histories.lead, ...histories.copy].flatMap((moment) => [...moment.held.keys()]);
  return [...new Set(held)].flatMap((symbol) => excessOf(books, histories, symbol, price(symbol)) ?? []);
}

function excessOf(books: CopyBooks, histories: Histories, symbol: string, price: bigint): Excess | null {
  const actual = histories.copy.at(-1)?.held.get(symbol) ?? 0n;
  const theirs = histories.lead.at(-1)?.held.get(symbol) ?? 0n;
  const { least, most, rounding } = entitlementOf(books, histories, symbol);
  const isSameSide = theirs !== 0n && actual > 0n === theirs > 0n;
  const own = magnitude(actual);
  const excess = isSameSide ? own - most - rounding : own;
  const what = `${books.name} holds ${actual} of ${symbol}, its strategy ${theirs}`;
  const entitled = `entitled to ${least} to ${most}, ${rounding} for rounding`;
  if (excess <= 0n) return null;
  const side = actual > 0n ? "SELL" : "BUY";
  const exits = exitsOf(books, symbol, { side, entitled: most });
  if (excess <= exits || isDust(books, excess - exits, price)) return null;
  return { symbol, side, what: `${what}: ${excess} too much, ${entitled}, open exits ${exits}` };
}

/** The executions of an account on a symbol, and what it had after each and after every other change. */
function executedBy(history: readonly Moment[], symbol: string): string {
  const words: string[] = [];
  let before = 0n;
  for (const { at, version, trades, held } of history) {
    const after = held.get(symbol) ?? 0n;
    const ofSymbol = trades.filter((trade) => trade.symbol === symbol);
    const sizes = ofSymbol.map(({ orderId, side, quantity }) => `${orderId} ${side} ${quantity}`);
    if (sizes.length > 0 || after !== before)
      words.push(`v${version} ${at} [${sizes.join(", ")}] to ${after}`);
    before = after;
  }
  return words.join("; ");
}

/**
 * What the strategy's executions since the copy began entitle it to, in the direction of the strategy's
 * position.
 */
function entitlementOf(books: CopyBooks, { lead, copy }: Histories, symbol: string): Entitlement {
  const { strategyId, fromVersion, settings } = books.copy;
  let entitled = NOTHING;
  let before = 0n;
  /** By order, what the strategy's has executed by now. */
  const ofOrders = new Map<number, bigint>();
  for (const moment of lead) {
    const after = moment.held.get(symbol) ?? 0n;
    const isOfCopy = moment.version > fromVersion;
    let executed = 0n;
    for (const { orderId, quantity } of moment.trades.filter((trade) => trade.symbol === symbol)) {
      const id = collectiveId(strategyId, orderId);
      const from = ofOrders.get(orderId) ?? 0n;
      ofOrders.set(orderId, from + quantity);
      if (isOfCopy) executed += executedFor(books, id, from + quantity) - executedFor(books, id, from);
    }
    const isThroughZero = before !== 0n && after !== 0n && before > 0n !== after > 0n;
    if (after === 0n) entitled = NOTHING;
    else if (isThroughZero) {
      // The order has closed one position and opened another: of which it has how much is bounded by the two
      // wallets.
      const wallet = walletAt(copy, moment.at);
      const bound = (magnitude(after) * wallet * settings.share * 11n) / (moment.wallet * ONE * 10n);
      entitled = { least: 0n, most: bound < executed ? bound : executed, rounding: STEP };
    } else if (magnitude(after) >= magnitude(before)) {
      entitled = {
        least: entitled.least + executed,
        most: entitled.most + executed,
        rounding: entitled.rounding + (executed * FEE_PER_MILLE) / 1_000n,
      };
    } else {
      const left = (size: bigint) => (size * magnitude(after)) / magnitude(before);
      const { least, most, rounding } = entitled;
      entitled = { least: left(least), most: left(most), rounding: left(rounding) + STEP };
    }
    before = after;
  }
  return entitled;
}

/**
 * What the copy's order for one of the strategy has executed at the venue of the part that the strategy's has
 * executed: of the strategy's first half, the copy's first half.
 */
function executedFor({ entries, venue }: CopyBooks, id: string, theirs: bigint): bigint {
  const entry = entries.find((each) => each.kind === "PLACE" && each.collectiveId === id);
  const order = venue.orders.find(({ clientOrderId }) => clientOrderId === entry?.clientOrderId);
  if (order === undefined || entry?.leadQuantity == null || entry.leadQuantity === 0n) return 0n;
  const matched = (order.quantity * theirs) / entry.leadQuantity;
  return order.executedQuantity < matched ? order.executedQuantity : matched;
}

function walletAt(history: readonly Moment[], at: number): bigint {
  return (history.findLast((moment) => moment.at <= at) ?? history[0])?.wallet ?? 0n;
}

/**
 * What open orders at the venue are about to sell of an excess: what the strategy's have sold and they have
 * not. An order may have its share of the excess, too, if it was sized while that was there: then all of them
 * are larger than what the copy is entitled to.
 */
function exitsOf(
  books: CopyBooks,
  symbol: string,
  { side, entitled }: { readonly side: Order["side"]; readonly entitled: bigint },
): bigint {
  const exits = books.venue.orders.filter(
    (order) => order.symbol === symbol && order.side === side && isOpen(order),
  );
  const due = exits.reduce((sum, exit) => sum + dueOf(books, exit), 0n);
  const limits = exits.filter(({ type }) => type === "LIMIT");
  const beyond = limits.reduce((sum, exit) => sum + leftOf(exit), -entitled);
  return beyond > due ? beyond : due;
}

/** What of an open order corresponds to what the strategy's own has executed; all of it, if that is over. */
function dueOf({ actions, entries }: CopyBooks, exit: Order): bigint {
  const entry = entries.find((each) => each.clientOrderId === exit.clientOrderId);
  const ofOrder = actions.filter(
    (action) => "collectiveId" in action && action.collectiveId === entry?.collectiveId,
  );
  const placed = ofOrder.find((action) => action.kind === "PLACE");
  if (placed === undefined || ofOrder.some(({ kind }) => kind === "CANCEL")) return leftOf(exit);
  const executed = ofOrder.reduce<bigint>(
    (sum, action) => (action.kind === "FILL" ? sum + action.filled.quantity : sum),
    placed.filled?.quantity ?? 0n,
  );
  const due = (exit.quantity * executed) / placed.quantity - exit.executedQuantity;
  return due > 0n ? due : 0n;
}

function leftOf({ quantity, executedQuantity }: Order): bigint {
  return quantity - executedQuantity;
}

/** Too little for an order. What only reduces a contract's position has no least worth. */
function isDust({ copy }: CopyBooks, quantity: bigint, price: bigint): boolean {
  if (copy.type === "FUTURES") return quantity < STEP;
  return (quantity * price) / ONE < LEAST_WORTH;
}
