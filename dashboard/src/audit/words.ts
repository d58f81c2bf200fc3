// What the audit trail says, for people: an action as a sentence, and its details as short texts.
import type { AuditAction } from "../../../src/domain/audit.ts";
import { inWords } from "../ui/badge.tsx";

const WORDS: Readonly<Record<AuditAction, string>> = {
  SIGNED_UP: "Account created",
  EMAIL_VERIFIED: "E-mail address verified",
  SIGNED_IN: "Signed in",
  PASSWORD_CHANGED: "Password changed",
  PASSWORD_RESET: "Password reset by mail",
  SESSIONS_ENDED: "Sessions ended",
  LOCKED_OUT: "Sign-in locked after failed attempts",
  PERSON_LOCKED: "Account locked by an operator",
  PERSON_UNLOCKED: "Account unlocked by an operator",
  ACCOUNT_CLOSED: "Account closed",
  PROFILE_CHANGED: "Profile changed",
  KYC_SUBMITTED: "Identity submitted",
  KYC_VIEWED: "Identity opened by an operator",
  KYC_APPROVED: "Identity approved",
  KYC_REJECTED: "Identity rejected",
  SECOND_FACTOR_ENABLED: "Second factor enabled",
  SECOND_FACTOR_DISABLED: "Second factor disabled",
  SECOND_FACTOR_RESET: "Second factor reset by an operator",
  RECOVERY_CODES_RENEWED: "Recovery codes renewed",
  RECOVERY_CODE_USED: "Recovery code used",
  KEY_CREATED: "API key created",
  KEY_BOUND: "API key bound to a strategy",
  KEY_REVOKED: "API key revoked",
  STRATEGY_CREATED: "Strategy created",
  STRATEGY_RENAMED: "Strategy renamed",
  STRATEGY_CLOSE_ASKED: "Strategy close requested",
  STRATEGY_ARCHIVED: "Closed strategy moved to an archive",
  ORDER_CANCEL_ASKED: "Order cancel requested",
  OPERATOR_CREATED: "Operator created",
  OPERATOR_REMOVED: "Operator removed",
  MASTER_KEY_ROTATED: "Master key rotated",
  VENUE_ACCOUNT_CONNECTED: "Exchange account connected",
  VENUE_ACCOUNT_RENEWED: "Key of an exchange account replaced",
  VENUE_ACCOUNT_DISCONNECTED: "Exchange account disconnected",
  STRATEGY_OPENED_TO_COPIERS: "Strategy opened to copiers",
  STRATEGY_CLOSED_TO_COPIERS: "Strategy closed to new copiers",
  COPY_STARTED: "Copy started",
  COPY_PAUSED: "Copy paused",
  COPY_RESUMED: "Copy resumed",
  COPY_STOPPED: "Copy stopped",
  COPY_SETTINGS_CHANGED: "Copy settings changed",
  COPY_REPAIR_ASKED: "Repair requested",
  KILL_SWITCH_SET: "Kill switch set",
  KILL_SWITCH_CLEARED: "Kill switch cleared",
};

/**
 * Records are kept for ever: one of another version of the server may have a name that is not listed here.
 */
export function auditWords(action: AuditAction): string {
  const words: string | undefined = WORDS[action];
  return words ?? inWords(action);
}

/** "address: 127.0.0.1 · label: BTC grid": each detail behind its name. */
export function detailsInWords(details: Readonly<Record<string, string>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${inWords(name.replace(/([a-z])([A-Z])/g, "$1_$2")).toLowerCase()}: ${value}`)
    .join(" · ");
}
