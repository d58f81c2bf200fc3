// Bodies of the bot family as the wire has them. Errors are `{ status: false, message }`, whoever finds them.
// Source: specification 2.8, 4.4 and 7.2.
import { collectiveId } from "../../domain/collective-id.ts";
import type { Refusal, RefusalName } from "../../domain/refusal.ts";
import type { Signal, SignalState } from "../../domain/signal.ts";
import type { Reply } from "../pipeline.ts";
import { presentOrder } from "../present/spot.ts";
import { wireError } from "../refusals.ts";
import type { BotAnswer } from "./route.ts";

/** What an overloaded or marketless service asks clients to wait, s. */
const UNAVAILABLE_RETRY_AFTER_SECONDS = 1;

/** Where the words of the exchange-style families would not fit. */
const OWN_WORDS: { readonly [Name in RefusalName]?: string } = {
  BODY_TOO_LARGE: "The body is too large",
  REQUEST_MALFORMED: "The body is not UTF-8 text",
  KEY_OF_OTHER_FAMILY: "This API key manages a futures strategy; this route needs the key of a spot strategy",
};

/** Whose budget a request was counted by. */
export type BudgetOwner = "key" | "address";

/** What the body of a failure says beyond its message, and when its sender may come back. */
type More = {
  readonly retryAfterSeconds?: number | undefined;
  readonly messageSha256?: string;
  /** Unix ms. */
  readonly serverTime?: number;
};

export function failure(status: number, message: string, { retryAfterSeconds, ...fields }: More = {}): Reply {
  const wait = retryAfterSeconds ?? (status === 503 ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined);
  return {
    status,
    headers: wait === undefined ? {} : { "retry-after": String(wait) },
    body: JSON.stringify({ status: false, message, ...fields }),
    refusal: { code: null, message },
  };
}

export function refusedBot(refusal: Refusal, retryAfterSeconds?: number): Reply {
  const { method, path } = refusal.refusal === "PATH_UNKNOWN" ? refusal : { method: "", path: "" };
  if (path !== "") return failure(404, `There is no ${method} ${path}`);
  const { status, msg } = wireError(refusal);
  return failure(status, OWN_WORDS[refusal.refusal] ?? msg, { retryAfterSeconds });
}

/** What a budget refuses, or the ban of its owner. */
export function refusedOverBudget(refusal: Refusal, owner: BudgetOwner, retryAfterSeconds: number): Reply {
  if (refusal.refusal !== "BANNED") return refusedBot(refusal, retryAfterSeconds);
  const until = new Date(refusal.until).toISOString();
  return failure(wireError(refusal).status, `This ${owner} is banned until ${until}`, { retryAfterSeconds });
}

/** What went well, in the envelope of the family. */
export function success(message: string, data: object): BotAnswer {
  return { status: 200, body: { status: true, message, data } };
}

/** A signal as lists show it: JSON text, since the order is shown as it was sent. Source: specification 2.8. */
export function presentSignal(signal: Signal): string {
  const { signalId, strategyId, idempotencyKey, state } = signal;
  const placed = state.status === "EXECUTED" ? collectiveId(strategyId, state.order.orderId) : null;
  const head = JSON.stringify({
    signalId,
    idempotencyKey,
    status: state.status,
    result: resultOf(state, strategyId),
    collectiveId: placed,
  });
  return `${head.slice(0, -1)},"order":${signal.body},${JSON.stringify(timesOf(signal)).slice(1)}`;
}

/** The answer to a submission: the signal, and whether it had been over before. */
export function presentSubmitted(signal: Signal, replayed: boolean): string {
  return `${presentSignal(signal).slice(0, -1)},"replayed":${replayed}}`;
}

/** A signal that is asked for by its id. Source: specification 4.4. */
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
