// Signals as the wire has them. Source: specification 2.8 and 4.4.
import type { Signal, SignalState } from "../../domain/signal.ts";
import { presentOrder } from "../present/spot.ts";
import { wireError } from "../refusals.ts";

/** A signal in a list: JSON text, since the order is shown as it was sent. */
export function presentSignal(signal: Signal): string {
  const { signalId, strategyId, idempotencyKey, state } = signal;
  const result = resultOf(state, strategyId);
  const head = JSON.stringify({
    signalId,
    idempotencyKey,
    status: state.status,
    result,
    collectiveId: result !== null && "data" in result ? result.data.collectiveId : null,
  });
  return `${head.slice(0, -1)},"order":${signal.body},${JSON.stringify(timesOf(signal)).slice(1)}`;
}

/** A signal that is queried by its id. */
export function presentSignalState(signal: Signal) {
  const { signalId, strategyId, idempotencyKey, state } = signal;
  return {
    signalId,
    idempotencyKey,
    status: state.status,
    result: resultOf(state, strategyId),
    ...timesOf(signal),
  };
}

function resultOf(state: SignalState, strategyId: string) {
  switch (state.status) {
    case "RECEIVED":
      return null;
    case "EXECUTED":
      return { status: true, message: "Order placed", data: presentOrder(strategyId, state.order) };
    case "REJECTED":
    case "FAILED": {
      const { msg, code } = wireError(state.reason);
      return { status: false, message: msg, code };
    }
  }
}

function timesOf({ receivedAt, state }: Signal) {
  return {
    receivedAt: new Date(receivedAt).toISOString(),
    processedAt: "processedAt" in state ? new Date(state.processedAt).toISOString() : null,
  };
}
