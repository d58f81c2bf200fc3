// Signals that cases receive, and how they are settled.
import type { Order } from "../../../domain/order.ts";
import type { NewSignal, SettledSignal, Signal } from "../../../domain/signal.ts";
import { orderOf } from "../records.ts";

/** When signals are settled, wall time in Unix ms. */
const PROCESSED_AT = 1_795_228_304_999;

/** A signal of the strategy `one` to sell, under a key of its own. */
export function signalOf(signalId: string, terms: Partial<NewSignal> = {}): NewSignal {
  return {
    signalId,
    strategyId: "one",
    idempotencyKey: `key-${signalId}`,
    body: `{"symbol":"BTCUSDT","tradeType":"SELL","quantity":"0.5","of":"${signalId}"}`,
    receivedAt: 1_795_228_304_525,
    ...terms,
  };
}

/** The same, recorded. */
export function received(signal: NewSignal): Signal {
  return { ...signal, state: { status: "RECEIVED" } };
}

/** A signal that was executed with an order. */
export function settledOf(signalId: string, order: Order): SettledSignal {
  return { signalId, state: { status: "EXECUTED", processedAt: PROCESSED_AT, order } };
}

/** A signal that the commit of its order records as well. */
export function recordedOf(
  signal: NewSignal,
  order = orderOf(1, { clientOrderId: signal.signalId }),
): SettledSignal {
  return { ...settledOf(signal.signalId, order), received: signal };
}

/** A signal that can never be executed. */
export function rejectedOf(signalId: string): SettledSignal {
  const reason = { refusal: "FILTER_FAILED", filter: "NOTIONAL" } as const;
  return { signalId, state: { status: "REJECTED", processedAt: PROCESSED_AT, reason } };
}
