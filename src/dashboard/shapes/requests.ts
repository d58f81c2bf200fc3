// The requests of a key as the browser gets them, with why they were refused, and how the key's budgets stand.
import type { FailedCheck } from "../../inspection/sighting.ts";

export type RequestShape = {
  readonly requestId: string;
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The exchange's code of a refusal; null for success and for the bot family. */
  readonly code: number | null;
  /** Whether it was a placement that was answered with what an earlier one had placed. */
  readonly isReplay: boolean;
  readonly message: string | null;
  readonly weight: number;
  readonly latencyMs: number;
  readonly address: string;
  readonly userAgent: string;
  readonly diagnosis: DiagnosisShape | null;
};
/** Why a request was not let in. */
export type DiagnosisShape = {
  /** The check that failed. */
  readonly check: FailedCheck;
  /** SHA-256, hex, of the message as received, its signature cut out: to be compared with what the client signed. */
  readonly messageSha256: string | null;
  /** How far the client's clock is ahead of the server's, ms; null if it sent no time that can be read. */
  readonly clockOffsetMs: number | null;
  readonly hints: readonly string[];
};
export type MeterShape = {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly windowSeconds: number;
};
export type RequestsShape = {
  readonly requests: readonly RequestShape[];
  readonly meters: readonly MeterShape[];
  /** Until when the key is banned; null if it is not. */
  readonly bannedUntil: number | null;
  /** Requests are remembered by the server process that answered them, since this time. */
  readonly since: number;
};
