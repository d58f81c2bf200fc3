// Reads the balances of an account consistently with its book. Open orders are queried before and after: if
// one was filled in between, or an own order was in flight, the balances may or may not include it, and they
// are requested again. From then on the same executions carry book and balances forward, so that no money
// counts twice.
import type { CopyBook, LeadState, MirrorEntry } from "../../domain/copying.ts";
import {
  type Amount,
  add,
  isAtMostShare,
  least,
  magnitude,
  type Price,
  type Quantity,
  SCALE,
  shareOf,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import {
  applyReport,
  endRow,
  isClosedBy,
  isLeg,
  isWaitingLeg,
  missedSince,
  seenRow,
  unseenRow,
} from "../orders/copy-state.ts";
import { NotAnswered, orElse, VenueRefused } from "../session/failures.ts";
import { equityOf, foreignOf, rescaled, snapshotOf } from "../sizing/book.ts";
import { accountEquity, spotSymbolOf, unexecuted, workedWith, worthLeft } from "../sizing/proportion.ts";
import type { RestingSymbols, VenueBalances, VenueOrderState } from "../venue/venue.ts";
import {
  areOfAnother,
  bookUnseen,
  explaining,
  findAtVenue,
  isNearly,
  mayBeOwn,
  mayHide,
  tradedOrder,
  tradesSince,
  UNKNOWN_FEE_MAX,
  unbookedBefore,
  unbookedOf,
  unbookedToward,
} from "./attribution.ts";
import { mayComeAgain, restsAtStrategy } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import { NOT_FOUND_AFTER_MS } from "./submit.ts";

/** Attempts to read balances before the next poll takes over. */
const TRIES_MAX = 3;
/** Delay before an own order in flight is checked again, ms. */
const IN_FLIGHT_MS = 100;
/** How long a poll waits for own orders in flight, ms: as long as one is in doubt. */
const IN_FLIGHT_MS_MAX = 5_000;
/**
 * Between queries of an open order that a price has reached, ms; each time twice as long. Its execution is
 * also an event of the account's stream, and exits need the weight.
 */
const EXPECTED_MS_MIN = 1_000;
const EXPECTED_MS_MAX = 16_000;
/** The same at most while a leg waits for the position that the order opens, ms. */
const UNPROTECTED_MS_MAX = 4_000;
/** Polls for an unconfirmed order that may have been executed, before it is left to the schedule. */
const EXPECTED_POLLS = 2;
/**
 * A price that is within one five-hundredth of the order's may have reached it since prices were last
 * requested.
 */
const NEAR_PARTS = 500n;
/** Between queries of an order that a price is near to, ms. */
const NEAR_MS = 16_000;
/** After this time a stop is queried if the position has grown since the venue showed it, ms. */
const STOP_UNSEEN_MS = 5_000;
/** First interval of queries of an unconfirmed order, ms; later a tenth of its age. */
const UNCONFIRMED_QUERY_MS = 2_000;
/** How long an unconfirmed order is queried, ms: the venue may show its orders minutes late. */
export const UNCONFIRMED_MS_MAX = 900_000;
/** How long the venue may take to decide an order, or to show an executed market order, ms. */
export const ENDED_MS_MAX = 120_000;
const NO_TRADES: Pick<LeadState, "lastPrices"> = { lastPrices: new Map() };

/**
 * Requests balances and prices; returns whether the copy has new ones. Throws NotAnswered if the time limit
 * ends. `inFlightMsMax`: how long it waits for orders in flight in all.
 */
export async function refreshBalances(
  context: CopyContext,
  { inFlightMsMax = IN_FLIGHT_MS_MAX }: { readonly inFlightMsMax?: number } = {},
): Promise<boolean> {
  const { state, session } = context;
  let waitedMs = 0;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    for (; state.isInFlight; waitedMs += IN_FLIGHT_MS) {
      if (waitedMs >= inFlightMsMax) return false;
      await context.pause(IN_FLIGHT_MS);
    }
    await bookOpenOrders(urgentInDoubt(context));
    const before = state.ownChanges;
    const prices = await session.prices();
    const purchases = state.resting().filter((entry) => isLimitPurchase(entry));
    const balances = await urgentInDoubt(context).session.ask(({ client }) => client.balances());
    // A late answer leaves the next question its whole time.
    const traded = await tradedSince(urgentInDoubt(context), balances.held);
    const overdue = await overdueSales(urgentInDoubt(context), balances.held);
    const absent = await absentPurchases(urgentInDoubt(context), balances, purchases);
    if (state.isInFlight || state.ownChanges !== before) continue;
    await bookOpenOrders(urgentInDoubt(context));
    if (state.isInFlight || state.ownChanges !== before) continue;
    if (state.book.snapshot !== null) {
      bookTraded(context, balances.held, traded);
      bookUnconfirmed(context, balances.held, prices, traded);
    }
    // What a purchase locked that has ended since may be locked by another one.
    if (purchases.every((entry) => state.latest(entry).status === "RESTING"))
      endAbsentPurchases(context, absent);
    endAbsentSales(context, balances, overdue);
    takeSnapshot(context, balances, { prices, inDoubt: symbolsInDoubt(state, balances.held, traded) });
    return true;
  }
  return false;
}

/** A position in doubt is without its stop: what shows it goes before openings. */
function urgentInDoubt(context: CopyContext): CopyContext {
  const { state, session } = context;
  const isInDoubt = state.copy.type === "FUTURES" && state.unconfirmed().length > 0;
  return isInDoubt ? { ...context, session: session.inDoubt() } : context;
}

function takeSnapshot(
  { state, now }: CopyContext,
  balances: Parameters<typeof snapshotOf>[0],
  given: { readonly prices: Parameters<typeof equityOf>[1]; readonly inDoubt: readonly string[] },
): void {
  const { prices, inDoubt } = given;
  const { type, settings } = state.copy;
  const { book } = state;
  const { wallet } = balances;
  const { holdings } = book;
  const account = accountEquity({ type, wallet, holdings, prices, lead: NO_TRADES });
  const begun = rescaled(begunWith(book, workedWith(settings, account)), settings, { account, prices });
  const unconfirmed = new Set(
    book.snapshot === null ? [] : state.unconfirmed().map((row) => row.symbol ?? ""),
  );
  const foreign = new Map([...unconfirmed].map((symbol) => [symbol, foreignOf(book, symbol)]));
  const snapshot = {
    ...snapshotOf(balances, { book, at: now(), type }),
    ...(foreign.size > 0 && { foreign }),
    ...(inDoubt.length > 0 && { inDoubt }),
  };
  state.setBalances({ ...begun, snapshot: { ...snapshot, equity: equityOf(begun, prices) ?? wallet } });
}

/** A copy of an account in which there is nothing yet begins once there is something. */
function begunWith(book: CopyBook, equity: Amount): CopyBook {
  return book.startEquity !== null || equity <= 0n ? book : { ...book, startEquity: equity };
}

/**
 * Applies executions of open orders and legs, marks those that the venue does not show any more, and queries
 * unconfirmed ones.
 */
export async function bookOpenOrders(context: CopyContext, symbol?: string): Promise<void> {
  const { state, session } = context;
  const resting = state.resting(symbol).filter((entry) => !isWaitingLeg(entry));
  if (resting.length > 0) {
    const open = await session.ask(({ client }) => client.openOrders(restingSymbols(resting)));
    // A position that has changed waits for its stop, or for its exit.
    const asking = { ...context, session: session.urgent() };
    for (const entry of resting) {
      const executed = entry.clientOrderId === null ? undefined : open.get(entry.clientOrderId);
      if (executed !== undefined) noteShown(context, entry);
      if (executed === undefined || executed > entry.executedQuantity) await bookOrder(asking, entry);
    }
  }
  await findUnconfirmed(context, symbol);
}

/** When an unconfirmed order was last queried; wall time, Unix ms. */
const queriedAt = new WeakMap<MirrorEntry, number>();

/**
 * Queries unconfirmed orders, each again after a tenth of its age; returns whether one has turned up.
 */
export async function findUnconfirmed(context: CopyContext, symbol?: string): Promise<boolean> {
  const { state, now } = context;
  let hasFound = false;
  const asked = (entry: MirrorEntry) => queriedAt.get(entry) ?? 0;
  // A query without an answer ends the poll: the next one begins with the others.
  for (const entry of state.unconfirmed(symbol).toSorted((one, other) => asked(one) - asked(other))) {
    const waitMs = Math.max(UNCONFIRMED_QUERY_MS, (now() - missedSince(entry)) / 10);
    if (now() - asked(entry) < waitMs) continue;
    if (await hasTurnedUp(context, entry)) hasFound = true;
  }
  return hasFound;
}

/** Queries an unconfirmed order. */
async function hasTurnedUp(context: CopyContext, entry: MirrorEntry): Promise<boolean> {
  const { state, now } = context;
  queriedAt.set(entry, now());
  const found = await findAtVenue(context, entry);
  const present = state.latest(entry);
  if (present.status !== "UNCONFIRMED") return false;
  if (found !== null) {
    if (found.status === "CANCELED" && mayComeAgain(present, now())) return false;
    const isInBalances = haveBalances(state, present, found);
    // What was booked by the balances has no fee yet.
    const isFeeDue = present.executedQuantity > 0n && present.fee === 0n;
    const row = seenRow(state, { ...present, ...(isFeeDue && { isFeeDue }) });
    applyReport(state, row, found, now(), { isInBalances });
    return true;
  }
  if (now() - missedSince(present) > UNCONFIRMED_MS_MAX) endRow(state, present, null, now());
  return false;
}

/**
 * Whether the last balances have what an order has executed: it was hidden, and could not be booked by them.
 */
function haveBalances(
  state: CopyContext["state"],
  { symbol, side, executedQuantity }: MirrorEntry,
  found: VenueOrderState,
): boolean {
  const executed = subtract(found.executedQuantity, executedQuantity);
  if (state.book.snapshot === null || symbol === null || executed <= 0n) return false;
  const unbooked = unbookedToward(side, unbookedBefore(state, symbol));
  const { type } = state.copy;
  // What was booked by the balances lacks the fees that were taken in coins.
  const isBooked = executedQuantity > 0n && isNearly(type, executedQuantity, found.executedQuantity);
  return isBooked || unbooked >= executed || isNearly(type, unbooked, executed);
}

/** Queries a row of which the venue has said that its order has changed; returns whether the row has. */
export async function bookHinted(context: CopyContext, entry: MirrorEntry): Promise<boolean> {
  if (entry.status !== "UNCONFIRMED") await bookOrder(context, entry);
  else if (await hasTurnedUp(context, entry)) return true;
  // The position shows what the venue does not.
  else context.pollSoon();
  return context.state.latest(entry) !== entry;
}

/**
 * `isReached`: it was expected then; otherwise a price was only near. `isTouched`: a price had reached it.
 */
type Expected = {
  readonly at: number;
  readonly times: number;
  readonly isReached: boolean;
  readonly isTouched: boolean;
};
const NOT_QUERIED = { at: 0, times: 0 };
/**
 * When an open order was last queried because it was expected to be executed, wall time, Unix ms, and how
 * often.
 */
const expected = new WeakMap<MirrorEntry, Expected>();

/**
 * Queries open orders and legs that have probably been executed, since a poll may come much later: the
 * venue's price has reached them, or nearly, or the strategy's own order is over; and stops that may have
 * ended with an earlier position. Returns whether one has changed.
 */
export async function bookExpected(
  context: CopyContext,
  prices: ReadonlyMap<string, Price>,
): Promise<boolean> {
  const { state, now } = context;
  let hasChanged = false;
  for (const entry of state.resting()) {
    const price = prices.get(entry.symbol ?? "");
    const isLeft = entry.kind === "PLACE" && !restsAtStrategy(context, entry);
    const near = isWaitingLeg(entry) || price === undefined ? null : nearnessOf(entry, price);
    const isReached = isLeft || near === "REACHED" || isStopUncertain(context, entry);
    if (!isReached && near === null) continue;
    const isTouched = near === "REACHED";
    const before = expected.get(entry);
    // Queries while the price was near, or since the strategy's own order is over, do not delay the first one
    // after it has reached the order.
    const isFirst =
      before === undefined || (isReached && !before.isReached) || (isTouched && !before.isTouched);
    const { at, times } = isFirst ? { ...NOT_QUERIED, at: before?.at ?? 0 } : before;
    const waitMs = isReached ? Math.min(expectedAfterMs(times), expectedMsMax(state, entry)) : NEAR_MS;
    if (now() - at < waitMs) continue;
    expected.set(entry, { at: now(), times: times + 1, isReached, isTouched });
    await bookOrder(context, entry);
    if (state.latest(entry) !== entry) hasChanged = true;
  }
  return hasChanged;
}

/** The longest interval of queries of an open order that is expected to be executed, ms. */
function expectedMsMax(state: CopyContext["state"], { kind, symbol }: MirrorEntry): number {
  const isAwaited = kind === "PLACE" && state.resting(symbol ?? "").some(isWaitingLeg);
  return isAwaited ? UNPROTECTED_MS_MAX : EXPECTED_MS_MAX;
}

type Shown = { readonly at: number; readonly size: Quantity };
/** When the venue last showed a leg, wall time, Unix ms, and the smallest holding of the copy since then. */
const shown = new WeakMap<MirrorEntry, Shown>();

/** The venue shows an open order, or a leg; only of legs this is remembered. */
function noteShown({ state, now }: CopyContext, entry: MirrorEntry): void {
  if (isLeg(entry)) shown.set(entry, { at: now(), size: sizeOf(state, entry) });
}

/**
 * Whether a stop was not shown for some time, and the copy has opened something since: the venue may have
 * liquidated the position before, and ended the stop with it.
 */
function isStopUncertain({ state, now }: CopyContext, entry: MirrorEntry): boolean {
  if (!isLeg(entry) || isWaitingLeg(entry) || entry.orderType !== "STOP_MARKET") return false;
  const size = sizeOf(state, entry);
  const last = shown.get(entry) ?? { at: entry.updatedAt, size };
  shown.set(entry, { ...last, size: least(size, last.size) });
  return size > last.size && now() - last.at >= STOP_UNSEEN_MS;
}

function sizeOf(state: CopyContext["state"], { symbol }: MirrorEntry): Quantity {
  return magnitude(state.holding(symbol ?? "").quantity);
}

/**
 * Whether a contract's position may show by now that an unconfirmed order was executed: the venue's price has
 * reached it, or it is one at the market. Answers so twice for each, and as long as there are no balances
 * since; also while there are none since the venue has stopped to show an order.
 */
export function isPositionExpected({ state, now }: CopyContext, prices: ReadonlyMap<string, Price>): boolean {
  if (state.copy.type !== "FUTURES") return false;
  const balancesAt = state.book.snapshot?.at ?? 0;
  let isExpected = false;
  for (const entry of state.unconfirmed()) {
    if (entry.unseenSince !== undefined && balancesAt < entry.updatedAt) {
      isExpected = true;
      continue;
    }
    const price = prices.get(entry.symbol ?? "");
    const isReached = price !== undefined && nearnessOf(entry, price) === "REACHED";
    if (!isReached && (entry.orderType !== "MARKET" || unexecuted(entry) === 0n)) continue;
    const { at, times } = expected.get(entry) ?? NOT_QUERIED;
    const isShown = times >= EXPECTED_POLLS && balancesAt > at;
    if (isShown || now() - at < expectedAfterMs(times)) continue;
    expected.set(entry, { at: now(), times: times + 1, isReached: true, isTouched: isReached });
    isExpected = true;
  }
  return isExpected;
}

/**
 * Whether an unconfirmed order on a contract may have been executed, so that the position has to be asked
 * for: it takes the market's price, a price is near it, or the strategy's own order has just ended.
 */
export function isPositionInDoubt(context: CopyContext, prices: ReadonlyMap<string, Price>): boolean {
  const { state, now } = context;
  if (state.copy.type !== "FUTURES") return false;
  return state.unconfirmed().some((entry) => {
    const price = prices.get(entry.symbol ?? "");
    const isNear = price === undefined || nearnessOf(entry, price) !== null;
    if (isNear || entry.orderType === "MARKET") return true;
    const isLeft = entry.kind === "PLACE" && !restsAtStrategy(context, entry);
    return isLeft && now() - missedSince(entry) < ENDED_MS_MAX;
  });
}

function expectedAfterMs(times: number): number {
  return Math.min(EXPECTED_MS_MAX, EXPECTED_MS_MIN * 2 ** times);
}

/**
 * Whether a price has reached an open order or leg, or nearly; null: neither, or it has no price of its own.
 */
function nearnessOf(entry: MirrorEntry, price: Price): "REACHED" | "NEAR" | null {
  const { side, orderType } = entry;
  const isSpotStop = orderType?.startsWith("STOP_LOSS") === true;
  const own = isLeg(entry) || isSpotStop ? entry.stopPrice : entry.price;
  if (own === null || own === 0n) return null;
  // A stop that buys, a profit that sells and a limit that sells wait for a rise.
  const waitsForRise = (side === "BUY") === (isSpotStop || orderType === "STOP_MARKET");
  const left = waitsForRise ? subtract(own, price) : subtract(price, own);
  if (left <= 0n) return "REACHED";
  return left * NEAR_PARTS <= own ? "NEAR" : null;
}

/**
 * Queries one order or leg. The venue has acknowledged it, so one that it does not show is hidden, and may
 * have been executed: the account's position and trades show that first.
 */
async function bookOrder(context: CopyContext, entry: MirrorEntry): Promise<void> {
  const { state, now } = context;
  const found = await findAtVenue(context, entry);
  const present = state.latest(entry);
  if (present.status !== "RESTING") return;
  if (found !== null) {
    const row = applyReport(state, present, found, now());
    if (row.status === "RESTING") noteShown(context, row);
    return;
  }
  unseenRow(state, present, now());
}

/** The symbols on which something of the copy is open at the venue. */
export function restingSymbols(entries: Iterable<MirrorEntry>): RestingSymbols {
  const symbols = { orders: new Set<string>(), legs: new Set<string>() };
  for (const entry of entries) {
    if (entry.symbol === null || entry.status !== "RESTING" || isWaitingLeg(entry)) continue;
    symbols[isLeg(entry) ? "legs" : "orders"].add(entry.symbol);
  }
  return symbols;
}

/**
 * What the trades say of unconfirmed orders on contracts. `own`: those with trades of their own. `byOthers`:
 * symbols on which other orders may explain what has changed; `foreign`: those of them on which the venue
 * shows such an order, or does not list all trades.
 */
type Traded = {
  readonly own: ReadonlyMap<MirrorEntry, VenueOrderState>;
  readonly byOthers: ReadonlySet<string>;
  readonly foreign: ReadonlySet<string>;
};

/** Nothing is requested where nothing has changed. */
async function tradedSince(context: CopyContext, held: ReadonlyMap<string, Quantity>): Promise<Traded> {
  const { state } = context;
  const own = new Map<MirrorEntry, VenueOrderState>();
  const byOthers = new Set<string>();
  const foreign = new Set<string>();
  for (const entry of state.copy.type === "SPOT" ? [] : state.unconfirmed()) {
    const { symbol } = entry;
    if (symbol === null || unbookedOf(state, symbol, held) === 0n) continue;
    const trades = await tradesSince(context, entry);
    const order = trades === null ? null : tradedOrder(trades, entry);
    if (order !== null) own.set(entry, order);
    if (trades === null || areOfAnother(trades, entry)) byOthers.add(symbol);
    if (trades === null || !mayBeOwn(trades, state.unconfirmed(symbol))) foreign.add(symbol);
  }
  return { own, byOthers, foreign };
}

/**
 * Applies unconfirmed orders by their trades, if nothing more has changed the position on their side. One
 * that is not done stays UNCONFIRMED: the rest of it may follow.
 */
function bookTraded({ state, now }: CopyContext, held: ReadonlyMap<string, Quantity>, { own }: Traded): void {
  const present = [...own].filter(([entry]) => state.latest(entry) === entry);
  const moreOf = ([{ executedQuantity }, order]: (typeof present)[number]) =>
    subtract(order.executedQuantity, executedQuantity);
  for (const together of Map.groupBy(present, ([{ symbol, side }]) => `${side} ${symbol}`).values()) {
    const { symbol, side } = together[0]?.[0] ?? {};
    const more = sum(together.map(moreOf));
    if (symbol == null || side == null) continue;
    const unbooked = unbookedOf(state, symbol, held);
    const left = side === "BUY" ? subtract(unbooked, more) : add(unbooked, more);
    if (unbookedToward(side, left) !== 0n) continue;
    for (const [entry, order] of together) {
      const booked = applyReport(state, seenRow(state, entry), order, now());
      // A leg closes the whole position, of the copy and of the account.
      const positions = [state.holding(symbol).quantity, held.get(symbol) ?? ZERO];
      const isDone = isLeg(entry)
        ? positions.some((position) => !isClosedBy(side, position))
        : unexecuted(booked) <= 0n;
      const { skip, unseenSince } = entry;
      const doubt = { skip, ...(unseenSince !== undefined && { unseenSince }) };
      state.put({ ...booked, ...(isDone ? { status: "FILLED" } : { status: "UNCONFIRMED", ...doubt }) });
    }
  }
}

/**
 * The contracts whose position has changed by more than is booked, and by no more than unconfirmed orders may
 * have executed. So the position is the copy's, although it is not known which orders have changed it.
 */
function symbolsInDoubt(
  state: CopyContext["state"],
  held: ReadonlyMap<string, Quantity>,
  { foreign }: Traded,
): readonly string[] {
  if (state.copy.type === "SPOT" || state.book.snapshot === null) return [];
  const bySymbol = Map.groupBy(state.unconfirmed(), (entry) => entry.symbol ?? "");
  return [...bySymbol].flatMap(([symbol, rows]) => {
    const unbooked = unbookedOf(state, symbol, held);
    const ofSide = rows.filter(({ side }) => (side === "BUY") === unbooked > 0n);
    const isTheirs = magnitude(unbooked) <= sum(ofSide.map(unexecuted));
    return unbooked !== 0n && isTheirs && !foreign.has(symbol) ? [symbol] : [];
  });
}

/**
 * Applies unconfirmed orders by the account's position, at the venue's price, since the venue may show the
 * orders themselves minutes late. Their rows are corrected when it does. Of several orders on one symbol
 * those are applied that explain the whole change; if there are none, or it may be others, the venue has to
 * show them first.
 */
function bookUnconfirmed(
  context: CopyContext,
  held: ReadonlyMap<string, Quantity>,
  prices: Parameters<typeof equityOf>[1],
  { byOthers }: Traded,
): void {
  const { state } = context;
  const open = state.unconfirmed().filter((entry) => !lacksOnlyFee(state, entry));
  for (const [symbol, rows] of Map.groupBy(open, (entry) => entry.symbol ?? "")) {
    const price = prices.get(symbol);
    const unbooked = unbookedOf(state, symbol, held);
    if (byOthers.has(symbol) || price === undefined || mayBeFees(state, symbol, unbooked)) continue;
    const explained = rows.length === 1 ? rows : explaining(state, rows, unbooked);
    let left = unbooked;
    for (const [index, entry] of (explained ?? []).toSorted(sellsFirst).entries()) {
      const { side, quantity } = entry;
      if (quantity === null) continue;
      const open = subtract(quantity, entry.executedQuantity);
      // The last purchase has what is left: fees may have been taken in coins.
      const isLast = index + 1 === explained?.length;
      const size = isLast ? unbookedToward(side, left) : open;
      const isSold = isNearly(state.copy.type, size, open) && side === "SELL";
      const executed = size < open && !isSold ? size : open;
      left = side === "BUY" ? subtract(left, executed) : add(left, executed);
      if (isExecution(state, entry, { executed, open })) {
        bookUnseen(context, { ...entry, quantity }, { executed, price });
      }
    }
  }
}

/** Sales before purchases, the smaller before the larger. */
function sellsFirst(one: MirrorEntry, other: MirrorEntry): number {
  if (one.side !== other.side) return one.side === "SELL" ? -1 : 1;
  return unexecuted(one) < unexecuted(other) ? -1 : 1;
}

/**
 * Ends unconfirmed spot sales that certainly do not exist. A sale locks its coins while it is open, and takes
 * them when it is executed. If the account still has the coins, and no more are locked than the venue's open
 * orders explain, there is no such sale: its row ends, and the coins may be sold. An unconfirmed purchase of
 * the same size may have brought as many coins as the sale has taken: then nothing is certain. `overdue`: see
 * `overdueSales`.
 */
function endAbsentSales(
  { state, now }: CopyContext,
  { held, locked }: Pick<VenueBalances, "held" | "locked">,
  overdue: ReadonlySet<number>,
): void {
  if (state.copy.type !== "SPOT" || state.book.snapshot === null) return;
  for (const [symbol, rows] of Map.groupBy(state.unconfirmed(), (entry) => entry.symbol ?? "")) {
    const bought = sum(rows.filter(({ side }) => side === "BUY").map(unexecuted));
    const sales = rows.filter(
      ({ entryId, quantity, executedQuantity }) =>
        overdue.has(entryId) && executedQuantity === 0n && !mayHide(bought, quantity),
    );
    const ofSymbol = (balances: ReadonlyMap<string, Quantity>) =>
      [...balances].find(([asset]) => spotSymbolOf(asset) === symbol)?.[1] ?? (ZERO as Quantity);
    const ofSales = state.resting(symbol).filter(({ side }) => side === "SELL");
    const resting = sum(ofSales.map(unexecuted));
    const unbooked = magnitude(unbookedOf(state, symbol, held));
    const isUnbooked = sales.some(
      ({ quantity }) => !isAtMostShare(unbooked, UNKNOWN_FEE_MAX, quantity ?? ZERO),
    );
    if (isUnbooked || ofSymbol(held) < state.holding(symbol).quantity) continue;
    // What is locked besides may be its owner's: a sale that is open locks all that is open of it.
    const besides = subtract(ofSymbol(locked), resting);
    for (const sale of sales) {
      if (besides <= 0n || besides < unexecuted(sale)) endRow(state, sale, null, now());
    }
  }
}

/**
 * Sales on spot, by entry, that are in doubt for so long that balances with all of their coins say that they
 * were not made: without those whose coins the account may have bought back by orders that are not the
 * copy's. Trades that cannot be had now say nothing, and the balances count all the same.
 */
async function overdueSales(
  context: CopyContext,
  held: ReadonlyMap<string, Quantity>,
): Promise<ReadonlySet<number>> {
  const { state, now } = context;
  const overdue = new Set<number>();
  for (const sale of state.copy.type === "SPOT" ? state.unconfirmed() : []) {
    const { entryId, side, orderType, quantity, executedQuantity } = sale;
    // A market order is never open, and may have been executed and mistaken for the owner's sale.
    const certainAfterMs = orderType === "MARKET" ? ENDED_MS_MAX : NOT_FOUND_AFTER_MS;
    if (side !== "SELL" || executedQuantity > 0n || now() - missedSince(sale) <= certainAfterMs) continue;
    const unbooked = magnitude(unbookedOf(state, sale.symbol ?? "", held));
    // The balances show that it was executed.
    if (!isAtMostShare(unbooked, UNKNOWN_FEE_MAX, quantity ?? ZERO)) continue;
    const trades = await orElse(tradesSince(context, sale), null, NotAnswered, VenueRefused);
    const bought = trades?.filter((trade) => trade.by !== "KNOWN" && trade.side === "BUY");
    if (bought === undefined) continue;
    if (!mayHide(sum(bought.map((trade) => trade.quantity)), quantity)) overdue.add(entryId);
  }
  return overdue;
}

/**
 * Limit purchases on spot, by entry, that certainly do not exist. One that is executed has brought coins, and
 * one that is open locks money. If the account has no more coins, no unknown trades, and less money locked
 * besides its known open purchases than one needs, there is no such purchase. Unconfirmed sales may have
 * taken its coins again: only what is larger than they are has to be open.
 */
async function absentPurchases(
  context: CopyContext,
  { held, wallet, available }: Pick<VenueBalances, "held" | "wallet" | "available">,
  open: readonly MirrorEntry[],
): Promise<ReadonlySet<number>> {
  const { state, now } = context;
  const absent = new Set<number>();
  if (state.copy.type !== "SPOT" || state.book.snapshot === null) return absent;
  const besides = subtract(subtract(wallet, available), sum(open.map(worthLeft)));
  for (const purchase of state.unconfirmed().filter((entry) => isLimitPurchase(entry))) {
    const { entryId, symbol, quantity, executedQuantity, updatedAt } = purchase;
    // Since it was given up: it may have been sent long after its row was noted, and be decided late.
    if (executedQuantity > 0n || now() - updatedAt <= ENDED_MS_MAX) continue;
    if (symbol === null || quantity === null) continue;
    const fees = shareOf(quantity, 2n * UNKNOWN_FEE_MAX, SCALE);
    const sales = state.unconfirmed(symbol).filter(({ side }) => side === "SELL");
    const openAtLeast = subtract(subtract(quantity, fees), sum(sales.map(unexecuted)));
    const hasRoom = openAtLeast <= 0n || besides >= worthLeft({ ...purchase, quantity: openAtLeast });
    const unbooked = magnitude(unbookedOf(state, symbol, held));
    if (hasRoom || !isAtMostShare(unbooked, UNKNOWN_FEE_MAX, quantity)) continue;
    const trades = await orElse(tradesSince(context, purchase), null, NotAnswered, VenueRefused);
    if (trades?.every(({ by }) => by === "KNOWN") === true) absent.add(entryId);
  }
  return absent;
}

function isLimitPurchase({ side, orderType }: MirrorEntry): boolean {
  return side === "BUY" && orderType === "LIMIT";
}

/** Ends purchases that `absentPurchases` has found, unless they were booked since. */
function endAbsentPurchases({ state, now }: CopyContext, absent: ReadonlySet<number>): void {
  for (const entry of state.unconfirmed()) {
    if (absent.has(entry.entryId) && entry.executedQuantity === 0n) endRow(state, entry, null, now());
  }
}

/**
 * Whether a difference is an execution of an order, and not a fee that the venue took in the base asset: it
 * is of the order's own steps, or, of a purchase on spot, which arrives without its fee, nearly all that is
 * open.
 */
function isExecution(
  state: Pick<CopyContext["state"], "copy">,
  entry: MirrorEntry,
  { executed, open }: { readonly executed: Quantity; readonly open: Quantity },
): boolean {
  const { quantity } = entry;
  if (executed <= 0n || quantity === null) return false;
  if (isPurchaseOnSpot(state, entry)) return isAtMostShare(subtract(open, executed), UNKNOWN_FEE_MAX, open);
  return executed % lastDigitOf(quantity) === 0n;
}

/** Whether a difference may be fees in coins that are not known yet, which are less than a hundredth. */
function mayBeFees(state: CopyContext["state"], symbol: string, unbooked: Quantity): boolean {
  if (state.copy.type !== "SPOT" || unbooked >= 0n) return false;
  const bought = state.feesDue(symbol).filter(({ side }) => side === "BUY");
  const executed = sum(bought.map(({ executedQuantity }) => executedQuantity));
  return isAtMostShare(magnitude(unbooked), UNKNOWN_FEE_MAX, executed);
}

/** Whether a purchase on spot was booked by the balances: it lacks its fee, which was taken in coins. */
function lacksOnlyFee(state: Pick<CopyContext["state"], "copy">, entry: MirrorEntry): boolean {
  const { quantity, executedQuantity } = entry;
  if (!isPurchaseOnSpot(state, entry) || quantity === null || executedQuantity === 0n) return false;
  return isNearly(state.copy.type, executedQuantity, quantity);
}

function isPurchaseOnSpot({ copy }: Pick<CopyContext["state"], "copy">, { side }: MirrorEntry): boolean {
  return copy.type === "SPOT" && side === "BUY";
}

/** The unit of the last digit of a size that is not zero. */
function lastDigitOf(quantity: Quantity): bigint {
  let digit = 1n;
  while (quantity % (digit * 10n) === 0n) digit *= 10n;
  return digit;
}
