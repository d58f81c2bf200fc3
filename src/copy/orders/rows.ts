// Rows of the mirror log: as they begin, and with what the venue says of their orders, which is taken into a row and the copy's book,
// each execution once. Fees are learned later, beside the orders: no size depends on them but that of what a fee in the base asset has
// lessened, which its sender waits for.
//
// Where an order is filled in parts, what the earlier parts paid in the base asset is taken to be the same share as of the whole; it
// may be a unit of the 8th decimal off.
import type { MirrorEntry, MirrorStatus, Skip } from "../../domain/copying.ts";
import { type Amount, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { refusedAs } from "../session/failures.ts";
import type { VenueFills, VenueOrderState, VenueOrderStatus } from "../venue/venue.ts";
import type { CopyState, Refused } from "./copy-state.ts";
import type { NewEntry } from "./new-rows.ts";

export function skipped<Row extends NewEntry>(row: Row, skip: Skip): Row {
  return { ...row, status: "SKIPPED", skip };
}

export function isWantOfFunds({ reason }: Skip): boolean {
  return reason === "INSUFFICIENT_BALANCE" || reason === "INSUFFICIENT_MARGIN";
}

/** The row of an order that the venue refused. */
export function refusedRow<Row extends NewEntry>(row: Row, { refusal, counts }: Refused): Row {
  return { ...row, ...counts, ...refusedAs(refusal) };
}

const STATUS: Readonly<Record<VenueOrderStatus, MirrorStatus>> = {
  RESTING: "RESTING",
  FILLED: "FILLED",
  CANCELED: "CANCELED",
  EXPIRED: "EXPIRED",
  REJECTED: "FAILED",
};

/** Applies what an order has executed beyond its row to the book, and updates the row. Returns the row. */
export function applyReport(
  state: CopyState,
  entry: MirrorEntry,
  report: VenueOrderState,
  now: number,
): MirrorEntry {
  const { symbol, side } = entry;
  const quantity = subtract(report.executedQuantity, entry.executedQuantity);
  const quote = subtract(report.executedQuote, entry.executedQuote);
  const isExecuted = quantity > 0n && symbol !== null && side !== null;
  const isRepriced = quantity === 0n && quote !== 0n && symbol !== null && side !== null;
  if (isRepriced) state.reprice({ symbol, side, quote });
  const isFeeDue = report.fills === undefined && (isExecuted || isRepriced || entry.isFeeDue === true);
  // The report of an immediate fill is complete.
  const known = entry.executedQuantity === 0n ? (report.fills ?? null) : null;
  if (isExecuted) {
    const { fee, feeInBase } = known ?? { fee: ZERO as Amount, feeInBase: ZERO as Quantity };
    state.execute({ symbol, side, quantity, quote, fee, feeInBase }, entry);
  }
  const { isFeeDue: _due, ...row } = entry;
  const applied: MirrorEntry = {
    ...row,
    ...(known !== null && { fee: known.fee }),
    status: STATUS[report.status],
    venueOrderId: report.venueOrderId,
    executedQuantity: isExecuted ? report.executedQuantity : entry.executedQuantity,
    executedQuote: isExecuted || isRepriced ? report.executedQuote : entry.executedQuote,
    updatedAt: now,
    ...(isFeeDue && { isFeeDue }),
  };
  const isSame =
    applied.status === entry.status &&
    !isExecuted &&
    !isRepriced &&
    applied.venueOrderId === entry.venueOrderId;
  const put = isSame ? entry : state.put(applied);
  const isBooked = report.fills === undefined || known !== null || !isExecuted;
  return isBooked ? put : bookFees(state, put, report.fills, now);
}

/** Books what of an order's fees is not booked yet. */
export function bookFees(state: CopyState, entry: MirrorEntry, fills: VenueFills, now: number): MirrorEntry {
  const { symbol, side } = entry;
  const fee = subtract(fills.fee, entry.fee);
  const booked = fills.fee === 0n ? ZERO : (((fills.feeInBase * entry.fee) / fills.fee) as Quantity);
  const feeInBase = subtract(fills.feeInBase, booked);
  if (symbol !== null && side !== null && (fee !== 0n || feeInBase !== 0n)) {
    const { executedQuantity, executedQuote } = entry;
    const cost = executedQuantity === 0n ? ZERO : (executedQuote * feeInBase) / executedQuantity;
    state.charge({ symbol, side, fee, feeInBase, cost: cost as Amount }, entry.entryId);
  }
  const { isFeeDue: _due, ...row } = entry;
  return state.put({ ...row, fee: fills.fee, updatedAt: now });
}

/**
 * The row of an order that is not open any more, without the venue's saying how it ended; `why` is noted on
 * it.
 */
export function endRow(state: CopyState, entry: MirrorEntry, why: Skip | null, now: number): MirrorEntry {
  // An order that was never confirmed and is not there was never placed.
  const isPlaced = entry.status === "RESTING" || entry.executedQuantity > 0n || entry.venueOrderId !== null;
  const status = isPlaced ? "CANCELED" : "SKIPPED";
  return state.put({ ...entry, status, skip: why ?? entry.skip, updatedAt: now });
}
