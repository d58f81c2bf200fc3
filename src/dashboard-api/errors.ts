// Every refusal of the dashboard's routes: its code, its status, a plain sentence, and what to do about it.
// Nothing is refused in words that are not here; what a refusal knows besides (a field, a wait) is added
// where it is made.
import type { ErrorJson } from "./schemas.ts";

type Row = {
  readonly status: number;
  readonly message: string;
  readonly action: string;
  readonly retryAfterSeconds?: number;
};

const ROWS = {
  NOT_SIGNED_IN: { status: 401, message: "You are not signed in.", action: "Sign in and try again." },
  ORIGIN_REFUSED: {
    status: 403,
    message: "The request comes from another site.",
    action: "Open the dashboard at its own address, and set PUBLIC_URL to it if it lies behind a proxy.",
  },
  NOT_FOR_YOU: {
    status: 403,
    message: "Your account may not do that.",
    action:
      "Switch to the Trader profile for trading or to the Copier profile for copying. Operators' pages are for operators.",
  },
  KYC_NEEDED: {
    status: 403,
    message: "Your identity has not been approved yet.",
    action: "Fill in the identity form, or wait for an operator to review it.",
  },
  SECOND_FACTOR_NEEDED: {
    status: 403,
    message: "Two-factor authentication is not enabled.",
    action: "Enable it under Security, then try again.",
  },
  NOT_FOUND: { status: 404, message: "Not found, or not yours.", action: "Check the address." },
  BODY_UNFIT: {
    status: 400,
    message: "The form has errors.",
    action: "Fix the marked fields.",
  },
  BODY_NOT_JSON: {
    status: 400,
    message: "The request's body is not JSON.",
    action: "Send JSON with the fields of the form.",
  },
  BODY_TOO_LARGE: { status: 413, message: "The request is too large.", action: "Send less at once." },
  TOO_MANY_REQUESTS: {
    status: 429,
    message: "Too many requests from this address or of this account.",
    action: "Wait a little.",
  },
  CREDENTIALS_REFUSED: {
    status: 401,
    message: "E-mail address, password or code is wrong.",
    action: "Try again, or ask for a link to set a new password.",
  },
  CODE_NEEDED: {
    status: 401,
    message: "Your second factor is needed.",
    action: "Enter the code of your authenticator, or a recovery code.",
  },
  CODE_REFUSED: {
    status: 403,
    message: "The code is wrong or was used already.",
    action: "Each code works once: wait for the next one, and check the clock of your device.",
  },
  LOCKED: {
    status: 429,
    message: "There were too many failed attempts.",
    action: "Wait, sign in from a browser that you have used before, or set a new password by mail.",
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: "Your e-mail address is not verified yet.",
    action: "Open the link that you were sent, or create the account again to get another.",
  },
  ACCOUNT_LOCKED: {
    status: 403,
    message: "An operator has locked your account.",
    action:
      "Ask the operator of this server. Until it is unlocked nobody signs in and your keys are refused.",
  },
  LINK_REFUSED: { status: 400, message: "The link is no longer valid.", action: "Ask for another one." },
  STATE_CHANGED: {
    status: 409,
    message: "It has changed since the page was loaded.",
    action: "Reload the page.",
  },
  COPYING_NOT_OFFERED: {
    status: 409,
    message: "Copying is not offered on this server.",
    action: "The operator has to allow an exchange first, in the setting COPY_VENUES.",
  },
  VENUE_SILENT: {
    status: 503,
    message: "The exchange does not answer right now.",
    action: "Try again in a moment. If it persists, check the exchange's own status.",
    retryAfterSeconds: 5,
  },
  REFUSED_BY_ENGINE: {
    status: 400,
    message: "The request was rejected.",
    action: "Nothing was done. Check the strategy, then try again.",
  },
  BUSY: {
    status: 503,
    message: "The server cannot accept this request right now.",
    action: "Nothing was done. Try again in a moment.",
    retryAfterSeconds: 1,
  },
  OUTCOME_UNKNOWN: {
    status: 503,
    message: "The server could not reach its database.",
    action: "Check whether it was done, then try again.",
    retryAfterSeconds: 1,
  },
  FAULT: {
    status: 500,
    message: "Something went wrong on our side.",
    action: "Check whether it was done, then try again.",
  },
} as const satisfies Readonly<Record<string, Row>>;

export type ErrorCode = keyof typeof ROWS;

export const ERROR_CODES = Object.keys(ROWS) as readonly ErrorCode[];

type Details = Partial<Omit<ErrorJson["error"], "code">>;

/** The value that was looked up. Throws NOT_FOUND where there is none. */
export function existing<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new DashboardError("NOT_FOUND");
  return value;
}

/** An error of a request. Any part of a route may throw it; the pipeline sends it. */
export class DashboardError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly json: ErrorJson;

  /** `details` replace or add to what the catalogue says. */
  constructor(code: ErrorCode, details: Details = {}) {
    const { status, ...words }: Row = ROWS[code];
    super(details.message ?? words.message);
    this.code = code;
    this.status = status;
    this.json = { error: { code, ...words, ...details } };
  }
}
