// Operators' pages in JSON: identity forms, people, and the state of the service.
import { z } from "zod";
import type { StrategyType } from "../../domain/account.ts";
import type { Untradable } from "../../domain/market.ts";
import { KYC_STATUSES } from "../../domain/person.ts";
import { flag, list, number, text, word } from "./fields.ts";
import { auditSchema, contentsSchema, kycFormSchema, personSchema } from "./people.ts";
import { keySchema, strategyNameSchema } from "./strategies.ts";

export const kycEntrySchema = z.object({
  submissionId: text,
  person: personSchema,
  status: z.enum(["PENDING", "APPROVED", "REJECTED"]),
  submittedAt: number,
  decidedAt: number.nullable(),
  decidedBy: text.nullable(),
  reason: text.nullable(),
});
export type KycEntryJson = z.input<typeof kycEntrySchema>;

export const kycDetailSchema = kycEntrySchema.extend({ form: kycFormSchema, audit: list(auditSchema) });
export type KycDetailJson = z.input<typeof kycDetailSchema>;

export const personDetailSchema = z.object({
  person: personSchema,
  contents: contentsSchema,
  strategies: list(strategyNameSchema),
  keys: list(keySchema),
  submissions: list(kycEntrySchema),
  audit: list(auditSchema),
});
export type PersonDetailJson = z.input<typeof personDetailSchema>;

export const healthSchema = z.object({
  version: text,
  startedAt: number,
  market: z.enum(["sim", "live", "tape"]),
  feeds: list(
    z.object({
      family: word<StrategyType>(),
      isConnected: flag,
      lastMessageAt: number,
      /** How old the newest market data is, ms; null while nothing is streamed. */
      dataAgeMs: number.nullable(),
      /** Whether messages come too late to trade by. */
      isLate: flag,
      symbols: number,
      streams: number,
      connects: number,
      staleSymbols: list(text),
      pausedUntil: number,
      /** Why a recorded market takes no orders; null where prices may be expected. */
      untradable: word<Untradable>().nullable(),
    }),
  ),
  store: z.object({
    kind: z.enum(["SQLite", "PostgreSQL"]),
    answersInMs: number,
    isBehind: flag,
    waitsForStandby: flag.nullable(),
  }),
  /** How long the oldest pending signal waits, ms; null if none does. */
  sweepLagMs: number.nullable(),
  pendingSignals: number,
  eventLoopDelayMs: z.object({ p50: number, p99: number, max: number }),
  memoryBytes: z.object({ heapUsed: number, resident: number }),
  people: z.record(z.enum(KYC_STATUSES), number),
});
export type HealthJson = z.input<typeof healthSchema>;

export const securitySchema = z.object({
  bans: list(z.object({ holder: text, until: number })),
  failedHandshakes: list(z.object({ apiKey: text, count: number, lastAt: number })),
  failedSignIns: list(z.object({ holder: text, count: number, isLocked: flag })),
  /** How long failures are shown, ms. */
  shownMs: z.object({ signIns: number, handshakes: number }),
  auditIsWhole: flag,
});
export type SecurityJson = z.input<typeof securitySchema>;

const counts = z.record(text, number).readonly();

export const trafficSchema = z.object({
  since: number,
  routes: list(
    z.object({ method: text, path: text, count: number, byStatus: counts, p50Ms: number, p99Ms: number }),
  ),
  /**
   * Requests answered within each of the last minutes, oldest first, the present one last; errors are answers
   * of 500 and above.
   */
  perMinute: list(z.object({ at: number, count: number, errors: number })),
});
export type TrafficJson = z.input<typeof trafficSchema>;

export const fidelitySchema = z.object({
  /** The text of docs/fidelity.md. */
  text,
  feeds: list(
    z.object({
      family: word<StrategyType>(),
      quotes: counts,
      trades: counts,
      marks: counts,
      malformedMessages: number,
    }),
  ),
});
export type FidelityJson = z.input<typeof fidelitySchema>;
