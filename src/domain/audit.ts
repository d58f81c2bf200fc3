// Audit records of changes to people, keys and strategies: an append-only chain, each record with the hash of
// the one before it, so that none can be changed or removed undetected. It never contains a secret.
// A request that another part decides (`…_ASKED`) is recorded before the decision; its outcome is in the
// strategy's journal.

export const AUDIT_ACTIONS = [
  "SIGNED_UP",
  "EMAIL_VERIFIED",
  "SIGNED_IN",
  "PASSWORD_CHANGED",
  "PASSWORD_RESET",
  "SESSIONS_ENDED",
  "LOCKED_OUT",
  "PERSON_LOCKED",
  "PERSON_UNLOCKED",
  "ACCOUNT_CLOSED",
  "PROFILE_CHANGED",
  "KYC_SUBMITTED",
  "KYC_VIEWED",
  "KYC_APPROVED",
  "KYC_REJECTED",
  "SECOND_FACTOR_ENABLED",
  "SECOND_FACTOR_DISABLED",
  "SECOND_FACTOR_RESET",
  "RECOVERY_CODES_RENEWED",
  "RECOVERY_CODE_USED",
  "KEY_CREATED",
  "KEY_BOUND",
  "KEY_REVOKED",
  "STRATEGY_CREATED",
  "STRATEGY_RENAMED",
  "STRATEGY_CLOSE_ASKED",
  "STRATEGY_ARCHIVED",
  "ORDER_CANCEL_ASKED",
  "OPERATOR_CREATED",
  "OPERATOR_REMOVED",
  "MASTER_KEY_ROTATED",
  "VENUE_ACCOUNT_CONNECTED",
  "VENUE_ACCOUNT_RENEWED",
  "VENUE_ACCOUNT_DISCONNECTED",
  "STRATEGY_OPENED_TO_COPIERS",
  "STRATEGY_CLOSED_TO_COPIERS",
  "COPY_STARTED",
  "COPY_PAUSED",
  "COPY_RESUMED",
  "COPY_STOPPED",
  "COPY_SETTINGS_CHANGED",
  "COPY_REPAIR_ASKED",
  "KILL_SWITCH_SET",
  "KILL_SWITCH_CLEARED",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The actor: a person in the dashboard, the command line on the machine, or the service itself. */
export type Actor =
  | { readonly kind: "PERSON" | "OPERATOR"; readonly personId: string }
  | { readonly kind: "COMMAND_LINE" | "SERVICE" };

/** The object of the action. */
export type AuditSubject = {
  readonly kind: "PERSON" | "KEY" | "STRATEGY" | "MASTER_KEY" | "VENUE_ACCOUNT" | "COPY" | "VENUE";
  readonly id: string;
};

export type NewAuditRecord = {
  readonly who: Actor;
  readonly what: AuditAction;
  readonly about: AuditSubject;
  /** Wall time, Unix ms. */
  readonly at: number;
  /** Further details, such as a reason or an address: short texts by name. */
  readonly details: Readonly<Record<string, string>>;
};

export type AuditRecord = NewAuditRecord & {
  /** 1 for the first, without gaps. */
  readonly position: number;
  /** SHA-256, hex, over the hash before it and the record itself, as `store/audit-chain.ts` writes it. */
  readonly hash: string;
};
