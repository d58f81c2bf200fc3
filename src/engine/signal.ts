// The outcome of a signal. Its order is decided like any other; then the signal is executed, or rejected
// permanently, or left unchanged because the obstacle may be transient.
import type { ExecuteSignal } from "../domain/command.ts";
import type { DomainEvent, SignalRejected } from "../domain/event.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { Rejection } from "../domain/signal.ts";
import type { Circumstances, Decision } from "./decision.ts";

/** Transient refusals: the same order may be taken later. */
const MENDABLE: ReadonlySet<Refusal["refusal"]> = new Set(["MARKET_SILENT", "BUSY", "ORDERS_EXHAUSTED"]);

/**
 * Settles a signal by the decision on its order, in the same entry as the order's own events. A transient
 * refusal is the answer itself: the signal stays unchanged. Source: specification 3.1; design, section 6
 * (signals).
 */
export function settleSignal(command: ExecuteSignal, order: Decision, { at }: Circumstances): Decision {
  const { signalId, processedAt } = command;
  if (isRefusal(order)) {
    if (MENDABLE.has(order.refusal)) return order;
    return { events: [rejected(command, asRejection(order), at)] };
  }
  const orderId = placedBy(order.events);
  return {
    events: [...order.events, { type: "SignalExecuted", at, signalId, orderId, processedAt, postings: [] }],
  };
}

/** The signal can never be executed, and nothing else happens. `at` is market time, Unix ms. */
export function rejected(
  { signalId, processedAt }: ExecuteSignal,
  reason: Rejection,
  at: number,
): SignalRejected {
  return { type: "SignalRejected", at, signalId, reason, processedAt, postings: [] };
}

function asRejection(refusal: Refusal): Rejection {
  if (refusal.refusal === "NOTIONAL_TOO_SMALL")
    throw new Error("only contracts refuse an order by naming the notional that it needs");
  return refusal;
}

function placedBy(events: readonly DomainEvent[]): number {
  const placed = events.find((event) => event.type === "OrderPlaced");
  if (placed === undefined) throw new Error("an order that is taken is placed");
  return placed.order.orderId;
}
