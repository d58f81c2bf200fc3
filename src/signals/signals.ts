// The life of a signal. Most are recorded by the commit that executes or rejects them (decision 81). One that
// cannot be decided at once is recorded and claimed first, then driven through the desk until its state is
// terminal; a transient refusal leaves it FAILED, to be retried with growing delays. Invariants: a known key
// is answered with the recorded signal, and a different order under it is refused; a strategy that is not
// LIVE, a malformed body, or a signature accepted for another key is refused and not recorded.
// Source: specification 2.8 and 3.1; design, section 6 (signals).

import type { Logger } from "pino";
import { BoundedMap } from "../concurrency/bounded-map.ts";
import { backOffMs } from "../concurrency/delays.ts";
import { systemTimers, type Timers } from "../concurrency/time.ts";
import type { Desk, Executed } from "../desk/desk.ts";
import { type ExecuteSignal, signalKey } from "../domain/command.ts";
import { isRefusal } from "../domain/refusal.ts";
import type { NewSignal, Rejection, SettledState, Signal, SignedRequest } from "../domain/signal.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { ReceivedSignal } from "../store/ports/signals.ts";
import { type Store, StoreFailure, StoreUnavailable } from "../store/store.ts";
import {
  faultUnder,
  isFault,
  isSameOrder,
  keptText,
  type OrderTerms,
  readSubmission,
  type SubmissionFault,
} from "./submission.ts";

/**
 * Duration of a claim for driving a signal, ms. If its process dies, the claim expires, and the sweep of any
 * process continues.
 */
export const CLAIM_MS = 10_000;
/**
 * Maximum wait of a submission for its order after it was received, ms: then it is answered with the recorded
 * signal, which is executed as soon as the disk permits.
 */
export const SUBMISSION_WAIT_MS_MAX = 5_000;
/** How long a signal that could not be tried waits for the next time, ms: twice as long each time. */
export const RETRY_MS_MIN = 1_000;
export const RETRY_MS_MAX = 30_000;
/** A strategy's list of signals shows the newest. Source: specification 4.4. */
export const SIGNALS_LISTED_MAX = 500;

export type SignalStore = Pick<
  Store,
  "receiveSignals" | "findSignal" | "listSignals" | "claimSignals" | "postponeSignal"
>;

export type Submission = {
  readonly idempotencyKey: string;
  /** The JSON of the order, as it was sent. */
  readonly body: string;
  /** When the request was charged as a placement: wall time, Unix ms. */
  readonly admittedAt: number;
  /** What the request was signed with, without the key itself. */
  readonly signed: SignedRequest;
};

/** The recorded signal, and whether it had been terminal before; or why nothing was recorded. */
export type Submitted =
  | { readonly signal: Signal; readonly replayed: boolean }
  | { readonly refused: "NOT_LIVE" | "OTHER_ORDER" | "SIGNATURE_USED" | "STORAGE_SHORT" }
  | { readonly refused: "MALFORMED"; readonly fault: string };

/** A signal that is settled, or that is recorded under its key and driven if it is new. */
type Entered =
  | { readonly settled: Signal }
  | { readonly received: ReceivedSignal; readonly driving: Promise<Signal> | null };

export class Signals {
  /** How often keys of signals that are recorded were sent again. */
  readonly replays = new ReplayCounts();
  readonly #desk: Pick<Desk, "execute" | "isShortOfSpace" | "profileOf">;
  readonly #store: SignalStore;
  readonly #wallNow: () => number;
  readonly #newSignalId: () => string;
  readonly #after: Timers["after"];
  readonly #log: Pick<Logger, "error" | "warn">;
  readonly #listeners = new Set<(strategyId: string) => void>();
  /** How many signals of a strategy are being settled at once or recorded: a later one does not overtake. */
  readonly #entering = new Map<string, number>();

  constructor(parts: {
    desk: Pick<Desk, "execute" | "isShortOfSpace" | "profileOf">;
    store: SignalStore;
    /** Wall time, Unix ms. */
    wallNow: () => number;
    /** A fresh UUID. */
    newSignalId: () => string;
    /** The system's timers unless given. */
    after?: Timers["after"];
    log: Pick<Logger, "error" | "warn">;
  }) {
    this.#desk = parts.desk;
    this.#store = parts.store;
    this.#wallNow = parts.wallNow;
    this.#newSignalId = parts.newSignalId;
    this.#after = parts.after ?? systemTimers.after;
    this.#log = parts.log;
  }

  /**
   * Calls the listener after this process has changed a strategy's signals without a commit of the desk:
   * received one, postponed one, or received a repeated key. Returns the unsubscribe function.
   */
  onNews(listener: (strategyId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Records an order under a key and executes it; the same key again answers with the outcome. A signal that
   * is not executed within SUBMISSION_WAIT_MS_MAX is answered as it was recorded. Rejects with
   * StoreUnavailable or StoreFailure: whether the signal was recorded is then unknown, unless it waited too
   * long to be, and a retry is safe.
   */
  async submit({ strategyId, status }: Strategy, submission: Submission): Promise<Submitted> {
    const { idempotencyKey, body, admittedAt, signed } = submission;
    const order = await this.#readFor(strategyId, body);
    // Only submissions to be refused look the key up first: receiving looks it up anyway.
    if (status !== "LIVE" || isFault(order) || this.#desk.isShortOfSpace()) {
      const known = await this.#store.findSignal(strategyId, { idempotencyKey });
      if (known !== null) return await this.#again(known, order, admittedAt);
      if (status === "LIVE" && !isFault(order)) return { refused: "STORAGE_SHORT" };
      return isFault(order) && status === "LIVE"
        ? { refused: "MALFORMED", fault: order.fault }
        : { refused: "NOT_LIVE" };
    }
    const receivedAt = this.#wallNow();
    const signalId = this.#newSignalId();
    const signal = { signalId, strategyId, idempotencyKey, body: keptText(body), receivedAt, signed };
    const entered = await this.#enter(signal, order, admittedAt);
    if ("settled" in entered) return { signal: entered.settled, replayed: false };
    const { received, driving } = entered;
    if (received.signal === null) return { refused: "SIGNATURE_USED" };
    if (driving === null) return await this.#again(received.signal, order, admittedAt);
    return { signal: await this.#soon(received.signal, driving, receivedAt), replayed: false };
  }

  /**
   * Settles a new signal at once, or records it and begins to drive it, behind those of its strategy that
   * came before it; `driving` is null if it is not new.
   */
  async #enter(signal: NewSignal, order: OrderTerms, admittedAt: number): Promise<Entered> {
    const { strategyId } = signal;
    const before = this.#entering.get(strategyId) ?? 0;
    this.#entering.set(strategyId, before + 1);
    try {
      const settled = before > 0 ? null : await this.#settleAtOnce(signal, order, admittedAt);
      if (settled !== null) return { settled };
      const claimedUntil = this.#wallNow() + CLAIM_MS;
      const [received] = await this.#store.receiveSignals([signal], { claimedUntil });
      if (received === undefined) throw new Error("every signal that is received is answered");
      if (received.signal === null || !received.isNew) return { received, driving: null };
      this.#tell(strategyId);
      return { received, driving: this.#drive(received.signal, order, admittedAt) };
    } finally {
      const left = (this.#entering.get(strategyId) ?? 1) - 1;
      if (left > 0) this.#entering.set(strategyId, left);
      else this.#entering.delete(strategyId);
    }
  }

  /**
   * The order of a body, or what is wrong with it; hardly any has to be compared with the strategy's profile.
   */
  async #readFor(strategyId: string, body: string): Promise<OrderTerms | SubmissionFault> {
    const order = readSubmission(body);
    if (isFault(order) || order.orderType !== "LIMIT_MAKER") return order;
    return faultUnder(await this.#desk.profileOf(strategyId), order) ?? order;
  }

  /** A signal of a strategy, or null. */
  async find(strategyId: string, signalId: string): Promise<Signal | null> {
    return await this.#store.findSignal(strategyId, { signalId });
  }

  /** The newest signals of a strategy, newest first. */
  async list(strategyId: string): Promise<readonly Signal[]> {
    return await this.#store.listSignals(strategyId, { limit: SIGNALS_LISTED_MAX });
  }

  /**
   * Drives a recorded signal that is not terminal and returns its state afterwards. It counts as a placement
   * if `admittedAt` is given. Rejects with StoreFailure alone.
   */
  async drive(signal: Signal, admittedAt?: number): Promise<Signal> {
    const order = readSubmission(signal.body);
    if (isFault(order)) throw new Error(`a recorded signal can be read: ${order.fault}`);
    return await this.#drive(signal, order, admittedAt);
  }

  /** A key that was used before. */
  async #again(
    signal: Signal,
    order: OrderTerms | { readonly fault: string },
    admittedAt: number,
  ): Promise<Submitted> {
    const recorded = readSubmission(signal.body);
    if (isFault(recorded)) throw new Error(`a recorded signal can be read: ${recorded.fault}`);
    if (isFault(order) || !isSameOrder(recorded, order)) return { refused: "OTHER_ORDER" };
    this.replays.note(signal.signalId);
    this.#tell(signal.strategyId);
    if (isTerminal(signal)) return { signal, replayed: true };
    const driving = this.#drive(signal, recorded, admittedAt);
    return { signal: await this.#soon(signal, driving, this.#wallNow()), replayed: false };
  }

  /**
   * The signal as driving it leaves it; as it was recorded if that takes too long for a request that began at
   * `since`, wall time.
   */
  async #soon(signal: Signal, driving: Promise<Signal>, since: number): Promise<Signal> {
    const late = Promise.withResolvers<Signal>();
    const left = SUBMISSION_WAIT_MS_MAX - (this.#wallNow() - since);
    // A clock that was set must not make it wait longer.
    const cancel = this.#after(Math.min(Math.max(left, 0), SUBMISSION_WAIT_MS_MAX), () =>
      late.resolve(signal),
    );
    try {
      return await Promise.race([driving, late.promise]);
    } finally {
      cancel();
    }
  }

  /**
   * Records a signal by the commit that executes or rejects it. Null if that cannot be done at once, or its
   * key or signature is known: nothing of it is stored then. Rejects as `submit` does.
   */
  async #settleAtOnce(received: NewSignal, order: OrderTerms, admittedAt: number): Promise<Signal | null> {
    const { signed: _, ...signal } = received;
    const { signalId, strategyId } = signal;
    const options = { key: signalKey(signalId), admittedAt, records: received };
    try {
      const executed = await this.#desk.execute(strategyId, this.#commandOf(signalId, order), options);
      return isRefusal(executed) ? null : { ...signal, state: settled(executed, signalId) };
    } catch (error) {
      if (error instanceof StoreFailure || error instanceof StoreUnavailable) throw error;
      // Driving the recorded signal fails in the same way, logs it, and postpones the signal.
      return null;
    }
  }

  #commandOf(signalId: string, order: OrderTerms): ExecuteSignal {
    const placed = { ...order, clientOrderId: signalId };
    return { type: "ExecuteSignal", signalId, order: placed, processedAt: this.#wallNow() };
  }

  async #drive(signal: Signal, order: OrderTerms, admittedAt: number | undefined): Promise<Signal> {
    const { signalId, strategyId } = signal;
    const command = this.#commandOf(signalId, order);
    try {
      const options = { key: signalKey(signalId), ...(admittedAt === undefined ? {} : { admittedAt }) };
      const executed = await this.#desk.execute(strategyId, command, options);
      if (isRefusal(executed)) return await this.#postpone(signal, executed as Rejection);
      if (executed.replayed) return await this.#asStored(signal);
      return { ...signal, state: settled(executed, signalId) };
    } catch (error) {
      if (error instanceof StoreFailure) throw error;
      if (!(error instanceof StoreUnavailable)) {
        this.#log.error(
          { err: error, signalId, strategyId },
          "a signal could not be driven; it is tried again",
        );
      }
      return await this.#postpone(signal, { refusal: "BUSY" });
    }
  }

  /**
   * Schedules a retry. Where even that cannot be stored, its claim runs out. A signal beyond the budget keeps
   * that reason: it is not counted as a placement yet.
   */
  async #postpone(signal: Signal, failure: Rejection): Promise<Signal> {
    const attempts = signal.state.status === "FAILED" ? signal.state.attempts : 0;
    const reason = budgetRefusal(signal) ?? failure;
    const dueAt = this.#wallNow() + retryMs(attempts);
    try {
      await this.#store.postponeSignal(signal.signalId, { reason, dueAt });
      this.#tell(signal.strategyId);
      return await this.#asStored(signal);
    } catch (error) {
      if (error instanceof StoreFailure) throw error;
      const { signalId, strategyId } = signal;
      this.#log.warn({ err: error, signalId, strategyId }, "a signal could not be postponed");
      return signal;
    }
  }

  #tell(strategyId: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(strategyId);
      } catch (error) {
        // The signal is recorded, so its client still gets the answer.
        this.#log.error({ err: error, strategyId }, "a listener of signals has thrown");
      }
    }
  }

  /** The signal's present state: another process may have settled it. */
  async #asStored({ strategyId, signalId }: Signal): Promise<Signal> {
    const stored = await this.#store.findSignal(strategyId, { signalId });
    if (stored === null) throw new Error(`a signal that was recorded stays: ${signalId}`);
    return stored;
  }
}

export function isTerminal({ state }: Signal): boolean {
  return state.status === "EXECUTED" || state.status === "REJECTED";
}

/** Why a signal failed, if the budget of placements was exhausted; else null. */
export function budgetRefusal({ state }: Signal): Rejection | null {
  return state.status === "FAILED" && state.reason.refusal === "ORDERS_EXHAUSTED" ? state.reason : null;
}

/** The delay after this many failed attempts, ms. */
export function retryMs(attempts: number): number {
  return backOffMs(attempts, { minMs: RETRY_MS_MIN, maxMs: RETRY_MS_MAX });
}

/** The state that an execution left its signal in. */
function settled({ events, orders }: Executed, signalId: string): SettledState {
  for (const event of events) {
    if (event.type === "SignalRejected") {
      return { status: "REJECTED", processedAt: event.processedAt, reason: event.reason };
    }
    if (event.type !== "SignalExecuted") continue;
    const order = orders.find(({ orderId }) => orderId === event.orderId);
    if (order === undefined) throw new Error("an executed signal has an order");
    return { status: "EXECUTED", processedAt: event.processedAt, order };
  }
  throw new Error(`an executed command settles its signal: ${signalId}`);
}

// Counts of repeated signal keys since this process has started, by which an operator finds a client that
// repeats itself. Bounded; the oldest entries are evicted first.

/** Signals whose repetitions are counted. */
const COUNTED_MAX = 20_000;

export class ReplayCounts {
  readonly #counts = new BoundedMap<string, number>(COUNTED_MAX);

  note(signalId: string): void {
    this.#counts.set(signalId, this.of(signalId) + 1);
  }

  of(signalId: string): number {
    return this.#counts.get(signalId) ?? 0;
  }
}
