// A line of the log brought up to date with what the venue says of its order: what was executed since is booked, once, and
// with its fees.
//
// Knowingly, when an order is filled in parts, what earlier parts paid in the base asset is taken to have been the same share
// as of the whole; it may be a unit of the 8th decimal off.
import type { MirrorEntry, MirrorStatus, Skip } from "../../domain/copying.ts";
import { type Amount, type Quantity, subtract } from "../../money/decimal.ts";
import type { VenueOrderState, VenueOrderStatus } from "../venue/venue.ts";
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
  const fee = await bookExecuted(work, entry, state);
  const settled: MirrorEntry = {
    ...entry,
    status: STATUS[state.status],
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

/** What the order has cost in fees so far, after what is new of it was booked. */
async function bookExecuted(work: Work, entry: MirrorEntry, state: VenueOrderState): Promise<Amount> {
  const { symbol, side } = entry;
  const quantity = subtract(state.executedQuantity, entry.executedQuantity);
  if (quantity <= 0n || symbol === null || side === null) return entry.fee;
  const fills = await work.dealings.fills(symbol, state.venueOrderId);
  const before = (fills.feeInBase * entry.executedQuantity) / state.executedQuantity;
  work.turn.execute({
    symbol,
    side,
    quantity,
    quote: subtract(state.executedQuote, entry.executedQuote),
    fee: subtract(fills.fee, entry.fee),
    feeInBase: (fills.feeInBase - before) as Quantity,
  });
  return fills.fee;
}
