// Requests to a copy beside its strategy's actions, each executed once: to poll the account (LOOK), to bring
// it nearer to its target (REPAIR), to withdraw a stopped copy (WITHDRAW). Their orders become rows of the
// outbox, so that after a restart nothing is ordered twice: a request that has rows is only waited for.
import type { Pauses } from "../../concurrency/delays.ts";
import type { CopyRequest, MirrorEntry, Skip } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { LEVERAGE_DEFAULT } from "../../engine/futures/margin.ts";
import {
  type Amount,
  magnitude,
  type Quantity,
  type Rate,
  SCALE,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import type { CopyStore } from "../../store/store.ts";
import { leadStateOf } from "../leads/actions.ts";
import {
  closesPosition,
  endRow,
  isLeg,
  isOpen,
  isWaitingLeg,
  ownRow,
  skipped,
} from "../orders/copy-state.ts";
import { type NotAnswered, refusedAs } from "../session/failures.ts";
import { driftOf, repairOrders } from "../sizing/drift.ts";
import {
  fundedOpening,
  fundsSkip,
  paymentOf,
  symbolsHeld,
  unexecuted,
  type VenuePrices,
  worthOfOpening,
} from "../sizing/proportion.ts";
import { copiedLeverage } from "../sizing/scale-order.ts";
import { leverageSkip, skipWords } from "../sizing/skip.ts";
import { bookOpenOrders } from "./balances.ts";
import { type CancelOutcome, cancelRow } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import { sendAtMarket } from "./exits.ts";
import { conclude, feesOfSpot, reserve, roomNow, setCopiedLeverage } from "./place.ts";
import { submit } from "./submit.ts";

/** Rows of the log that a repair reads. */
const ENTRIES_MAX = 300;
/** How long a requested poll is retried, ms. */
const REQUESTED_POLL_MS_MAX = 10_000;
/** At least so long between two of them, ms. */
const POLL_AGAIN_MS = 1_000;
const IS_AWAY = "The venue did not answer. Please ask again in a while.";
const IS_BLIND = "The venue may not be asked at the moment.";
const IS_STOPPED = "The copy is stopped.";

type RequestsDeps = {
  readonly context: CopyContext;
  readonly store: Pick<CopyStore, "listMirrorEntries" | "listRecentActions">;
  readonly pauses: Pauses;
  readonly isEnded: () => boolean;
  /** Whether all actions of the strategy are executed, as far as they are known. */
  readonly isCaughtUp: () => boolean;
  /** A poll that begins now. Never rejects. */
  readonly pollAfresh: () => Promise<NotAnswered | null>;
  /** Something has changed that is to be made durable. */
  readonly save: () => void;
  /** There may be something to do. */
  readonly wake: () => void;
  /** Waits as long as is fit for what went wrong; false if nothing more is to be done. Never rejects. */
  readonly failedWith: (error: unknown) => Promise<boolean>;
};

/** The requests to one copy that are not done, executed one after another. */
export class Requests {
  readonly #deps: RequestsDeps;
  /** Oldest first. */
  #open: readonly CopyRequest[] = [];
  readonly #finished = new Set<string>();
  #answering: Promise<void> | null = null;

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /** Whether one is not done. */
  get areOpen(): boolean {
    return this.#answering !== null || this.#open.length > 0;
  }

  /** Takes those that the store has, oldest first. */
  take(requests: readonly CopyRequest[]): void {
    this.#open = requests.filter(({ requestId }) => !this.#finished.has(requestId));
  }

  /** Goes on with them, unless that is being done. */
  start(): void {
    this.#answering ??= this.#answer().then((isToBeTriedAgain) => {
      this.#answering = null;
      if (isToBeTriedAgain) this.#deps.wake();
    });
  }

  /** Answers a repair of which an order is done, if it was the last. */
  finishRepair(requestId: string | null): void {
    const request = this.#open.find((each) => each.requestId === requestId);
    if (request === undefined || request.kind !== "REPAIR") return;
    const isLeft = this.#deps.context.state.outbox().some((row) => row.requestId === requestId);
    if (!isLeft) this.finish(request, null);
  }

  /** Answers a request; `failure` says why it was not done. */
  finish(request: CopyRequest, failure: string | null): true {
    const { context, save } = this.#deps;
    context.state.finishRequest(request, context.now(), failure);
    this.#forget(request);
    save();
    return true;
  }

  /** None can be executed any more: the account is gone. */
  giveUpAll(skip: Skip): void {
    for (const request of this.#open) {
      giveUp(this.#deps.context, request, skip);
      this.#forget(request);
    }
  }

  /** True if something failed, and it is to be retried. */
  async #answer(): Promise<boolean> {
    const { isEnded, failedWith } = this.#deps;
    try {
      for (const request of this.#open) {
        if (isEnded() || this.#finished.has(request.requestId)) continue;
        if (!(await this.#answerOne(request))) return false;
      }
      return false;
    } catch (error) {
      return await failedWith(error);
    }
  }

  /** Whether it is done; if not, it is gone on with when something has changed. */
  async #answerOne(request: CopyRequest): Promise<boolean> {
    const { context, save, wake } = this.#deps;
    const { state, gate } = context;
    const { status } = state.copy;
    if (request.kind === "WITHDRAW") {
      if (status !== "STOPPED" || state.outbox().length > 0) return false;
      // The gate has to know the venue.
      await context.session.open();
      const left = await withdraw(context, request);
      if (left !== null && left.reason !== "CREDENTIALS") return false;
      this.#forget(request);
      save();
      return true;
    }
    if (state.outbox().some(({ requestId }) => requestId === request.requestId)) return false;
    if (status === "STOPPED") return this.finish(request, IS_STOPPED);
    await context.session.open();
    if (gate.isBlind()) return this.finish(request, IS_BLIND);
    if (request.kind === "LOOK") {
      return this.finish(request, (await this.#pollFor(request)) ? null : IS_AWAY);
    }
    const stopped = gate.stopped();
    if (stopped !== null) return this.finish(request, skipWords(stopped, null));
    // The strategy's actions go before a repair.
    if (!this.#deps.isCaughtUp()) return false;
    if (!(await this.#pollFor(request))) return this.finish(request, IS_AWAY);
    const ordered = await orderRepair(this.#deps, request);
    if (ordered === null) return false;
    if (ordered === 0) return this.finish(request, null);
    save();
    wake();
    return false;
  }

  /** Polls for a request, for a while. */
  async #pollFor({ askedAt }: CopyRequest): Promise<boolean> {
    const { context, pauses, pollAfresh, isEnded } = this.#deps;
    const until = Math.max(askedAt, context.takenAt) + REQUESTED_POLL_MS_MAX;
    for (;;) {
      const failure = await pollAfresh();
      if (failure === null) return true;
      if (isEnded() || pauses.isOver || context.now() >= until) return false;
      await pauses.pause(Math.max(POLL_AGAIN_MS, Math.min(failure.until, until) - context.now()));
    }
  }

  #forget({ requestId }: CopyRequest): void {
    this.#finished.add(requestId);
    this.#open = this.#open.filter((each) => each.requestId !== requestId);
  }
}

/**
 * Adds the orders that bring a copy nearer to its target, to the outbox; answers how many, or null if the
 * strategy has traded in the meantime. The account has been polled.
 */
async function orderRepair(
  { context, store, isCaughtUp }: Pick<RequestsDeps, "context" | "store" | "isCaughtUp">,
  request: CopyRequest,
): Promise<number | null> {
  const { state, session, now } = context;
  const before = context.leadAccount();
  if (before === null) return 0;
  const { type, settings, copyId, strategyId } = state.copy;
  const entries = await store.listMirrorEntries(copyId, { limit: ENTRIES_MAX });
  const rules = new Map<string, SymbolRules | null>();
  const held = symbolsHeld(type, leadStateOf(before, null));
  for (const symbol of new Set([...held, ...state.book.holdings.keys()]))
    rules.set(symbol, await session.rules(symbol));
  const prices = await session.prices();
  const [last = null] = await store.listRecentActions(strategyId, { limit: 1 });
  // What it has traded is in its account, and not in the book yet: it would be made up for twice.
  const account = context.leadAccount();
  if (account === null || !isCaughtUp() || (last?.seq ?? 0) > state.takenSeq) return null;
  const lead = leadStateOf(account, last);
  const drifts = driftOf({
    type,
    lead,
    leadAtStart: null,
    settings,
    book: state.book,
    isPending: false,
    entries: state.current(entries),
    rulesOf: (symbol) => rules.get(symbol) ?? null,
    prices,
    leverages: account.leverages,
  });
  const orders = repairOrders(drifts, request);
  for (const { symbol, side, quantity, scale, reduceOnly, increases } of orders) {
    state.add({
      // Its age counts from when it was sized.
      ...{ ...ownRow("REPAIR", symbol, now(), request), leadAt: now() },
      ...{ status: "NEW", side, orderType: "MARKET", scale, scaledQuantity: quantity, quantity },
      ...(type === "FUTURES" && reduceOnly && { reduceOnly }),
      ...(increases && { retained: SCALE as Rate }),
    });
  }
  return orders.length;
}

/** Sends an order of a repair. */
export async function executeRepair(context: CopyContext, row: MirrorEntry): Promise<unknown> {
  const { state, gate, session } = context;
  const { symbol, retained } = row;
  if (symbol === null) throw new Error("a repair has a symbol");
  const increases = retained !== undefined;
  const mayNot = () => gate.stopped() ?? (increases ? gate.opensNot(row.leadAt) : null);
  const stopped = row.status === "SENT" ? null : mayNot();
  if (stopped !== null) return state.put(skipped(row, stopped));
  await feesOfSpot(context, symbol);
  if (row.status === "SENT") return await conclude(context, row, await submit(context, row, mayNot));
  const size = row.quantity ?? ZERO;
  if (!increases) return await sendAtMarket(context, row, size, { isReduction: true, mayStillSend: mayNot });
  const leverage = context.leadAccount()?.leverages.get(symbol) ?? LEVERAGE_DEFAULT;
  const isContract = state.copy.type === "FUTURES";
  const refusal = isContract ? await setCopiedLeverage(context, symbol, leverage, "OPEN") : null;
  if (refusal !== null) return state.put(skipped(row, leverageSkip(refusal)));
  const rules = await session.rules(symbol);
  const prices = await session.pricesInTime();
  if (prices === null) throw session.postponed();
  await context.recallOpenings();
  // Repairs of several symbols are sent beside each other: from the check to the reservation nothing waits.
  const permitted =
    context.openingLimit(prices) ??
    funded(context, {
      ...{ row, size, prices },
      leverage: rules === null ? null : copiedLeverage({ leverage }, rules, state.copy.settings),
    });
  if ("reason" in permitted) return state.put(skipped(row, permitted));
  const free = reserve(context, { opens: true, worth: permitted.worth });
  const terms = { isReduction: false, mayStillSend: mayNot };
  const sent = await sendAtMarket(context, row, permitted.size, terms).catch((error) => {
    if (state.latest(row).status !== "SENT") free();
    throw error;
  });
  if (sent.status === "SKIPPED" || sent.status === "FAILED") free();
  return sent;
}

/**
 * As much of an opening as what the copy may use now suffices for, with what that takes: since it was sized,
 * something else may have been opened, or its price may have moved. A skip if that is too little.
 */
function funded(
  context: CopyContext,
  of: {
    readonly row: MirrorEntry;
    readonly size: Quantity;
    readonly prices: VenuePrices;
    readonly leverage: number | null;
  },
): { readonly size: Quantity; readonly worth: Amount } | Skip {
  const { row, size, prices, leverage } = of;
  const { type } = context.state.copy;
  const known = prices.get(row.symbol ?? "");
  // Without a price it is not sent.
  if (known === undefined) return { size, worth: ZERO };
  const side = row.side ?? "BUY";
  const payment = paymentOf(
    { type, leverage },
    { side, known, takesMarketPrice: true, limit: null, mark: known },
  );
  const had = roomNow(context, prices);
  const affordable = fundedOpening(payment, size, had);
  if (affordable === null) return fundsSkip({ type }, { wanted: worthOfOpening(payment, size), had });
  return { size: affordable, worth: worthOfOpening(payment, affordable) };
}

/**
 * Withdraws a copy that was stopped without being closed: cancels open orders that would open something.
 * Orders that close what the copy holds stay, up to the holding; the log records each as left at the venue.
 * Returns why that cannot be done now, or null.
 */
async function withdraw(context: CopyContext, request: CopyRequest): Promise<Skip | null> {
  const { state, gate, session, now } = context;
  const cannot = (skip: Skip): Skip => {
    if (skip.reason === "CREDENTIALS") giveUp(context, request, skip);
    return skip;
  };
  const blocked = gate.blocked();
  if (blocked !== null) return cannot(blocked);
  await bookOpenOrders(context);
  let refused: Skip | null = null;
  const left = new Map<string, Quantity>();
  const canceled = new Set<number>();
  // Openings first: their executed part is held, and may be closed by the orders that stay.
  for (const stays of [isExit, fits]) {
    for (const entry of [...state.acknowledged(), ...mayBeOpen(context)]) {
      if (canceled.has(entry.entryId) || stays(state, entry, left)) continue;
      canceled.add(entry.entryId);
      const { outcome } = await cancelRow(context, entry, null, { mayStillSend: () => gate.blocked() });
      if (outcome.kind === "UNSENT") return cannot(outcome.skip);
      if (isUnknown(context, entry, outcome)) leave(context, entry);
      if (outcome.kind !== "REFUSED") continue;
      const { skip } = refusedAs(outcome.refusal);
      const isUnlisted = await session.isUnlisted(entry.symbol ?? "", outcome.refusal);
      const present = state.latest(entry);
      if (!isOpen(present)) continue;
      refused = skip;
      if (isUnlisted) endRow(state, present, skip, now());
      else state.put({ ...present, status: "LEFT", skip, updatedAt: now() });
    }
  }
  leaveAll(context);
  state.add({ ...ownRow("WITHDRAW", null, now(), request) });
  state.finishRequest(request, now(), refused && skipWords(refused, null));
  return null;
}

/** Gives up a request because nothing can be sent for the account any more; open orders stay at the venue. */
function giveUp(context: CopyContext, request: CopyRequest, skip: Skip): void {
  const { state, now } = context;
  if (request.kind === "WITHDRAW") {
    leaveAll(context);
    state.add(skipped(ownRow("WITHDRAW", null, now(), request), skip));
  }
  state.finishRequest(request, now(), skipWords(skip, null));
}

function leaveAll(context: CopyContext): void {
  for (const entry of context.state.open()) {
    if (entry.status !== "RESTING" && entry.status !== "UNCONFIRMED") continue;
    leave(context, entry);
  }
}

function leave({ state, now }: CopyContext, given: MirrorEntry): void {
  const entry = state.latest(given);
  const isFilled = entry.quantity !== null && entry.quantity > 0n && unexecuted(entry) === 0n;
  state.put({ ...entry, status: isFilled ? "FILLED" : "LEFT", updatedAt: now() });
}

/** Orders of which it is not known whether the venue has taken them. Those at the market are never open. */
function mayBeOpen({ state }: CopyContext): readonly MirrorEntry[] {
  const isKnown = ({ unseenSince, orderType }: MirrorEntry) =>
    unseenSince !== undefined || orderType === "MARKET";
  return state.unconfirmed().filter((entry) => !isKnown(entry));
}

/**
 * Whether the venue knows nothing of a canceled order, whose row has ended: it may have it, and not show it
 * yet.
 */
function isUnknown({ state }: CopyContext, entry: MirrorEntry, outcome: CancelOutcome): boolean {
  const isSilent = outcome.kind === "OVER" && outcome.state === null;
  const present = state.latest(entry);
  const hasEnded = !isOpen(present) && present.status !== "FILLED";
  return entry.status === "UNCONFIRMED" && isSilent && hasEnded;
}

/** Whether it is on the side that closes what the copy holds, and was sent. */
function isExit(state: CopyContext["state"], entry: MirrorEntry): boolean {
  return !isWaitingLeg(entry) && closesPosition(state, entry);
}

/**
 * What of a holding is left by exits that never open anything: by a leg nothing, by reduce-only orders what
 * they do not close. More than that would open the other side once they are executed.
 */
function besidesReducing(state: CopyContext["state"], symbol: string): Quantity {
  const exits = [...state.resting(symbol), ...state.unconfirmed(symbol)].filter((each) =>
    isExit(state, each),
  );
  if (exits.some(isLeg)) return ZERO;
  const reducing = sum(exits.filter(({ reduceOnly }) => reduceOnly === true).map(unexecuted));
  return subtract(magnitude(state.holding(symbol).quantity), reducing);
}

/**
 * Whether an exit closes no more than the older ones leave of the holding; `left` is what they leave, by
 * symbol.
 */
function fits(state: CopyContext["state"], entry: MirrorEntry, left: Map<string, Quantity>): boolean {
  const { symbol } = entry;
  if (symbol === null || !isExit(state, entry)) return false;
  if (isLeg(entry) || entry.reduceOnly === true) return true;
  const before = left.get(symbol) ?? besidesReducing(state, symbol);
  const size = unexecuted(entry);
  if (size > before) return false;
  left.set(symbol, subtract(before, size));
  return true;
}
