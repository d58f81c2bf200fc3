// A person who uses Lyrebird: identity and status. Strategies and keys belong to one person each. Source:
// specification, section 1 (account setup) and 2.1.

/** An operator decides about people and monitors the service; only the command line makes operators. */
export const ROLES = ["PERSON", "OPERATOR"] as const;
export type Role = (typeof ROLES)[number];

/** Only the Trader profile shows strategy creation and API keys. Source: specification, section 1. */
export const PROFILES = ["COPIER", "TRADER"] as const;
export type Profile = (typeof PROFILES)[number];

/**
 * NONE → PENDING → APPROVED | REJECTED; a rejected person may submit again. The API is unavailable until
 * APPROVED.
 */
export const KYC_STATUSES = ["NONE", "PENDING", "APPROVED", "REJECTED"] as const;
export type KycStatus = (typeof KYC_STATUSES)[number];

export type Person = {
  readonly personId: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly isEmailVerified: boolean;
  /** As they want to be called. */
  readonly name: string;
  readonly role: Role;
  readonly profile: Profile;
  readonly kyc: KycStatus;
  /** Why the last submission was rejected, in the operator's words; null unless REJECTED. */
  readonly kycReason: string | null;
  readonly hasSecondFactor: boolean;
  /** Since when an operator keeps the person out, wall time, Unix ms; null if none does. */
  readonly lockedAt: number | null;
  /** When the account was closed permanently, with its address and name erased. Null: it is open. */
  readonly closedAt: number | null;
  /** Wall time, Unix ms. */
  readonly createdAt: number;
};
