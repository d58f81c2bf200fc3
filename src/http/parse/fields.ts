// Reading single parameters: each function answers with the value, or with the refusal that says what is wrong with it.
import type { Refusal } from "../../domain/refusal.ts";
import { type Decimal, parseDecimal } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";

/** What a decimal may be; `parseDecimal` is what judges it. */
const DECIMAL_RANGE = "^([0-9]{1,20})(\\.[0-9]{1,20})?$";
const ID = /^[0-9]{1,15}$/;
const CLIENT_ID = /^[a-zA-Z0-9-_]{1,36}$/;

/** A parameter that must be there; an empty one is not. */
export function text(parameters: Parameters, name: string): string | Refusal {
  const value = parameters.get(name);
  return value === undefined || value === "" ? { refusal: "PARAMETER_MISSING", parameter: name } : value;
}

/** A parameter that may be left out; an empty one was. */
export function optionalText(parameters: Parameters, name: string): string | null {
  const value = parameters.get(name);
  return value === undefined || value === "" ? null : value;
}

/** A decimal that must be there. */
export function amount<D extends Decimal>(parameters: Parameters, name: string): D | Refusal {
  const value = text(parameters, name);
  if (typeof value !== "string") return value;
  const parsed = parseDecimal(value);
  if (parsed === "NOT_A_DECIMAL") {
    return { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: DECIMAL_RANGE };
  }
  if (parsed === "TOO_PRECISE") return { refusal: "PARAMETER_TOO_PRECISE", parameter: name };
  return parsed as D;
}

/** A whole number that may be left out: an id or a time in Unix ms. */
export function optionalInteger(parameters: Parameters, name: string): number | undefined | Refusal {
  const value = optionalText(parameters, name);
  if (value === null) return undefined;
  if (!ID.test(value)) return { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: ID.source };
  return Number(value);
}

/** A client's own order id that may be left out. */
export function optionalClientId(parameters: Parameters, name: string): string | null | Refusal {
  const value = optionalText(parameters, name);
  if (value === null || CLIENT_ID.test(value)) return value;
  return { refusal: "ILLEGAL_CHARACTERS", parameter: name, legalRange: CLIENT_ID.source };
}
