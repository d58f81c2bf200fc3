// How the work with a venue fails. The errors are what ends the work on a row, or a poll, before its time. A
// venue's refusal of an order is none of them: to a copier it is a reason that the rules name (SKIPPED), or
// one that they do not (FAILED), which the log shows in the venue's own words. Source: reference exchange,
// section 16.
import { type Skip, type SkipReason, skipOf } from "../../domain/copying.ts";
import type { FilterName } from "../../domain/symbol.ts";
import type { VenueRefusal, VenueRejection } from "../venue/venue.ts";

/** The copy may not run, for now or ever: the claim is not fresh, or the copier is closing. */
export class MayNotRun extends Error {
  override readonly message = "a copy may run only under a fresh claim";
}

/** Another process has the claim: what was written took no effect. */
export class ClaimLost extends Error {
  override readonly message = "progress is recorded only under a claim of one's own";
}

/** The venue does not accept the account's credentials. */
export class CredentialsRejected extends Error {
  readonly rejection: VenueRejection;

  constructor(rejection: VenueRejection) {
    super(`the venue does not accept the credentials: ${rejection.code} ${rejection.message}`);
    this.rejection = rejection;
  }
}

/** The account is disconnected, and its credentials are destroyed; no live copy has one like it. */
export class AccountGone extends Error {
  constructor(accountId: string) {
    super(`a live copy's account has credentials: ${accountId}`);
  }
}

/** The venue refuses to answer a question that every venue answers. */
export class VenueRefused extends Error {
  readonly refusal: VenueRefusal;

  constructor(refusal: VenueRefusal) {
    super(`the venue does not answer: ${refusal.code} ${refusal.message}`);
    this.refusal = refusal;
  }
}

/**
 * What an order needs is not to be had now, by the venue's limits or because it does not answer: nothing was
 * sent, and exits and protective orders go first.
 */
export class Postponed extends Error {
  /** Wall time, Unix ms. */
  readonly until: number;

  constructor(until: number) {
    super("an order is sent later");
    this.until = until;
  }
}

/** A request was not answered in time; the caller goes on without the answer. */
export class NotAnswered extends Error {
  /** When to retry, wall time, Unix ms; 0 if the venue did not say. */
  readonly until: number;

  constructor(reason: string, until = 0) {
    super(`a question is not answered: ${reason}`);
    this.until = until;
  }
}

/** The result of some work; `other` if it fails in one of these ways. */
export async function orElse<Value, const Other>(
  work: Promise<Value>,
  other: Other,
  ...failures: readonly (typeof NotAnswered | typeof VenueRefused)[]
): Promise<Value | Other> {
  try {
    return await work;
  } catch (error) {
    if (failures.some((failure) => error instanceof failure)) return other;
    throw error;
  }
}

/**
 * Error codes of the venue by skip reason, where the code alone says it; those of spot's engine (-2010) and
 * filters (-1013) say it in their texts. A size that fits the rules as published and is refused for its
 * quantity or its precision is not below any least that we know of: the venue's own words say what it is.
 */
const CODES: Readonly<Partial<Record<SkipReason, readonly number[]>>> = {
  NOT_LISTED: [-1121, -4140, -4141, -4144],
  INSUFFICIENT_BALANCE: [-2018],
  INSUFFICIENT_MARGIN: [-2019, -4050, -4051],
  PRICE_UNFIT: [
    -2021, -4001, -4002, -4006, -4007, -4013, -4014, -4016, -4024, -4131, -4142, -4183, -4184, -4210, -4211,
  ],
  NOTHING_HELD: [-2022, -2024, -4118, -4129, -4509],
  ORDER_CAP: [-2025, -4045, -4130],
  ABOVE_MAXIMUM: [-2027, -4005],
  LEVERAGE_UNFIT: [-2028, -4028, -4047, -4048, -4161, -4202, -4203, -4205, -4206, -4208, -4209],
  REFUSED: [-1111, -4003, -4004, -4023],
  BELOW_MIN_NOTIONAL: [-4164],
};
const BY_CODE: ReadonlyMap<number, SkipReason> = new Map(
  Object.entries(CODES).flatMap(([reason, codes]) =>
    codes.map((code) => [code, reason as SkipReason] as const),
  ),
);

/** Filters as the venue names them behind `Filter failure: `. */
const BY_FILTER: Readonly<Record<string, readonly [SkipReason, FilterName]>> = {
  PRICE_FILTER: ["PRICE_UNFIT", "PRICE_FILTER"],
  PERCENT_PRICE: ["PRICE_UNFIT", "PERCENT_PRICE"],
  PERCENT_PRICE_BY_SIDE: ["PRICE_UNFIT", "PERCENT_PRICE_BY_SIDE"],
  LOT_SIZE: ["REFUSED", "LOT_SIZE"],
  MARKET_LOT_SIZE: ["REFUSED", "MARKET_LOT_SIZE"],
  NOTIONAL: ["BELOW_MIN_NOTIONAL", "NOTIONAL"],
  MIN_NOTIONAL: ["BELOW_MIN_NOTIONAL", "NOTIONAL"],
  MAX_POSITION: ["ABOVE_MAXIMUM", "MAX_POSITION"],
  MAX_NUM_ORDERS: ["ORDER_CAP", "MAX_NUM_ORDERS"],
  MAX_NUM_ALGO_ORDERS: ["ORDER_CAP", "MAX_NUM_ALGO_ORDERS"],
  EXCHANGE_MAX_NUM_ORDERS: ["ORDER_CAP", "MAX_NUM_ORDERS"],
  EXCHANGE_MAX_NUM_ALGO_ORDERS: ["ORDER_CAP", "MAX_NUM_ALGO_ORDERS"],
};

/** Messages of the spot engine, by their beginnings. */
const BY_TEXT: readonly (readonly [begins: string, SkipReason])[] = [
  ["Account has insufficient balance", "INSUFFICIENT_BALANCE"],
  ["Order would trigger immediately", "PRICE_UNFIT"],
  ["Stop price would trigger immediately", "PRICE_UNFIT"],
  ["Market is closed", "NOT_LISTED"],
  ["Market orders are not supported", "NOT_LISTED"],
  ["Stop loss orders are not supported", "NOT_LISTED"],
  ["Stop loss limit orders are not supported", "NOT_LISTED"],
  ["This symbol is not permitted", "NOT_LISTED"],
  ["This symbol is restricted", "NOT_LISTED"],
  ["Invalid quantity", "REFUSED"],
  ["Price * QTY is zero or less", "BELOW_MIN_NOTIONAL"],
  ["Invalid price", "PRICE_UNFIT"],
];

/** "Invalid symbol." */
export const UNKNOWN_SYMBOL_CODE = -1121;

/** Rejections by a symbol's published rules: its filters, and whether it is traded. */
const OF_RULES_CODES: ReadonlySet<number> = new Set([
  ...[-1111, -1121, -4001, -4002, -4003, -4004, -4005, -4006, -4007, -4013, -4014, -4016, -4023, -4024],
  ...[-4131, -4140, -4141, -4144, -4164],
]);
const OF_RULES_TEXT =
  /^(Filter failure: |Invalid quantity|Invalid price|Price \* QTY is zero|Market is closed)/;

/** Refusals that say the account itself cannot be copied to: its positions have two sides. */
const ACCOUNT_UNFIT_CODES: readonly number[] = [-4061];

/** How a refused line ends: its status, and why. */
export function refusedAs({ code, message }: VenueRefusal): {
  readonly status: "SKIPPED" | "FAILED";
  readonly skip: Skip;
} {
  const venue = { code, message };
  const [, name = ""] = /^Filter failure: ([A-Z_]+)/.exec(message) ?? [];
  const byFilter = BY_FILTER[name];
  if (byFilter !== undefined) {
    const [reason, filter] = byFilter;
    return { status: "SKIPPED", skip: skipOf(reason, { filter, venue }) };
  }
  const reason = BY_TEXT.find(([begins]) => message.startsWith(begins))?.[1] ?? BY_CODE.get(code);
  if (reason === undefined) return { status: "FAILED", skip: skipOf("REFUSED", { venue }) };
  return { status: "SKIPPED", skip: skipOf(reason, { venue }) };
}

/** Whether a refusal is for rules that the venue publishes: those that an order was sized by may be old. */
export function isOfRules({ code, message }: VenueRefusal): boolean {
  return OF_RULES_CODES.has(code) || OF_RULES_TEXT.test(message);
}

/** Whether a rejection says that the account cannot be used for copying at all. */
export function isAccountUnfit({ code }: VenueRefusal): boolean {
  return ACCOUNT_UNFIT_CODES.includes(code);
}
