// A signal: an order that a bot submits under a key of its own choosing, executed exactly once. RECEIVED:
// recorded, not executed yet. EXECUTED: the engine took its order; terminal. REJECTED: its order can never be
// taken; terminal. FAILED: the market or the store was not available; it is retried.
// The terminal state is an event of the strategy's journal, committed together with the order and its fills
// under a key that only this signal has. So no race, crash or second process can execute it twice, or execute
// it and reject it. Source: specification 2.8 and 3.1; design, section 6.
import type { Order } from "./order.ts";
import type { Refusal } from "./refusal.ts";

/** A signal as it is recorded. Times are wall time, Unix ms. */
export type Signal = {
  /** A UUID; it is also the client order id of the signal's order. */
  readonly signalId: string;
  readonly strategyId: string;
  /** Unique within the strategy. */
  readonly idempotencyKey: string;
  /** The order as the bot wrote it: JSON text. */
  readonly body: string;
  readonly receivedAt: number;
  readonly state: SignalState;
};

/** A signal before it is recorded: RECEIVED. */
export type NewSignal = Omit<Signal, "state"> & {
  /** The signature of its request; absent for an unsigned one. */
  readonly signed?: SignedRequest;
};

/** A request's signature, hex, and until when another server might take it: wall time, Unix ms. */
export type SignedRequest = { readonly signature: string; readonly expiresAt: number };

export type SignalState =
  | { readonly status: "RECEIVED" }
  /**
   * `reason` is why it could not be tried the last time, `attempts` how often it was tried. One beyond the
   * budget of placements keeps that reason.
   */
  | { readonly status: "FAILED"; readonly reason: Rejection; readonly attempts: number }
  | SettledState;

/** A state that never changes. */
export type SettledState =
  /** The order as its execution left it. */
  | { readonly status: "EXECUTED"; readonly processedAt: number; readonly order: Order }
  | { readonly status: "REJECTED"; readonly processedAt: number; readonly reason: Rejection };

export type SignalStatus = SignalState["status"];

/** The change of a signal by a commit. `received`: the signal, if the commit also records it. */
export type SettledSignal = {
  readonly signalId: string;
  readonly state: SettledState;
  readonly received?: NewSignal;
};

/**
 * Why a signal is not executed. No spot order is refused for the one that is left out, which holds an amount.
 */
export type Rejection = Exclude<Refusal, { readonly refusal: "NOTIONAL_TOO_SMALL" }>;

/** Whether a text is of the form of a signal's id: a UUID in lowercase. */
export function isSignalId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
