// Parses single parameters: each function returns the value, or the refusal that says what is wrong with it.
import type { StrategyType } from "../../domain/account.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { type Decimal, parseDecimal } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";

/** Permitted texts of a decimal; `parseDecimal` decides. */
const DECIMAL_RANGE = "^([0-9]{1,20})(\\.[0-9]{1,20})?$";
const INTEGER = /^[0-9]{1,15}$/;
const LONG_INTEGER = /^[0-9]{1,20}$/;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
const CLIENT_ID_LENGTH_MAX = 36;
/** Source: reference exchange, section 16.1. */
const CLIENT_IDS: { readonly [T in StrategyType]: RegExp } = {
  SPOT: /^[a-zA-Z0-9-_]{1,36}$/,
  FUTURES: /^[.A-Z:/a-z0-9_-]{1,36}$/,
};
/** How the ids of legs begin that come with an entry, and what is left for clients to choose. */
const OF_ATTACHED_LEG = /^(stopLoss|takeProfit)\//;
const NOT_OF_ATTACHED_LEG = "^(?!(stopLoss|takeProfit)/)[.A-Z:/a-z0-9_-]{1,36}$";

/** Values that were read, by name, or the first refusal among them. */
export function allOf<Read extends Readonly<Record<string, unknown>>>(
  read: Read,
): { readonly [Name in keyof Read]: Exclude<Read[Name], Refusal> } | Refusal {
  const refusal = Object.values(read).find(isRefusal);
  return refusal ?? (read as { readonly [Name in keyof Read]: Exclude<Read[Name], Refusal> });
}

/** A parameter that must be there; an empty one is not. */
export function text<Name extends string>(parameters: Parameters<Name>, name: Name): string | Refusal {
  const value = parameters.get(name);
  return value === undefined || value === "" ? { refusal: "PARAMETER_MISSING", parameter: name } : value;
}

/** A parameter that may be left out; an empty one was. */
export function optionalText<Name extends string>(parameters: Parameters<Name>, name: Name): string | null {
  const value = parameters.get(name);
  return value === undefined || value === "" ? null : value;
}

/** A decimal that must be there. */
export function amount<D extends Decimal, Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
  type: StrategyType,
): D | Refusal {
  const value = text(parameters, name);
  if (typeof value !== "string") return value;
  const parsed = parseDecimal(value);
  if (parsed === "NOT_A_DECIMAL") {
    return { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: DECIMAL_RANGE };
  }
  if (parsed === "TOO_PRECISE") return { refusal: "PARAMETER_TOO_PRECISE", parameter: name, type };
  return parsed as D;
}

/** A whole number that may be left out: a count or a time in Unix ms. */
export function optionalInteger<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
): number | undefined | Refusal {
  return integerWithin(INTEGER, parameters, name);
}

/**
 * The same with as many digits as the exchange's ids have. What no number can hold exactly counts as the
 * highest that one can: it is above every id here, and above every leverage.
 */
export function optionalLongInteger<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
): number | undefined | Refusal {
  return integerWithin(LONG_INTEGER, parameters, name);
}

function integerWithin<Name extends string>(
  range: RegExp,
  parameters: Parameters<Name>,
  name: Name,
): number | undefined | Refusal {
  const value = optionalText(parameters, name);
  if (value === null) return undefined;
  if (!range.test(value)) return { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: range.source };
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

/** How many rows a list may have, or which page of it is wanted: more than none, and at most `max`. */
export function count<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
  { standard, max }: { readonly standard: number; readonly max: number },
): number | Refusal {
  const value = optionalInteger(parameters, name) ?? standard;
  if (typeof value !== "number") return value;
  return value >= 1 && value <= max ? value : { refusal: "PARAMETER_INVALID", parameter: name };
}

/** `true` or `false`, also in capitals, as some clients write them; null if it was left out. */
export function optionalFlag<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
): boolean | null | Refusal {
  const value = optionalText(parameters, name);
  if (value === null) return null;
  return FLAGS.get(value.toLowerCase()) ?? { refusal: "PARAMETER_INVALID", parameter: name };
}

/** The id that a client chooses for an order or a leg; null if it was left out. */
export function optionalClientId<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
  type: StrategyType,
): string | null | Refusal {
  const value = legalClientId(parameters, name, type);
  const isTaken = type === "FUTURES" && typeof value === "string" && OF_ATTACHED_LEG.test(value);
  return isTaken
    ? { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: NOT_OF_ATTACHED_LEG }
    : value;
}

/**
 * The client id in a query for an order or a leg: also one of the service's own, which clients cannot choose.
 */
export function soughtClientId<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
  type: StrategyType,
): string | null | Refusal {
  const value = optionalText(parameters, name);
  const hasSign = value?.includes("#") === true && CLIENT_IDS[type].test(value.replace("#", "-"));
  return hasSign ? value : legalClientId(parameters, name, type);
}

function legalClientId<Name extends string>(
  parameters: Parameters<Name>,
  name: Name,
  type: StrategyType,
): string | null | Refusal {
  const value = optionalText(parameters, name);
  const legal = CLIENT_IDS[type];
  if (value === null || legal.test(value)) return value;
  if (type === "FUTURES" && value.length > CLIENT_ID_LENGTH_MAX) return { refusal: "CLIENT_ID_TOO_LONG" };
  return { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: legal.source };
}
