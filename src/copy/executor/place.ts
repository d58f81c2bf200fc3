// Mirrors an order of the strategy: sizes it right before it is sent, submits it, and records it as the venue
// took it.
// A skip for insufficient funds is final only after the account was polled, if the poll succeeds in time.
// Reductions need no balances. An order through zero is sized once more without its opening part, if that
// part may not be sent any more or the venue refuses the leverage. Whatever the outcome, what the strategy
// has closed leaves the copy's target.
import {
  type LeadAction,
  type LeadFill,
  type LeadPlacement,
  type MirrorEntry,
  type Skip,
  type SkipReason,
  skipOf,
} from "../../domain/copying.ts";
import {
  type Amount,
  add,
  least,
  magnitude,
  type Quantity,
  type Rate,
  SCALE,
  shareOf,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { isFlat, leadHeld, reduced } from "../leads/actions.ts";
import { CLOCKS_APART_MS } from "../leads/leads.ts";
import {
  applyReport,
  bookFees,
  isClosedBy,
  isLeg,
  isWantOfFunds,
  refusedRow,
  skipped,
} from "../orders/copy-state.ts";
import { isAccountUnfit, NotAnswered, orElse } from "../session/failures.ts";
import { heldOnAccount, released, spending } from "../sizing/book.ts";
import {
  leadOpening,
  restingElsewhere,
  restingOn,
  restingWorth,
  roomOf,
  unexecuted,
  type VenuePrices,
  worthLeft,
} from "../sizing/proportion.ts";
import { copiedLeverage, type Sized, scaleOrder, type Unsized } from "../sizing/scale-order.ts";
import { leverageSkip } from "../sizing/skip.ts";
import type { VenueRefusal } from "../venue/venue.ts";
import { bookUnseen, unbookedBefore, unbookedToward } from "./attribution.ts";
import { refreshBalances } from "./balances.ts";
import { cancelOvertaken, opensSomething, restsAtStrategy } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import {
  findUnrecorded,
  isBookedSince,
  isOfOldRules,
  type Outcome,
  submit,
  type Unconfirmed,
} from "./submit.ts";

type Placing = LeadAction & LeadPlacement;
type Scaled = Sized | Unsized;

/** How long an order waits for information that it can be sent without, ms. */
export const ORDER_WAITS_MS = 2_000;
/** How long balances that an order asks for wait for other orders in flight, ms. */
const IN_FLIGHT_MS_MAX = 300;
/** Delay before an account that was not polled is polled again, ms. */
const POLL_AGAIN_MS = 500;
/** The number of orders from which one list costs no more weight than a request for each. */
const FEES_LISTED_MIN = { SPOT: 4, FUTURES: 2 } as const;
/** Maximum age of an order whose fees are listed with others', ms; older ones are requested one by one. */
const FEES_LISTED_MS_MAX = 900_000;
/** Why an order is sized again without its opening part. */
const OPENS_NOT: readonly SkipReason[] = ["PAUSED", "TOO_LATE"];

/** The context for requests that an order waits for at most `ORDER_WAITS_MS`. */
export function briefly(context: CopyContext): CopyContext {
  return { ...context, session: context.session.briefly(ORDER_WAITS_MS) };
}

/** Mirrors an order, or records on its row why not. */
export async function place(context: CopyContext, row: MirrorEntry, action: Placing): Promise<void> {
  const { state } = context;
  const { symbol, filled, side, lead } = action;
  const { type } = state.copy;
  const before = leadHeld(type, lead, symbol);
  const left = filled === null ? null : reduced(before, side, filled.quantity);
  if (left === null || row.isTargetSet === true) await send(context, row, action);
  else {
    state.shrinkTarget(symbol, { side, left, before: magnitude(before) });
    await send(context, state.put({ ...row, isTargetSet: true }), action);
  }
  if (filled !== null && left !== null && isFlat(type, left, filled.price))
    await cancelOvertaken(context, symbol);
}

async function send(context: CopyContext, row: MirrorEntry, action: Placing): Promise<unknown> {
  const { state, gate, session, now } = context;
  if (row.status === "SENT" && row.quantity === null) return await takeOver(context, row, action);
  if (row.status === "SENT") return await resume(context, row, action);
  const stopped = gate.stopped();
  if (stopped !== null) return state.put({ ...skipped(row, stopped), updatedAt: now() });
  const opening = openingOf(context, action);
  if (opening === 0n) await feesOfSpot(context, action.symbol);
  else if (needsPoll(context)) await firstPoll(context, action);
  let withoutOpening = opensNot(context, action);
  const prices = await session.pricesInTime();
  if (prices === null && opening > 0n && withoutOpening === null) {
    if (opening === action.quantity) throw session.postponed();
    withoutOpening = skipOf("PRICE_UNFIT");
  }
  if (opening > 0n) await context.recallOpenings();
  withoutOpening ??= context.openingLimit(prices ?? context.lastPrices());
  let isFittedAgain = false;
  for (;;) {
    const scaled = await scaleWithFunds(context, action, withoutOpening);
    const sizedRow = withSizes(row, scaled);
    if (scaled.kind === "SKIPPED") return state.put({ ...skipped(sizedRow, scaled.skip), updatedAt: now() });
    const unfit = await leverageUnfit(context, scaled, action);
    if (unfit !== null) {
      withoutOpening = unfit;
      if (scaled.opening < scaled.quantity) continue;
      return state.put({ ...skipped(sizedRow, withoutOpening), updatedAt: now() });
    }
    const opens = scaled.opening > 0n;
    const free = reserve(context, { opens, worth: scaled.worth });
    const leadPart = leadPartOf(context, action, opens);
    const mayStillSend = () => gate.stopped() ?? mayOpen(context, scaled, action);
    const outcome = await submit(context, { ...sizedRow, ...leadPart }, mayStillSend, {
      opens,
      onlyOpens: scaled.opening === scaled.quantity,
    }).catch((error) => {
      if (state.latest(row).status !== "SENT") free();
      throw error;
    });
    // What is unconfirmed may have been executed: the next balances decide.
    if (outcome.kind === "UNSENT" || outcome.kind === "REFUSED") free();
    const lacksOnlyOpening =
      outcome.kind === "UNSENT" &&
      withoutOpening === null &&
      OPENS_NOT.includes(outcome.skip.reason) &&
      scaled.opening < scaled.quantity;
    if (lacksOnlyOpening) withoutOpening = outcome.skip;
    else if (!isFittedAgain && (await isOfOldRules(context, row, outcome))) isFittedAgain = true;
    else {
      const { leftOut, worth } = scaled;
      return await conclude(context, latest(context, sizedRow), outcome, { leftOut, worth });
    }
  }
}

/** After a restart: an order that may have been sent. */
async function resume(context: CopyContext, row: MirrorEntry, action: Placing): Promise<void> {
  const { gate } = context;
  const opening = openingOf(context, action);
  const mayStillSend = () => gate.stopped() ?? (opening === 0n ? null : opensNot(context, action));
  const outcome = await submit(context, row, mayStillSend, { givesWay: opening === action.quantity });
  await conclude(context, row, outcome, { leftOut: row.skip, worth: ZERO });
}

/** An order that a version without an outbox may have sent: it is sent if the venue does not have it. */
async function takeOver(context: CopyContext, row: MirrorEntry, action: Placing): Promise<unknown> {
  const { state } = context;
  const found = await findUnrecorded(context, row);
  if (found === null) return await send(context, state.put({ ...row, status: "NEW" }), action);
  const { side, orderType, price, stopPrice } = action;
  const { quantity } = found.state;
  const opens = openingOf(context, action) > 0n;
  const sized = { side, orderType, price, stopPrice, quantity, ...leadPartOf(context, action, opens) };
  await conclude(context, row, { ...found, row: { ...found.row, ...sized } });
}

/** Records the outcome of an order on its row. */
export async function conclude(
  context: CopyContext,
  row: MirrorEntry,
  outcome: Outcome,
  { leftOut = null, worth = ZERO }: { readonly leftOut?: Skip | null; readonly worth?: Amount } = {},
): Promise<MirrorEntry> {
  const { state, now } = context;
  const updatedAt = now();
  switch (outcome.kind) {
    case "UNSENT":
      return state.put({ ...skipped(row, outcome.skip), clientOrderId: null, sentAt: null, updatedAt });
    case "BOOKED":
      return state.latest(row);
    case "UNCONFIRMED":
      if (isBookedSince(state, row)) return state.latest(row);
      context.pollSoon();
      return concludeUnconfirmed(context, row, outcome);
    case "REFUSED": {
      const refused = state.put({ ...refusedRow({ ...row, clientOrderId: null }, outcome), updatedAt });
      const told = state.put(await withFunds(context, refused, worth));
      if (told.skip?.reason === "NOTHING_HELD") {
        state.isContradicted = true;
        context.pollSoon();
      }
      if (isAccountUnfit(outcome.refusal) && state.copy.status === "FOLLOWING")
        state.move("PAUSED", "ACCOUNT_UNFIT", updatedAt);
      return told;
    }
    case "PLACED": {
      const placed: MirrorEntry = { ...outcome.row, status: "RESTING", skip: leftOut };
      return applyReport(state, state.put(placed), outcome.state, updatedAt);
    }
  }
}

/**
 * A position that has come is booked at once: it needs its stop, and the reconciler must not close what is
 * not there.
 */
function concludeUnconfirmed(
  context: CopyContext,
  row: MirrorEntry,
  { counts, estimatedPrice, refusal }: Unconfirmed,
): MirrorEntry {
  const { state, now } = context;
  const venue = refusal === undefined ? null : { code: refusal.code, message: refusal.message };
  const entry = state.put({
    // Under the id that it was sent with.
    ...state.latest(row),
    ...counts,
    status: "UNCONFIRMED",
    skip: skipOf("UNCONFIRMED", { venue }),
    updatedAt: now(),
  });
  const { quantity } = entry;
  if (estimatedPrice === undefined || quantity === null) return entry;
  const executed = subtract(quantity, entry.executedQuantity);
  return bookUnseen(context, { ...entry, quantity }, { executed, price: estimatedPrice });
}

/** The row with what is known by now of how it was sent. */
export function latest({ state }: CopyContext, row: MirrorEntry): MirrorEntry {
  const { clientOrderId, sentAt, sends, queries, retained, leadExecuted } = state.latest(row);
  return {
    ...{ ...row, clientOrderId, sentAt, sends, queries },
    ...(retained !== undefined && { retained }),
    ...(leadExecuted !== undefined && { leadExecuted }),
  };
}

/**
 * What of an order the strategy's own has executed by now. What a mirrored exit opens, because there is less
 * to close, is not the strategy's opening.
 */
function leadPartOf(
  context: CopyContext,
  action: Placing,
  opens: boolean,
): Pick<MirrorEntry, "retained" | "leadExecuted"> {
  if (!opens) return { retained: ZERO as Rate };
  const { filled, quantity } = action;
  if (filled === null) return { leadExecuted: ZERO };
  const retained = (opensByFill(context, { ...action, filled }) ? SCALE : ZERO) as Rate;
  return filled.quantity === quantity ? { retained } : { retained, leadExecuted: filled.quantity };
}

/**
 * Whether a copy is to hold its part of what the strategy's order has executed. If that has only reduced the
 * strategy's position, and the copy has none on that side, the copy's order would open what nobody has.
 */
export function opensByFill(
  { state }: Pick<CopyContext, "state">,
  { symbol, side, filled, lead }: Pick<LeadAction & LeadFill, "symbol" | "side" | "filled" | "lead">,
): boolean {
  const before = leadHeld(state.copy.type, lead, symbol);
  const isReduction = reduced(before, side, filled.quantity) !== null && filled.quantity <= magnitude(before);
  return !isReduction || isClosedBy(side, state.holding(symbol).quantity);
}

/**
 * Learns the fees that spot orders took from the base asset before it is sold: there is that much less to
 * sell.
 */
export async function feesOfSpot(context: CopyContext, symbol: string): Promise<void> {
  const { state } = context;
  if (state.copy.type !== "SPOT") return;
  const asking = briefly(context);
  for (const entry of state.feesDue(symbol)) await orElse(learnFees(asking, entry), null, NotAnswered);
}

/** Asks what an order cost in fees, and books it; what the venue does not list yet stays due. */
async function learnFees(context: CopyContext, entry: MirrorEntry): Promise<void> {
  const { session, state, now } = context;
  const { symbol, venueOrderId, executedQuantity } = entry;
  if (symbol === null || venueOrderId === null) return;
  const asked = { symbol, venueOrderId, executed: executedQuantity };
  const fills = await session.ask(({ client }) => client.fills(asked));
  const present = state.latest(entry);
  if (fills === null || present.executedQuantity !== executedQuantity) return;
  bookFees(state, present, fills, now());
}

/** Asks what orders cost in fees of which that is not known: of several on one symbol with one request. */
export async function learnDueFees(context: CopyContext): Promise<void> {
  const { state, now } = context;
  for (const [symbol, due] of Map.groupBy(state.feesDue(), (entry) => entry.symbol ?? "")) {
    const listed = due.filter(
      ({ sentAt, venueOrderId }) => venueOrderId !== null && now() - (sentAt ?? 0) < FEES_LISTED_MS_MAX,
    );
    const isListed = listed.length >= FEES_LISTED_MIN[state.copy.type];
    if (isListed) await learnListed(context, symbol, listed);
    for (const entry of due) if (!isListed || !listed.includes(entry)) await learnFees(context, entry);
  }
}

async function learnListed(
  { session, state, now }: CopyContext,
  symbol: string,
  due: readonly MirrorEntry[],
): Promise<void> {
  const since = Math.min(...due.map(({ sentAt }) => sentAt ?? 0)) - CLOCKS_APART_MS;
  const orders = new Map(due.map((entry) => [entry.venueOrderId ?? "", entry.executedQuantity]));
  const fees = await session.ask(({ client }) => client.fillsSince({ symbol, since, orders }));
  for (const entry of due) {
    const fills = fees.get(entry.venueOrderId ?? "");
    const present = state.latest(entry);
    if (fills !== undefined && present.executedQuantity === entry.executedQuantity)
      bookFees(state, present, fills, now());
  }
}

/**
 * An order that takes so much of what is available is sent, and counts as an opening if it is one. Returns
 * what takes both back, if nothing came of it.
 */
export function reserve(
  context: CopyContext,
  { opens, worth }: { readonly opens: boolean; readonly worth: Amount },
): () => void {
  const { state } = context;
  const change = (changed: typeof spending) => {
    const { snapshot } = state.book;
    if (snapshot !== null && worth > 0n) state.setSnapshot(changed(snapshot, worth));
  };
  change(spending);
  const takeBack = opens ? context.noteOpening() : null;
  return () => {
    change(released);
    takeBack?.();
  };
}

/** What the copy may use for an opening now, beside all that is open, in flight, or in doubt. */
export function roomNow({ state }: CopyContext, prices: VenuePrices): Amount {
  const { type, settings } = state.copy;
  const { snapshot } = state.book;
  const open = [...state.acknowledged(), ...openingsInDoubt(state, prices, null)];
  return roomOf({
    ...{ type, settings, prices, lead: { lastPrices: new Map() }, holdings: heldOnAccount(state.book) },
    wallet: add(snapshot?.wallet ?? ZERO, spentInDoubt(state, open)),
    available: snapshot?.available ?? ZERO,
    restingWorth: restingWorth(open),
  });
}

/**
 * Whether the account is polled before anything that opens is sized: balances of an earlier process may be
 * old, and so may those of a copy that trades all the time, or one of very many.
 */
function needsPoll({ state, takenAt, isPollOverdue }: CopyContext): boolean {
  const { snapshot } = state.book;
  if (isPollOverdue()) return true;
  return isWithoutBalances(state) || (snapshot !== null && snapshot.at < takenAt);
}

function isWithoutBalances({ book }: CopyContext["state"]): boolean {
  return book.startEquity === null || book.snapshot === null;
}

/** Without balances no opening can be sized: polls until they are known or the order is too late. */
async function firstPoll(context: CopyContext, { at }: Placing): Promise<void> {
  const { state, gate } = context;
  for (;;) {
    if (await context.pollInTime(ORDER_WAITS_MS)) return;
    if (!isWithoutBalances(state) || gate.opensNot(at) !== null || gate.stopped() !== null) return;
    await context.pause(POLL_AGAIN_MS);
  }
}

/** Requests balances for an order that cannot wait long; returns whether there was an answer. */
function balancesInTime(context: CopyContext): Promise<boolean> {
  const asking = { ...context, session: context.session.briefly(ORDER_WAITS_MS).inDoubt() };
  return orElse(refreshBalances(asking, { inFlightMsMax: IN_FLIGHT_MS_MAX }), false, NotAnswered);
}

/** The part of the strategy's order that opens something. */
function openingOf({ state }: CopyContext, action: Placing): Quantity {
  return leadOpening({ type: state.copy.type, placement: action, lead: action.lead });
}

/**
 * Why no opening may be sent. A limit order that is still open at the strategy is a price promise, and never
 * too late.
 */
function opensNot(context: CopyContext, { at, collectiveId }: Placing): Skip | null {
  const skip = context.gate.opensNot(at);
  return skip?.reason === "TOO_LATE" && restsAtStrategy(context, { collectiveId }) ? null : skip;
}

/**
 * Adds the figures to an order that the venue refused for want of funds. The balances that it was sized by
 * were wrong, so the account is polled first; without an answer that explains the refusal the row has no
 * figures.
 */
async function withFunds(context: CopyContext, row: MirrorEntry, wanted: Amount): Promise<MirrorEntry> {
  const { skip } = row;
  if (skip === null || !isWantOfFunds(skip) || !(await balancesInTime(context))) return row;
  const had = context.state.book.snapshot?.available ?? null;
  if (had === null || had >= wanted) return row;
  return { ...row, skip: { ...skip, wanted, had, unit: "QUOTE" } };
}

/** As `scale`; a skip or cut for want of funds is sized again after a poll of the account. */
async function scaleWithFunds(context: CopyContext, action: Placing, without: Skip | null): Promise<Scaled> {
  const scaled = await scale(context, action, without);
  const skip = scaled.kind === "SIZED" ? scaled.leftOut : scaled.skip;
  const isWanting = skip !== null && isWantOfFunds(skip);
  if (!isWanting && !(await isCut(context, action, { scaled, without }))) return scaled;
  return (await balancesInTime(context)) ? await scale(context, action, without) : scaled;
}

/** Whether the order would be larger if more were available than is known. */
async function isCut(
  context: CopyContext,
  action: Placing,
  { scaled, without }: { readonly scaled: Scaled; readonly without: Skip | null },
): Promise<boolean> {
  if (scaled.kind === "SKIPPED" || scaled.opening === 0n) return false;
  const wallet = context.state.book.snapshot?.wallet ?? ZERO;
  const ample = await scale(context, action, without, wallet);
  return ample.kind === "SIZED" && ample.quantity > scaled.quantity;
}

/** `available`: replaces the snapshot's available balance. */
async function scale(
  context: CopyContext,
  action: Placing,
  without: Skip | null,
  available?: Amount,
): Promise<Scaled> {
  const { state, session } = context;
  const rules = await session.rules(action.symbol);
  const known = await session.pricesInTime();
  if (known === null && without === null && openingOf(context, action) > 0n) throw session.postponed();
  const prices = known ?? context.lastPrices();
  const { type, settings } = state.copy;
  const { snapshot } = state.book;
  const open = [...state.acknowledged(), ...openingsInDoubt(state, prices, action.seq)];
  return scaleOrder({
    type,
    placement: action,
    lead: action.lead,
    settings,
    holdings: heldOnAccount(state.book),
    wallet: add(snapshot?.wallet ?? ZERO, spentInDoubt(state, open)),
    available: available ?? snapshot?.available ?? ZERO,
    restingWorth: restingWorth(open),
    restingElsewhere: restingElsewhere(type, open, action.symbol),
    restingOnSymbol: restingOn([
      ...open.filter(({ symbol }) => symbol === action.symbol),
      ...salesInDoubt(state, action.symbol),
    ]),
    accountHeld: magnitude(snapshot?.held.get(action.symbol) ?? ZERO),
    rules,
    prices,
    opensNot: without,
  });
}

/**
 * Orders in flight, or with an unknown outcome, that may open something, without that of an action; those at
 * the market at the venue's prices. Funds and bounds count them as open.
 */
function openingsInDoubt(
  state: CopyContext["state"],
  prices: VenuePrices,
  except: LeadAction["seq"] | null,
): readonly MirrorEntry[] {
  const isExcepted = ({ seq }: MirrorEntry) => seq !== null && seq === except;
  const inFlight = state.outbox().filter((entry) => entry.status === "SENT" && !isExcepted(entry));
  const openings = [...inFlight, ...state.unconfirmed()].filter(
    (entry) =>
      entry.unseenSince === undefined &&
      !isLeg(entry) &&
      opensSomething({ state }, entry) &&
      unexecuted(entry) > 0n,
  );
  return openings.map((entry) => {
    const price = entry.orderType === "MARKET" ? prices.get(entry.symbol ?? "") : undefined;
    return price === undefined ? entry : { ...entry, price };
  });
}

/**
 * What unconfirmed purchases on spot have cost by the last balances, and the book does not have yet: it
 * counts as if the account had it still, since the orders count as open.
 */
function spentInDoubt(state: CopyContext["state"], open: readonly MirrorEntry[]): Amount {
  if (state.copy.type !== "SPOT") return ZERO;
  const left = new Map<string, Quantity>();
  let spent: Amount = ZERO;
  for (const entry of open) {
    const { status, side, symbol } = entry;
    if (status !== "UNCONFIRMED" || side !== "BUY" || symbol === null) continue;
    const unbooked = left.get(symbol) ?? unbookedToward(side, unbookedBefore(state, symbol));
    const executed = least(unbooked, unexecuted(entry));
    if (executed <= 0n) continue;
    left.set(symbol, subtract(unbooked, executed));
    spent = add(spent, shareOf(worthLeft(entry), executed, unexecuted(entry)));
  }
  return spent;
}

/**
 * Sales on spot with an unknown outcome: the coins may be sold, and what else the account has is its owner's.
 */
function salesInDoubt(state: CopyContext["state"], symbol: string): readonly MirrorEntry[] {
  if (state.copy.type !== "SPOT") return [];
  return state
    .unconfirmed(symbol)
    .filter((entry) => entry.side === "SELL" && entry.unseenSince === undefined);
}

/**
 * Why the opening part of an order cannot have its leverage; null if it has. What reduces does not wait for
 * an answer.
 */
async function leverageUnfit(
  context: CopyContext,
  { quantity, opening }: Sized,
  { symbol, leverage }: Placing,
): Promise<Skip | null> {
  if (leverage === null || opening === 0n) return null;
  try {
    const priority = opening === quantity ? "OPEN" : "REDUCE";
    const refusal = await setCopiedLeverage(context, symbol, leverage, priority);
    return refusal && leverageSkip(refusal);
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error;
    // Nothing else can be sent before that time either.
    if (error.until > 0) throw context.session.postponed(error.until);
    return skipOf("LEVERAGE_UNFIT");
  }
}

/**
 * The venue's refusal, if it does not take the leverage that a strategy's is copied at; null if it took it.
 */
export async function setCopiedLeverage(
  { session, state }: CopyContext,
  symbol: string,
  wanted: number,
  priority: "OPEN" | "REDUCE",
): Promise<VenueRefusal | null> {
  const rules = await session.rules(symbol);
  const leverage = (rules && copiedLeverage({ leverage: wanted }, rules, state.copy.settings)) ?? wanted;
  return await session.setLeverage(symbol, leverage, priority);
}

/**
 * Why what may open something may not be sent any more: also what reduces, by the time that it is filled.
 * Null if it may.
 */
function mayOpen(context: CopyContext, { opening, reduceOnly }: Sized, action: Placing): Skip | null {
  const isSafe = opening === 0n && (reduceOnly || context.state.copy.type === "SPOT");
  return isSafe ? null : opensNot(context, action);
}

/** The row with what the order was scaled to. */
function withSizes(row: MirrorEntry, scaled: Scaled): MirrorEntry {
  const { scale, scaledQuantity, quantity } = scaled;
  if (scaled.kind === "SKIPPED") return { ...row, scale, scaledQuantity, quantity };
  const { price, stopPrice, reduceOnly } = scaled;
  return { ...row, scale, scaledQuantity, quantity, price, stopPrice, ...(reduceOnly && { reduceOnly }) };
}
