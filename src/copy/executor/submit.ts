// Submits an order or a leg and brings it to an outcome; each is executed at most once (see `submit`).
// A request is valid for RECV_WINDOW_MS from the time its SENT row was recorded. An order that is not found
// some time after that was not executed, or is not shown yet: a venue may show orders minutes late, but an
// account's position is exact. After a restart each SENT row begins with a query; the time since it was
// recorded counts.
import { BackOff } from "../../concurrency/delays.ts";
import { type MirrorEntry, type Skip, skipOf } from "../../domain/copying.ts";
import type { LegType } from "../../domain/leg.ts";
import type { ClientOrderType } from "../../domain/order.ts";
import {
  add,
  isAtMostShare,
  magnitude,
  type Price,
  type Quantity,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import { CLOCKS_APART_MS } from "../leads/leads.ts";
import { type CopyState, type Counts, isClosedBy, isLeg, type Refused } from "../orders/copy-state.ts";
import { CredentialsRejected, NotAnswered, orElse, Postponed, VenueRefused } from "../session/failures.ts";
import { VENUE_RETRIES } from "../session/venue-session.ts";
import { unexecuted } from "../sizing/proportion.ts";
import { RECV_WINDOW_MS } from "../venue/signed-rest.ts";
import type { VenueAnswer, VenueOrderState, VenueRefusal, VenueRejection } from "../venue/venue.ts";
import {
  explaining,
  findAtVenue,
  isTradedByAnother,
  ledgerOf,
  mayHide,
  UNKNOWN_FEE_MAX,
  unbookedOf,
  unbookedToward,
} from "./attribution.ts";
import { clientIdOf } from "./client-ids.ts";
import type { CopyContext } from "./context.ts";

/** Maximum error of the venue's clock, and its delay in showing executions, ms. */
const NOT_FOUND_MARGIN_MS = 1_500;
/** Age at which an order that is not found can no longer be executed. */
export const NOT_FOUND_AFTER_MS = RECV_WINDOW_MS + NOT_FOUND_MARGIN_MS;
/** Age from which a contract's position is asked for, too, while its order is not found, ms. */
const POSITION_AFTER_MS = 1_000;
/**
 * An opening is given up if its outcome stays unknown this long after that, ms, because protective orders
 * wait behind it.
 */
const ANSWER_MS_MAX = 1_500;
/**
 * How far ahead the time of an attempt is recorded that was recorded too late before, ms: a slow store must
 * not keep it from being sent.
 */
const SLOW_STORE_MS = 5_000;

/** Statuses of a row of which it is not known whether the venue has it. */
const IN_DOUBT: readonly MirrorEntry["status"][] = ["NEW", "SENT", "UNCONFIRMED", "SKIPPED"];

/** An order or a leg that the venue has. */
export type Placed = { readonly kind: "PLACED"; readonly state: VenueOrderState; readonly row: MirrorEntry };
/** Nothing of it was executed: it was not sent, for this reason. */
export type Unsent = { readonly kind: "UNSENT"; readonly skip: Skip };
/**
 * The outcome is unknown, and the order is not sent again. `estimatedPrice`: the contract's position shows
 * that it was executed whole, and this was the venue's price then. `refusal`: why the venue has refused a leg
 * that was sent once more.
 */
export type Unconfirmed = {
  readonly kind: "UNCONFIRMED";
  readonly counts: Counts;
  readonly estimatedPrice?: Price;
  readonly refusal?: VenueRefusal;
};
/** A poll has found what became of it in the meantime: its row says so, and stays as it is. */
export type Booked = { readonly kind: "BOOKED" };
export type Outcome = Placed | Refused | Unsent | Unconfirmed | Booked;

/**
 * `opens`: it opens something; such requests leave a part of the venue's budget to exits. `onlyOpens`: it
 * does nothing else; such an order is given up where an exit is queried until its outcome is known.
 * `givesWay`: the position that shows its outcome is asked for with less weight than exits may use.
 */
type Submission = { readonly opens: boolean; readonly onlyOpens: boolean; readonly givesWay: boolean };

/**
 * Sends a row with its sizes and resolves with its outcome. The row is left SENT; the caller concludes it.
 *
 * NEW ─▶ SENT, durable ─▶ sent once ─ taken or refused ─▶ that is the outcome
 *                           │ no answer, or one that says nothing
 *                           ▼
 *         queried by its id until it is found, or too old to be executed, or a contract's position shows it
 *                           │ not found: a market order is canceled, since the venue decides the cancel
 *                           │ behind the order, and queried once more
 *                           ▼
 *         a market order that neither trades nor position show: sent again under another id, unless the
 *         position's stop waits behind it
 *         anything else: UNCONFIRMED, not sent again; polls go on querying it
 *
 * A leg that is not found, or cannot be queried, is sent again at once under the same id, since a position
 * must not wait for its stop; the venue takes an id once. A canceled leg with such a request in flight is
 * queried again (cancel.ts).
 * `mayStillSend` is called before each attempt: null, or why the order may no longer be sent. Throws
 * Postponed if the venue's limits do not permit it and it only opens something; the row is NEW again.
 */
export async function submit(
  context: CopyContext,
  given: MirrorEntry,
  mayStillSend: () => Skip | null,
  { opens = false, onlyOpens = false, givesWay = onlyOpens }: Partial<Submission> = {},
): Promise<Outcome> {
  const { state, session, now } = context;
  const attempts = new Attempts(context, given, { opens, onlyOpens, givesWay });
  if (given.status === "SENT") attempts.doubt(given.updatedAt + CLOCKS_APART_MS);
  else {
    const skip = mayStillSend();
    if (skip !== null) return { kind: "UNSENT", skip };
    attempts.next();
    await state.flush();
  }
  const backOff = new BackOff(VENUE_RETRIES);
  for (;;) {
    const retryMs = backOff.next();
    if (attempts.doubtedSince !== null) {
      const resolved = await attempts.resolve();
      if (resolved === "ABSENT" && isLeg(given)) await context.pause(retryMs);
      if (isBookedSince(state, given)) return { kind: "BOOKED" };
      if (resolved !== "ABSENT") return resolved;
      if (keepsStopWaiting(state, given)) return attempts.unsent(skipOf("STOP_FIRST"));
      attempts.next();
      await state.flush();
    }
    const skip = mayStillSend();
    if (skip !== null) return attempts.unsent(skip);
    const answer = await attempts.attempt(session);
    switch (answer.kind) {
      case "OK":
        return attempts.placed(answer.value);
      case "REFUSED": {
        const found = await attempts.findRefused(answer);
        return found ?? { kind: "REFUSED", refusal: answer, counts: attempts.counts() };
      }
      case "UNKNOWN":
        attempts.doubt(attempts.askedAt);
        break;
      case "DELAYED":
        if (onlyOpens && attempts.wasNeverSent) throw attempts.postponed(answer.until);
        await context.pause(Math.min(Math.max(answer.until - now(), retryMs), VENUE_RETRIES.maxMs));
        attempts.askAgain();
        await state.flush();
    }
  }
}

/** Whether the venue has refused an order for rules that have changed since it was fitted to them. */
export async function isOfOldRules(
  { session }: CopyContext,
  { symbol }: MirrorEntry,
  outcome: Outcome,
): Promise<boolean> {
  return outcome.kind === "REFUSED" && (await session.haveRulesChanged(symbol ?? "", outcome.refusal));
}

/**
 * Whether the stop of the position that the copy has waits behind an order of the strategy that may close it:
 * being in doubt twice, the order would leave the position without its stop for ten seconds and more.
 */
function keepsStopWaiting(state: CopyState, row: MirrorEntry): boolean {
  const { seq, symbol, side, entryId, quantity } = row;
  const position = state.position(symbol ?? "");
  if (seq === null || !isClosedBy(side, position)) return false;
  // A stop does not wait for what leaves a part of the position.
  if (quantity !== null && quantity < magnitude(position)) return false;
  return state.outbox(symbol ?? "").some((leg) => {
    const isStop = leg.kind === "PLACE_LEG" && leg.orderType === "STOP_MARKET";
    return isStop && leg.side === side && leg.entryId > entryId;
  });
}

/**
 * Whether a poll has found what became of an unconfirmed row since it was `given`. One that was given up
 * because it did not turn up (SKIPPED) is in doubt still.
 */
export function isBookedSince(state: CopyState, given: MirrorEntry): boolean {
  const { status, executedQuantity } = state.latest(given);
  return !IN_DOUBT.includes(status) || executedQuantity !== given.executedQuantity;
}

/** A row that was SENT, and is neither looked for nor sent again now. */
export function unconfirmed({ sends, queries, sentAt, acknowledgedAt }: MirrorEntry): Unconfirmed {
  return { kind: "UNCONFIRMED", counts: { sends, queries, sentAt, acknowledgedAt } };
}

/**
 * The order of a row that was not noted before it was sent, under the id of a first attempt; null if the
 * venue does not have it.
 */
export async function findUnrecorded(context: CopyContext, row: MirrorEntry): Promise<Placed | null> {
  const attempts = new Attempts(context, { ...row, clientOrderId: clientIdOf(row, 1) });
  attempts.doubt(context.takenAt);
  const resolved = await attempts.resolve();
  return resolved === "ABSENT" || resolved.kind === "UNCONFIRMED" ? null : resolved;
}

/** The attempts at one row. */
class Attempts {
  readonly #context: CopyContext;
  readonly #opens: boolean;
  readonly #onlyOpens: boolean;
  readonly #givesWay: boolean;
  #row: MirrorEntry;
  #attempt = 0;
  #wasDoubted = false;
  /** From when what was sent last is valid, wall time, Unix ms: not later than the row says. */
  askedAt = 0;
  /** When the last request with an unknown outcome was created; wall time, Unix ms. */
  doubtedSince: number | null = null;

  constructor(
    context: CopyContext,
    row: MirrorEntry,
    { opens, onlyOpens, givesWay }: Submission = { opens: false, onlyOpens: false, givesWay: false },
  ) {
    this.#opens = opens;
    this.#onlyOpens = onlyOpens;
    this.#givesWay = givesWay;
    this.#context = context;
    this.#row = row;
  }

  /** Marks the row SENT under an id of its own; the caller flushes it. */
  next(): void {
    this.#attempt += 1;
    this.doubtedSince = null;
    const { state, now } = this.#context;
    const before = this.#row;
    // The venue takes one leg of a kind: sent again under the same id it is there once. The copy's own rows
    // are of later placements.
    const ofLeg = before.seq === null ? before.entryId : 1;
    const attempt = isLeg(before) ? ofLeg : before.sends + this.#attempt;
    const clientOrderId = clientIdOf(before, attempt);
    const sentAt = before.sentAt ?? now();
    this.#row = state.put({ ...before, status: "SENT", clientOrderId, sentAt, updatedAt: now() });
  }

  /** Nothing was sent of the attempt; it is made later, and the row is to be flushed. */
  askAgain(): void {
    const { state, now } = this.#context;
    this.#row = state.put({ ...this.#row, updatedAt: now() + SLOW_STORE_MS });
  }

  get wasNeverSent(): boolean {
    return this.#row.sends === 0 && !this.#wasDoubted;
  }

  /** Nothing was sent: the row is as it was before. */
  postponed(until: number): Postponed {
    this.#unsend();
    return new Postponed(until);
  }

  #unsend(): void {
    const { state } = this.#context;
    state.put({ ...this.#row, status: "NEW", clientOrderId: null, sentAt: null });
  }

  doubt(since: number): void {
    this.#wasDoubted = true;
    this.doubtedSince = since;
  }

  #send(client: Client): Promise<VenueAnswer<VenueOrderState>> {
    const { symbol, side, orderType, quantity, price, stopPrice, reduceOnly } = this.#row;
    if (symbol === null || side === null) throw new Error("what is sent has a symbol and a side");
    const clientOrderId = this.#row.clientOrderId ?? "";
    this.askedAt = Math.min(this.#row.updatedAt, this.#context.now());
    const { askedAt } = this;
    if (isLeg(this.#row)) {
      const type = orderType as LegType;
      const triggerPrice = stopPrice ?? ZERO;
      return client.placeLeg({ symbol, side, type, triggerPrice, clientOrderId, askedAt });
    }
    return client.place({
      symbol,
      side,
      type: (orderType ?? "MARKET") as ClientOrderType,
      quantity: quantity ?? ZERO,
      price: price ?? ZERO,
      stopPrice: stopPrice ?? ZERO,
      reduceOnly: reduceOnly === true,
      ...(this.#opens && { priority: "OPEN" as const }),
      clientOrderId,
      askedAt,
    });
  }

  /**
   * A key that the venue rejects has ordered nothing: the row is as it was before. Throws
   * CredentialsRejected.
   */
  async attempt(
    session: CopyContext["session"],
  ): Promise<Exclude<VenueAnswer<VenueOrderState>, VenueRejection>> {
    try {
      const answer = await session.attempt(({ client }) => this.#send(client));
      if (answer.kind !== "DELAYED") this.#row = { ...this.#row, sends: this.#row.sends + 1 };
      return answer;
    } catch (error) {
      if (error instanceof CredentialsRejected && !this.#mayBeThere) this.#unsend();
      throw error;
    }
  }

  counts(): Counts {
    const { sends, queries, sentAt } = this.#row;
    return { sends, queries, sentAt, acknowledgedAt: this.#context.now() };
  }

  placed(found: VenueOrderState): Placed {
    return { kind: "PLACED", state: found, row: { ...this.#row, ...this.counts() } };
  }

  /** The outcome of an earlier send of this leg is unknown: the venue does not show it, but may have it. */
  get #mayBeThere(): boolean {
    return this.#wasDoubted && isLeg(this.#row);
  }

  /** Nothing more is sent of it. A leg that was sent before may be there, and not shown yet. */
  unsent(skip: Skip): Unsent | Unconfirmed {
    return this.#mayBeThere ? this.#unconfirmed() : { kind: "UNSENT", skip };
  }

  /**
   * A refusal that may be about this very order: "duplicate", "an open stop … is existing"; or of a leg whose
   * first attempt is there.
   */
  async findRefused(refusal: VenueRefusal): Promise<Placed | Unconfirmed | null> {
    if (!this.#mayBeThere && !isUsedBefore(refusal)) return null;
    const found = await this.#find();
    if (found !== null) return this.placed(found);
    // The first attempt may be there, and not shown yet.
    if (!this.#wasDoubted) return null;
    return { ...this.#unconfirmed(), ...(!isUsedBefore(refusal) && { refusal }) };
  }

  /** Resolves the outcome of the order. ABSENT: it was certainly not executed, and may be sent again. */
  async resolve(): Promise<Placed | Unconfirmed | "ABSENT"> {
    const { now, pause, markInDoubt } = this.#context;
    const since = this.doubtedSince ?? now();
    const { symbol } = this.#row;
    const patienceMs = Math.max(0, since + NOT_FOUND_AFTER_MS - now()) + ANSWER_MS_MAX;
    const session = this.#onlyOpens ? this.#context.session.briefly(patienceMs) : this.#context.session;
    const positions = this.#givesWay ? session.inDoubt() : session;
    const unmark = markInDoubt(symbol ?? "");
    // The position is queried only once while waiting, since that costs more weight, and at the end.
    let isPositionAsked = false;
    try {
      const backOff = new BackOff(VENUE_RETRIES);
      for (;;) {
        // A leg is sent again under its id if there is no answer: placing costs no weight, and may be
        // permitted where no query is.
        const found = isLeg(this.#row)
          ? await orElse(this.#find(this.#context.session.briefly(0)), null, NotAnswered)
          : await this.#find(session);
        if (found !== null) return this.placed(found);
        const leftMs = since + NOT_FOUND_AFTER_MS - now();
        if (leftMs <= 0 || isLeg(this.#row)) break;
        if (!isPositionAsked && now() - since >= POSITION_AFTER_MS) {
          isPositionAsked = true;
          const shown = await this.#shownByPosition(session, positions);
          if (shown !== null) return shown;
        }
        await pause(Math.min(leftMs, backOff.next()));
      }
      if (isLeg(this.#row)) return "ABSENT";
      const met = await orElse(this.#metByCancel(session), "UNDECIDED", VenueRefused);
      if (met === "UNDECIDED") return this.#unconfirmed();
      const late = met ?? (await this.#find(session));
      if (late !== null) return this.placed(late);
      const shown = isPositionAsked ? null : await this.#shownByPosition(session, positions);
      if (shown !== null) return shown;
      if (await orElse(this.#isAbsentByPosition(positions), false, VenueRefused)) return "ABSENT";
      return this.#unconfirmed();
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error;
      return this.#unconfirmed();
    } finally {
      unmark();
    }
  }

  /**
   * Whether no other order explains the change of the position: another unconfirmed one, a leg that has
   * fired, one of the venue or of the account's owner.
   */
  async #isItsOwn(session: CopyContext["session"]): Promise<boolean> {
    const { state } = this.#context;
    const { symbol, entryId, side, quantity } = this.#row;
    const others = state.unconfirmed(symbol ?? "").filter((each) => each.entryId !== entryId);
    const change = side === "BUY" ? quantity : subtract(ZERO, quantity ?? ZERO);
    if (change === null || explaining(state, [...others, this.#row], change) === null) return false;
    return !(await isTradedByAnother({ ...this.#context, session }, this.#row));
  }

  /** An unconfirmed order whose position has changed by its quantity, with a price if that was the order. */
  async #shownByPosition(
    session: CopyContext["session"],
    positions: CopyContext["session"],
  ): Promise<Unconfirmed | null> {
    if (!(await orElse(this.#isPositionChanged(positions), false, VenueRefused))) return null;
    const isOwn = await orElse(this.#isItsOwn(positions), false, VenueRefused);
    const prices = (await session.pricesInTime()) ?? this.#context.lastPrices();
    const estimatedPrice = isOwn ? prices.get(this.#row.symbol ?? "") : undefined;
    return { ...this.#unconfirmed(), ...(estimatedPrice !== undefined && { estimatedPrice }) };
  }

  /**
   * Cancels a market order in doubt: a venue that decides late decides the cancel behind the order, which
   * takes no harm if it is executed. The order, if it was still open; null if there is none that is open. An
   * exit waits for the answer as it waits for that of a query.
   */
  async #metByCancel(session: CopyContext["session"]): Promise<VenueOrderState | null | "UNDECIDED"> {
    const { orderType, symbol, clientOrderId } = this.#row;
    const { gate } = this.#context;
    if (orderType !== "MARKET" || symbol === null || clientOrderId === null) return "UNDECIDED";
    return await session.ask(({ client }) => {
      if (gate.stopped() !== null) throw new NotAnswered("the copy may send nothing");
      return client.cancel(symbol, clientOrderId);
    });
  }

  #unconfirmed(): Unconfirmed {
    return { kind: "UNCONFIRMED", counts: this.counts() };
  }

  /**
   * Whether a contract's position has changed by exactly the quantity of a market order that the venue does
   * not show. The order is then booked by the position, and its stop is placed at once.
   */
  async #isPositionChanged(session: CopyContext["session"]): Promise<boolean> {
    const { state } = this.#context;
    const { symbol, orderType, side, quantity } = this.#row;
    const isOfContract = state.copy.type === "FUTURES" && orderType === "MARKET";
    if (!isOfContract || symbol === null || state.book.snapshot === null) return false;
    const booked = state.holding(symbol).quantity;
    const { held } = await session.ask(({ client }) => client.balances());
    // What a poll has booked in the meantime may not be in these balances.
    if (state.holding(symbol).quantity !== booked) return false;
    return unbookedToward(side, unbookedOf(state, symbol, held)) === quantity;
  }

  async #find(session = this.#context.session): Promise<VenueOrderState | null> {
    this.#row = { ...this.#row, queries: this.#row.queries + 1 };
    return await findAtVenue({ session }, this.#row);
  }

  /**
   * Whether neither the trades nor the position of the account show a market order. Other order types may be
   * open unseen.
   */
  async #isAbsentByPosition(session: CopyContext["session"]): Promise<boolean> {
    const { state } = this.#context;
    const { symbol, side, orderType, quantity, sentAt } = this.#row;
    if (orderType !== "MARKET" || symbol === null || state.book.snapshot === null) return false;
    const since = Math.max(0, (sentAt ?? 0) - NOT_FOUND_MARGIN_MS);
    const { ownChanges } = state;
    const { held } = await session.ask(({ client }) => client.balances());
    const unbooked = magnitude(unbookedOf(state, symbol, held));
    // On spot the fees of earlier purchases may not be known yet.
    const isExecuted =
      state.copy.type === "SPOT"
        ? !isAtMostShare(unbooked, UNKNOWN_FEE_MAX, quantity ?? ZERO)
        : unbooked !== 0n;
    if (isExecuted || (state.copy.type === "SPOT" && (await this.#mayBeOffset(session)))) return false;
    // Whatever else was traded until then may have hidden what the order did: it was executed, and
    // liquidated at once; or the owner has sold by hand what it bought.
    // So may an open order of the copy whose fills are not booked yet: that is not among the known ones.
    const { own } = await ledgerOf(this.#context, symbol, since);
    const known = new Set(own.keys());
    const trades = await session.ask(({ client }) => client.trades(symbol, { since, known }));
    if (trades === null || state.ownChanges !== ownChanges) return false;
    const others = trades.filter(({ by }) => by !== "KNOWN");
    if (state.copy.type !== "SPOT") return others.length === 0;
    // On spot an order is hidden by nothing but as much on the other side.
    const against = others.filter((trade) => trade.side !== side);
    return !mayHide(sum(against.map((trade) => trade.quantity)), quantity);
  }

  /**
   * Whether the balances may lack what a spot order did because orders of the other side did the opposite:
   * unconfirmed ones, and open ones that have executed more than is booked.
   */
  async #mayBeOffset(session: CopyContext["session"]): Promise<boolean> {
    const { symbol, side, quantity } = this.#row;
    const isSent = ({ status }: MirrorEntry) => status === "RESTING" || status === "UNCONFIRMED";
    const sent = this.#context.state
      .open(symbol ?? "")
      .filter((entry) => isSent(entry) && entry.side !== side);
    if (!mayHide(sum(sent.map(unexecuted)), quantity)) return false;
    const symbols = { orders: new Set([symbol ?? ""]), legs: new Set<string>() };
    const open = sent.some(({ status }) => status === "RESTING")
      ? await session.ask(({ client }) => client.openOrders(symbols))
      : new Map<string, Quantity>();
    let offset: Quantity = ZERO;
    for (const entry of sent) {
      const { status, clientOrderId, executedQuantity } = entry;
      if (status === "RESTING" && open.get(clientOrderId ?? "") === executedQuantity) continue;
      const found = status === "RESTING" ? await findAtVenue({ session }, entry) : null;
      if (found?.executedQuantity !== executedQuantity) offset = add(offset, unexecuted(entry));
    }
    return mayHide(offset, quantity);
  }
}

type Client = Parameters<Parameters<CopyContext["session"]["attempt"]>[0]>[0]["client"];

/**
 * "Duplicate order sent.", "clientOrderId is duplicated"; and "An open stop … is existing", which may be this
 * one.
 */
function isUsedBefore({ code, message }: VenueRefusal): boolean {
  return code === -4116 || code === -4130 || (code === -2010 && /duplicate/i.test(message));
}
