// To which of the copy's orders belongs what an account shows: the venue's order by its id, the trades since
// a time, and changes of balances and positions that no row accounts for. What may be of several orders, or
// of others, is attributed to none.
import type { StrategyType } from "../../domain/account.ts";
import type { MirrorEntry } from "../../domain/copying.ts";
import {
  add,
  decimal,
  isAtMostShare,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  type Rate,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import { applyReport, doubtedSince, isLeg } from "../orders/copy-state.ts";
import { foreignOf } from "../sizing/book.ts";
import { symbolOf, unexecuted } from "../sizing/proportion.ts";
import type { VenueOrderState, VenueTrade } from "../venue/venue.ts";
import type { CopyContext } from "./context.ts";

/** How far before a time trades are listed, ms: clocks differ. */
const CLOCK_MARGIN_MS = 2_000;
/** Log lines before the listed time that are searched for orders whose trades may appear. */
const LINES_BEFORE = 200;
/** The largest part of a spot order that its fee takes in coins; it may be known late. */
export const UNKNOWN_FEE_MAX: Rate = decimal("0.01");
const TWO_FEES_MAX: Rate = decimal("0.02");
/** Of more unconfirmed orders on a symbol, none is booked by the position. */
const TOGETHER_MAX = 10;

/** How the venue has a row's order or leg; null if it knows none under that id. */
export async function findAtVenue(
  { session }: Pick<CopyContext, "session">,
  row: MirrorEntry,
): Promise<VenueOrderState | null> {
  const { symbol, clientOrderId } = row;
  if (symbol === null || clientOrderId === null) return null;
  return await session.ask(({ client }) =>
    isLeg(row) ? client.findLeg(symbol, clientOrderId) : client.find(symbol, clientOrderId),
  );
}

/** Whether trades that are not booked belong to other orders than this unconfirmed one. */
export async function isTradedByAnother(context: TradesContext, entry: MirrorEntry): Promise<boolean> {
  const trades = await tradesSince(context, entry);
  return trades === null || areOfAnother(trades, entry);
}

type TradesContext = Pick<CopyContext, "state" | "session" | "findRow">;

/**
 * The trades on an unconfirmed order's symbol since it may have been executed, or since the book's last
 * balances; of one that was executed in part, since it was sent.
 */
export async function tradesSince(
  context: TradesContext,
  entry: MirrorEntry,
): Promise<readonly VenueTrade[] | null> {
  const { state, session } = context;
  const { symbol, sentAt, executedQuantity } = entry;
  if (symbol === null) return [];
  const from = executedQuantity > 0n ? (sentAt ?? 0) : doubtedSince(entry);
  const since = Math.max(0, Math.min(from, state.book.snapshot?.at ?? 0) - CLOCK_MARGIN_MS);
  const { own, booked } = await ledgerOf(context, symbol, since);
  const unconfirmed = state.unconfirmed(symbol).flatMap((each) => orderIdAtVenue(each) ?? []);
  const known = new Set([...own.keys(), ...booked.keys(), ...unconfirmed]);
  return await session.ask(({ client }) => client.trades(symbol, { since, known }));
}

/** The venue's id of a row's order; null if it is not known. That of a leg is known once it has fired. */
function orderIdAtVenue(entry: MirrorEntry): string | null {
  return isLeg(entry) && entry.executedQuantity === 0n ? null : entry.venueOrderId;
}

/**
 * What trades show of an unconfirmed order: those of its venue id, or of its client id, which the order of a
 * fired leg has, too. They do not say whether more will follow: it is RESTING. Null if there are none beyond
 * its row, or of more than one order.
 */
export function tradedOrder(trades: readonly VenueTrade[], entry: MirrorEntry): VenueOrderState | null {
  const { clientOrderId, side } = entry;
  if (clientOrderId === null) return null;
  const orderId = orderIdAtVenue(entry);
  const own = trades.filter(
    (trade) =>
      trade.side === side && (trade.clientOrderId === clientOrderId || trade.venueOrderId === orderId),
  );
  const last = own.at(-1);
  if (last === undefined || own.some(({ venueOrderId }) => venueOrderId !== last.venueOrderId)) return null;
  if (sum(own.map(({ quantity }) => quantity)) <= entry.executedQuantity) return null;
  return {
    clientOrderId,
    venueOrderId: last.venueOrderId,
    status: "RESTING",
    quantity: ZERO,
    executedQuantity: sum(own.map(({ quantity }) => quantity)),
    executedQuote: sum(own.map(({ quote }) => quote)),
    updatedAt: last.at,
  };
}

/**
 * Whether one of these trades, which are on the side of an unconfirmed order, is of another order. The venue
 * may list the order's trades before it shows the order: those of one order that it does not show are taken
 * for this order's if they are all of its size.
 */
export function areOfAnother(trades: readonly VenueTrade[], entry: MirrorEntry): boolean {
  const strange = trades.filter(
    ({ by, side, clientOrderId }) =>
      by !== "KNOWN" && side === entry.side && clientOrderId !== entry.clientOrderId,
  );
  if (strange.length === 0) return false;
  const isOneOrder = new Set(strange.map(({ venueOrderId }) => venueOrderId)).size === 1;
  const isShown = strange.some(({ by, clientOrderId }) => by !== "OTHER" || clientOrderId !== "");
  const size = sum(strange.map(({ quantity }) => quantity));
  return !isOneOrder || isShown || size !== entry.quantity;
}

/**
 * Whether trades may all be of the copy's own orders: of known ones, of unconfirmed ones, or of orders that
 * the venue does not show.
 */
export function mayBeOwn(trades: readonly VenueTrade[], unconfirmed: readonly MirrorEntry[]): boolean {
  const ids = new Set(["", ...unconfirmed.map(({ clientOrderId }) => clientOrderId)]);
  return trades.every(
    ({ by, clientOrderId }) => by === "KNOWN" || (by === "OTHER" && ids.has(clientOrderId)),
  );
}

/**
 * Recorded executions of a contract by the venue's order ids: the copy's own orders, and the venue's. All of
 * them since a time, and a page of those before.
 */
export async function ledgerOf(context: Pick<CopyContext, "findRow">, symbol: string, since: number) {
  const own = new Map<string, Quantity>();
  const booked = new Map<string, Quantity>();
  let before = 0;
  await context.findRow(symbol, ({ kind, venueOrderId, executedQuantity, updatedAt }) => {
    const side = kind === "WRITE_OFF" ? booked : own;
    if (venueOrderId !== null && executedQuantity !== 0n) side.set(venueOrderId, executedQuantity);
    if (updatedAt < since) before += 1;
    return before > LINES_BEFORE;
  });
  return { own, booked };
}

/** Books what the account shows of an order that the venue does not show. Its row stays UNCONFIRMED. */
export function bookUnseen(
  { state, now }: Pick<CopyContext, "state" | "now">,
  entry: MirrorEntry & { readonly quantity: Quantity },
  { executed, price }: { readonly executed: Quantity; readonly price: Price },
): MirrorEntry {
  const report = {
    clientOrderId: entry.clientOrderId ?? "",
    venueOrderId: entry.venueOrderId ?? "",
    status: "RESTING",
    quantity: entry.quantity,
    executedQuantity: add(entry.executedQuantity, executed),
    executedQuote: add(entry.executedQuote, proceedsDown(price, executed)),
    updatedAt: now(),
  } as const;
  const { isFeeDue: _due, ...row } = applyReport(state, entry, report, now());
  return state.put({ ...row, status: "UNCONFIRMED", venueOrderId: entry.venueOrderId });
}

/**
 * By how much an account has more of a symbol than the book accounts for, as balances say it: what was
 * executed and is not booked.
 */
export function unbookedOf(
  { copy, book }: Pick<CopyContext["state"], "copy" | "book">,
  symbol: string,
  held: ReadonlyMap<string, Quantity>,
): Quantity {
  const now = [...held].find(([name]) => symbolOf(copy.type, name) === symbol)?.[1] ?? ZERO;
  return subtract(now, add(foreignOf(book, symbol), book.holdings.get(symbol)?.quantity ?? ZERO));
}

/** The same, as the copy's last balances say it. */
export function unbookedBefore({ book }: Pick<CopyContext["state"], "book">, symbol: string): Quantity {
  const own = subtract(book.snapshot?.held.get(symbol) ?? ZERO, foreignOf(book, symbol));
  return subtract(own, book.holdings.get(symbol)?.quantity ?? ZERO);
}

/**
 * The orders that explain a change of a symbol together, all of them executed whole; null if none do, or if
 * it may be others.
 */
export function explaining(
  { copy }: Pick<CopyContext["state"], "copy">,
  rows: readonly MirrorEntry[],
  change: Quantity,
): readonly MirrorEntry[] | null {
  const open = rows.flatMap((row) => {
    const left = unexecuted(row);
    return left > 0n ? [{ row, left: row.side === "BUY" ? left : subtract(ZERO, left) }] : [];
  });
  if (open.length > TOGETHER_MAX) return null;
  let sets: { readonly size: Quantity; readonly rows: readonly MirrorEntry[] }[] = [{ size: ZERO, rows: [] }];
  for (const { row, left } of open) {
    sets = [...sets, ...sets.map((set) => ({ size: add(set.size, left), rows: [...set.rows, row] }))];
  }
  const fitting = sets.filter(({ size }) => size * change > 0n && isNearly(copy.type, change, size));
  return fitting.length === 1 ? (fitting[0]?.rows ?? null) : null;
}

/**
 * Whether executions of this size on the other side may hide one of a spot order in the balances: but for its
 * fee, and a difference that is taken for one.
 */
export function mayHide(offset: Quantity, quantity: MirrorEntry["quantity"]): boolean {
  const whole = quantity ?? ZERO;
  return offset > 0n && isAtMostShare(subtract(whole, offset), TWO_FEES_MAX, whole);
}

/** Whether sizes are equal but for fees: on spot they may be taken in coins, and be known later. */
export function isNearly(type: StrategyType, size: Quantity, open: Quantity): boolean {
  const apart = magnitude(subtract(size, open));
  return type === "SPOT" ? isAtMostShare(apart, UNKNOWN_FEE_MAX, magnitude(open)) : apart === 0n;
}

/** Size of what is unbooked in the direction of an order; zero if it is the other way. */
export function unbookedToward(side: MirrorEntry["side"], unbooked: Quantity): Quantity {
  return (side === "BUY") === unbooked > 0n ? magnitude(unbooked) : ZERO;
}
