// People in JSON: who is signed in, sessions, identity, and what was done.
import { z } from "zod";
import type { AuditAction } from "../../domain/audit.ts";
import type { KycStatus, Profile, Role } from "../../domain/person.ts";
import { flag, number, text, word } from "./fields.ts";

export const personSchema = z.object({
  personId: text,
  email: text,
  name: text,
  role: word<Role>(),
  profile: word<Profile>(),
  isEmailVerified: flag,
  kyc: word<KycStatus>(),
  kycReason: text.nullable(),
  hasSecondFactor: flag,
  lockedAt: number.nullable(),
  closedAt: number.nullable(),
  createdAt: number,
});
export type PersonJson = z.input<typeof personSchema>;

/** What ends with an account: how many of each there are now. */
export const contentsSchema = z.object({
  sessions: number,
  liveKeys: number,
  openStrategies: number,
  liveCopies: number,
  connectedAccounts: number,
});
export type AccountContentsJson = z.input<typeof contentsSchema>;

export const sessionSchema = z.object({
  person: personSchema.nullable(),
  server: z.object({
    version: text,
    market: z.enum(["sim", "live", "tape"]),
    /** Where bots reach the server. */
    publicUrl: text,
    /** False: links that would be sent are written to the server's log. */
    sendsMail: flag,
    isDemo: flag,
  }),
});
export type SessionJson = z.input<typeof sessionSchema>;

export const ownSessionSchema = z.object({
  sessionId: text,
  isThisOne: flag,
  address: text,
  userAgent: text,
  createdAt: number,
  expiresAt: number,
});
export type OwnSessionJson = z.input<typeof ownSessionSchema>;

export const auditSchema = z.object({
  position: number,
  at: number,
  what: word<AuditAction>(),
  /** A person's e-mail address, or "Command line", "System". */
  who: text,
  about: z.object({ kind: text, id: text }),
  details: z.record(text, text).readonly(),
  hash: text,
});
export type AuditJson = z.input<typeof auditSchema>;

export const kycFormSchema = z.object({
  fullName: text,
  /** YYYY-MM-DD */
  birthDate: text,
  /** ISO 3166-1 alpha-2. */
  country: text,
  address: text,
  documentKind: z.enum(["PASSPORT", "IDENTITY_CARD", "DRIVING_LICENCE"]),
  documentNumber: text,
});
export type KycForm = z.input<typeof kycFormSchema>;

export const kycSchema = z.object({
  status: word<KycStatus>(),
  reason: text.nullable(),
  submittedAt: number.nullable(),
  decidedAt: number.nullable(),
});
export type KycJson = z.input<typeof kycSchema>;

/** Shown while an authenticator is set up, and never again. */
export const secondFactorSetupSchema = z.object({ uri: text, secret: text });
export type SecondFactorSetupJson = z.input<typeof secondFactorSetupSchema>;

export const secondFactorSchema = z.object({ isEnabled: flag, recoveryCodesLeft: number });
