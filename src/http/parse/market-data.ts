// The parameters of public market data. Each reader returns the value to send upstream, undefined if it was
// left out, or the refusal that says what is wrong with it. Everything that can be refused here is not sent
// upstream, and a symbol must match the exchange's listing exactly. Source: reference exchange, sections 2,
// 5, 6.1 and 9.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import {
  END_TIME,
  mandatory,
  optional,
  type ParameterDescription,
  START_TIME,
  SYMBOL,
  SYMBOL_OR_ALL,
} from "./descriptions.ts";
import { count, optionalInteger, optionalLongInteger, optionalText, text } from "./fields.ts";

/** The rows of `exchangeInfo` by symbol, of the requested type. */
export type Listed = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

type Read = (parameters: Parameters, listed: Listed, name: string) => string | undefined | Refusal;

/** Parses a parameter, and describes it. */
export type Reader = Read & { readonly description: ParameterDescription };

// Source: reference exchange, sections 5.5, 5.6, 5.8 and 9.
const CONTRACT_INTERVALS = "1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M".split(" ");
const INTERVALS = ["1s", ...CONTRACT_INTERVALS];
const CONTRACT_TYPES = ["PERPETUAL", "CURRENT_QUARTER", "NEXT_QUARTER", "TRADIFI_PERPETUAL"];
const DEPTH_LIMITS = [5, 10, 20, 50, 100, 500, 1_000];
const DEPTH_LIMIT_MAX = 1_000;
const TICKER_TYPES = ["FULL", "MINI"];
const TIME_ZONE = /^([+-]?)([0-9]{1,2})(?::([0-9]{2}))?$/;
/** The time-zone pattern in the refusal: the same without its groups. */
const TIME_ZONE_RANGE = "^[+-]?[0-9]{1,2}(:[0-9]{2})?$";
const TIME_ZONE_MINUTES_MIN = -12 * 60;
const TIME_ZONE_MINUTES_MAX = 14 * 60;
const MINUTES_MAX = 59;

export const SYMBOL_STATUS = optional("text", "", { values: ["TRADING", "HALT", "BREAK"], default: "any" });

/** The symbol of a route that cannot do without: PARAMETER_MISSING, SYMBOL_UNKNOWN. */
export const mandatorySymbol = described(SYMBOL, (parameters, listed) => {
  const value = text(parameters, "symbol");
  return isRefusal(value) || listed.has(value) ? value : { refusal: "SYMBOL_UNKNOWN" };
});

/** One symbol, of a route that takes `symbols` instead: PARAMETERS_EXCLUSIVE, SYMBOL_UNKNOWN. */
export const symbol = described(
  { ...SYMBOL_OR_ALL, description: "A listed symbol. Not with `symbols`." },
  (parameters, listed) => {
    const value = optionalText(parameters, "symbol");
    if (value === null) return undefined;
    if (optionalText(parameters, "symbols") !== null) return { refusal: "PARAMETERS_EXCLUSIVE" };
    return listed.has(value) ? value : { refusal: "SYMBOL_UNKNOWN" };
  },
);

/** One symbol, of a route that knows no other choice and ignores `symbols`: SYMBOL_UNKNOWN. */
export const optionalSymbol = described(SYMBOL_OR_ALL, (parameters, listed) => {
  const value = optionalText(parameters, "symbol");
  return value === null ? undefined : listed.has(value) ? value : { refusal: "SYMBOL_UNKNOWN" };
});

/** The pair that contracts are of: PARAMETER_MISSING, PAIR_INVALID. */
export const pair = described(
  mandatory("text", "The pair of a listed contract.", { example: "BTCUSDT" }),
  (parameters, listed) => {
    const value = text(parameters, "pair");
    if (isRefusal(value)) return value;
    // A perpetual contract has the name of its pair.
    const isListed =
      listed.get(value)?.pair === value || [...listed.values()].some((row) => row.pair === value);
    return isListed ? value : { refusal: "PAIR_INVALID" };
  },
);

/** PARAMETER_MISSING, CONTRACT_TYPE_INVALID. */
export const contractType = described(
  mandatory("text", "", { values: CONTRACT_TYPES, example: "PERPETUAL" }),
  (parameters) => {
    const value = text(parameters, "contractType");
    return isRefusal(value) || CONTRACT_TYPES.includes(value) ? value : { refusal: "CONTRACT_TYPE_INVALID" };
  },
);

/** Several symbols as a JSON list: as `listedSymbols`. */
export const symbols = described(
  optional("list", "Listed symbols, none twice. Not with `symbol`.", { default: "all" }),
  (parameters, listed) => {
    const list = listedSymbols(parameters, listed);
    return list === undefined || isRefusal(list) ? list : JSON.stringify(list);
  },
);

/** The symbols that `symbols` lists: LIST_MALFORMED, SYMBOL_DUPLICATED, SYMBOL_UNKNOWN. */
export function listedSymbols(
  parameters: Parameters,
  listed: Listed,
): readonly string[] | undefined | Refusal {
  const json = optionalText(parameters, "symbols");
  if (json === null) return undefined;
  const list = textList(json);
  if (list === null) return { refusal: "LIST_MALFORMED", parameter: "symbols" };
  if (new Set(list).size < list.length) return { refusal: "SYMBOL_DUPLICATED" };
  return list.every((name) => listed.has(name)) ? list : { refusal: "SYMBOL_UNKNOWN" };
}

/** The status that symbols must have, or null if any will do: SYMBOL_STATUS_INVALID. */
export function symbolStatus(parameters: Parameters): string | null | Refusal {
  const value = optionalText(parameters, "symbolStatus");
  return value === null || SYMBOL_STATUS.values?.includes(value)
    ? value
    : { refusal: "SYMBOL_STATUS_INVALID" };
}

/** The length of a candle: PARAMETER_MISSING, INTERVAL_INVALID. */
export const interval = intervalAmong(INTERVALS);
/** The length of a contract's candle: there are none of a second. */
export const contractInterval = intervalAmong(CONTRACT_INTERVALS);

/** The requested form of a day's ticker: TICKER_TYPE_INVALID. */
export const tickerType = described(
  optional("text", "", { values: TICKER_TYPES, default: "FULL" }),
  (parameters) => {
    const value = optionalText(parameters, "type") ?? undefined;
    return value === undefined || TICKER_TYPES.includes(value) ? value : { refusal: "TICKER_TYPE_INVALID" };
  },
);

/** Hours, or hours and minutes, from -12:00 to +14:00: ILLEGAL_CHARACTERS, PARAMETER_INVALID. */
export const timeZone = described(
  optional(
    "text",
    "Hours, or hours and minutes, from `-12:00` to `+14:00`: the time zone in which days and weeks begin.",
    { default: "0" },
  ),
  (parameters) => {
    const value = optionalText(parameters, "timeZone");
    if (value === null) return undefined;
    const parts = TIME_ZONE.exec(value);
    if (parts === null) {
      return { refusal: "ILLEGAL_CHARACTERS", parameter: "timeZone", legalRange: TIME_ZONE_RANGE };
    }
    const [, sign, hours, minutes = "0"] = parts;
    const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
    const isZone =
      Number(minutes) <= MINUTES_MAX && offset >= TIME_ZONE_MINUTES_MIN && offset <= TIME_ZONE_MINUTES_MAX;
    return isZone ? value : { refusal: "PARAMETER_INVALID", parameter: "timeZone" };
  },
);

/** An id or a time in Unix ms: ILLEGAL_CHARACTERS. */
function wholeNumber(description: ParameterDescription, read = optionalInteger): Reader {
  return described(description, (parameters, _listed, name) => {
    const value = read(parameters, name);
    return typeof value === "number" ? String(value) : value;
  });
}

export const startTime = wholeNumber(START_TIME);
export const endTime = wholeNumber(END_TIME);
export const fromId = wholeNumber(
  optional("id", "The first row that is wanted.", { default: "the newest" }),
  optionalLongInteger,
);

/**
 * How many rows, cut to `max`: ILLEGAL_CHARACTERS, and PARAMETER_INVALID for none. Without a limit upstream
 * answers `standard` rows.
 */
export function limitUpTo(max: number, standard: number): Reader {
  const more = { default: String(standard), min: 1 };
  const description = optional("count", `A higher limit than ${max} counts as ${max}.`, more);
  return described(description, (parameters) => {
    const value = optionalInteger(parameters, "limit");
    if (value === 0) return { refusal: "PARAMETER_INVALID", parameter: "limit" };
    return typeof value === "number" ? String(Math.min(value, max)) : value;
  });
}

/** The same, refused above `max`: ILLEGAL_CHARACTERS, PARAMETER_INVALID. */
export function limitWithin(max: number, standard: number): Reader {
  return described(optional("count", "", { default: String(standard), min: 1, max }), (parameters) => {
    if (optionalText(parameters, "limit") === null) return undefined;
    const value = count(parameters, "limit", { standard: max, max });
    return typeof value === "number" ? String(value) : value;
  });
}

/** How many levels of a contract's book: ILLEGAL_CHARACTERS, PARAMETER_INVALID, DEPTH_LIMIT_INVALID. */
export const contractDepthLimit = described(
  optional("count", "", { values: DEPTH_LIMITS.map(String), default: "500" }),
  (parameters) => {
    const value = optionalInteger(parameters, "limit");
    if (typeof value !== "number") return value;
    if (value > DEPTH_LIMIT_MAX) return { refusal: "PARAMETER_INVALID", parameter: "limit" };
    return DEPTH_LIMITS.includes(value)
      ? String(value)
      : { refusal: "DEPTH_LIMIT_INVALID", limit: String(value) };
  },
);

/** A JSON list of texts that holds at least one, or null if it is none. */
export function textList(json: string): readonly string[] | null {
  try {
    const list: unknown = JSON.parse(json);
    const isList = Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === "string");
    return isList ? (list as string[]) : null;
  } catch {
    return null;
  }
}

function intervalAmong(intervals: readonly string[]): Reader {
  return described(mandatory("text", "", { values: intervals, example: "1h" }), (parameters) => {
    const value = text(parameters, "interval");
    return isRefusal(value) || intervals.includes(value) ? value : { refusal: "INTERVAL_INVALID" };
  });
}

function described(description: ParameterDescription, read: Read): Reader {
  return Object.assign(read, { description });
}
