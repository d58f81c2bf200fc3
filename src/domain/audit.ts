// What was done to people, keys and strategies, by whom: records that are only ever added, each with the hash of the one before
// it, so that none can be changed or taken out unseen. Never holds a secret.
//
// What is only asked for here and decided elsewhere (`…_ASKED`) is recorded before it is decided: what became of it is in the
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

/** Who acted: a person in the dashboard, the command line on the machine, or the service itself. */
export type Actor =
  | { readonly kind: "PERSON" | "OPERATOR"; readonly personId: string }
  | { readonly kind: "COMMAND_LINE" | "SERVICE" };

/** What it was done to. */
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
  /** What else is worth knowing, such as a reason or an address: short texts by name. */
  readonly details: Readonly<Record<string, string>>;
};

export type AuditRecord = NewAuditRecord & {
  /** 1 for the first, without gaps. */
  readonly position: number;
  /** SHA-256, hex, over the hash before it and the record itself, as `store/audit-chain.ts` writes it. */
  readonly hash: string;
};
