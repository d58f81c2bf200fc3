// Logs each refused sign-in, each request answered 401 or 403 and each refused stream handshake, so that
// attacks show in the log. A log entry has nothing of the request's body, query or headers, and no unknown
// key. Entries per interval are bounded, since strangers decide how many there are; the number of those left
// out is logged.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { RequestContext, SeenAnswer, SeenRequest } from "./request-context.ts";

/** Refusals logged within one interval. */
export const REFUSALS_LOGGED_MAX = 60;
/** How long an interval is, ms. */
export const REFUSALS_INTERVAL_MS = 60_000;

/**
 * Any refusal of this route is a failed sign-in: wrong password or code, or locked after too many of them.
 */
const SIGN_IN = "POST /dashboard/api/session";

/** Why a handshake was refused, without anything that the client sent. */
export type RefusedHandshake = {
  readonly namespace: string;
  readonly address: string;
  readonly code: string;
};

export class RefusalLog {
  readonly #log: Pick<Logger, "warn">;
  readonly #stop: () => void;
  #logged = 0;
  #suppressed = 0;

  constructor(parts: {
    every: Timers["every"];
    log: Pick<Logger, "warn">;
  }) {
    this.#log = parts.log;
    this.#stop = parts.every(REFUSALS_INTERVAL_MS, () => this.#next());
  }

  /** Called with every answer; costs two comparisons unless the answer is logged. */
  answered(
    { path, key }: RequestContext,
    { method, address }: SeenRequest,
    { status, refusal }: SeenAnswer,
  ): void {
    if (status < 400 || status >= 500) return;
    const isSignIn = `${method} ${path}` === SIGN_IN;
    if (status !== 401 && status !== 403 && !isSignIn) return;
    const fields = {
      status,
      method,
      // An unknown path may contain anything.
      path: path ?? "(none)",
      address,
      ...(refusal === undefined ? {} : { code: refusal.code ?? refusal.message }),
      ...(key === null ? {} : { keyId: key.key.keyId }),
    };
    this.#note(fields, isSignIn ? "a sign-in was refused" : "a request was not let in");
  }

  /** Called with every stream handshake that was refused. */
  handshake(refused: RefusedHandshake): void {
    this.#note(refused, "a stream handshake was refused");
  }

  #note(fields: object, message: string): void {
    if (this.#logged >= REFUSALS_LOGGED_MAX) {
      this.#suppressed += 1;
      return;
    }
    this.#logged += 1;
    this.#log.warn(fields, message);
  }

  /** Logs how many refusals of this interval were not logged. */
  close(): void {
    this.#stop();
    this.#next();
  }

  #next(): void {
    if (this.#suppressed > 0) {
      this.#log.warn({ suppressed: this.#suppressed }, "further refusals were not logged one by one");
    }
    this.#logged = 0;
    this.#suppressed = 0;
  }
}
