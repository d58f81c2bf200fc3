// Stops on spot. They are orders of the strategy like any other, so one that is refused, lost, kept back by a
// kill switch or canceled for its coins once would be missing for good. So the strategy's open stops are
// compared with the copy's, and a missing one is sent. One that the copy's owner has canceled, or that is
// older than the copy, is left alone.

import { collectiveId } from "../../domain/collective-id.ts";
import { type MirrorEntry, skipOf } from "../../domain/copying.ts";
import { isStopType, type Order } from "../../domain/order.ts";
import {
  atLeastZero,
  least,
  type Price,
  type Quantity,
  type Rate,
  shareOf,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import { restsAtStrategy } from "../executor/cancel.ts";
import type { CopyContext } from "../executor/context.ts";
import { conclude } from "../executor/place.ts";
import { isOfOldRules, submit } from "../executor/submit.ts";
import { leadHeld, leadStateOf } from "../leads/actions.ts";
import { isOpen, type NewEntry, ownRow } from "../orders/copy-state.ts";
import { heldOnAccount } from "../sizing/book.ts";
import { unexecuted } from "../sizing/proportion.ts";
import { sizeSkip, snapPrice, snapQuantity, takesMarketPrice } from "../sizing/snap.ts";
import { missingStops } from "./uneven.ts";

/** Until a stop or leg that the venue has refused is sent again, ms; each time so many times as long. */
const REFUSED_MS_MIN = 10_000;
const REFUSED_MS_MAX = 900_000;
const REFUSED_TIMES = 2;

/**
 * Sends the missing stops of a symbol that may be made up for; returns whether one of them is still missing.
 * `isExcessLeft`: a stop that was canceled for its coins waits until these are sold.
 */
export async function sendStops(
  context: CopyContext,
  symbol: string,
  { isExcessLeft }: { readonly isExcessLeft: boolean },
): Promise<boolean> {
  const { state, rowsOf, now } = context;
  let isOneMissing = false;
  for (const stop of missingStops(context, symbol)) {
    const rows = await rowsOf(collectiveId(state.copy.strategyId, stop.orderId));
    const last = rows.findLast(({ kind }) => kind === "PLACE");
    // It was never copied, has ended as its owner or the venue wanted, or has its row by now.
    if (last?.skip == null || isOpen(last) || last.executedQuantity > 0n) continue;
    // What was at the venue and is not shown any more was most likely canceled by its owner.
    if (last.venueOrderId !== null && last.skip.reason !== "OVERTAKEN") continue;
    const waits = isRefusedLately(last, now()) || (isExcessLeft && last.skip.reason === "OVERTAKEN");
    const sent = waits ? last : await sendStop(context, stop, last);
    if (sent !== null && !isOpen(sent)) isOneMissing = true;
  }
  return isOneMissing;
}

/** Whether the venue has refused an order so lately that it is not sent again yet. */
export function isRefusedLately(
  { skip, sends, updatedAt }: MirrorEntry,
  now: number,
  times = REFUSED_TIMES,
): boolean {
  const waitMs = Math.min(REFUSED_MS_MAX, REFUSED_MS_MIN * times ** (sends - 1));
  return skip?.venue != null && sends > 0 && now - updatedAt < waitMs;
}

/** `last`: the stop's newest row. Returns null if the venue takes no order of its size. */
async function sendStop(context: CopyContext, stop: Order, last: MirrorEntry): Promise<MirrorEntry | null> {
  const { state, session, gate, now } = context;
  const { symbol, side, type } = stop;
  const rules = await session.rules(symbol);
  if (rules?.status !== "TRADING" || !isStopType(type)) return null;
  const stopPrice = snapPrice(rules, stop.stopPrice, "DOWN");
  const price = type === "STOP_LOSS" ? (ZERO as Price) : snapPrice(rules, stop.price, "UP");
  const measure = {
    takesMarketPrice: takesMarketPrice(type),
    price: type === "STOP_LOSS" ? stopPrice : price,
    reduceOnly: false,
  };
  const before = await sizeOf(context, stop);
  const quantity = snapQuantity(rules, before, measure);
  if (sizeSkip(rules, { before, snapped: quantity }, measure) !== null) return null;
  const row: NewEntry = {
    ...ownRow("PLACE", symbol, now()),
    ...{ status: "NEW", collectiveId: last.collectiveId, leadQuantity: stop.quantity, side, orderType: type },
    ...{ price, stopPrice, scaledQuantity: before, quantity, retained: ZERO as Rate },
  };
  // A repeated refusal needs no row of its own; an order that was at the venue keeps its row.
  const { seq, venueOrderId, copyId, entryId, sends, queries } = last;
  const isReused = seq === null && venueOrderId === null;
  const entry = isReused ? state.put({ ...row, copyId, entryId, sends, queries }) : state.add(row);
  const mayStillSend = () => gate.stopped() ?? (restsAtStrategy(context, entry) ? null : skipOf("OVERTAKEN"));
  const outcome = await submit(context, entry, mayStillSend);
  const sent = await conclude(context, entry, outcome);
  // If the venue's rules have changed, the next attempt is fitted to the new ones.
  await isOfOldRules(context, entry, outcome);
  return sent;
}

/**
 * The stop's share of what the copy is to hold, as far as other open sales leave that: the stop never locks
 * coins that are to be sold.
 */
async function sizeOf(context: CopyContext, { symbol, quantity }: Order): Promise<Quantity> {
  const { state } = context;
  const held = heldOnAccount(state.book).get(symbol)?.quantity ?? ZERO;
  const target = least(state.target(symbol), held);
  const sales = state.open(symbol).filter((entry) => entry.side === "SELL" && isOpen(entry));
  const locking = sales.filter(({ orderType }) => orderType !== "MARKET");
  const free = least(
    subtract(target, sum(locking.map(unexecuted))),
    subtract(held, sum(sales.map(unexecuted))),
  );
  return least(shareOf(quantity, target, await leadHeldBefore(context, symbol)), atLeastZero(free));
}

/**
 * What the strategy held right before its next queued action that changes that: by then the copy's target is
 * a share of it.
 */
async function leadHeldBefore(
  { state, leadAccount, actionAt }: CopyContext,
  symbol: string,
): Promise<Quantity> {
  for (const seq of state.outbox(symbol).flatMap((row) => row.seq ?? [])) {
    const action = await actionAt(seq);
    // What changes nothing that the strategy holds may have been passed by what does.
    const changes = action.kind === "FILL" || (action.kind === "PLACE" && action.filled !== null);
    if (changes) return leadHeld("SPOT", action.lead, symbol);
  }
  const account = leadAccount();
  return account === null ? ZERO : leadHeld("SPOT", leadStateOf(account, null), symbol);
}
