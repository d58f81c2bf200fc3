// Public market data: what the reference exchange answers, charged to the client's address, with our own budgets in
// `rateLimits` so that clients pace themselves to them. Weights are the reference's.
// Source: specification 4.5; reference exchange, sections 5, 6.1, 9 and 10.1.
import { ORDERS_PER_10_SECONDS, ORDERS_PER_MINUTE, WEIGHT_PER_MINUTE } from "../../limits/budgets.ts";
import type { Parameters } from "../parameters.ts";
import { optionalText } from "../parse/fields.ts";
import { type Answer, type Gateway, type PublicRoute, ReadyJson } from "../pipeline.ts";

const open = { access: "public", method: "GET" } as const;
const weight = (units: number) => () => units;

export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  { ...open, paths: ["/api/v3/ping", "/fapi/v1/ping"], weight: weight(1), answer: () => ({}) },
  {
    ...open,
    paths: ["/api/v3/time", "/fapi/v1/time"],
    weight: weight(1),
    answer: (_parameters, { wallNow }) => ({ serverTime: wallNow() }),
  },
  { ...open, paths: ["/api/v3/exchangeInfo"], weight: weight(20), answer: spotExchangeInfo },
  // The futures route ignores `symbol`. Source: reference exchange, section 9.
  {
    ...open,
    paths: ["/fapi/v1/exchangeInfo"],
    weight: weight(1),
    answer: (_parameters, gateway) => exchangeInfo("futures", null, gateway),
  },
  { ...open, paths: ["/api/v3/depth"], weight: depthWeight, answer: fromUpstream("/api/v3/depth") },
  { ...open, paths: ["/api/v3/klines"], weight: weight(2), answer: fromUpstream("/api/v3/klines") },
  {
    ...open,
    paths: ["/api/v3/ticker/24hr"],
    weight: dayTickerWeight,
    answer: fromUpstream("/api/v3/ticker/24hr"),
  },
  {
    ...open,
    paths: ["/api/v3/ticker/price"],
    weight: tickerWeight,
    answer: fromUpstream("/api/v3/ticker/price"),
  },
  {
    ...open,
    paths: ["/api/v3/ticker/bookTicker"],
    weight: tickerWeight,
    answer: fromUpstream("/api/v3/ticker/bookTicker"),
  },
];

const RATE_LIMITS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: WEIGHT_PER_MINUTE },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: ORDERS_PER_10_SECONDS },
  { rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, limit: ORDERS_PER_MINUTE },
];

function spotExchangeInfo(parameters: Parameters, gateway: Gateway): Answer {
  const symbol = optionalText(parameters, "symbol");
  const list = optionalText(parameters, "symbols");
  if (symbol !== null && list !== null) return { refusal: "PARAMETERS_EXCLUSIVE" };
  if (list === null) return exchangeInfo("spot", symbol === null ? null : [symbol], gateway);
  const symbols = symbolList(list);
  if (symbols === null) return { refusal: "LIST_MALFORMED", parameter: "symbols" };
  if (new Set(symbols).size < symbols.length) return { refusal: "SYMBOL_DUPLICATED" };
  return exchangeInfo("spot", symbols, gateway);
}

function exchangeInfo(
  family: "spot" | "futures",
  symbols: readonly string[] | null,
  gateway: Gateway,
): Answer {
  const upstream = gateway.market.exchangeInfo(family);
  const rows = symbols === null ? [...upstream.symbols.values()] : [];
  for (const symbol of symbols ?? []) {
    const row = upstream.symbols.get(symbol);
    if (row === undefined) return { refusal: "SYMBOL_UNKNOWN" };
    rows.push(row);
  }
  return { ...upstream.head, serverTime: gateway.wallNow(), rateLimits: RATE_LIMITS, symbols: rows };
}

/** Answers with what the market's own REST route answers to the same parameters. */
function fromUpstream(path: string): PublicRoute["answer"] {
  return async (parameters, { market }) => {
    const answer = await market.query(path, new URLSearchParams([...parameters]));
    return answer.unavailable ? { refusal: "MARKET_SILENT" } : new ReadyJson(answer.text, answer.status);
  };
}

function depthWeight(parameters: Parameters): number {
  const limit = Number(parameters.get("limit") ?? 100);
  if (limit <= 100) return 5;
  if (limit <= 500) return 25;
  return limit <= 1_000 ? 50 : 250;
}

function tickerWeight(parameters: Parameters): number {
  return parameters.has("symbol") ? 2 : 4;
}

function dayTickerWeight(parameters: Parameters): number {
  if (parameters.has("symbol")) return 2;
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
