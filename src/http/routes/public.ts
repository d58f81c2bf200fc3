// Public market data: what the reference exchange answers, charged to the client's address, with our own budgets in
// `rateLimits` so that clients pace themselves to them. Weights are the reference's.
//
// What upstream is asked holds the parameters that a route knows, in the order of its row, and nothing that could be
// refused here: what a client makes up must not cost the upstream budget that all share.
// Source: specification 4.5; reference exchange, sections 5, 6.1, 9 and 10.1.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { ORDERS_PER_10_SECONDS, ORDERS_PER_MINUTE, WEIGHT_PER_MINUTE } from "../../limits/budgets.ts";
import type { ExchangeInfoBody } from "../../market/client/listings.ts";
import type { Parameters } from "../parameters.ts";
import { optionalInteger, optionalText, text } from "../parse/fields.ts";
import { type Answer, fixed, type Gateway, type PublicRoute, ReadyJson } from "../pipeline.ts";

const open = { access: "public", method: "GET" } as const;

// Source: reference exchange, sections 5.5 and 5.6.
const INTERVALS = new Set("1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M".split(" "));
const TICKER_TYPES = new Set(["FULL", "MINI"]);
const TIME_ZONE = /^[+-]?[0-9]{1,2}(:[0-9]{2})?$/;

export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  { ...open, paths: ["/api/v3/ping", "/fapi/v1/ping"], weight: fixed(1), answer: () => ({}) },
  {
    ...open,
    paths: ["/api/v3/time", "/fapi/v1/time"],
    weight: fixed(1),
    answer: (_parameters, { wallNow }) => ({ serverTime: wallNow() }),
  },
  { ...open, paths: ["/api/v3/exchangeInfo"], weight: fixed(20), answer: spotExchangeInfo },
  // The futures route ignores `symbol`. Source: reference exchange, section 9.
  {
    ...open,
    paths: ["/fapi/v1/exchangeInfo"],
    weight: fixed(1),
    answer: (_parameters, gateway) => exchangeInfo("futures", undefined, gateway),
  },
  fromUpstream("/api/v3/depth", depthWeight, { symbol: mandatorySymbol, limit: limitUpTo(5_000) }),
  fromUpstream("/api/v3/klines", fixed(2), {
    symbol: mandatorySymbol,
    interval,
    startTime: wholeNumber,
    endTime: wholeNumber,
    timeZone,
    limit: limitUpTo(1_000),
  }),
  fromUpstream("/api/v3/ticker/24hr", dayTickerWeight, { symbol, symbols, type: tickerType }),
  fromUpstream("/api/v3/ticker/price", tickerWeight, { symbol, symbols }),
  fromUpstream("/api/v3/ticker/bookTicker", tickerWeight, { symbol, symbols }),
];

const RATE_LIMITS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: WEIGHT_PER_MINUTE },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: ORDERS_PER_10_SECONDS },
  { rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, limit: ORDERS_PER_MINUTE },
];

function spotExchangeInfo(parameters: Parameters, gateway: Gateway): Answer {
  const one = symbol(parameters, gateway);
  if (isRefusal(one)) return one;
  const many = listedSymbols(parameters, gateway);
  if (isRefusal(many)) return many;
  return exchangeInfo("spot", one === undefined ? many : [one], gateway);
}

/** All symbols of a family, or those that are named; they are listed. */
function exchangeInfo(
  family: "spot" | "futures",
  names: readonly string[] | undefined,
  gateway: Gateway,
): ReadyJson {
  const body = gateway.market.exchangeInfo(family);
  const rows =
    names === undefined ? textOfAll(body) : JSON.stringify(names.map((name) => body.symbols.get(name)));
  const head = JSON.stringify({ ...body.head, serverTime: gateway.wallNow(), rateLimits: RATE_LIMITS });
  return new ReadyJson(`${head.slice(0, -1)},"symbols":${rows}}`);
}

const textsOfAll = new WeakMap<ExchangeInfoBody, { readonly version: number; readonly rows: string }>();

/** All rows as JSON. They are many megabytes, so the text is kept until a row changes. */
function textOfAll(body: ExchangeInfoBody): string {
  const kept = textsOfAll.get(body);
  if (kept?.version === body.version) return kept.rows;
  const rows = JSON.stringify([...body.symbols.values()]);
  textsOfAll.set(body, { version: body.version, rows });
  return rows;
}

/** Reads a parameter: its value as upstream shall see it, or undefined if it was left out. */
type Reader = (parameters: Parameters, gateway: Gateway, name: string) => string | undefined | Refusal;

/** Answers with what the market's own REST route answers to the same parameters, which are checked in this order. */
function fromUpstream(
  path: string,
  weight: PublicRoute["weight"],
  readers: Readonly<Record<string, Reader>>,
): PublicRoute {
  return {
    ...open,
    paths: [path],
    weight,
    async answer(parameters, gateway) {
      const search = new URLSearchParams();
      for (const [name, read] of Object.entries(readers)) {
        const value = read(parameters, gateway, name);
        if (isRefusal(value)) return value;
        if (value !== undefined) search.set(name, value);
      }
      const answer = await gateway.market.query(path, search);
      return answer.unavailable ? { refusal: "MARKET_SILENT" } : new ReadyJson(answer.text, answer.status);
    },
  };
}

function mandatorySymbol(parameters: Parameters, gateway: Gateway): string | Refusal {
  const value = text(parameters, "symbol");
  return isRefusal(value) || isListed(value, gateway) ? value : { refusal: "SYMBOL_UNKNOWN" };
}

/** One symbol, of a route that takes `symbols` as well. */
function symbol(parameters: Parameters, gateway: Gateway): string | undefined | Refusal {
  const value = optionalText(parameters, "symbol");
  if (value === null) return undefined;
  if (optionalText(parameters, "symbols") !== null) return { refusal: "PARAMETERS_EXCLUSIVE" };
  return isListed(value, gateway) ? value : { refusal: "SYMBOL_UNKNOWN" };
}

function symbols(parameters: Parameters, gateway: Gateway): string | undefined | Refusal {
  const list = listedSymbols(parameters, gateway);
  return list === undefined || isRefusal(list) ? list : JSON.stringify(list);
}

function listedSymbols(parameters: Parameters, gateway: Gateway): readonly string[] | undefined | Refusal {
  const json = optionalText(parameters, "symbols");
  if (json === null) return undefined;
  const list = symbolList(json);
  if (list === null) return { refusal: "LIST_MALFORMED", parameter: "symbols" };
  if (new Set(list).size < list.length) return { refusal: "SYMBOL_DUPLICATED" };
  return list.every((name) => isListed(name, gateway)) ? list : { refusal: "SYMBOL_UNKNOWN" };
}

function isListed(name: string, { market }: Gateway): boolean {
  return market.exchangeInfo("spot").symbols.has(name);
}

function interval(parameters: Parameters): string | Refusal {
  const value = text(parameters, "interval");
  return isRefusal(value) || INTERVALS.has(value) ? value : { refusal: "INTERVAL_INVALID" };
}

function tickerType(parameters: Parameters): string | undefined | Refusal {
  const value = optionalText(parameters, "type") ?? undefined;
  return value === undefined || TICKER_TYPES.has(value) ? value : { refusal: "TICKER_TYPE_INVALID" };
}

/** Hours, or hours and minutes. */
function timeZone(parameters: Parameters): string | undefined | Refusal {
  const value = optionalText(parameters, "timeZone") ?? undefined;
  if (value === undefined || TIME_ZONE.test(value)) return value;
  return { refusal: "ILLEGAL_CHARACTERS", parameter: "timeZone", legalRange: TIME_ZONE.source };
}

function wholeNumber(parameters: Parameters, _gateway: Gateway, name: string): string | undefined | Refusal {
  const value = optionalInteger(parameters, name);
  return typeof value === "number" ? String(value) : value;
}

function limitUpTo(max: number): Reader {
  return (parameters) => {
    const value = optionalInteger(parameters, "limit");
    if (value === 0) return { refusal: "PARAMETER_INVALID", parameter: "limit" };
    return typeof value === "number" ? String(Math.min(value, max)) : value;
  };
}

function depthWeight(parameters: Parameters): number {
  const limit = Number(parameters.get("limit") ?? 100);
  if (limit <= 100) return 5;
  if (limit <= 500) return 25;
  return limit <= 1_000 ? 50 : 250;
}

function tickerWeight(parameters: Parameters): number {
  return optionalText(parameters, "symbol") === null ? 4 : 2;
}

function dayTickerWeight(parameters: Parameters): number {
  if (optionalText(parameters, "symbol") !== null) return 2;
  const count = symbolList(parameters.get("symbols") ?? "")?.length ?? Number.POSITIVE_INFINITY;
  if (count <= 20) return 2;
  return count <= 100 ? 40 : 80;
}

/** A JSON list of symbols, or null if the text is none. */
function symbolList(json: string): string[] | null {
  try {
    const list: unknown = JSON.parse(json);
    const isList = Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === "string");
    return isList ? (list as string[]) : null;
  } catch {
    return null;
  }
}
