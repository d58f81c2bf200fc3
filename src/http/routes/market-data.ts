// The market's own public routes: our clients ask us, we ask upstream, and the answer is handed on.
//
// What upstream is asked holds the parameters that a route knows, in the order of its row, and nothing that could be
// refused here: what a client makes up must not cost the upstream budget that all share. What upstream answers reaches a
// client only as data or as a refusal of our catalogue: its limits, bans and troubles are ours, not our clients'.
// Source: specification 4.5; reference exchange, section 5.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import {
  dayTickerWeight,
  depthWeight,
  fixedWeights,
  tickerWeight,
} from "../../market/client/request-weight.ts";
import { bodyOf, type UpstreamAnswer } from "../../market/client/rest.ts";
import type { Parameters } from "../parameters.ts";
import { optionalText } from "../parse/fields.ts";
import {
  interval,
  type Listed,
  limitUpTo,
  mandatorySymbol,
  type Reader,
  symbol,
  symbolStatus,
  symbols,
  textList,
  tickerType,
  timeZone,
  wholeNumber,
} from "../parse/market-data.ts";
import { type Answer, fixed, type PublicRoute, ReadyJson } from "../pipeline.ts";

const DEPTH_LEVELS_MAX = 5_000;
const ROWS_MAX = 1_000;

const limit = limitUpTo(ROWS_MAX);
const startTime = wholeNumber;
const endTime = wholeNumber;
const fromId = wholeNumber;
const candles = { symbol: mandatorySymbol, interval, startTime, endTime, timeZone, limit };

export const MARKET_DATA_ROUTES: readonly PublicRoute[] = [
  fromUpstream({
    path: "/api/v3/depth",
    weight: (parameters) => depthWeight(optionalText(parameters, "limit")),
    readers: { symbol: mandatorySymbol, limit: limitUpTo(DEPTH_LEVELS_MAX) },
    takesStatus: true,
  }),
  fromUpstream({
    path: "/api/v3/trades",
    weight: fixed(fixedWeights["/api/v3/trades"]),
    readers: { symbol: mandatorySymbol, limit },
  }),
  fromUpstream({
    path: "/api/v3/historicalTrades",
    weight: fixed(fixedWeights["/api/v3/historicalTrades"]),
    readers: { symbol: mandatorySymbol, fromId, limit },
  }),
  fromUpstream({
    path: "/api/v3/aggTrades",
    weight: fixed(fixedWeights["/api/v3/aggTrades"]),
    readers: { symbol: mandatorySymbol, fromId, startTime, endTime, limit },
  }),
  fromUpstream({ path: "/api/v3/klines", weight: fixed(fixedWeights["/api/v3/klines"]), readers: candles }),
  // Answered with the same rows: asked under one name, so that one answer serves both.
  fromUpstream({
    path: "/api/v3/uiKlines",
    upstreamPath: "/api/v3/klines",
    weight: fixed(fixedWeights["/api/v3/uiKlines"]),
    readers: candles,
  }),
  fromUpstream({
    path: "/api/v3/avgPrice",
    weight: fixed(fixedWeights["/api/v3/avgPrice"]),
    readers: { symbol: mandatorySymbol },
  }),
  fromUpstream({
    path: "/api/v3/ticker/24hr",
    weight: (parameters) => dayTickerWeight(symbolCountOf(parameters)),
    readers: { symbol, symbols, type: tickerType },
    takesStatus: true,
  }),
  fromUpstream({
    path: "/api/v3/ticker/price",
    weight: weightOfTicker,
    readers: { symbol, symbols },
    takesStatus: true,
  }),
  fromUpstream({
    path: "/api/v3/ticker/bookTicker",
    weight: weightOfTicker,
    readers: { symbol, symbols },
    takesStatus: true,
  }),
];

type UpstreamRoute = {
  readonly path: string;
  /** Unless it is the same. */
  readonly upstreamPath?: string;
  readonly weight: PublicRoute["weight"];
  /** The parameters that upstream gets, checked in this order. */
  readonly readers: Readonly<Record<string, Reader>>;
  /** Whether the route takes `symbolStatus`; our own listing judges it, and upstream is not told. */
  readonly takesStatus?: boolean;
};

/** Answers with what the market's own REST route answers to the same parameters. */
function fromUpstream({
  path,
  upstreamPath = path,
  weight,
  readers,
  takesStatus,
}: UpstreamRoute): PublicRoute {
  return {
    access: "public",
    method: "GET",
    paths: [path],
    weight,
    async answer(parameters, gateway) {
      const listed = gateway.market.exchangeInfo("spot").symbols;
      const search = searchOf(parameters, listed, readers);
      if (isRefusal(search)) return search;
      const status = takesStatus === true ? symbolStatus(parameters) : null;
      if (isRefusal(status)) return status;
      const named = search.get("symbol");
      if (status !== null && named !== null && listed.get(named)?.status !== status) {
        return { refusal: "SYMBOL_STATUS_MISMATCH" };
      }
      const text = textOf(await gateway.market.query(upstreamPath, search));
      if (isRefusal(text)) return text;
      return status === null || named !== null ? new ReadyJson(text) : rowsOfStatus(text, status, listed);
    },
  };
}

function searchOf(
  parameters: Parameters,
  listed: Listed,
  readers: UpstreamRoute["readers"],
): URLSearchParams | Refusal {
  const search = new URLSearchParams();
  for (const [name, read] of Object.entries(readers)) {
    const value = read(parameters, listed, name);
    if (isRefusal(value)) return value;
    if (value !== undefined) search.set(name, value);
  }
  return search;
}

/** What upstream refuses although it passed here: a symbol that lost its listing just now, and times that do not go together. */
const REFUSED_BY_UPSTREAM: Readonly<Record<number, Refusal>> = {
  [-1121]: { refusal: "SYMBOL_UNKNOWN" },
  [-1128]: { refusal: "PARAMETERS_EXCLUSIVE" },
};
/** The codes that find fault with a parameter. Source: reference exchange, section 16.1. */
const PARAMETER_CODE_MIN = -1299;
const PARAMETER_CODE_MAX = -1100;

/** The data in upstream's answer as JSON text; a refusal of a parameter in our words; else there is no market to be had. */
function textOf(answer: UpstreamAnswer): string | Refusal {
  if (!answer.unavailable && answer.status === 200 && looksLikeJson(answer.text)) return answer.text;
  const code = codeOf(answer);
  if (code === null || code < PARAMETER_CODE_MIN || code > PARAMETER_CODE_MAX) {
    return { refusal: "MARKET_SILENT" };
  }
  return REFUSED_BY_UPSTREAM[code] ?? { refusal: "PARAMETERS_INVALID" };
}

/** Whether it is an object or a list from end to end: what stands between upstream and us answers with pages. */
function looksLikeJson(text: string): boolean {
  const trimmed = text.trim();
  return (
    (trimmed.startsWith("[") && trimmed.endsWith("]")) || (trimmed.startsWith("{") && trimmed.endsWith("}"))
  );
}

/** The code of a refusal, or null if the answer is none. */
function codeOf(answer: UpstreamAnswer): number | null {
  if (answer.unavailable || answer.status !== 400) return null;
  const body = bodyOf({ ...answer, status: 200 });
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "number" ? code : null;
}

/** The rows of the symbols that have a status by our listing. */
function rowsOfStatus(text: string, status: string, listed: Listed): Answer {
  const rows = bodyOf({ unavailable: false, status: 200, text });
  if (!Array.isArray(rows)) return { refusal: "MARKET_SILENT" };
  return rows.filter((row) => listed.get(row?.symbol)?.status === status);
}

function weightOfTicker(parameters: Parameters): number {
  return tickerWeight(optionalText(parameters, "symbol") !== null);
}

function symbolCountOf(parameters: Parameters): number | null {
  if (optionalText(parameters, "symbol") !== null) return 1;
  const list = optionalText(parameters, "symbols");
  return list === null ? null : (textList(list)?.length ?? null);
}
