// The port of signals, and of stream handshakes that failed.
import type { NewSignal, Rejection, Signal } from "../../domain/signal.ts";

/** Where a stream handshake came from: the key that it named, and the holder of its address's budgets. */
export type HandshakeSource = { readonly apiKey: string; readonly address: string };

/**
 * What is recorded under the key of a signal; null if its signature was accepted for another key, and it was
 * not recorded.
 */
export type ReceivedSignal =
  | { readonly signal: Signal; readonly isNew: boolean }
  | { readonly signal: null; readonly isNew: false };

export type SignalStore = {
  /**
   * Records signals, each unless its strategy has one under its key already, and answers in the same order
   * with what is recorded under their keys. Resolves when all is durable. Nobody else claims a new one before
   * `claimedUntil`. If it rejects, with StoreUnavailable too, they may be recorded or not: a retry under
   * their keys answers that. One that waits for others to be written for longer than RECEIVE_WAIT_MS_MAX is
   * rejected with StoreUnavailable and never recorded. Times here and below are wall time, Unix ms.
   *
   * The key is no part of what a request signs. So a signature is recorded in the same transaction, with its
   * key, also that of a signal that is known, and a signal under a signature that was accepted for another
   * key is not recorded.
   */
  receiveSignals(
    signals: readonly NewSignal[],
    options: { readonly claimedUntil: number },
  ): Promise<readonly ReceivedSignal[]>;
  findSignal(
    strategyId: string,
    signal: { signalId: string } | { idempotencyKey: string },
  ): Promise<Signal | null>;
  /** The newest signals of a strategy, newest first. */
  listSignals(strategyId: string, options: { readonly limit: number }): Promise<readonly Signal[]>;
  /** Those before a signal, newest first; none before one that there is not. */
  listRecentSignals(
    strategyId: string,
    query: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<readonly Signal[]>;
  /**
   * Claims pending signals that nobody has a claim on any more, longest due first: nobody else is given them
   * before `until`. Signatures of signals that have expired are forgotten. Several processes may ask at once,
   * and none waits for another.
   */
  claimSignals(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
    /** Only those of strategies in these slots; undefined for all. */
    readonly slots?: ReadonlySet<number> | undefined;
  }): Promise<readonly Signal[]>;
  /**
   * Has a pending signal be FAILED, to be claimed again from `dueAt` on. One that is settled stays as it is.
   */
  postponeSignal(
    signalId: string,
    options: { readonly reason: Rejection; readonly dueAt: number },
  ): Promise<void>;
  /** How many signals are pending, and when the longest waiting one was received; null if none is. */
  countPendingSignals(): Promise<{ readonly count: number; readonly oldestReceivedAt: number | null }>;
  /** Notes that a stream handshake has failed, and forgets those that failed before `forgetBefore`. */
  noteFailedHandshake(
    source: HandshakeSource,
    at: number,
    options: { readonly forgetBefore: number },
  ): Promise<void>;
  /** When handshakes under a key failed that came from an address, ascending; those since a time. */
  listFailedHandshakes(source: HandshakeSource, since: number): Promise<readonly number[]>;
  /** How many failed under each key since a time, and when the last one did: most first. */
  countFailedHandshakes(
    since: number,
    limit: number,
  ): Promise<readonly { readonly apiKey: string; readonly count: number; readonly lastAt: number }[]>;
};
