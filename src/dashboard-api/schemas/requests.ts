// The requests of a key in JSON, with why they were rejected, how its budgets stand, and the test of a key.
import { z } from "zod";
import type { FailedCheck } from "../../observability/request-context.ts";
import { flag, list, number, text, word } from "./fields.ts";

/** Why a request failed authentication. */
const diagnosisSchema = z.object({
  /** The check that failed. */
  check: word<FailedCheck>(),
  /**
   * SHA-256, hex, of the message as received, without its signature: to be compared with what the client
   * signed.
   */
  messageSha256: text.nullable(),
  /** How far the client's clock is ahead of the server's, ms; null if it sent no time that can be read. */
  clockOffsetMs: number.nullable(),
  hints: list(text),
});
export type DiagnosisJson = z.input<typeof diagnosisSchema>;

const requestSchema = z.object({
  requestId: text,
  at: number,
  method: text,
  path: text,
  status: number,
  /** The exchange's code of an error; null for success and for the bot family. */
  code: number.nullable(),
  /** Whether it was a placement that was answered with the order of an earlier one. */
  isReplay: flag,
  message: text.nullable(),
  weight: number,
  latencyMs: number,
  address: text,
  userAgent: text,
  diagnosis: diagnosisSchema.nullable(),
});
export type RequestJson = z.input<typeof requestSchema>;

export const requestsSchema = z.object({
  requests: list(requestSchema),
  meters: list(z.object({ name: text, used: number, limit: number, windowSeconds: number })),
  /** Until when the key is banned; null if it is not. */
  bannedUntil: number.nullable(),
  /** Requests are remembered by the server process that answered them, since this time. */
  since: number,
});
export type RequestsJson = z.input<typeof requestsSchema>;

/** "Test this key": one line a check, in the order in which a request meets them. */
export const keyTestSchema = z.object({
  isFine: flag,
  checks: list(
    z.object({
      name: text,
      outcome: z.enum(["PASSED", "FAILED", "UNKNOWN"]),
      /** The finding. */
      says: text,
      /** What to do about it; absent where there is nothing to do. */
      action: text.exactOptional(),
    }),
  ),
});
export type KeyTestJson = z.input<typeof keyTestSchema>;
