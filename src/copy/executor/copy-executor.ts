// Executes one copy. Actions of the strategy become rows of the outbox; each symbol has a worker that
// executes its rows in order, and reconciles the symbol when none is left. So one symbol's failure delays no
// other. A leg of the position that a copy has is sent beside its symbol's worker while that finds out an
// order's outcome. An opening waits, over all symbols, for earlier orders and for reductions and protection:
// it may need the money that they free, and never takes the place of an exit. One that the venue lets wait is
// passed by what needs not wait. Polls of the account and requests to the copy run beside the workers.
import type { Logger } from "pino";
import { BackOff, type Pauses } from "../../concurrency/delays.ts";
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import type { Account } from "../../domain/account.ts";
import { orderIdOf } from "../../domain/collective-id.ts";
import {
  type Copy,
  type CopyAlarm,
  type CopyReason,
  type CopyRequest,
  type LeadAction,
  type MirrorEntry,
  PROFIT_SHARES_ID,
  type Skip,
  skipOf,
} from "../../domain/copying.ts";
import { magnitude } from "../../money/decimal.ts";
import type { CopyControl, CopyProgress } from "../../store/ports/copies.ts";
import { type CopyStore, StoreFailure, StoreUnavailable } from "../../store/store.ts";
import type { ActionLog } from "../leads/leads.ts";
import { CopyState, closesPosition, isLeg, isWaitingLeg, ownRow, skipped } from "../orders/copy-state.ts";
import {
  bookExpected,
  bookHinted,
  bookOpenOrders,
  findUnconfirmed,
  isPositionExpected,
  restingSymbols,
} from "../reconcile/balances.ts";
import { POLL_INTERVAL_MS, poll } from "../reconcile/poll.ts";
import {
  CONFIRMED_MS_MAX,
  isOwnOrder,
  isUneven,
  isWithoutLead,
  type Reconciled,
  reconcileSymbol,
} from "../reconcile/reconciler.ts";
import { Missing } from "../reconcile/write-off.ts";
import { Alarms } from "../session/alarms.ts";
import {
  AccountGone,
  ClaimLost,
  CredentialsRejected,
  MayNotRun,
  NotAnswered,
  Postponed,
} from "../session/failures.ts";
import { Gate, type Halt, type SessionParts, VenueSession } from "../session/venue-session.ts";
import { equityOf, isStopLossReached, isTakeProfitReached, settlementOf, weekOf } from "../sizing/book.ts";
import { lossOfDaySkip, tooManyOrdersSkip } from "../sizing/limits.ts";
import { leadOpening, type VenuePrices } from "../sizing/proportion.ts";
import { skipWords } from "../sizing/skip.ts";
import type { Venue, VenueClient, VenueEvent } from "../venue/venue.ts";
import { cancel } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import { closePosition, fill, fireLeg, followLeverage } from "./exits.ts";
import { placeLeg } from "./legs.ts";
import { conclude, learnDueFees, ORDER_WAITS_MS, place } from "./place.ts";
import { executeRepair, giveUp, orderRepair, withdraw } from "./requests.ts";
import { submit } from "./submit.ts";

/**
 * Until the reconciler acts on what an executed row, or a failed attempt, has left, ms; a failure doubles it.
 */
export const RECONCILE_AFTER_MS = 2_000;
const RECONCILE_MS_MAX = 60_000;
/** Maximum delay before a leg that a position lacks is sent again, ms. */
const PROTECT_MS_MAX = 15_000;
/** Until work that failed is tried again, ms: doubled each time. */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** Failures of one copy are logged once in this time, ms. */
const LOGGED_AGAIN_MS = 60_000;
/** Interval at which a copy that may not run checks whether it may, ms. */
const CLAIM_RETRY_MS = 500;
/** Delay before fees that the venue does not list yet are requested again, ms. */
const LEARN_AGAIN_MS = 1_000;
/** How long a requested poll is retried, ms. */
const REQUESTED_POLL_MS_MAX = 10_000;
/**
 * After so many consecutive polls without balances, because orders were in flight, openings wait for a poll.
 */
const POLLS_IN_VAIN_MAX = 3;
/** Kinds of rows, beside orders that open something, which a leg need not wait for. */
const OVERTAKEN_BY_LEGS: readonly MirrorEntry["kind"][] = ["SET_LEVERAGE", "CANCEL", "FILL"];
/** Between polls while a change at the venue is not explained yet, ms. */
const UNEXPLAINED_POLL_MS = 5_000;
/** Queries of an order because of one event, until one shows what the event says. */
const QUERIES_PER_HINT_MAX = 5;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Why a copy closes everything by what it is worth. */
const BY_EQUITY: readonly CopyReason[] = ["STOP_LOSS", "TAKE_PROFIT"];
const IS_AWAY = "The venue did not answer. Please ask again in a while.";
const IS_BLIND = "The venue may not be asked at the moment.";
const IS_STOPPED = "The copy is stopped.";

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

/** A symbol of which nothing more can be closed: the remainder, and the row that says why. */
type Closed = { readonly unsold: MirrorEntry | null; readonly left: bigint };
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

/** An order that an event names: how much of it is executed at least, if that is said. */
type Hint = { readonly executed: bigint | null; readonly queries: number };

export class CopyExecutor {
  readonly #parts: ExecutorParts;
  readonly #state: CopyState;
  readonly #session: VenueSession;
  readonly #gate: Gate;
  readonly #alarms: Alarms;
  readonly #context: CopyContext;
  readonly #missing: Missing;
  readonly #workers = new Map<string, Promise<void>>();
  /** Rows of the strategy's that open something, by number; PART: that close something first. */
  readonly #openings = new Map<number, "WHOLE" | "PART">();
  #areOpeningsKnown = false;
  /** Until when rows wait that the venue has no room or no answer for, by number; wall time, Unix ms. */
  readonly #postponed = new Map<number, number>();
  /** The number of the row that a symbol's worker executes, or has executed last. */
  readonly #executing = new Map<string, number>();
  /** By symbol, how many outcomes of its orders are being found out; others do not wait for these. */
  readonly #inDoubt = new Map<string, number>();
  /** Symbols where work failed, and that others do not wait for either. */
  readonly #failed = new Set<string>();
  readonly #touchedAt = new Map<string, number>();
  readonly #paces = new Map<string, Pace>();
  /** Since when a symbol is above its target and waits for an exit that is open, wall time, Unix ms. */
  readonly #waitsSince = new Map<string, number>();
  /** Since when a symbol's strategy has nothing on the copy's side, wall time, Unix ms. */
  readonly #withoutLeadSince = new Map<string, number>();
  /** While everything is closed: symbols that are clean, with the row of what cannot be sold. */
  readonly #closed = new Map<string, Closed>();
  /** While everything is closed: whether the account was polled first. */
  #stock: "BEING_TAKEN" | "TAKEN" | null = null;
  /** Since when all symbols are clean, wall time, Unix ms; null while one is not. */
  #closedSince: number | null = null;
  /** When a poll was last requested to confirm that, wall time, Unix ms. */
  #confirmedAt = 0;
  readonly #finished = new Set<string>();
  #requests: readonly CopyRequest[] = [];
  #closing: CopyRequest | null = null;
  #taking: Promise<void> | null = null;
  #answering: Promise<void> | null = null;
  /** One poll at a time. Never rejects. */
  readonly #poll = new SingleFlight(() => this.#pollOnce());
  #prices: VenuePrices = NO_PRICES;
  /** Times of the openings of the last minute, wall time, Unix ms. */
  #openedAt: readonly number[] = [];
  #isPollDue = false;
  #wasBlocked = false;
  readonly #querying = new SingleFlight(async () => {
    await this.#beside(async (context) => {
      if (await findUnconfirmed(context)) this.#saveAndWake();
    });
    // Stops wait for what these say, so they are no polls.
    const once = this.#session.briefly(0);
    await this.#beside(async (context) => {
      if (await bookExpected(context, this.#prices)) this.#saveAndWake();
    }, once);
  });
  /** The account's user data stream: its client, and what ends it. */
  #stream: { readonly client: VenueClient; readonly stop: () => void } | null = null;
  /** By client order id. */
  readonly #hints = new Map<string, Hint>();
  readonly #hinting = new SingleFlight(() =>
    this.#beside((context) => this.#followHints(context), this.#session.briefly(0)),
  );
  /** Since when events may have been missed, and since when others have traded; null: all of it is known. */
  #missedSince: number | null = null;
  #foreignSince: number | null = null;
  readonly #catchingUp = new SingleFlight(() =>
    this.#beside(async (context) => {
      const since = this.#missedSince;
      await bookOpenOrders(context);
      if (this.#missedSince === since) this.#missedSince = null;
      this.#saveAndWake();
    }),
  );
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
      openingLimit: (prices) => this.#openingLimit(prices),
      noteOpening: () => this.#noteOpening(),
      pollSoon: () => this.pollSoon(),
      raise: (alarm) => this.#alarms.raise(alarm),
      pollInTime: (ms) => this.#pollInTime(ms),
      isPollOverdue: () => this.#missing.inVain >= POLLS_IN_VAIN_MAX,
      markInDoubt: (symbol) => {
        const add = (more: 1 | -1) => {
          this.#inDoubt.set(symbol, (this.#inDoubt.get(symbol) ?? 0) + more);
          this.wake();
        };
        add(1);
        return () => add(-1);
      },
    };
  }

  get copy(): Copy {
    return this.#state.copy;
  }

  /** Whether a change of the copy's status is being written; the store's version may be outdated. */
  get isMoving(): boolean {
    return this.#state.isMoving;
  }

  /** Nothing is left to be done for a copy that is stopped. */
  get isOver(): boolean {
    const isAsking = this.#answering !== null || this.#learning.current !== null;
    const isIdle = this.#workers.size === 0 && !isAsking && this.#taking === null;
    return this.copy.status === "STOPPED" && isIdle && this.#requests.length === 0;
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

  /** Whether they did since the last refresh. */
  get wasBlocked(): boolean {
    return this.#wasBlocked;
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
    this.#requests = requests.filter(({ requestId }) => !this.#finished.has(requestId));
    this.wake();
  }

  /** Credentials, or a kill switch, may have changed. */
  async refresh(): Promise<void> {
    await this.#session.refresh();
    this.#wasBlocked = this.isBlocked;
    this.#paces.clear();
    this.pollSoon();
    this.wake();
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#isEnded) return;
    if (this.isBlocked) this.#wasBlocked = true;
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

  /** Once a second: acts on prices, if there are any, and on whatever has become due. */
  tick(prices: VenuePrices): void {
    this.#listen();
    if (this.#isEnded || this.copy.status === "STOPPED") return;
    if (prices.size > 0) this.#prices = prices;
    if (this.copy.book.profitMark?.week !== weekOf(this.#parts.wallNow())) this.#settleProfit();
    if (this.copy.book.holdings.size === 0 && this.#state.openCount === 0 && this.copy.status === "FOLLOWING")
      return;
    // Without prices holdings would count at cost.
    if (prices.size > 0) this.#checkEquity(prices);
    if (!this.isBlocked) this.#alarms.check(this.copy.book, this.#prices, this.#state.outbox());
    this.#queryOrders();
    const sincePollMs = this.#parts.wallNow() - this.polledAt;
    if (this.#foreignSince !== null && this.polledAt > this.#foreignSince) this.#foreignSince = null;
    const isUnexplained = this.#missing.isUnexplained || this.#foreignSince !== null;
    // The position shows an order before the venue does.
    const isUnconfirmed = this.copy.family === "FUTURES" && this.#state.unconfirmed().length > 0;
    if (isUnexplained && sincePollMs >= UNEXPLAINED_POLL_MS) this.pollSoon();
    else if (isUnconfirmed && sincePollMs >= POLL_INTERVAL_MS) this.pollSoon();
    else if (isPositionExpected(this.#context, this.#prices)) this.pollSoon();
    this.#startAll();
  }

  /** Nothing more is sent or recorded. */
  end(): void {
    this.#isEnded = true;
    this.#listen();
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
        if (state.book.nextEntryId !== before) this.#noteKind(before, action);
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
      this.#noteKind(entryId, await this.#context.actionAt(seq));
    }
    this.#areOpeningsKnown = true;
  }

  async #close(action: LeadAction): Promise<void> {
    const row = this.#state.open().find(({ seq }) => seq === action.seq);
    if (row === undefined) return;
    await executeRow(this.#context, row, action);
    this.#beginAgain();
  }

  /** Notes whether the row of an action opens something. */
  #noteKind(entryId: number, action: LeadAction): void {
    if (action.kind !== "PLACE") return;
    const opening = leadOpening({ family: this.copy.family, placement: action, lead: action.lead });
    if (opening > 0n) this.#openings.set(entryId, opening === action.quantity ? "WHOLE" : "PART");
  }

  /** Starts whatever has something to do. */
  #startAll(): void {
    if (this.#isEnded) return;
    this.#startPoll();
    this.#answering ??= this.#answer().then((isToBeTriedAgain) => {
      this.#answering = null;
      if (isToBeTriedAgain) this.wake();
    });
    const state = this.#state;
    const symbols = new Set<string>(state.book.holdings.keys());
    for (const { symbol } of state.open()) symbols.add(symbol ?? "");
    if (state.copy.family === "FUTURES") {
      for (const { symbol } of this.#parts.leadAccount()?.openLegs.values() ?? []) symbols.add(symbol);
    }
    for (const symbol of symbols) this.#start(symbol);
    if (this.#isClosingDown) this.#finishClosing();
    if (state.feesDue().length > 0 && this.#parts.wallNow() >= this.#learnAt) void this.#learning.run();
  }

  #start(symbol: string): void {
    if (this.#workers.has(symbol)) this.#startLeg(symbol);
    else if (this.#next(symbol) !== null) this.#run(symbol, this.#work(symbol));
  }

  #isInDoubt(symbol: string): boolean {
    return (this.#inDoubt.get(symbol) ?? 0) > 0;
  }

  /** While the outcome of an order or a cancel is being found out, the position's legs do not wait for it. */
  #startLeg(symbol: string): void {
    const name = legWorkerOf(symbol);
    if (!this.#isInDoubt(symbol) || this.#workers.has(name)) return;
    const rows = this.#state.outbox(symbol);
    const isBeingCanceled = ({ kind, entryId }: MirrorEntry) =>
      kind === "CANCEL" && entryId === this.#executing.get(symbol);
    const isBusy = (each: MirrorEntry) => each.status === "SENT" || isBeingCanceled(each);
    const row = rows.find((each) => !isBusy(each) && !this.#isOvertakenByLegs(each));
    if (row?.kind !== "PLACE_LEG" || !this.#mayGoFirst(row, rows)) return;
    // A leg that the symbol's worker is about to send is in no order's way.
    const isBehindOrder = rows.some((each) => isBusy(each) && !isLeg(each));
    if (isBehindOrder) this.#run(name, this.#workOnLeg(row));
  }

  #run(name: string, working: Promise<void>): void {
    const work = working.finally(() => {
      this.#workers.delete(name);
      // Other work may have waited for this.
      if (!this.#isEnded) this.wake();
    });
    this.#workers.set(name, work);
  }

  /** The next task of a symbol's worker; null if there is none. */
  #next(symbol: string): MirrorEntry | "RECONCILE" | null {
    const head = this.#head(symbol);
    // A position that is without its stop, or is to be closed, does not wait for a postponed row.
    const isWaiting = head !== undefined && this.#isPostponed(head);
    const row = isWaiting ? this.#pastPostponed(symbol) : head;
    if (row === undefined) return this.#isReconcilingDue(symbol) ? "RECONCILE" : null;
    if (!this.#isEligible(row)) return null;
    // Nothing is added to what should have been closed.
    const isExcess = this.#openings.has(row.entryId) && row.status === "NEW" && this.#excess(symbol) > 0n;
    return isExcess && this.#isPaceOver(symbol) && this.#gate.stopped() === null ? "RECONCILE" : row;
  }

  /**
   * The row of a symbol that is next: the oldest, but a leg of the position that the copy has goes before
   * openings that were not sent yet. However far a copy is behind, its position does not wait for its stop.
   */
  #head(symbol: string): MirrorEntry | undefined {
    const rows = this.#state.outbox(symbol === "" ? undefined : symbol);
    const [first] = rows;
    if (first === undefined || !this.#isOvertakenByLegs(first)) return first;
    const next = rows.find((row) => !this.#isOvertakenByLegs(row));
    const isLegNow =
      next?.kind === "CANCEL_LEG" || (next?.kind === "PLACE_LEG" && this.#mayGoFirst(next, rows));
    return isLegNow ? next : first;
  }

  /**
   * Whether a leg may go before the orders that precede it: it closes the position that the copy has now, and
   * none of those orders may close the whole position first. If one may, the leg belongs to a later position,
   * and the venue would end it together with this one.
   */
  #mayGoFirst(leg: MirrorEntry, rows: readonly MirrorEntry[]): boolean {
    if (!closesPosition(this.#state, leg)) return false;
    const held = magnitude(this.#state.position(leg.symbol ?? ""));
    return rows.every((row) => {
      const isOrder = row.kind === "PLACE" || isOwnOrder(row);
      const isOfOtherSide = row.side !== leg.side || row.entryId > leg.entryId;
      return !isOrder || isOfOtherSide || (row.quantity !== null && row.quantity < held);
    });
  }

  /** Whether it neither reduces nor protects, and was not sent yet. */
  #isOvertakenByLegs({ kind, status, entryId }: MirrorEntry): boolean {
    return status === "NEW" && (this.#openings.has(entryId) || OVERTAKEN_BY_LEGS.includes(kind));
  }

  #isPostponed({ entryId }: MirrorEntry): boolean {
    return this.copy.status !== "STOPPED" && (this.#postponed.get(entryId) ?? 0) > this.#parts.wallNow();
  }

  /**
   * The row of a symbol that goes past postponed ones, if one may. A change of the leverage is in no
   * row's way. Neither is an order that is open at the strategy with nothing executed: nothing there follows
   * from it yet. Any other opening is given up for an order that closes the copy's position at the market,
   * which closes its part, too; nothing else goes past it, least of all its own cancel.
   */
  #pastPostponed(symbol: string): MirrorEntry | undefined {
    const rows = this.#state.outbox(symbol);
    const passed: MirrorEntry[] = [];
    for (const [index, row] of rows.entries()) {
      const isNew = row.status === "NEW";
      if (isNew && row.kind === "SET_LEVERAGE") continue;
      const isPostponed = this.#isPostponed(row);
      const waits = isNew && (isPostponed || passed.length > 0);
      const isExitBehind = () => rows.slice(index + 1).some((later) => this.#closesAtMarket(later));
      if (waits && (this.#isUntouched(row) || (this.#onlyOpens(row) && isExitBehind()))) passed.push(row);
      else if (isPostponed || !this.#isEligible(row) || (waits && this.#onlyOpens(row))) return undefined;
      else {
        for (const each of passed) if (!this.#isUntouched(each)) this.#giveUp(each);
        return row;
      }
    }
    return undefined;
  }

  #onlyOpens({ kind, entryId, retained }: MirrorEntry): boolean {
    return this.#openings.get(entryId) === "WHOLE" || (kind === "REPAIR" && retained !== undefined);
  }

  /** Whether an order is open at the strategy, and nothing of it executed. */
  #isUntouched({ entryId, collectiveId }: MirrorEntry): boolean {
    if (!this.#openings.has(entryId) || collectiveId === null) return false;
    return this.#parts.leadAccount()?.openOrders.get(orderIdOf(collectiveId))?.executedQuantity === 0n;
  }

  #closesAtMarket(row: MirrorEntry): boolean {
    const isOrder = row.kind === "PLACE" && row.orderType === "MARKET" && !this.#onlyOpens(row);
    const isExit = isOrder || row.kind === "FIRE_LEG" || row.kind === "LIQUIDATE";
    return isExit && closesPosition(this.#state, row);
  }

  /** Ends a row of which nothing was sent, because an exit has gone past it. */
  #giveUp(row: MirrorEntry): void {
    const updatedAt = this.#parts.wallNow();
    this.#state.put({ ...skipped(row, skipOf("OVERTAKEN")), updatedAt });
    this.#openings.delete(row.entryId);
    this.#postponed.delete(row.entryId);
    if (row.requestId !== null) this.#finishRepair(row.requestId);
  }

  /** Whether a row may be executed now: what opens waits for others. */
  #isEligible(row: MirrorEntry): boolean {
    // While the venue cannot be asked, the outcome cannot be resolved.
    if (row.status === "SENT") return !this.#gate.isBlind();
    if (!this.#openings.has(row.entryId)) return true;
    const seen = new Set<string>();
    for (const other of this.#state.outbox()) {
      const symbol = other.symbol ?? "";
      if (symbol === row.symbol || seen.has(symbol)) continue;
      seen.add(symbol);
      if (this.#isInDoubt(symbol) || this.#failed.has(symbol) || this.#isPostponed(other)) continue;
      const isOpening = this.#openings.has(other.entryId);
      if (other.entryId < row.entryId && !(isOpening && other.status === "SENT")) return false;
      if (!isOpening) return false;
    }
    return true;
  }

  /** Whether nothing is left to be closed of a symbol, and nothing was booked since that was found. */
  #isClosed(symbol: string): boolean {
    const closed = this.#closed.get(symbol);
    if (closed?.left === this.#state.holding(symbol).quantity) return true;
    if (closed !== undefined) this.#closed.delete(symbol);
    return false;
  }

  /** All symbols are reconciled at once. */
  #beginAgain(): void {
    this.#forgetClosing();
    this.#paces.clear();
  }

  #forgetClosing(): void {
    this.#closed.clear();
    this.#stock = null;
    this.#closedSince = null;
  }

  /**
   * Whether a poll has shown that the venue has closed no position unknown to the book: a close here after it
   * may have opened the other side. The wait for it is bounded.
   */
  #isAccountConfirmed(): boolean {
    const { family, book } = this.copy;
    if (family === "SPOT" || book.nextEntryId === 1) return true;
    const now = this.#parts.wallNow();
    this.#closedSince ??= now;
    if (this.#missing.explainedUntil >= this.#closedSince) return true;
    if (now - this.#closedSince >= CONFIRMED_MS_MAX) return true;
    if (this.#poll.current === null && now - this.#confirmedAt >= RETRY_MS_MIN) {
      this.#confirmedAt = now;
      this.pollSoon();
    }
    return false;
  }

  /** What the copy has beyond its target. */
  #excess(symbol: string): bigint {
    return magnitude(this.#state.holding(symbol).quantity) - magnitude(this.#state.target(symbol));
  }

  #isPaceOver(symbol: string): boolean {
    const pace = this.#paces.get(symbol);
    if (pace === undefined) return true;
    const hasChanged = pace.left !== undefined && pace.left !== this.#excess(symbol);
    return hasChanged || this.#parts.wallNow() >= pace.at;
  }

  /**
   * Positions that the venue has closed are recorded before the rest is closed; the wait for that is short.
   */
  #isStockTaken(): boolean {
    if (!this.#closesAll) return true;
    if (this.#stock === null) {
      this.#stock = "BEING_TAKEN";
      void Promise.race([this.#pollAfresh(), this.#parts.pauses.pause(ORDER_WAITS_MS)]).then(() => {
        if (this.#stock === "BEING_TAKEN") this.#stock = "TAKEN";
        this.wake();
      });
    }
    return this.#stock === "TAKEN";
  }

  /**
   * Removes a target permanently once the strategy has been out of its side for some time and all its actions
   * are dealt with.
   */
  #dropTarget(symbol: string): void {
    const isTaken = this.#state.takenSeq >= this.#parts.actions.lastSeq;
    const isDealtWith = isTaken && this.#head(symbol) === undefined;
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
      if (!this.#closesAll || this.#closed.has(symbol)) return false;
    }
    const now = this.#parts.wallNow();
    if (this.#gate.stopped() !== null) return false;
    if (!this.#isPaceOver(symbol) && (this.#closesAll || !this.#isWaitOver(symbol))) return false;
    if (this.#closesAll) return this.#isStockTaken() && !this.#closed.has(symbol);
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

  get #closesAll(): boolean {
    return this.#isClosingDown || this.#closing !== null;
  }

  get #isClosingDown(): boolean {
    return this.copy.status === "CLOSING";
  }

  async #work(symbol: string): Promise<void> {
    const backOff = new BackOff({ minMs: RETRY_MS_MIN, maxMs: RETRY_MS_MAX });
    while (!this.#isEnded) {
      try {
        // The gate has to know the venue.
        await this.#gate.ready();
        await this.#workers.get(legWorkerOf(symbol));
        const next = this.#next(symbol);
        if (next === null) return;
        if (next === "RECONCILE") await this.#reconcile(symbol);
        else {
          this.#executing.set(symbol, next.entryId);
          await this.#executeUnlessPostponed(next);
        }
        this.#failed.delete(symbol);
        backOff.reset();
      } catch (error) {
        this.#failed.add(symbol);
        if (!(await this.#failedWith(error, symbol, backOff.next()))) return;
      }
    }
  }

  async #workOnLeg(row: MirrorEntry): Promise<void> {
    try {
      await this.#execute(row);
    } catch (error) {
      await this.#failedWith(error, row.symbol);
    }
  }

  async #executeUnlessPostponed(row: MirrorEntry): Promise<void> {
    try {
      await this.#execute(row);
    } catch (error) {
      if (!(error instanceof Postponed)) throw error;
      this.#postponed.set(row.entryId, error.until);
    }
  }

  async #execute(row: MirrorEntry): Promise<void> {
    const state = this.#state;
    if (row.kind === "REPAIR") await executeRepair(this.#context, row);
    else if (row.seq === null) await this.#resume(row);
    else await executeRow(this.#context, row, await this.#context.actionAt(row.seq));
    if (state.outbox().some(({ entryId }) => entryId === row.entryId))
      throw new Error(`a row that was executed has left the outbox: ${row.entryId}`);
    this.#openings.delete(row.entryId);
    this.#postponed.delete(row.entryId);
    this.#touchedAt.set(row.symbol ?? "", this.#parts.wallNow());
    // A stop that was not taken does not wait for the pace of a step that found nothing to do.
    const isStop = row.orderType === "STOP_LOSS" || row.orderType === "STOP_LOSS_LIMIT";
    if (isStop && this.#paces.get(row.symbol ?? "")?.left !== undefined) this.#paces.delete(row.symbol ?? "");
    if (row.requestId !== null) this.#finishRepair(row.requestId);
    this.#saveAndWake();
  }

  /**
   * A row of the reconciler's own that a restart has left in the outbox: resolves its outcome if it was sent,
   * or drops it.
   */
  async #resume(row: MirrorEntry): Promise<void> {
    const outcome =
      row.status === "SENT"
        ? await submit(this.#context, row, () => skipOf("OVERTAKEN"))
        : ({ kind: "UNSENT", skip: skipOf("OVERTAKEN") } as const);
    await conclude(this.#context, row, outcome);
  }

  /** One step of a symbol towards its target. */
  async #reconcile(symbol: string): Promise<void> {
    const { wallNow } = this.#parts;
    const { reason } = this.copy;
    const isClosing = this.#closesAll;
    const pace = this.#paces.get(symbol);
    const kind = !isClosing ? "RECONCILE" : reason === "STRATEGY_CLOSED" ? "CLOSE" : "FLATTEN";
    const before = pace?.before?.kind === kind ? pace.before : null;
    const result = await reconcileSymbol(this.#context, symbol, {
      kind,
      request: this.#closing,
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

  /**
   * `isClosing`: whether the symbol was to be closed when the step began; a request may have asked for it
   * since.
   */
  #note(
    symbol: string,
    result: Reconciled,
    { pace, isClosing }: { readonly pace: Pace | undefined; readonly isClosing: boolean },
  ): void {
    const now = this.#parts.wallNow();
    this.#alarms.noteExit(symbol, result.kind === "LEFT" && result.skip.venue !== null);
    // An attempt that has failed does not begin the waiting again.
    if (result.kind === "CLEAN" || result.kind === "UNPROTECTED") this.#waitsSince.delete(symbol);
    else if (result.kind === "WAITS" && !this.#waitsSince.has(symbol)) this.#waitsSince.set(symbol, now);
    if (result.kind === "WAITS") this.#paces.set(symbol, { at: now + RECONCILE_AFTER_MS });
    else if (result.kind === "CLEAN") {
      this.#paces.delete(symbol);
      if (isClosing)
        this.#closed.set(symbol, { unsold: result.unsold, left: this.#state.holding(symbol).quantity });
      // A remainder too small to sell is reconciled again when it has grown; the work queued behind it
      // proceeds.
      if (this.#excess(symbol) > 0n || (!this.#closesAll && isUneven(this.#context, symbol))) {
        this.#paces.set(symbol, { at: now + RECONCILE_MS_MAX, left: this.#excess(symbol) });
      }
    } else {
      const isLeft = result.kind === "LEFT";
      const msMax = isLeft ? RECONCILE_MS_MAX : PROTECT_MS_MAX;
      const waitMs = Math.min(msMax, (pace?.waitMs ?? RECONCILE_AFTER_MS / 2) * 2);
      this.#paces.set(symbol, { at: now + waitMs, waitMs, before: isLeft ? this.#lastFailed(symbol) : null });
    }
    if (this.#closing !== null) this.#finishCloseRequest(result);
    if (this.#isClosingDown) this.#finishClosing();
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
    if (!this.#isClosingDown || this.#workers.size > 1 || state.outbox().length > 0) return;
    const symbols = new Set<string>(state.book.holdings.keys());
    for (const { symbol, isFeeDue, status } of state.open()) {
      // Fees of sales have to be known first, and unconfirmed orders may still turn up.
      if (isFeeDue === true || status === "UNCONFIRMED") return;
      if (symbol !== null) symbols.add(symbol);
    }
    if ([...symbols].some((symbol) => !this.#isClosed(symbol))) {
      this.#closedSince = null;
      return;
    }
    if (state.resting().length > 0 || !this.#isStockTaken() || !this.#isAccountConfirmed()) return;
    for (const { unsold } of this.#closed.values()) if (unsold !== null) state.add(unsold);
    this.#forgetClosing();
    const { wallNow } = this.#parts;
    const { reason } = this.copy;
    const request = this.#requests.find(({ kind }) => kind === "CLOSE");
    if (request !== undefined) this.#finish(request, null);
    if (reason !== null && BY_EQUITY.includes(reason)) {
      // From now on it counts from what the copy is worth.
      const { snapshot } = state.book;
      const equity = equityOf(state.book, this.#prices);
      const valued = snapshot === null || equity === null ? snapshot : { ...snapshot, equity };
      state.setBook({ ...state.book, stopBase: equity, snapshot: valued });
      state.move("PAUSED", reason, wallNow());
    } else {
      this.#settleProfit({ isFinal: true });
      state.move("STOPPED", reason ?? "COPIER", wallNow());
    }
    this.#save();
  }

  #finishCloseRequest(result: Reconciled): void {
    const request = this.#closing;
    if (request === null || this.#isClosingDown) return;
    if (result.kind === "LEFT") {
      // The targets stay, so the reconciler goes on; the answer says what prevents the close.
      this.#closing = null;
      this.#forgetClosing();
      this.#finish(request, skipWords(result.skip, null));
      return;
    }
    const left = [...this.#state.book.holdings.keys()].some((symbol) => !this.#isClosed(symbol));
    if (left || this.#state.resting().length > 0 || !this.#isStockTaken()) return;
    for (const { unsold } of this.#closed.values()) if (unsold !== null) this.#state.add(unsold);
    this.#closing = null;
    this.#forgetClosing();
    this.#finish(request, null);
  }

  /**
   * Executes the requests to the copy, one after another. True if something failed, and it is to be retried.
   */
  async #answer(): Promise<boolean> {
    try {
      for (const request of this.#requests) {
        if (this.#isEnded || this.#finished.has(request.requestId)) continue;
        if (!(await this.#answerOne(request))) return false;
      }
      return false;
    } catch (error) {
      return await this.#failedWith(error, null);
    }
  }

  /** Whether it is done; if not, it is gone on with when something has changed. */
  async #answerOne(request: CopyRequest): Promise<boolean> {
    const state = this.#state;
    const { status } = state.copy;
    if (request.kind === "WITHDRAW") {
      if (status !== "STOPPED" || state.outbox().length > 0) return false;
      await this.#gate.ready();
      const left = await withdraw(this.#context, request);
      if (left !== null && left.reason !== "CREDENTIALS") return false;
      this.#forget(request);
      this.#save();
      return true;
    }
    if (state.outbox().some(({ requestId }) => requestId === request.requestId)) return false;
    if (status === "STOPPED") return this.#finish(request, IS_STOPPED);
    await this.#gate.ready();
    if (this.#gate.isBlind()) return this.#finish(request, IS_BLIND);
    if (request.kind === "LOOK") {
      return this.#finish(request, (await this.#pollFor(request)) ? null : IS_AWAY);
    }
    if (request.kind === "CLOSE" && status === "CLOSING") return false;
    const stopped = this.#gate.stopped();
    if (stopped !== null) return this.#finish(request, skipWords(stopped, null));
    if (request.kind === "CLOSE") {
      if (this.#closing !== null) return false;
      this.#closing = request;
      this.#beginAgain();
      this.#finishCloseRequest({ kind: "CLEAN", unsold: null });
      this.wake();
      return false;
    }
    // The strategy's actions go before a repair.
    if (state.outbox().length > 0) return false;
    if (!(await this.#pollFor(request))) return this.#finish(request, IS_AWAY);
    const ordered = await orderRepair(this.#context, request, this.#parts.store);
    if (ordered === 0) return this.#finish(request, null);
    this.#saveAndWake();
    return false;
  }

  #finishRepair(requestId: string): void {
    const request = this.#requests.find((each) => each.requestId === requestId);
    if (request === undefined || request.kind !== "REPAIR") return;
    if (!this.#state.outbox().some((row) => row.requestId === requestId)) this.#finish(request, null);
  }

  #finish(request: CopyRequest, failure: string | null): true {
    this.#state.finishRequest(request, this.#parts.wallNow(), failure);
    this.#forget(request);
    this.#save();
    return true;
  }

  #forget({ requestId }: CopyRequest): void {
    this.#finished.add(requestId);
    this.#requests = this.#requests.filter((each) => each.requestId !== requestId);
  }

  /** Polls for a request, for a while. */
  async #pollFor({ askedAt }: CopyRequest): Promise<boolean> {
    const { wallNow, takenAt, pauses } = this.#parts;
    const until = Math.max(askedAt, takenAt) + REQUESTED_POLL_MS_MAX;
    for (;;) {
      const failure = await this.#pollAfresh();
      if (failure === null) return true;
      if (this.#isEnded || pauses.isOver || wallNow() >= until) return false;
      await pauses.pause(Math.max(RETRY_MS_MIN, Math.min(failure.until, until) - wallNow()));
    }
  }

  /** Polls, and waits for it a moment; answers whether the copy has new balances. */
  async #pollInTime(ms: number): Promise<boolean> {
    const before = this.copy.book.snapshot;
    await Promise.race([this.#pollAfresh(), this.#parts.pauses.pause(ms)]);
    return this.copy.book.snapshot !== before;
  }

  /** Queries the venue for orders of which something is to be expected, beside everything else. */
  #queryOrders(): void {
    const state = this.#state;
    const hasNone = state.unconfirmed().length === 0 && state.resting().length === 0;
    this.#startHinting();
    if (hasNone || this.#gate.isBlind()) return;
    void this.#querying.run();
    if (this.#missedSince !== null && this.polledAt <= this.#missedSince) void this.#catchingUp.run();
  }

  /** Listens to the account exactly while it may be asked. */
  #listen(): void {
    const mayListen = !this.#isEnded && this.copy.status !== "STOPPED" && !this.#gate.isBlind();
    const client = mayListen ? (this.#session.opened?.client ?? null) : null;
    if (client === (this.#stream?.client ?? null)) return;
    this.#stream?.stop();
    this.#stream = client === null ? null : { client, stop: client.listen((event) => this.#heard(event)) };
  }

  /**
   * An event is a hint: the query that follows has the exact figures. What the copy does itself it learns
   * from the answers to its requests, so only executions are queried at once.
   */
  #heard(event: VenueEvent): void {
    const now = this.#parts.wallNow();
    if (event.kind === "RESUMED") {
      this.#missedSince = now;
      return;
    }
    const { clientOrderId, change, executed } = event;
    const row = this.#state.byClientOrderId(clientOrderId);
    if (row === undefined) {
      if (change === "EXECUTED") this.#foreignSince = now;
      return;
    }
    if (change === "PLACED" && row.status !== "UNCONFIRMED") return;
    this.#hints.set(clientOrderId, { executed, queries: 0 });
    if (change !== "ENDED") this.#startHinting();
  }

  #startHinting(): void {
    if (!this.#isEnded && this.#hints.size > 0 && !this.#gate.isBlind()) void this.#hinting.run();
  }

  /** Queries orders that events have named, also those of events that come in the meantime. */
  async #followHints(context: CopyContext): Promise<void> {
    const again = new Map<string, Hint>();
    try {
      for (const [id, hint] of this.#hints) {
        const row = this.#state.byClientOrderId(id);
        // What is being sent is queried once its answer is there.
        if (row?.status === "SENT") continue;
        this.#hints.delete(id);
        if (row === undefined || isFulfilled(row, hint)) continue;
        const { queries } = hint;
        if (queries + 1 < QUERIES_PER_HINT_MAX) again.set(id, { ...hint, queries: queries + 1 });
        if (await bookHinted(context, row)) {
          // A position that has come does not wait for its stop.
          this.#paces.delete(row.symbol ?? "");
          this.#saveAndWake();
        }
        if (isFulfilled(this.#state.latest(row), hint)) again.delete(id);
      }
    } finally {
      for (const [id, hint] of again) if (!this.#hints.has(id)) this.#hints.set(id, hint);
    }
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
      await this.#gate.ready();
      if (this.#gate.isBlind()) return new NotAnswered(IS_BLIND);
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
    const isAwaited = this.copy.family === "SPOT" || this.copy.status !== "FOLLOWING";
    await this.#beside(learnDueFees, isAwaited ? this.#session.polling() : this.#session.briefly(0));
    if (this.#state.feesDue().length !== before) this.#saveAndWake();
    else this.#learnAt = this.#parts.wallNow() + LEARN_AGAIN_MS;
  }

  /** Stop loss and take profit, and what the copy is worth at the beginning of a day. */
  #checkEquity(prices: VenuePrices): void {
    const { book, settings, status, reason } = this.copy;
    const { wallNow } = this.#parts;
    if (book.snapshot === null) return;
    const equity = equityOf(book, prices) ?? book.snapshot.equity;
    const day = Math.floor(wallNow() / DAY_MS);
    if (settings.lossPerDayMax !== null && book.dayStart?.day !== day) {
      this.#state.setBook({ ...book, dayStart: { day, equity } });
      this.#save();
    }
    const isOver =
      status === "CLOSING" || (status === "PAUSED" && reason !== null && BY_EQUITY.includes(reason));
    const hasSomething = book.holdings.size > 0 || this.#state.resting().length > 0;
    if (isOver || (status === "PAUSED" && !hasSomething)) return;
    const isStopped = isStopLossReached({ ...book, snapshot: { ...book.snapshot, equity } }, settings);
    if (!isStopped && !isTakeProfitReached(book, settings, equity)) return;
    this.#state.setSnapshot({ ...book.snapshot, equity });
    this.#state.move("CLOSING", isStopped ? "STOP_LOSS" : "TAKE_PROFIT", wallNow());
    this.#beginAgain();
    this.#save();
  }

  /** Computes the profit share, once every price that it needs is known. */
  #settleProfit({ isFinal = false }: { readonly isFinal?: boolean } = {}): void {
    const state = this.#state;
    const { book } = state;
    const equity = equityOf(book, this.#prices);
    const isValued = [...book.holdings.keys()].every((symbol) => this.#prices.has(symbol));
    if (equity === null || !isValued) return;
    const at = this.#parts.wallNow();
    const settlement = settlementOf(book, { equity, at, isFinal });
    if (settlement === null) return;
    const { settled, profitMark } = settlement;
    state.setBook({ ...book, profitMark });
    if (settled !== null) {
      const row = ownRow("PROFIT_SHARE", null, at);
      state.add({ ...row, collectiveId: PROFIT_SHARES_ID, profitShare: settled });
    }
    this.#save();
  }

  /** Why the copier's limits let nothing be opened now. */
  #openingLimit(prices: VenuePrices): Skip | null {
    const { settings, book } = this.copy;
    const now = this.#parts.wallNow();
    const isOfToday = book.dayStart?.day === Math.floor(now / DAY_MS);
    const dayStartEquity = isOfToday ? (book.dayStart?.equity ?? null) : null;
    const equity = equityOf(book, prices);
    return (
      tooManyOrdersSkip(settings, { openedAt: this.#openedAt, now }) ??
      (equity === null ? null : lossOfDaySkip(settings, { dayStartEquity, equity }))
    );
  }

  #noteOpening(): () => void {
    const now = this.#parts.wallNow();
    this.#openedAt = [...this.#openedAt.filter((at) => now - at < MINUTE_MS), now];
    return () => {
      const index = this.#openedAt.indexOf(now);
      this.#openedAt = this.#openedAt.filter((_at, each) => each !== index);
    };
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
    for (const request of this.#requests) {
      giveUp(this.#context, request, skipOf("CREDENTIALS"));
      this.#forget(request);
    }
    this.#save();
  }
}

/** The name of the worker that a symbol has for a leg beside its own. */
function legWorkerOf(symbol: string): string {
  return `leg of ${symbol}`;
}

/** Executes a row that answers an action of the strategy. It is not in the outbox any more then. */
async function executeRow(context: CopyContext, row: MirrorEntry, action: LeadAction): Promise<void> {
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

/** Whether a row shows what an event has said of its order. */
function isFulfilled({ status, executedQuantity }: MirrorEntry, { executed }: Hint): boolean {
  if (status !== "RESTING") return status !== "UNCONFIRMED";
  return executed !== null && executedQuantity >= executed;
}

/** Copiers get a mail about what happened to the copy without their doing. */
function isTold(status: Copy["status"], reason: CopyReason): boolean {
  if (BY_EQUITY.includes(reason) || reason === "STRATEGY_CLOSED") return status === "CLOSING";
  return reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";
}

const NO_PRICES: VenuePrices = new Map();
