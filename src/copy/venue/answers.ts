// Classifies an answer of the venue: taken, refused, key rejected, too many requests, wrong time, or unknown.
// Only a request that the venue has certainly not executed is a rejection; anything else is UNKNOWN. A 4xx
// status alone, also 401, rejects nothing: a load balancer in front of the venue gives it too. The venue's
// rejections have a code below zero.
// A missing or malformed value in a body is a BodyFault: a misread amount would be worse than none. Source:
// reference exchange, sections 2, 4 and 16.
import { createHash } from "node:crypto";
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { type Decimal, parseDecimal } from "../../money/decimal.ts";
import type {
  VenueAnswer,
  VenueCredentials,
  VenueDelay,
  VenueRefusal,
  VenueRejection,
  VenueSilence,
} from "./venue.ts";

/**
 * LIMITED: 429, 418, or the firewall's 403. TIMESTAMP: our time lies outside of its window. Neither was
 * executed.
 */
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
  /** Until when the venue answers nothing, its own time, Unix ms; null if it has not said. */
  readonly bannedUntil: number | null;
};

/** The refusal of a time. */
export const TIMESTAMP_CODE = -1021;
/** A parameter is malformed: of a time one that makes no sense to the venue. */
const MALFORMED_CODE = -1102;
/** Error codes after which the outcome of a request is unknown. */
const UNKNOWN_CODES: ReadonlySet<number> = new Set([-1000, -1001, -1006, -1007]);
/** The key is not known, locked, malformed or not permitted; the signature is not that of the secret. */
const REJECTION_CODES: ReadonlySet<number> = new Set([-1002, -1022, -2014, -2015, -2017]);
export const LIMITING_STATUSES: ReadonlySet<number> = new Set([403, 418, 429]);
/** A proxy in front of the venue gave up waiting for it. */
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

/** The fault of an answer's body. */
export class BodyFault extends Error {}

export function unknown(reason: string): VenueSilence {
  return { kind: "UNKNOWN", reason };
}

export function parsed(text: string): unknown {
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

export type Body = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Body {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BodyFault("no object");
  return value as Body;
}

export function rowsOf(value: unknown): readonly Body[] {
  if (!Array.isArray(value)) throw new BodyFault("no list");
  return value.map(objectOf);
}

export function textOf(body: Body, key: string): string {
  const value = body[key];
  if (typeof value !== "string") throw new BodyFault(`${key} is no text`);
  return value;
}

/** An id: a number, or digits. */
export function idOf(body: Body, key: string): string {
  const value = body[key];
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value === "string" && /^[0-9]+$/.test(value)) return value;
  throw new BodyFault(`${key} is no id`);
}

/** The first of these that is a time in Unix ms. */
export function timeOf(body: Body, ...keys: readonly string[]): number {
  for (const key of keys) {
    const value = body[key];
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  }
  throw new BodyFault(`${keys.join(", ")}: no time`);
}

export function flagOf(body: Body, key: string): boolean {
  const value = body[key];
  if (typeof value !== "boolean") throw new BodyFault(`${key} is neither true nor false`);
  return value;
}

/** A decimal, which may be negative. */
export function amountOf<D extends Decimal>(body: Body, key: string): D {
  const text = textOf(body, key);
  const isNegative = text.startsWith("-");
  const value = parseDecimal(isNegative ? text.slice(1) : text);
  if (typeof value === "string") throw new BodyFault(`${key} is ${value}`);
  return (isNegative ? -value : value) as D;
}

export const CONFIRM_AFTER_MS = 3_000;
const ACCOUNTS_MAX = 50_000;

type First = { readonly credentials: string; readonly answeredAt: number };
/** A request of an account: wall times in Unix ms. */
type Request = {
  readonly accountId: string;
  readonly credentials: VenueCredentials;
  readonly sentAt: number;
  readonly answeredAt: number;
};

/**
 * Decides when a venue's rejection of credentials is final. One rejection may come from a venue in trouble,
 * and a final one pauses a copy until its owner acts. So the first one only delays: the request was not
 * executed, and may be repeated. The rejection is final when the venue rejects a request sent at least
 * `CONFIRM_AFTER_MS` after the first one was answered, and accepted no request with these credentials in
 * between.
 * State: the first rejection of each account, at most `ACCOUNTS_MAX`; the oldest are dropped, which delays a
 * decision.
 */
export class Rejections {
  readonly #first = new BoundedMap<string, First>(ACCOUNTS_MAX);

  /** The venue accepted these credentials: earlier rejections of them no longer count. */
  accepted({ accountId, credentials }: Pick<Request, "accountId" | "credentials">): void {
    const first = this.#first.get(accountId);
    if (first === undefined || first.credentials !== digestOf(credentials)) return;
    this.#first.delete(accountId);
  }

  /** The rejection if it confirms an earlier one; otherwise a delay until it may be confirmed. */
  rejected(request: Request, rejection: VenueRejection): VenueRejection | VenueDelay {
    const { accountId, sentAt, answeredAt } = request;
    const credentials = digestOf(request.credentials);
    const known = this.#first.get(accountId);
    const isKnown = known?.credentials === credentials;
    if (isKnown && sentAt - known.answeredAt >= CONFIRM_AFTER_MS) return rejection;
    const first = isKnown ? known : { credentials, answeredAt };
    if (!isKnown) this.#first.set(accountId, first);
    const reason = `the venue rejected the key once (${rejection.code}), which is not believed before it does so again`;
    return { kind: "DELAYED", why: "REJECTED", until: first.answeredAt + CONFIRM_AFTER_MS, reason };
  }
}

/** Distinguishes credentials without storing them. */
function digestOf({ apiKey, apiSecret }: VenueCredentials): string {
  return createHash("sha256")
    .update(JSON.stringify([apiKey, apiSecret]))
    .digest("base64url");
}
