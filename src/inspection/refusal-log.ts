// Logs each refused sign-in, each request answered 401 or 403 and each refused handshake of a stream, so that attacks show in the log. A line has nothing of the request's
// body, query or headers, and no unknown key. Lines per interval are bounded, since strangers decide how many there are; the number
// of those left out is logged.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { SeenAnswer, SeenRequest, Sighting } from "./sighting.ts";

/** Refusals that are logged within one interval. */
export const REFUSALS_LOGGED_MAX = 60;
/** How long an interval is, ms. */
export const REFUSALS_INTERVAL_MS = 60_000;

/** Refused with whatever status, it is a sign-in that failed: by password, code, or a lock after too many of them. */
const SIGN_IN = "POST /dashboard/api/session";

/** Nothing of what the client sent, and why it was refused. */
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

  /** To be called with every answer: costs two comparisons unless it is to be logged. */
  answered({ path, key }: Sighting, { method, address }: SeenRequest, { status, refusal }: SeenAnswer): void {
    if (status < 400 || status >= 500) return;
    const isSignIn = `${method} ${path}` === SIGN_IN;
    if (status !== 401 && status !== 403 && !isSignIn) return;
    const fields = {
      status,
      method,
      // A path that there is not may hold anything.
      path: path ?? "(none)",
      address,
      ...(refusal === undefined ? {} : { code: refusal.code ?? refusal.message }),
      ...(key === null ? {} : { keyId: key.key.keyId }),
    };
    this.#note(fields, isSignIn ? "a sign-in was refused" : "a request was not let in");
  }

  /** To be called with every handshake of a stream that was refused. */
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

  /** Says how many were not logged since that was said last. */
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
