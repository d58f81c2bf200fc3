// Signals as rows, and back. What a status holds besides is its outcome: the order of one that was executed,
// the reason of one that was rejected or could not be tried.
import type { Selectable } from "kysely";
import type { NewSignal, Rejection, SettledSignal, Signal, SignalState } from "../domain/signal.ts";
import { decodeOrder, encodeOrder } from "./codec.ts";
import type { Tables } from "./schema.ts";

/** A row as either store answers it. */
export type SignalRow = Omit<Selectable<Tables["signals"]>, "position" | "due_at">;

/** The columns of such a row. */
export const SIGNAL_COLUMNS = [
  "signal_id",
  "strategy_id",
  "idempotency_key",
  "body",
  "received_at",
  "status",
  "processed_at",
  "outcome",
  "attempts",
] as const satisfies readonly (keyof SignalRow)[];

/** The row of a signal that is received, which nobody else claims before `claimedUntil`. */
export function receivedRow(signal: NewSignal, claimedUntil: number) {
  return {
    signal_id: signal.signalId,
    strategy_id: signal.strategyId,
    idempotency_key: encodeKey(signal.idempotencyKey),
    body: signal.body,
    received_at: signal.receivedAt,
    status: "RECEIVED",
    attempts: 0,
    due_at: claimedUntil,
    signature: signal.signed?.signature ?? null,
    signature_expires_at: signal.signed?.expiresAt ?? null,
  } as const;
}

export type ReceivedRow = ReturnType<typeof receivedRow>;

/**
 * What became of a received row: null if it was added, what is there under its key, or that its signature is
 * another key's.
 */
export type FoundRow = SignalRow | "SIGNATURE_USED" | null;

/** What settles the row of a signal. */
export function settlementRow(strategyId: string, { signalId, state }: SettledSignal) {
  return {
    strategy_id: strategyId,
    signal_id: signalId,
    status: state.status,
    processed_at: state.processedAt,
    outcome: state.status === "EXECUTED" ? encodeOrder(state.order) : encodeReason(state.reason),
  };
}

/** What records a signal, besides what settles it. */
export function recordingRow({ idempotencyKey, body, receivedAt, signed }: NewSignal) {
  return {
    idempotency_key: encodeKey(idempotencyKey),
    expires_at: signed?.expiresAt ?? null,
    signature: signed?.signature ?? null,
    body,
    received_at: receivedAt,
  };
}

export function encodeKey(idempotencyKey: string): string {
  return JSON.stringify(idempotencyKey);
}

export function encodeReason(reason: Rejection): string {
  return JSON.stringify(reason);
}

export function signalOfRow(row: SignalRow): Signal {
  return {
    signalId: row.signal_id,
    strategyId: row.strategy_id,
    idempotencyKey: JSON.parse(row.idempotency_key),
    body: row.body,
    receivedAt: row.received_at,
    state: stateOfRow(row),
  };
}

function stateOfRow({ signal_id, status, processed_at, outcome, attempts }: SignalRow): SignalState {
  if (status === "RECEIVED") return { status };
  if (outcome === null) throw new Error(`a signal that was tried has an outcome: ${signal_id}`);
  // Only one that has failed has none.
  const processedAt = processed_at ?? 0;
  switch (status) {
    case "EXECUTED":
      return { status, processedAt, order: decodeOrder(outcome) };
    case "REJECTED":
      return { status, processedAt, reason: JSON.parse(outcome) };
    case "FAILED":
      return { status, reason: JSON.parse(outcome), attempts };
  }
}
