// Error classes, so that a program branches on types, statuses and codes, never on texts. A rejected signal
// is no error: it is a status of the signal.
import type { Signal } from "./signal.ts";

/** Every error of this client. */
export class LyrebirdError extends Error {
  override name = "LyrebirdError";
}

/** The server answered, and it was no. */
export class LyrebirdHttpError extends LyrebirdError {
  override name = "LyrebirdHttpError";
  readonly status: number;
  /** How long the server asks to wait, ms; null if it does not say. */
  readonly retryAfterMs: number | null;
  /**
   * With "Invalid signature": the SHA-256 of the message that the server made of what it received, in hex.
   */
  readonly messageSha256: string | null;
  /**
   * The SHA-256 of what this client signed. If both are equal, the secret does not belong to the key; if not,
   * something between client and server changes requests.
   */
  readonly signedSha256: string;

  constructor(
    message: string,
    answer: {
      readonly status: number;
      readonly retryAfterMs: number | null;
      readonly messageSha256: string | null;
      readonly signedSha256: string;
    },
  ) {
    super(message);
    this.status = answer.status;
    this.retryAfterMs = answer.retryAfterMs;
    this.messageSha256 = answer.messageSha256;
    this.signedSha256 = answer.signedSha256;
  }
}

/**
 * No complete answer came. It is unknown whether a submission was received: submit it again under the same
 * key. `cause` is the last failure.
 */
export class LyrebirdUnreachableError extends LyrebirdError {
  override name = "LyrebirdUnreachableError";
}

/**
 * A signal was still pending after the time that it was waited for. It is executed, or rejected, none the
 * less.
 */
export class LyrebirdPendingError extends LyrebirdError {
  override name = "LyrebirdPendingError";
  /** As it stood last. */
  readonly signal: Signal;

  constructor(signal: Signal) {
    super(`signal ${signal.signalId} is still ${signal.status}`);
    this.signal = signal;
  }
}

/** The client was closed before there was an answer, or the stream before it was subscribed on. */
export class LyrebirdClosedError extends LyrebirdError {
  override name = "LyrebirdClosedError";

  constructor(closed: "client" | "stream" = "client") {
    super(`the ${closed} was closed`);
  }
}

/** The codes of the server's `error` event. Source: specification 7.3. */
export type StreamErrorCode =
  | "AUTH_MISSING_CREDENTIALS"
  | "AUTH_TIMESTAMP_OUT_OF_WINDOW"
  | "AUTH_INVALID_SIGNATURE"
  | "AUTH_KEY_REVOKED"
  | "SUB_INVALID_PAYLOAD"
  | "SUB_UNSUPPORTED_SYMBOL"
  | "SUB_UNSUPPORTED_TIMEFRAME"
  | "SUB_LIMIT_EXCEEDED"
  | "RATE_LIMITED"
  | "UPSTREAM_UNAVAILABLE"
  | "INTERNAL"
  | "SUB_UNSUPPORTED_LEVELS"
  | "SUB_UNSUPPORTED_SPEED"
  | "SUB_UNEXPECTED_FIELD"
  | "SUB_SPEED_LIMIT_EXCEEDED";

/**
 * Errors of the client itself: the fallback cannot be reached, or so much was missed that candles are left
 * out.
 */
export type ClientErrorCode = "FALLBACK_UNAVAILABLE" | "CANDLES_SKIPPED";

/** An error that a stream reports. Unless it is fatal, the stream goes on by itself. */
export class LyrebirdStreamError<Topic = unknown> extends LyrebirdError {
  override name = "LyrebirdStreamError";
  /** A code of the tables; a server that is newer than this client may send others. */
  readonly code: StreamErrorCode | ClientErrorCode | (string & {});
  /** How long the server asks to wait, ms; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** The stream has ended, since the server would refuse it again: correct the key and open another. */
  readonly isFatal: boolean;
  /** Its topic; null if it is about the connection. An invalid topic is not subscribed to any more. */
  readonly topic: Topic | null;

  constructor(
    message: string,
    about: {
      readonly code: string;
      readonly retryAfterMs?: number | null;
      readonly isFatal?: boolean;
      readonly topic?: Topic | null;
      readonly cause?: unknown;
    },
  ) {
    super(message, about.cause === undefined ? {} : { cause: about.cause });
    this.code = about.code;
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.isFatal = about.isFatal ?? false;
    this.topic = about.topic ?? null;
  }
}
