// Reads the balances of an account consistently with its book. Open orders are queried before and after: if
// one was filled in between, or an own order was in flight, the balances may or may not include it, and they
// are requested again. From then on the same executions carry book and balances forward, so that no money
// counts twice.
import type { LeadState, MirrorEntry } from "../../domain/copying.ts";
import { magnitude, type Price, type Quantity, subtract, sum, ZERO } from "../../money/decimal.ts";
import { mayComeAgain, restsAtStrategy } from "../executor/cancel.ts";
import type { CopyContext } from "../executor/context.ts";
import {
  bookUnseen,
  findAtVenue,
  NOT_FOUND_AFTER_MS,
  unbookedOf,
  unbookedToward,
} from "../executor/submit.ts";
import { applyReport, endRow, isLeg, isWaitingLeg } from "../orders/copy-state.ts";
import { equityOf, foreignOf, snapshotOf } from "../sizing/book.ts";
import { copyEquity, spotSymbolOf, unexecuted } from "../sizing/proportion.ts";
import type { RestingSymbols, VenueBalances, VenueTrade } from "../venue/venue.ts";

/** Attempts to read balances before the next poll takes over. */
const TRIES_MAX = 3;
/** Delay before an own order in flight is checked again, ms. */
const IN_FLIGHT_MS = 100;
/**
 * Between queries of an open order that a price has reached, ms; each time twice as long. Its execution is also an event of the
 * account's stream, and exits need the weight.
 */
const EXPECTED_MS_MIN = 1_000;
const EXPECTED_MS_MAX = 16_000;
/** A price that is within one five-hundredth of the order's may have reached it since prices were last requested. */
const NEAR_PARTS = 500n;
/** Between queries of an order that a price is near to, ms. */
const NEAR_MS = 16_000;
/** An order unknown to the venue twice, this far apart, is gone, ms. */
const GONE_APART_MS = 2_000;
/** First interval of queries of an unconfirmed order, ms; later a tenth of its age. */
const UNCONFIRMED_QUERY_MS = 2_000;
/** How long an unconfirmed order is queried, ms: the venue may show its orders minutes late. */
export const UNCONFIRMED_MS_MAX = 900_000;
/** How long the venue may take to show an executed market order, ms. */
export const ENDED_MS_MAX = 120_000;
/** Lines that were done with before the time that is looked back to, of orders that may yet be met with. */
const LINES_BEFORE = 200;
const NO_TRADES: Pick<LeadState, "lastPrices"> = { lastPrices: new Map() };

/**
 * Requests balances and prices; returns whether the copy has new ones. Throws NotAnswered if the time limit
 * ends.
 */
export async function refreshBalances(context: CopyContext): Promise<boolean> {
  const { state, session } = context;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (state.isInFlight) {
      await context.pause(IN_FLIGHT_MS);
      continue;
    }
    await bookOpenOrders(context);
    const before = state.ownChanges;
    const prices = await session.prices();
    const balances = await session.ask(({ client }) => client.balances());
    const traded = await symbolsTradedSince(context, balances.held);
    if (state.isInFlight || state.ownChanges !== before) continue;
    await bookOpenOrders(context);
    if (state.isInFlight || state.ownChanges !== before) continue;
    bookUnconfirmed(context, balances.held, prices, traded);
    endAbsentSales(context, balances);
    takeSnapshot(context, balances, prices);
    return true;
  }
  return false;
}

function takeSnapshot(
  { state, now }: CopyContext,
  balances: Parameters<typeof snapshotOf>[0],
  prices: Parameters<typeof equityOf>[1],
): void {
  const { family, settings } = state.copy;
  const { book } = state;
  const { wallet } = balances;
  const { holdings } = book;
  const equityNow = copyEquity({ family, settings, wallet, holdings, prices, lead: NO_TRADES });
  // A copy of an account in which there is nothing yet begins once there is something.
  const startEquity = book.startEquity ?? (equityNow > 0n ? equityNow : null);
  const begun = {
    ...book,
    startEquity,
    startShare: startEquity === null ? null : (book.startShare ?? settings.share),
  };
  const unconfirmed = new Set(
    book.snapshot === null ? [] : state.unconfirmed().map((row) => row.symbol ?? ""),
  );
  const foreign = new Map([...unconfirmed].map((symbol) => [symbol, foreignOf(book, symbol)]));
  const snapshot = {
    ...snapshotOf(balances, { book, at: now(), family }),
    ...(foreign.size > 0 && { foreign }),
  };
  state.setBalances({ ...begun, snapshot: { ...snapshot, equity: equityOf(begun, prices) ?? wallet } });
}

/**
 * Applies executions of open orders and legs, ends those that are no longer open, and queries unconfirmed
 * ones.
 */
export async function bookOpenOrders(context: CopyContext, symbol?: string): Promise<void> {
  const { state, session } = context;
  const resting = state.resting(symbol).filter((entry) => !isWaitingLeg(entry));
  if (resting.length > 0) {
    const open = await session.ask(({ client }) => client.openOrders(restingSymbols(resting)));
    for (const entry of resting) {
      const executed = entry.clientOrderId === null ? undefined : open.get(entry.clientOrderId);
      if (executed === undefined || executed > entry.executedQuantity) await bookOrder(context, entry);
      else notFoundSince.delete(entry);
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
  for (const entry of state.unconfirmed(symbol)) {
    const waitMs = Math.max(UNCONFIRMED_QUERY_MS, (now() - (entry.sentAt ?? 0)) / 10);
    if (now() - (queriedAt.get(entry) ?? 0) < waitMs) continue;
    if (await hasTurnedUp(context, entry)) hasFound = true;
  }
  return hasFound;
}

/** Queries an unconfirmed order. */
async function hasTurnedUp(context: CopyContext, entry: MirrorEntry): Promise<boolean> {
  const { state, now } = context;
  const found = await findAtVenue(context, entry);
  queriedAt.set(entry, now());
  const present = state.latest(entry);
  if (present.status !== "UNCONFIRMED") return false;
  if (found !== null) {
    if (found.status === "CANCELED" && mayComeAgain(present, now())) return false;
    const skip = present.skip?.reason === "UNCONFIRMED" ? null : present.skip;
    applyReport(state, { ...present, status: "RESTING", skip }, found, now());
    return true;
  }
  if (now() - (entry.sentAt ?? 0) > UNCONFIRMED_MS_MAX) {
    state.put({ ...present, status: "SKIPPED", updatedAt: now() });
  }
  return false;
}

/** Queries a row of which the venue has said that its order has changed; returns whether the row has. */
export async function bookHinted(context: CopyContext, entry: MirrorEntry): Promise<boolean> {
  if (entry.status === "UNCONFIRMED") return await hasTurnedUp(context, entry);
  await bookOrder(context, entry);
  return context.state.latest(entry) !== entry;
}

type Expected = { readonly at: number; readonly times: number };
/** When an open order was last queried because it was expected to be executed, wall time, Unix ms, and how often. */
const expected = new WeakMap<MirrorEntry, Expected>();

/**
 * Queries open orders and legs that have probably been executed, since a poll may come much later: the venue's price has
 * reached them, or nearly, or the strategy's own order is over. Returns whether one has changed.
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
    const isReached = isLeft || near === "REACHED";
    if (!isReached && near === null) continue;
    const { at, times } = expected.get(entry) ?? { at: 0, times: 0 };
    const waitMs = isReached ? Math.min(EXPECTED_MS_MAX, EXPECTED_MS_MIN * 2 ** times) : NEAR_MS;
    if (now() - at < waitMs) continue;
    expected.set(entry, { at: now(), times: times + 1 });
    await bookOrder(context, entry);
    if (state.latest(entry) !== entry) hasChanged = true;
  }
  return hasChanged;
}

/** Whether a price has reached an open order or leg, or nearly; null: neither, or it has no price of its own. */
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

/** When a row was first not found, wall time, Unix ms. */
const notFoundSince = new WeakMap<MirrorEntry, number>();

/**
 * Queries one order or leg. An order unknown to the venue is gone when it has answered so twice, a while
 * after it was sent.
 */
async function bookOrder(context: CopyContext, entry: MirrorEntry): Promise<void> {
  const { state, now } = context;
  const found = await findAtVenue(context, entry);
  const present = state.latest(entry);
  if (present.status !== "RESTING") return;
  if (found !== null) {
    notFoundSince.delete(entry);
    applyReport(state, present, found, now());
    return;
  }
  if (now() - (entry.acknowledgedAt ?? entry.sentAt ?? 0) < NOT_FOUND_AFTER_MS) return;
  const since = notFoundSince.get(entry) ?? now();
  if (now() - since >= GONE_APART_MS) endRow(state, present, null, now());
  else notFoundSince.set(entry, since);
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
 * Contracts with an unconfirmed order on which other orders have been executed, since it was sent or since
 * the balances that the book has, and are not booked: those explain what has changed. Nothing is requested
 * where nothing has.
 */
async function symbolsTradedSince(
  context: CopyContext,
  held: ReadonlyMap<string, Quantity>,
): Promise<ReadonlySet<string>> {
  const { state, session } = context;
  const traded = new Set<string>();
  const balancesAt = state.book.snapshot?.at ?? 0;
  for (const entry of state.copy.family === "SPOT" ? [] : state.unconfirmed()) {
    const { symbol, sentAt } = entry;
    if (symbol === null || unbookedOf(state, symbol, held) === 0n) continue;
    const since = Math.max(0, Math.min(sentAt ?? 0, balancesAt) - GONE_APART_MS);
    const { own, booked } = await ledgerOf(context, symbol, since);
    const known = new Set([...own.keys(), ...booked.keys()]);
    const trades = await session.ask(({ client }) => client.trades(symbol, { since, known }));
    if (trades === null || areOfAnother(trades, entry)) traded.add(symbol);
  }
  return traded;
}

/**
 * Whether one of these trades, which are on the side of an unconfirmed order, is of another order. The venue
 * may list the order's trades before it shows the order: those of one order that it does not show are taken
 * for this order's if they are all of its size.
 */
function areOfAnother(trades: readonly VenueTrade[], entry: MirrorEntry): boolean {
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
 * Applies an unconfirmed order by the account's position, at the venue's price, since the venue may show the
 * order itself minutes late. Its row is corrected when it does. Of several orders on one symbol the one is
 * applied that explains the whole change; if there is none, or more than one, the venue has to show them
 * first.
 */
function bookUnconfirmed(
  context: CopyContext,
  held: ReadonlyMap<string, Quantity>,
  prices: Parameters<typeof equityOf>[1],
  traded: ReadonlySet<string>,
): void {
  const { state } = context;
  if (state.book.snapshot === null) return;
  for (const [symbol, rows] of Map.groupBy(state.unconfirmed(), (entry) => entry.symbol ?? "")) {
    const price = prices.get(symbol);
    if (traded.has(symbol) || price === undefined) continue;
    const unbooked = unbookedOf(state, symbol, held);
    const executions = rows.flatMap((entry) => {
      const { side, quantity } = entry;
      if (quantity === null) return [];
      const size = unbookedToward(side, unbooked);
      const open = subtract(quantity, entry.executedQuantity);
      const isAll = isNearly(state, size, open);
      const executed = size < open && !(isAll && side === "SELL") ? size : open;
      if (!isExecution(state, entry, { executed, open })) return [];
      const isWhole = isAll || (size <= open && executed === open);
      return rows.length === 1 || isWhole ? [{ entry, quantity, executed }] : [];
    });
    const [execution] = executions;
    if (execution === undefined || executions.length > 1) continue;
    const { entry, quantity, executed } = execution;
    bookUnseen(context, { ...entry, quantity }, { executed, price });
  }
}

/**
 * Ends unconfirmed spot sales that certainly do not exist. A sale locks its coins while it is open, and takes
 * them when it is executed. If the account still has the coins, and no more are locked than the venue's open
 * orders explain, there is no such sale: its row ends, and the coins may be sold. An unseen purchase and an
 * unseen sale do not cancel out, since the purchase's fee is taken in coins.
 */
function endAbsentSales(
  { state, now }: CopyContext,
  { held, locked }: Pick<VenueBalances, "held" | "locked">,
): void {
  if (state.copy.family !== "SPOT" || state.book.snapshot === null) return;
  for (const [symbol, rows] of Map.groupBy(state.unconfirmed(), (entry) => entry.symbol ?? "")) {
    const sales = rows.filter(({ side, orderType, executedQuantity, sentAt }) => {
      // A market order is never open, and may have been executed and mistaken for the owner's sale.
      const certainAfterMs = orderType === "MARKET" ? ENDED_MS_MAX : NOT_FOUND_AFTER_MS;
      return side === "SELL" && executedQuantity === 0n && now() - (sentAt ?? 0) > certainAfterMs;
    });
    const ofSymbol = (balances: ReadonlyMap<string, Quantity>) =>
      [...balances].find(([asset]) => spotSymbolOf(asset) === symbol)?.[1] ?? (ZERO as Quantity);
    const ofSales = state.resting(symbol).filter(({ side }) => side === "SELL");
    const resting = sum(ofSales.map(unexecuted));
    // A fee that is not known yet is less than a hundredth.
    const unbooked = magnitude(unbookedOf(state, symbol, held));
    const isUnbooked = sales.some(({ quantity }) => unbooked * 100n > (quantity ?? ZERO));
    const isThere = isUnbooked || ofSymbol(locked) > resting;
    if (isThere || ofSymbol(held) < state.holding(symbol).quantity) continue;
    for (const sale of sales) state.put({ ...sale, status: "SKIPPED", updatedAt: now() });
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
  if (isPurchaseOnSpot(state, entry)) return executed * 100n >= open * 99n;
  return executed % lastDigitOf(quantity) === 0n;
}

/** Whether sizes are equal but for fees: on spot they may be taken in coins, and be known later. */
function isNearly({ copy }: Pick<CopyContext["state"], "copy">, size: Quantity, open: Quantity): boolean {
  const apart = magnitude(subtract(size, open));
  return copy.family === "SPOT" ? apart * 100n <= open : apart === 0n;
}

function isPurchaseOnSpot({ copy }: Pick<CopyContext["state"], "copy">, { side }: MirrorEntry): boolean {
  return copy.family === "SPOT" && side === "BUY";
}

/** The unit of the last digit of a size that is not zero. */
function lastDigitOf(quantity: Quantity): bigint {
  let digit = 1n;
  while (quantity % (digit * 10n) === 0n) digit *= 10n;
  return digit;
}

/**
 * Recorded executions of a contract by the venue's order ids: the copy's own orders, and the venue's. All of
 * them since a time, and a page of those before.
 */
export async function ledgerOf(context: CopyContext, symbol: string, since: number) {
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
