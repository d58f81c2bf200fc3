// A line of the log brought up to date with what the venue says of its order: what was executed since is booked, once, and
// with its fees. What the venue has executed it may list a moment later: what is known is booked at once, since the next order is
// sized by it, and a line of which the fees are not known stays RESTING, so that it is asked about again.
//
// Knowingly, when an order is filled in parts, what earlier parts paid in the base asset is taken to have been the same share
// as of the whole; it may be a unit of the 8th decimal off.
import type { MirrorEntry, MirrorStatus, Skip } from "../../domain/copying.ts";
import { type Amount, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import type { VenueFills, VenueOrderState, VenueOrderStatus } from "../venue/venue.ts";
import type { Placed } from "./dealings.ts";
import type { NewEntry } from "./turn.ts";
import { isLeg, isWaitingLeg, type Work } from "./work.ts";

const STATUS: Readonly<Record<VenueOrderStatus, MirrorStatus>> = {
  RESTING: "RESTING",
  FILLED: "FILLED",
  CANCELED: "CANCELED",
  EXPIRED: "EXPIRED",
  REJECTED: "FAILED",
};

/** Adds the line of an order that the venue has, and books what of it is executed. */
export async function enter(work: Work, line: NewEntry, placed: Placed): Promise<MirrorEntry> {
  return await settle(work, work.turn.add(sentLine(line, placed)), placed.state);
}

/** The line once its order was sent. */
export function sentLine<Line extends NewEntry>(line: Line, { state, counts }: Placed): Line {
  const { clientOrderId, venueOrderId } = state;
  return { ...line, ...counts, clientOrderId, venueOrderId, status: "RESTING" };
}

/** Books what the order has executed beyond what its line says, and replaces the line. */
export async function settle(work: Work, entry: MirrorEntry, state: VenueOrderState): Promise<MirrorEntry> {
  const { fee, isWhole } = await bookExecuted(work, entry, state);
  const settled: MirrorEntry = {
    ...entry,
    status: isWhole ? STATUS[state.status] : "RESTING",
    venueOrderId: state.venueOrderId,
    executedQuantity: state.executedQuantity,
    executedQuote: state.executedQuote,
    fee,
    updatedAt: work.now(),
  };
  const isSame = settled.status === entry.status && settled.executedQuantity === entry.executedQuantity;
  if (!isSame || settled.venueOrderId !== entry.venueOrderId) work.turn.replace(settled);
  return isSame ? entry : settled;
}

/** Asks the venue how an order or a leg stands, and settles it. One that it surely knows nothing of any more is over. */
export async function askAfter(work: Work, entry: MirrorEntry): Promise<MirrorEntry> {
  const { symbol, clientOrderId } = entry;
  if (symbol === null || clientOrderId === null) return entry;
  const state = await (isLeg(entry)
    ? work.dealings.findLeg(symbol, clientOrderId)
    : work.dealings.find(symbol, clientOrderId));
  if (state === null) return work.notFound.note(entry, work.now()) ? entryGone(work, entry, null) : entry;
  work.notFound.found(entry);
  return await settle(work, entry, state);
}

/** The line of what does not rest any more, without the venue's saying how it ended; `why` is noted on it. */
export function entryGone(work: Work, entry: MirrorEntry, why: Skip | null): MirrorEntry {
  const gone: MirrorEntry = { ...entry, status: "CANCELED", skip: why ?? entry.skip, updatedAt: work.now() };
  work.turn.replace(gone);
  return gone;
}

/** Settles whatever rests of a symbol. */
export async function settleResting(work: Work, symbol: string): Promise<void> {
  for (const entry of work.turn.resting(symbol)) {
    if (!isWaitingLeg(entry)) await askAfter(work, entry);
  }
}

/** What the order has cost in fees so far, after what is new of it was booked; `isWhole` unless it is over and that is not all. */
async function bookExecuted(
  work: Work,
  entry: MirrorEntry,
  state: VenueOrderState,
): Promise<{ readonly fee: Amount; readonly isWhole: boolean }> {
  const { turn, dealings } = work;
  const { symbol, side } = entry;
  const { venueOrderId, executedQuantity: executed } = state;
  const quantity = subtract(executed, entry.executedQuantity);
  const isOver = state.status !== "RESTING";
  const mayLackFees = isOver && entry.status === "RESTING" && executed > 0n;
  const isAsked = quantity > 0n || mayLackFees;
  if (!isAsked || symbol === null || side === null) return { fee: entry.fee, isWhole: true };
  const fills = await dealings.fills({ symbol, venueOrderId, executed });
  const fee = fills === null ? ZERO : subtract(fills.fee, entry.fee);
  const feeInBase = fills === null ? ZERO : subtract(fills.feeInBase, bookedInBase(fills, entry, executed));
  if (quantity > 0n) {
    const quote = subtract(state.executedQuote, entry.executedQuote);
    turn.execute({ symbol, side, quantity, quote, fee, feeInBase });
  } else if (fee !== 0n || feeInBase !== 0n) turn.charge({ symbol, side, fee, feeInBase });
  return { fee: fills?.fee ?? entry.fee, isWhole: fills !== null || !isOver };
}

/** What of the fees in the base asset is booked: none if none of the fees are, the share of what is booked if that is less than all. */
function bookedInBase(fills: VenueFills, entry: MirrorEntry, executed: Quantity): Quantity {
  if (fills.fee === 0n || entry.fee === 0n) return ZERO as Quantity;
  const [part, whole] =
    entry.executedQuantity < executed ? [entry.executedQuantity, executed] : [entry.fee, fills.fee];
  return ((fills.feeInBase * part) / whole) as Quantity;
}
