// Executes one copy. Actions of the strategy become rows of the outbox; each symbol has a worker that
// executes its rows, which `row-order.ts` puts in order, and reconciles the symbol when none is left. So one
// symbol's failure delays no other. A leg of the position that a copy has is sent beside its symbol's worker
// while that finds out an order's outcome. Polls of the account and requests to the copy run beside the
// workers.
import type { Logger } from "pino";
import { BackOff, type Pauses } from "../concurrency/delays.ts";
import { SingleFlight } from "../concurrency/periodic-task.ts";
import type { Account } from "../domain/account.ts";
import {
  type Copy,
  type CopyAlarm,
  type CopyReason,
  type CopyRequest,
  type LeadAction,
  type MirrorEntry,
  skipOf,
} from "../domain/copying.ts";
import { magnitude } from "../money/decimal.ts";
import type { CopyControl, CopyProgress } from "../store/ports/copies.ts";
import { type CopyStore, StoreFailure, StoreUnavailable } from "../store/store.ts";
import { Closing } from "./closing.ts";
import { isPositionExpected, isPositionInDoubt, restingSymbols } from "./executor/balances.ts";
import { cancel } from "./executor/cancel.ts";
import type { CopyContext } from "./executor/context.ts";
import { BY_EQUITY, CopierLimits } from "./executor/copier-limits.ts";
import { closePosition, fill, fireLeg, followLeverage } from "./executor/exits.ts";
import { placeLeg } from "./executor/legs.ts";
import { conclude, learnDueFees, place } from "./executor/place.ts";
import { executeRepair, Requests } from "./executor/requests.ts";
import { RowOrder } from "./executor/row-order.ts";
import { submit } from "./executor/submit.ts";
import type { ActionLog } from "./leads/leads.ts";
import { CopyState, closesPosition, isLeg, isOwnOrder, isWaitingLeg } from "./orders/copy-state.ts";
import { OrderWatch } from "./reconcile/order-watch.ts";
import { POLL_INTERVAL_MS, poll } from "./reconcile/poll.ts";
import { type Reconciled, reconcileSymbol } from "./reconcile/reconciler.ts";
import { isUneven, isWithoutLead, missingLegs } from "./reconcile/uneven.ts";
import { Missing } from "./reconcile/write-off.ts";
import { Alarms } from "./session/alarms.ts";
import {
  AccountGone,
  ClaimLost,
  CredentialsRejected,
  MayNotRun,
  NotAnswered,
  Postponed,
} from "./session/failures.ts";
import { Gate, type Halt, type SessionParts, VenueSession } from "./session/venue-session.ts";
import type { VenuePrices } from "./sizing/proportion.ts";
import type { Venue } from "./venue/venue.ts";

/**
 * Until the reconciler acts on what an executed row, or a failed attempt, has left, ms; a failure doubles it.
 */
export const RECONCILE_AFTER_MS = 2_000;
const RECONCILE_MS_MAX = 60_000;
/** Maximum delay before a leg that a position lacks is sent again, ms. */
const PROTECT_MS_MAX = 5_000;
/** Until work that failed is tried again, ms: doubled each time. */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** Failures of one copy are logged once in this time, ms. */
const LOGGED_AGAIN_MS = 60_000;
/** Interval at which a copy that may not run checks whether it may, ms. */
const CLAIM_RETRY_MS = 500;
/** Delay before fees that the venue does not list yet are requested again, ms. */
const LEARN_AGAIN_MS = 1_000;
/**
 * After so many consecutive polls without balances, because orders were in flight, openings wait for a poll.
 */
const POLLS_IN_VAIN_MAX = 3;
/** From this age of its balances on the account is polled before an opening is sized, ms. */
const BALANCES_AGE_MAX_MS = 120_000;
/** Between polls while a change at the venue is not explained yet, ms. */
const UNEXPLAINED_POLL_MS = 5_000;

export type ExecutorParts = Omit<SessionParts, "copyId" | "accountId" | "pause" | "store" | "mayRun"> & {
  readonly store: SessionParts["store"] &
    Pick<CopyStore, "listEntriesOf" | "listMirrorEntries" | "listRecentActions">;
  readonly actions: ActionLog;
  /** Resolves when it is durable. */
  readonly record: (progress: CopyProgress) => Promise<void>;
  readonly pauses: Pauses;
  /** Whether the claim is fresh enough to send. */
  readonly mayRun: () => boolean;
  readonly leadAccount: () => Account | null;
  /** Why nothing may be sent for a copy to a venue: a kill switch. Null if it may. */
  readonly halted: (of: { readonly personId: string; readonly venue: string }) => Halt | null;
  readonly tell: (copy: Copy, reason: CopyReason | CopyAlarm) => void;
  readonly log: Pick<Logger, "error" | "warn">;
  /** When this process took the strategy, wall time, Unix ms. */
  readonly takenAt: number;
  /** A poll got no balances: it is repeated soon, if it may be. */
  readonly repeatPoll: (executor: CopyExecutor) => void;
  /** A change could not be written: the copy has to be loaded again. */
  readonly onBroken: (copyId: string) => void;
};

/**
 * The result of the reconciler for a symbol. `left`: the excess that it could not sell; a different one is
 * reconciled at once.
 */
type Pace = {
  readonly at: number;
  readonly waitMs?: number;
  readonly before?: MirrorEntry | null;
  readonly left?: bigint;
};

export class CopyExecutor {
  readonly #parts: ExecutorParts;
  readonly #state: CopyState;
  readonly #session: VenueSession;
  readonly #gate: Gate;
  readonly #alarms: Alarms;
  readonly #context: CopyContext;
  readonly #missing: Missing;
  readonly #workers = new Map<string, Promise<unknown>>();
  readonly #rows: RowOrder;
  #areOpeningsKnown = false;
  readonly #touchedAt = new Map<string, number>();
  readonly #paces = new Map<string, Pace>();
  /** Since when a symbol is above its target and waits for an exit that is open, wall time, Unix ms. */
  readonly #waitsSince = new Map<string, number>();
  /** Since when a symbol's strategy has nothing on the copy's side, wall time, Unix ms. */
  readonly #withoutLeadSince = new Map<string, number>();
  readonly #closing: Closing;
  readonly #requests: Requests;
  #taking: Promise<void> | null = null;
  /** One poll at a time. Never rejects. */
  readonly #poll = new SingleFlight(() => this.#pollOnce());
  #prices: VenuePrices = new Map();
  readonly #limits: CopierLimits;
  #isPollDue = false;
  /** Whether something has blocked it since the last refresh; see `isBlocked`. */
  wasBlocked = false;
  readonly #orders: OrderWatch;
  readonly #learning = new SingleFlight(() => this.#learn());
  #learnAt = 0;
  #loggedAt: number | null = null;
  #isEnded = false;

  constructor(parts: ExecutorParts, copy: Copy, open: readonly MirrorEntry[]) {
    this.#parts = parts;
    const { pauses, wallNow, actions, takenAt } = parts;
    const mayRun = () => !this.#isEnded && parts.mayRun();
    const pause = async (ms: number) => {
      await pauses.pause(ms);
      if (pauses.isOver) throw new MayNotRun();
    };
    this.#state = new CopyState(copy, open, (progress) => this.#record(progress));
    const { copyId, accountId } = copy;
    this.#limits = new CopierLimits(this.#state, {
      now: wallNow,
      newestRows: (limit) => parts.store.listMirrorEntries(copyId, { limit }),
    });
    this.#session = new VenueSession({ ...parts, copyId, accountId, mayRun, pause });
    this.#gate = new Gate({ ...parts, session: this.#session, copy: () => this.#state.copy });
    this.#alarms = new Alarms({ now: () => this.#gate.now(), tell: (alarm) => parts.tell(this.copy, alarm) });
    this.#missing = new Missing(this.polledAt || copy.startedAt);
    this.#context = {
      state: this.#state,
      session: this.#session,
      gate: this.#gate,
      now: wallNow,
      pause,
      takenAt,
      rowsOf: (collectiveId) => this.#rowsOf(collectiveId),
      findRow: (symbol, holds) => this.#findRow(symbol, holds),
      async actionAt(seq) {
        const action = await actions.at(seq);
        if (action === null) throw new Error(`actions of a strategy have no gaps: ${seq} is missing`);
        return action;
      },
      leadAccount: parts.leadAccount,
      lastPrices: () => this.#prices,
      openingLimit: (prices) => this.#limits.openingLimit(prices),
      // Without the price of a holding it would count at cost.
      lossOfDay: () => (this.#areHoldingsPriced() ? this.#limits.lossOfDay(this.#prices) : null),
      recallOpenings: () => this.#limits.recallOpenings(),
      noteOpening: () => this.#limits.noteOpening(),
      pollSoon: () => this.pollSoon(),
      raise: (alarm) => this.#alarms.raise(alarm),
      pollInTime: (ms) => this.#pollInTime(ms),
      isPollOverdue: () => this.#missing.inVain >= POLLS_IN_VAIN_MAX || this.#areBalancesOld(),
      markInDoubt: (symbol) => {
        const add = (more: 1 | -1) => {
          this.#rows.noteInDoubt(symbol, more);
          this.wake();
        };
        add(1);
        return () => add(-1);
      },
    };
    this.#rows = new RowOrder(this.#context, {
      onGivenUp: ({ requestId }) => this.#requests.finishRepair(requestId),
    });
    this.#closing = new Closing({
      context: this.#context,
      missing: this.#missing,
      pause: (ms) => pauses.pause(ms),
      isPolling: () => this.#poll.current !== null,
      pollAfresh: () => this.#pollAfresh(),
      wake: () => this.wake(),
    });
    this.#requests = new Requests({
      context: this.#context,
      store: parts.store,
      pauses,
      isEnded: () => this.#isEnded,
      isCaughtUp: () => this.#state.takenSeq >= parts.actions.lastSeq && this.#state.outbox().length === 0,
      pollAfresh: () => this.#pollAfresh(),
      save: () => this.#save(),
      wake: () => this.wake(),
      failedWith: (error) => this.#failedWith(error, null),
    });
    this.#orders = new OrderWatch({
      context: this.#context,
      beside: (ask, session) => this.#beside(ask, session),
      // A position that has come does not wait for its stop.
      onBooked: (symbol) => this.#paces.delete(symbol),
      onFound: () => this.#saveAndWake(),
      polledAt: () => this.polledAt,
    });
  }

  get copy(): Copy {
    return this.#state.copy;
  }

  /** Whether the store does not have the copy's last change of status yet. */
  get isMoving(): boolean {
    return this.#state.isMoving;
  }

  /** Nothing is left to be done for a copy that is stopped. */
  get isOver(): boolean {
    const isIdle = this.#workers.size === 0 && this.#learning.current === null && this.#taking === null;
    return this.copy.status === "STOPPED" && isIdle && !this.#requests.areOpen;
  }

  /** When the account was last polled, wall time; 0 if it never was. */
  get polledAt(): number {
    return this.copy.book.snapshot?.at ?? 0;
  }

  /** Where its account is polled; null while that is not known. */
  get pollPlace(): Venue | null {
    return this.#session.opened?.venue ?? null;
  }

  /** The weight of a poll in the venue's budget. */
  get pollWeight(): number {
    return this.#session.opened?.client.pollWeight(restingSymbols(this.#state.open())) ?? 0;
  }

  findPlace(): void {
    // Errors of the account are reported by the requests that use it.
    this.#session.open().catch(() => {});
  }

  /** Rows of which something is still to be done. */
  get openRows(): number {
    return this.#state.openCount;
  }

  /** Whether a kill switch or rejected credentials keep it from sending. */
  get isBlocked(): boolean {
    return this.#gate.blocked() !== null;
  }

  /**
   * Takes over changes from the dashboard; they apply from the next request on. Returns whether the status
   * has changed.
   */
  control(control: Omit<CopyControl, "copyId">): boolean {
    const hasMoved = this.#state.control(control);
    if (hasMoved) {
      if (this.copy.status === "STOPPED") this.#settleProfit({ isFinal: true });
      this.#beginAgain();
      this.wake();
    }
    return hasMoved;
  }

  /** The requests that are not done, oldest first. */
  request(requests: readonly CopyRequest[]): void {
    this.#requests.take(requests);
    this.wake();
  }

  /** Credentials, or a kill switch, may have changed. */
  async refresh(): Promise<void> {
    await this.#session.refresh();
    this.wasBlocked = this.isBlocked;
    this.#paces.clear();
    this.pollSoon();
    this.wake();
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#isEnded) return;
    if (this.isBlocked) this.wasBlocked = true;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
      this.#startAll();
    });
  }

  /** The account is polled when it may be. */
  pollSoon(): void {
    this.#isPollDue = true;
    this.#startPoll();
  }

  /** Whether balances are old, and polls have a part of the venue's budget left. */
  #areBalancesOld(): boolean {
    const { snapshot } = this.copy.book;
    const isOld = snapshot !== null && snapshot.at < this.#parts.wallNow() - BALANCES_AGE_MAX_MS;
    return isOld && this.pollPlace?.mayPoll(this.pollWeight) === true;
  }

  #areHoldingsPriced(): boolean {
    return [...this.copy.book.holdings].every(
      ([symbol, { quantity }]) => quantity === 0n || this.#prices.has(symbol),
    );
  }

  /** Once a second: acts on prices, if there are any, and on whatever has become due. */
  tick(prices: VenuePrices): void {
    this.#orders.listen();
    if (this.#isEnded || this.copy.status === "STOPPED") return;
    if (prices.size > 0) this.#prices = prices;
    if (this.#limits.isShareDue) this.#settleProfit();
    if (this.copy.book.holdings.size === 0 && this.#state.openCount === 0 && this.copy.status === "FOLLOWING")
      return;
    // Without prices holdings would count at cost.
    if (prices.size > 0) this.#checkEquity();
    if (!this.isBlocked) this.#alarms.check(this.copy.book, this.#prices, this.#state.outbox());
    this.#orders.query();
    const sincePollMs = this.#parts.wallNow() - this.polledAt;
    const isUnexplained =
      this.#missing.isUnexplained || this.#orders.hasForeign || this.#state.isContradicted;
    // The position shows an order before the venue does.
    const isInDoubt = isPositionInDoubt(this.#context, this.#prices);
    if (isUnexplained && sincePollMs >= UNEXPLAINED_POLL_MS) this.pollSoon();
    else if (isInDoubt && sincePollMs >= POLL_INTERVAL_MS) this.pollSoon();
    else if (isPositionExpected(this.#context, this.#prices)) this.pollSoon();
    this.#startAll();
  }

  /** Nothing more is sent or recorded. */
  end(): void {
    this.#isEnded = true;
    this.#orders.end();
  }

  /**
   * Resolves when no order is in flight any more. What only asks is left to itself: nothing of it is recorded
   * once this has ended.
   */
  async settled(): Promise<void> {
    await Promise.all([...this.#workers.values(), this.#taking]);
  }

  /** Takes the strategy's actions into the outbox. */
  async #take(): Promise<void> {
    const { actions, wallNow } = this.#parts;
    const state = this.#state;
    try {
      if (!this.#areOpeningsKnown) await this.#findOpenings();
      for (;;) {
        if (this.#isEnded || state.copy.status === "STOPPED") return;
        const action = await actions.at(state.takenSeq + 1);
        if (action === null) return;
        const before = state.book.nextEntryId;
        state.take(action, wallNow());
        if (state.book.nextEntryId !== before) this.#rows.note(before, action);
        // A strategy's close concerns all symbols at once.
        if (action.kind === "CLOSE") await this.#close(action);
      }
    } catch (error) {
      if (await this.#failedWith(error, null)) void this.#parts.pauses.pause(0).then(() => this.wake());
    }
  }

  /** Which of the rows that a process before has left in the outbox open something. */
  async #findOpenings(): Promise<void> {
    for (const { entryId, kind, seq, status } of this.#state.open()) {
      if (kind !== "PLACE" || seq === null || status !== "NEW") continue;
      this.#rows.note(entryId, await this.#context.actionAt(seq));
    }
    this.#areOpeningsKnown = true;
  }

  async #close(action: LeadAction): Promise<void> {
    const row = this.#state.open().find(({ seq }) => seq === action.seq);
    if (row === undefined) return;
    await executeRow(this.#context, row, action);
    this.#beginAgain();
    // What its owner changes waits until the store has its status.
    this.#save();
  }

  /** Starts whatever has something to do. */
  #startAll(): void {
    if (this.#isEnded) return;
    this.#startPoll();
    this.#requests.start();
    const state = this.#state;
    const symbols = new Set<string>(state.book.holdings.keys());
    for (const { symbol } of state.open()) symbols.add(symbol ?? "");
    if (state.copy.type === "FUTURES") {
      for (const { symbol } of this.#parts.leadAccount()?.openLegs.values() ?? []) symbols.add(symbol);
    }
    for (const symbol of symbols) this.#start(symbol);
    this.#finishClosing();
    if (state.feesDue().length > 0 && this.#parts.wallNow() >= this.#learnAt) void this.#learning.run();
  }

  #start(symbol: string): void {
    if (this.#workers.has(symbol)) this.#startLeg(symbol);
    else if (this.#next(symbol) !== null) this.#run(symbol, this.#work(symbol));
  }

  /** While the outcome of an order or a cancel is being found out, the position's legs do not wait for it. */
  #startLeg(symbol: string): void {
    const name = legWorkerOf(symbol);
    const row = this.#workers.has(name) ? undefined : this.#rows.legBeside(symbol);
    if (row === undefined) return;
    const working = this.#execute(row).catch((error) => this.#failedWith(error, row.symbol));
    this.#run(name, working);
  }

  #run(name: string, working: Promise<unknown>): void {
    const work = working.finally(() => {
      this.#workers.delete(name);
      // Other work may have waited for this.
      if (!this.#isEnded) this.wake();
    });
    this.#workers.set(name, work);
  }

  /** The next task of a symbol's worker; null if there is none. */
  #next(symbol: string): MirrorEntry | "RECONCILE" | null {
    const row = this.#rows.next(symbol);
    if (row === "NONE") return this.#isReconcilingDue(symbol) ? "RECONCILE" : null;
    if (row === "WAITS") return null;
    // Nothing is added to what should have been closed.
    const isExcess = this.#rows.opens(row) && row.status === "NEW" && this.#excess(symbol) > 0n;
    return isExcess && this.#isPaceOver(symbol) && this.#gate.stopped() === null ? "RECONCILE" : row;
  }

  /** All symbols are reconciled at once. */
  #beginAgain(): void {
    this.#closing.forget();
    this.#paces.clear();
  }

  /** What the copy has beyond its target. */
  #excess(symbol: string): bigint {
    return magnitude(this.#state.holding(symbol).quantity) - magnitude(this.#state.target(symbol));
  }

  #isPaceOver(symbol: string): boolean {
    const pace = this.#paces.get(symbol);
    if (pace === undefined) return true;
    const hasChanged = pace.left !== undefined && pace.left !== this.#excess(symbol);
    return hasChanged || this.#parts.wallNow() >= pace.at || this.#isLegDue(symbol, pace);
  }

  /**
   * Whether the position lacks a leg that does not wait for the pace: of a step that found all legs there, or
   * of one that failed for another reason.
   */
  #isLegDue(symbol: string, { left }: Pace): boolean {
    if (this.#closing.isUnderWay || missingLegs(this.#context, symbol).length === 0) return false;
    const sinceMs = this.#parts.wallNow() - (this.#touchedAt.get(symbol) ?? 0);
    return left !== undefined || sinceMs >= PROTECT_MS_MAX;
  }

  /**
   * Removes a target permanently once the strategy has been out of its side for some time and all its actions
   * are dealt with.
   */
  #dropTarget(symbol: string): void {
    const isTaken = this.#state.takenSeq >= this.#parts.actions.lastSeq;
    const isDealtWith = isTaken && this.#rows.head(symbol) === undefined;
    if (!isDealtWith || !isWithoutLead(this.#context, symbol)) {
      this.#withoutLeadSince.delete(symbol);
      return;
    }
    const now = this.#parts.wallNow();
    const since = this.#withoutLeadSince.get(symbol) ?? now;
    this.#withoutLeadSince.set(symbol, since);
    if (now - since < RECONCILE_AFTER_MS) return;
    this.#state.zeroTarget(symbol);
    this.#withoutLeadSince.delete(symbol);
  }

  #isReconcilingDue(symbol: string): boolean {
    if (symbol !== "") this.#dropTarget(symbol);
    if (this.#excess(symbol) <= 0n) this.#waitsSince.delete(symbol);
    if (symbol === "" || !isUneven(this.#context, symbol)) {
      if (!this.#closing.isUnderWay || this.#closing.has(symbol)) return false;
    }
    const now = this.#parts.wallNow();
    if (this.#gate.stopped() !== null) return false;
    if (!this.#isPaceOver(symbol) && (this.#closing.isUnderWay || !this.#isWaitOver(symbol))) return false;
    if (this.#closing.isUnderWay) return this.#closing.isStockTaken() && !this.#closing.has(symbol);
    const isLegReady = this.#state
      .resting(symbol)
      .some((entry) => isLeg(entry) && entry.clientOrderId === null);
    return isLegReady || now - (this.#touchedAt.get(symbol) ?? 0) >= RECONCILE_AFTER_MS;
  }

  /**
   * Whether a leg whose successor was refused waits although its position is gone: its end waits for no pace.
   */
  #isWaitOver(symbol: string): boolean {
    return this.#state
      .resting(symbol)
      .some((entry) => isWaitingLeg(entry) && entry.seq === null && !closesPosition(this.#state, entry));
  }

  async #work(symbol: string): Promise<void> {
    const backOff = new BackOff({ minMs: RETRY_MS_MIN, maxMs: RETRY_MS_MAX });
    while (!this.#isEnded) {
      try {
        // The gate has to know the venue.
        await this.#session.open();
        await this.#workers.get(legWorkerOf(symbol));
        const next = this.#next(symbol);
        if (next === null) return;
        if (next === "RECONCILE") await this.#reconcile(symbol);
        else {
          this.#rows.begin(symbol, next);
          await this.#execute(next).catch((error) => {
            if (!(error instanceof Postponed)) throw error;
            this.#rows.postpone(next, error.until);
          });
        }
        this.#rows.noteWork(symbol, { hasFailed: false });
        backOff.reset();
      } catch (error) {
        this.#rows.noteWork(symbol, { hasFailed: true });
        if (!(await this.#failedWith(error, symbol, backOff.next()))) return;
      }
    }
  }

  async #execute(row: MirrorEntry): Promise<void> {
    const state = this.#state;
    if (row.kind === "REPAIR") await executeRepair(this.#context, row);
    else if (row.seq !== null) await executeRow(this.#context, row, await this.#context.actionAt(row.seq));
    else {
      // A row of the reconciler's own that a restart has left: resolved if it was sent, dropped otherwise.
      const outcome = await submit(this.#context, row, () => skipOf("OVERTAKEN"));
      await conclude(this.#context, row, outcome);
    }
    if (state.outbox().some(({ entryId }) => entryId === row.entryId))
      throw new Error(`a row that was executed has left the outbox: ${row.entryId}`);
    this.#rows.forget(row);
    this.#touchedAt.set(row.symbol ?? "", this.#parts.wallNow());
    // A stop that was not taken does not wait for the pace of a step that found nothing to do.
    const isStop = row.orderType === "STOP_LOSS" || row.orderType === "STOP_LOSS_LIMIT";
    if (isStop && this.#paces.get(row.symbol ?? "")?.left !== undefined) this.#paces.delete(row.symbol ?? "");
    this.#requests.finishRepair(row.requestId);
    this.#saveAndWake();
  }

  /** One step of a symbol towards its target. */
  async #reconcile(symbol: string): Promise<void> {
    const { wallNow } = this.#parts;
    const { reason } = this.copy;
    const isClosing = this.#closing.isUnderWay;
    const pace = this.#paces.get(symbol);
    const kind = !isClosing ? "RECONCILE" : reason === "STRATEGY_CLOSED" ? "CLOSE" : "FLATTEN";
    const before = pace?.before?.kind === kind ? pace.before : null;
    const result = await reconcileSymbol(this.#context, symbol, {
      kind,
      isClosing,
      givesUpExits: isClosing || this.#isExitOverdue(symbol),
      before,
    });
    this.#touchedAt.set(symbol, wallNow());
    this.#note(symbol, result, { pace, isClosing });
    this.#save();
  }

  /** Whether the copier has an exit that the strategy has filled closed at the market by now. */
  #isExitOverdue(symbol: string): boolean {
    const { closeAfterSeconds } = this.copy.settings;
    const since = this.#waitsSince.get(symbol);
    return (
      closeAfterSeconds !== null &&
      since !== undefined &&
      this.#parts.wallNow() - since >= closeAfterSeconds * 1_000
    );
  }

  /** `isClosing`: whether everything was to be closed when the step began. */
  #note(
    symbol: string,
    result: Reconciled,
    { pace, isClosing }: { readonly pace: Pace | undefined; readonly isClosing: boolean },
  ): void {
    const now = this.#parts.wallNow();
    this.#alarms.noteExit(symbol, result.kind === "LEFT" && result.skip.venue !== null);
    // It says nothing about closing everything, which has begun since.
    if (this.#closing.isUnderWay && !isClosing) return;
    // An attempt that has failed does not begin the waiting again.
    if (result.kind === "CLEAN" || result.kind === "UNPROTECTED") this.#waitsSince.delete(symbol);
    else if (result.kind === "WAITS" && !this.#waitsSince.has(symbol)) this.#waitsSince.set(symbol, now);
    if (result.kind === "WAITS") this.#paces.set(symbol, { at: now + RECONCILE_AFTER_MS });
    else if (result.kind === "CLEAN") {
      this.#paces.delete(symbol);
      if (isClosing) this.#closing.note(symbol, result.unsold);
      // A remainder too small to sell is reconciled again when it has grown; the work queued behind it
      // proceeds.
      if (this.#excess(symbol) > 0n || (!isClosing && isUneven(this.#context, symbol))) {
        this.#paces.set(symbol, { at: now + RECONCILE_MS_MAX, left: this.#excess(symbol) });
      }
    } else {
      const isLeft = result.kind === "LEFT";
      const msMax = isLeft ? RECONCILE_MS_MAX : PROTECT_MS_MAX;
      const waitMs = Math.min(msMax, (pace?.waitMs ?? RECONCILE_AFTER_MS / 2) * 2);
      this.#paces.set(symbol, { at: now + waitMs, waitMs, before: isLeft ? this.#lastFailed(symbol) : null });
    }
    this.#finishClosing();
  }

  /** The row of the reconciler's last attempt, if it failed. */
  #lastFailed(symbol: string): MirrorEntry | null {
    const own = this.#state.current([]).find((row) => row.symbol === symbol && isOwnOrder(row));
    const earlier = this.#paces.get(symbol)?.before ?? null;
    const before = own ?? (earlier === null ? null : this.#state.latest(earlier));
    return before !== null && (before.status === "SKIPPED" || before.status === "FAILED") ? before : null;
  }

  /** The copy is closed once no symbol has anything left. */
  #finishClosing(): void {
    const state = this.#state;
    if (!this.#closing.isUnderWay || this.#workers.size > 1 || state.outbox().length > 0) return;
    if (!this.#closing.isAllClosed()) return;
    const { wallNow } = this.#parts;
    const { reason } = this.copy;
    if (reason !== null && BY_EQUITY.includes(reason)) {
      this.#limits.restartFrom(this.#prices);
      state.move("PAUSED", reason, wallNow());
    } else {
      this.#settleProfit({ isFinal: true });
      state.move("STOPPED", reason ?? "COPIER", wallNow());
    }
    this.#save();
  }

  /** Polls, and waits for it a moment; answers whether the copy has new balances. */
  async #pollInTime(ms: number): Promise<boolean> {
    const before = this.copy.book.snapshot;
    await Promise.race([this.#pollAfresh(), this.#parts.pauses.pause(ms)]);
    return this.copy.book.snapshot !== before;
  }

  /** Requests beside everything else, at the polls' pace unless a session is given. Never rejects. */
  async #beside(
    ask: (context: CopyContext) => Promise<unknown>,
    session = this.#session.polling(),
  ): Promise<void> {
    try {
      await ask({ ...this.#context, session });
    } catch (error) {
      if (!(error instanceof NotAnswered)) await this.#failedWith(error, null);
    }
  }

  #startPoll(): void {
    if (!this.#isPollDue || this.#poll.current !== null || this.copy.status === "STOPPED") return;
    this.#isPollDue = false;
    void this.#poll.run();
  }

  /** A poll that begins now: one that was begun before may not have seen what this one is for. */
  async #pollAfresh(): Promise<NotAnswered | null> {
    await this.#poll.current;
    return await this.#poll.run();
  }

  async #pollOnce(): Promise<NotAnswered | null> {
    this.#isPollDue = false;
    try {
      await this.#session.open();
      if (this.#gate.isBlind()) return new NotAnswered("the venue may not be asked");
      const before = this.polledAt;
      const failure = await poll(this.#context, this.#missing);
      const isInVain = failure !== null || this.#missing.inVain > 0;
      if (isInVain && this.polledAt === before) this.#parts.repeatPoll(this);
      this.#save();
      this.#startAll();
      return failure;
    } catch (error) {
      await this.#failedWith(error, null);
      return new NotAnswered("the poll failed");
    }
  }

  /** Requests missing fees. */
  async #learn(): Promise<void> {
    if (this.#gate.isBlind()) return;
    const before = this.#state.feesDue().length;
    // A copy that closes waits for fees. Otherwise those of contracts wait for room in the budget, or for a
    // poll.
    const isAwaited = this.copy.type === "SPOT" || this.copy.status !== "FOLLOWING";
    await this.#beside(learnDueFees, isAwaited ? this.#session.polling() : this.#session.briefly(0));
    if (this.#state.feesDue().length !== before) this.#saveAndWake();
    else this.#learnAt = this.#parts.wallNow() + LEARN_AGAIN_MS;
  }

  /** Stop loss and take profit, and what the copy is worth at the beginning of a day. */
  #checkEquity(): void {
    const done = this.#limits.checkEquity(this.#prices);
    if (done === "CLOSES") this.#beginAgain();
    if (done !== null) this.#save();
  }

  #settleProfit(options?: { readonly isFinal: boolean }): void {
    if (this.#limits.settleProfit(this.#prices, options)) this.#save();
  }

  async #rowsOf(collectiveId: string): Promise<readonly MirrorEntry[]> {
    const stored = await this.#parts.store.listEntriesOf(this.copy.copyId, collectiveId);
    return this.#state
      .current(stored)
      .filter((row) => row.collectiveId === collectiveId)
      .toReversed();
  }

  async #findRow(symbol: string, holds: (row: MirrorEntry) => boolean): Promise<MirrorEntry | null> {
    const limit = 200;
    let before: number | undefined;
    for (;;) {
      const page = await this.#parts.store.listMirrorEntries(this.copy.copyId, { symbol, before, limit });
      const rows =
        before === undefined ? this.#state.current(page) : page.map((row) => this.#state.latest(row));
      const found = rows.find((row) => row.symbol === symbol && holds(row));
      if (found !== undefined) return found;
      if (page.length < limit) return null;
      before = page.at(-1)?.entryId;
    }
  }

  /** Makes durable what has changed, beside everything else. */
  #save(): void {
    this.#state.flush().catch((error) => this.#broken(error));
  }

  #saveAndWake(): void {
    this.#save();
    this.wake();
  }

  async #record(progress: CopyProgress): Promise<void> {
    if (this.#isEnded) throw new MayNotRun();
    await this.#parts.record(progress);
    const { moves } = progress;
    if (moves === null || moves.reason === null || moves.status !== this.copy.status) return;
    if (isTold(moves.status, moves.reason)) this.#parts.tell(this.copy, moves.reason);
  }

  /** Memory is ahead of the store: nothing is done with it any more. */
  #broken(error: unknown): void {
    if (this.#isEnded) return;
    this.end();
    const { log, onBroken } = this.#parts;
    const { copyId } = this.copy;
    if (!(error instanceof ClaimLost || error instanceof MayNotRun || error instanceof StoreUnavailable)) {
      log.error({ err: error, copyId }, "what became of a copy could not be stored; it is loaded again");
    }
    onBroken(copyId);
  }

  /** Waits as long as is fit for what went wrong; false if nothing more is to be done. Never rejects. */
  async #failedWith(error: unknown, symbol: string | null, retryMs = RETRY_MS_MIN): Promise<boolean> {
    const { pauses } = this.#parts;
    if (this.#isEnded) return false;
    if (error instanceof ClaimLost || error instanceof StoreUnavailable || error instanceof StoreFailure) {
      this.#broken(error);
      return false;
    }
    if (error instanceof MayNotRun) await pauses.pause(CLAIM_RETRY_MS);
    else if (error instanceof CredentialsRejected)
      await this.#rejected(error).catch((failure) => this.#log(failure, symbol));
    else if (error instanceof NotAnswered) await pauses.pause(retryMs);
    else if (error instanceof AccountGone && this.copy.status === "STOPPED") this.#accountGone();
    else {
      this.#log(error, symbol);
      await pauses.pause(retryMs);
    }
    return !this.#isEnded && !pauses.isOver;
  }

  #log(error: unknown, symbol: string | null): void {
    const now = this.#parts.wallNow();
    if (this.#loggedAt !== null && now - this.#loggedAt < LOGGED_AGAIN_MS) return;
    this.#loggedAt = now;
    const { copyId } = this.copy;
    this.#parts.log.error({ err: error, copyId, symbol }, "work on a copy failed; it is tried again");
  }

  /** Pauses the copy and notifies its owner, unless the credentials have been replaced. */
  async #rejected({ rejection }: CredentialsRejected): Promise<void> {
    const wasKnown = this.#session.isRejected;
    if (await this.#session.reject(rejection)) return;
    const { code, message } = rejection;
    const { copyId, status } = this.copy;
    const { log, tell, wallNow } = this.#parts;
    if (wasKnown !== true)
      log.warn({ copyId, code, message }, "a venue does not accept a copier's credentials");
    if (status === "FOLLOWING") {
      this.#state.move("PAUSED", "CREDENTIALS", wallNow());
      this.#save();
    } else if (status !== "STOPPED" && wasKnown !== true) tell(this.copy, "CREDENTIALS");
  }

  /** A request to a stopped copy cannot be executed any more. */
  #accountGone(): void {
    for (const row of this.#state.outbox()) {
      this.#state.put({ ...row, status: "SKIPPED", skip: skipOf("CREDENTIALS") });
    }
    this.#requests.giveUpAll(skipOf("CREDENTIALS"));
    this.#save();
  }
}

/** The name of the worker that a symbol has for a leg beside its own. */
function legWorkerOf(symbol: string): string {
  return `leg of ${symbol}`;
}

/** Executes a row that answers an action of the strategy. It is not in the outbox any more then. */
async function executeRow(context: CopyContext, row: MirrorEntry, action: LeadAction): Promise<unknown> {
  const { state, now } = context;
  switch (action.kind) {
    case "PLACE":
      return await place(context, row, action);
    case "CANCEL":
    case "CANCEL_LEG":
      return await cancel(context, row, action);
    case "FILL":
      return await fill(context, row, action);
    case "PLACE_LEG":
      return await placeLeg(context, row, action);
    case "FIRE_LEG":
      return await fireLeg(context, row, action);
    case "LIQUIDATE":
      return await closePosition(context, row, action);
    case "SET_LEVERAGE":
      return await followLeverage(context, row, action);
    case "CLOSE":
      state.put({ ...row, status: "DONE", updatedAt: now() });
      if (state.copy.status !== "STOPPED") state.move("CLOSING", "STRATEGY_CLOSED", now());
  }
}

/** Copiers get a mail about what happened to the copy without their doing. */
function isTold(status: Copy["status"], reason: CopyReason): boolean {
  if (BY_EQUITY.includes(reason) || reason === "STRATEGY_CLOSED") return status === "CLOSING";
  return reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";
}
