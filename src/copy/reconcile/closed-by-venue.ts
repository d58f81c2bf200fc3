// What of a copy's position the venue itself has closed: it was liquidated, or reduced for the sake of others. Pure.
//
// The venue closes what the account has, which may be the copier's own as well. How much of it was the copy's is what the copy held
// at that moment by its own orders: what its book says, less what they have executed since.
import type { Side } from "../../domain/order.ts";
import { type Amount, add, least, magnitude, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import type { VenueTrade } from "../venue/venue.ts";

/** An order of the venue, and what of it was the copy's: above zero. */
export type ClosedByVenue = {
  readonly venueOrderId: string;
  readonly clientOrderId: string | null;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly quote: Amount;
  /** The whole order. */
  readonly of: Quantity;
  /** The venue's own time of its first fill, Unix ms. */
  readonly at: number;
};

export type Found = {
  readonly closed: readonly ClosedByVenue[];
  /** Whether nothing is left of which it has yet to be found out who ordered it. */
  readonly isWhole: boolean;
};

/**
 * What the venue has closed by orders that are not booked yet, oldest first. `own`: the copy's position by its book, which has all
 * that its own orders (KNOWN) have executed, and the `booked` parts of orders of the venue.
 */
export function closedByVenue(
  own: Quantity,
  trades: readonly VenueTrade[],
  booked: ReadonlyMap<string, Quantity>,
): Found {
  const steps = stepsOf(trades, booked);
  const partOf = ({ trade, quantity }: Step): Quantity => {
    const part = booked.get(trade.venueOrderId);
    if (part !== undefined) return signed(trade.side, part);
    return trade.by === "KNOWN" ? signed(trade.side, quantity) : ZERO;
  };
  let held = steps.reduce((before, step) => subtract(before, partOf(step)), own);
  const closed: ClosedByVenue[] = [];
  for (const step of steps) {
    const { trade, quantity: of, quote } = step;
    const { venueOrderId, clientOrderId, side, by, at } = trade;
    if (by === "UNKNOWN") return { closed, isWhole: false };
    held = add(held, partOf(step));
    const isAgainst = held !== 0n && held > 0n === (side === "SELL");
    if (by !== "VENUE" || booked.has(venueOrderId) || !isAgainst) continue;
    const quantity = least(of, magnitude(held));
    held = add(held, signed(side, quantity));
    const share = ((quote * quantity) / of) as Amount;
    closed.push({ venueOrderId, clientOrderId, side, quantity, quote: share, of, at });
  }
  return { closed, isWhole: true };
}

/** Whether an order of the copy's own has executed more than is booked of it: then nothing can be reckoned. */
export function isBehind(own: ReadonlyMap<string, Quantity>, trades: readonly VenueTrade[]): boolean {
  const left = new Map<string, bigint>(own);
  for (const { venueOrderId, quantity } of trades) {
    const before = left.get(venueOrderId);
    if (before === undefined) continue;
    if (before < quantity) return true;
    left.set(venueOrderId, before - quantity);
  }
  return false;
}

type Step = { readonly trade: VenueTrade; readonly quantity: Quantity; readonly quote: Amount };

/** The trades in their order; those of one order of the venue, or of one that is booked, as one, where its first was. */
function stepsOf(trades: readonly VenueTrade[], booked: ReadonlyMap<string, Quantity>): readonly Step[] {
  const steps: Step[] = [];
  const byOrder = new Map<string, number>();
  for (const trade of trades) {
    const { venueOrderId, quantity, quote } = trade;
    const isOne = trade.by === "VENUE" || booked.has(venueOrderId);
    const at = isOne ? byOrder.get(venueOrderId) : undefined;
    const before = at === undefined ? undefined : steps[at];
    if (at === undefined || before === undefined) {
      byOrder.set(venueOrderId, steps.length);
      steps.push({ trade, quantity, quote });
    } else steps[at] = { trade, quantity: add(before.quantity, quantity), quote: add(before.quote, quote) };
  }
  return steps;
}

function signed(side: Side, quantity: Quantity): Quantity {
  return (side === "BUY" ? quantity : -quantity) as Quantity;
}
