import { collectiveId, orderIdOf } from "../../domain/collective-id.ts";
import { type MirrorEntry, type Skip, skipOf } from "../../domain/copying.ts";
import type { Leg } from "../../domain/leg.ts";
import { awaitsTrigger, type Order } from "../../domain/order.ts";
import { type Price, type Quantity, ZERO } from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import { opensSomething, restsAtStrategy } from "../executor/cancel.ts";
import type { CopyContext } from "../executor/context.ts";
import { NOT_FOUND_AFTER_MS } from "../executor/submit.ts";
import { baseOf, isFlat } from "../leads/actions.ts";
import { closesPosition, isLeg, isOpen, isSameKind, isWaitingLeg, readyLegs } from "../orders/copy-state.ts";

/** Whether a symbol needs reconciliation, as far as memory shows. */
export function isUneven(context: CopyContext, symbol: string): boolean {
  const { state } = context;
  const { status } = state.copy;
  const { quantity } = state.holding(symbol);
  if (status === "STOPPED") return false;
  if (status === "CLOSING") return quantity !== 0n || state.open(symbol).some(isAtVenue);
  if (quantity !== state.target(symbol) || readyLegs(state, symbol).length > 0) return true;
  const resting = state.resting(symbol);
  if (resting.some(({ isCancelDue }) => isCancelDue === true)) return true;
  if (state.hasNothing(symbol) && resting.some((entry) => isLeg(entry) && !isWaitingLeg(entry))) return true;
  const isOpening = (entry: MirrorEntry) => !isLeg(entry) && opensSomething(context, entry);
  if (resting.some(isOpening) && nothingOpens(context) !== null) return true;
  const isOver = (entry: MirrorEntry) => isStaleLeg(context, entry) || isOvertaken(context, entry);
  if (resting.some((entry) => isOver(entry) || isExitOfNothing(context, entry))) return true;
  return missingLegs(context, symbol).length > 0 || missingStops(context, symbol).length > 0;
}

/** Why open orders that would open something are canceled: a pause, or the loss of the day; null if not. */
export function nothingOpens({ state, lossOfDay }: CopyContext): Skip | null {
  return state.copy.status === "PAUSED" ? skipOf("PAUSED") : lossOfDay();
}

/**
 * Whether a futures copy has a position where its strategy has none, or one on the other side, although its
 * target allows it. An order through zero that becomes known late can leave such a position; it copies
 * nothing.
 */
export function isWithoutLead({ state, leadAccount }: CopyContext, symbol: string): boolean {
  const account = leadAccount();
  if (state.copy.type === "SPOT" || account === null || state.target(symbol) === 0n) return false;
  const theirs = account.positions.get(symbol)?.quantity ?? ZERO;
  return theirs === 0n || theirs > 0n !== state.holding(symbol).quantity > 0n;
}

/** The strategy's legs on a symbol that close the side which the copy has, and of whose kind it has none. */
export function missingLegs({ state, leadAccount, now }: CopyContext, symbol: string): readonly Leg[] {
  if (state.copy.type === "SPOT" || state.copy.status === "CLOSING") return [];
  const legs = [...(leadAccount()?.openLegs.values() ?? [])];
  const present = new Set(legs.map(({ legId }) => legId));
  // A leg left from before the strategy's replacement gives way to its successor, and one that has fired is
  // over although its fee is not known. An unconfirmed one may not be there, and is sent again: the venue
  // takes one of a kind. One that it had acknowledged may only be shown late.
  const isHidden = ({ status, unseenSince, updatedAt }: MirrorEntry) =>
    status === "UNCONFIRMED" && (unseenSince === undefined || now() - updatedAt >= NOT_FOUND_AFTER_MS);
  const own = state
    .open(symbol)
    .filter(
      (entry) =>
        isLeg(entry) && isOpen(entry) && !isHidden(entry) && present.has(orderIdOf(entry.collectiveId ?? "")),
    );
  return legs.filter(
    (leg) =>
      leg.symbol === symbol &&
      leg.status === "NEW" &&
      closesPosition(state, leg) &&
      !own.some((entry) => isSameKind(entry, leg)),
  );
}

/** The strategy's stops of a spot pair that wait for their trigger, and of which the copy has none open. */
export function missingStops({ state, leadAccount }: CopyContext, symbol: string): readonly Order[] {
  const { type, status, strategyId } = state.copy;
  if (type !== "SPOT" || status === "CLOSING" || state.target(symbol) === 0n) return [];
  const stops = [...(leadAccount()?.openOrders.values() ?? [])].filter(
    (order) => order.symbol === symbol && order.side === "SELL" && awaitsTrigger(order),
  );
  if (stops.length === 0) return [];
  const rows = state.open(symbol).filter(isOpen);
  const present = new Set(rows.map((entry) => entry.collectiveId));
  return stops.filter(({ orderId }) => !present.has(collectiveId(strategyId, orderId)));
}

/**
 * Whether a leg is at the venue, or waits to be sent again, although the strategy, which is still in the
 * position, has none of its kind any more: one whose successor the venue refused, and the strategy has
 * canceled since.
 */
export function isStaleLeg({ state, leadAccount }: CopyContext, entry: MirrorEntry): boolean {
  const account = leadAccount();
  if (!isLeg(entry) || account === null || entry.collectiveId === null) return false;
  // A mirrored leg that waits for its position is over when its cancel is executed.
  if (isWaitingLeg(entry) && entry.seq !== null) return false;
  const { symbol, side } = entry;
  const theirs = account.positions.get(symbol ?? "")?.quantity ?? ZERO;
  if (theirs === 0n || theirs > 0n !== (side === "SELL") || !closesPosition(state, entry)) return false;
  if (account.openLegs.has(orderIdOf(entry.collectiveId))) return false;
  return ![...account.openLegs.values()].some((leg) => isSameKind(entry, leg));
}

/** Whether an open order was to close a contract's position that is gone: it would open the other side. */
export function isExitOfNothing({ state }: CopyContext, entry: MirrorEntry): boolean {
  return state.copy.type === "FUTURES" && closesOnly(entry) && state.hasNothing(entry.symbol ?? "");
}

/**
 * Whether an open order would open something although the strategy has left the symbol, and its original has
 * ended.
 */
export function isOvertaken(context: CopyContext, entry: MirrorEntry): boolean {
  return (
    !isLeg(entry) &&
    opensSomething(context, entry) &&
    isLeadFlat(context, entry.symbol ?? "", entry.price) &&
    !restsAtStrategy(context, entry)
  );
}

/** Whether the strategy has nothing of a symbol any more. */
function isLeadFlat({ state, leadAccount }: CopyContext, symbol: string, price: Price | null): boolean {
  const account = leadAccount();
  if (account === null) return false;
  if (state.copy.type === "FUTURES") return !account.positions.has(symbol);
  const owned = ownedOf(account.balances, baseOf(symbol)) as bigint as Quantity;
  return price !== null && isFlat("SPOT", owned, price);
}

function isAtVenue({ status }: MirrorEntry): boolean {
  return status === "RESTING" || status === "UNCONFIRMED";
}

/** Whether a contract's order was to open nothing, although the venue would let it go through zero. */
export function closesOnly({ kind, retained, leadExecuted, reduceOnly }: MirrorEntry): boolean {
  return kind === "PLACE" && retained === 0n && leadExecuted === undefined && reduceOnly !== true;
}
