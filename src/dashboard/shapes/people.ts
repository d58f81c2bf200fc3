// People as the browser gets them: who is signed in, sessions, identity, the second factor, and what was done.
import type { AuditAction } from "../../domain/audit.ts";
import type { KycStatus, Profile, Role } from "../../domain/person.ts";

export type PersonShape = {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly profile: Profile;
  readonly isEmailVerified: boolean;
  readonly kyc: KycStatus;
  readonly kycReason: string | null;
  readonly hasSecondFactor: boolean;
  readonly lockedAt: number | null;
  readonly closedAt: number | null;
  readonly createdAt: number;
};
/** What ends with an account: how many of each there are now. */
export type AccountContentsShape = {
  readonly sessions: number;
  readonly liveKeys: number;
  readonly openStrategies: number;
  readonly liveCopies: number;
  readonly connectedAccounts: number;
};
export type SessionShape = {
  readonly person: PersonShape | null;
  readonly server: {
    readonly version: string;
    readonly market: "sim" | "live" | "tape";
    /** Where bots reach the server. */
    readonly publicUrl: string;
    /** False: links that would be sent are written to the server's log. */
    readonly sendsMail: boolean;
    readonly isDemo: boolean;
  };
};
/** Where the link went that was asked for. */
export type MailShape = { readonly mail: "SENT" | "LOGGED" };
export type OwnSessionShape = {
  readonly sessionId: string;
  readonly isThisOne: boolean;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly expiresAt: number;
};
export type AuditShape = {
  readonly position: number;
  readonly at: number;
  readonly what: AuditAction;
  /** A person's e-mail address, or "Command line", "System". */
  readonly who: string;
  readonly about: { readonly kind: string; readonly id: string };
  readonly details: Readonly<Record<string, string>>;
  readonly hash: string;
};
export type KycForm = {
  readonly fullName: string;
  /** YYYY-MM-DD */
  readonly birthDate: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly address: string;
  readonly documentKind: "PASSPORT" | "IDENTITY_CARD" | "DRIVING_LICENCE";
  readonly documentNumber: string;
};
export type KycShape = {
  readonly status: KycStatus;
  readonly reason: string | null;
  readonly submittedAt: number | null;
  readonly decidedAt: number | null;
};
/** To be shown while an authenticator is set up, and never again. */
export type SecondFactorSetupShape = { readonly uri: string; readonly secret: string };
/** Shown only once. */
export type RecoveryCodesShape = { readonly recoveryCodes: readonly string[] };
export type SecondFactorShape = { readonly isEnabled: boolean; readonly recoveryCodesLeft: number };
