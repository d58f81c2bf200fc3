// What an answer of the venue means: taken, refused, refused for the key, too many requests, wrong time, or not known. Only
// what the venue has certainly not carried out is a refusal; whatever may have happened behind an answer is UNKNOWN. A status of
// 4xx alone, also 401, refuses nothing: a load balancer in front of the venue gives it too. Refusals of the venue have a code below
// zero.
// Source: reference exchange, sections 2, 4 and 16.
import type { VenueAnswer, VenueRefusal, VenueRejection, VenueSilence } from "./venue.ts";

/** LIMITED: 429, 418, or the firewall's 403. TIMESTAMP: ours lies outside of its window. Neither was carried out. */
export type Reading =
  | { readonly kind: "OK"; readonly value: unknown }
  | VenueRefusal
  | VenueRejection
  | VenueSilence
  | Limiting
  | { readonly kind: "TIMESTAMP" };

export type Limiting = {
  readonly kind: "LIMITED";
  readonly status: number;
  /** Zero if the answer had none. */
  readonly code: number;
  /** Until when the venue has said that it answers nothing, its own time, Unix ms; null if it has not. */
  readonly bannedUntil: number | null;
};

/** The refusal of a time. */
const TIMESTAMP_CODE = -1021;
/** A parameter is malformed: of a time one that makes no sense to the venue. */
const MALFORMED_CODE = -1102;
/** What became of a request is not known although it was answered. */
const UNKNOWN_CODES: ReadonlySet<number> = new Set([-1000, -1001, -1006, -1007]);
/** The key is not known, locked, malformed or not permitted; the signature is not that of the secret. */
const REJECTION_CODES: ReadonlySet<number> = new Set([-1002, -1022, -2014, -2015, -2017]);
export const LIMITING_STATUSES: ReadonlySet<number> = new Set([403, 418, 429]);
/** What stands between us and the venue gave up waiting for it. */
const REQUEST_TIMEOUT = 408;
const MESSAGE_LENGTH_MAX = 200;
const REMOVED = "[removed]";

/** `secrets`: what no words that the venue gives back are kept with. */
export function readAnswer(status: number, text: string, secrets: readonly string[] = []): Reading {
  const body = parsed(text);
  if (status === 200) {
    return body === undefined ? unknown("its answer is no JSON") : { kind: "OK", value: body };
  }
  const error = errorIn(body, secrets);
  const { code, message } = error ?? { code: 0, message: `HTTP ${status}` };
  if (LIMITING_STATUSES.has(status)) {
    return { kind: "LIMITED", status, code, bannedUntil: bannedUntilIn(message) };
  }
  const isUnclear = status < 400 || status >= 500 || status === REQUEST_TIMEOUT || UNKNOWN_CODES.has(code);
  if (isUnclear) return unknown(`it answered ${status}: ${message}`);
  if (error === null) return { ...unknown(`it answered ${message}, which is not the venue's own`), status };
  const isOfTime = code === TIMESTAMP_CODE || (code === MALFORMED_CODE && /\btimestamp\b/i.test(message));
  if (isOfTime) return { kind: "TIMESTAMP" };
  return { kind: REJECTION_CODES.has(code) ? "REJECTED" : "REFUSED", code, message };
}

/** The value of an answer as something else. What cannot be read is not known. */
export function mapped<From, Value>(
  answer: VenueAnswer<From>,
  read: (value: From) => Value,
): VenueAnswer<Value> {
  if (answer.kind !== "OK") return answer;
  try {
    return { kind: "OK", value: read(answer.value) };
  } catch (error) {
    if (error instanceof BodyFault) return unknown(`its answer makes no sense: ${error.message}`);
    throw error;
  }
}

/** An answer in which certain refusals are values. */
export function valueFor<Value>(
  codes: ReadonlySet<number>,
  answer: VenueAnswer<Value>,
  value: Value,
): VenueAnswer<Value> {
  return answer.kind === "REFUSED" && codes.has(answer.code) ? { kind: "OK", value } : answer;
}

/** What is wrong with the body of an answer. */
export class BodyFault extends Error {}

export function unknown(reason: string): VenueSilence {
  return { kind: "UNKNOWN", reason };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The venue's own refusal; null if the body is none. */
function errorIn(
  body: unknown,
  secrets: readonly string[],
): { readonly code: number; readonly message: string } | null {
  if (typeof body !== "object" || body === null || !("code" in body)) return null;
  const { code } = body;
  if (typeof code !== "number" || !Number.isSafeInteger(code) || code >= 0) return null;
  const message = "msg" in body && typeof body.msg === "string" ? body.msg : "";
  // Before it is cut, or the beginning of one could be left at the end.
  const cleaned = secrets.reduce((words, secret) => words.replaceAll(secret, REMOVED), message);
  return { code, message: cleaned.slice(0, MESSAGE_LENGTH_MAX) };
}

function bannedUntilIn(message: string): number | null {
  const found = /banned until ([0-9]{13})/.exec(message);
  return found?.[1] === undefined ? null : Number(found[1]);
}
