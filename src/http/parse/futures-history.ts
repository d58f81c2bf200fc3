// The parameters of the futures history lists: which rows, from when until when, and how many.
//
// All answer ascending. A span of time may be seven days long; where only one end is given the other is seven
// days away, and where neither is, nor an id, it is the last seven days. Of more rows than may be shown,
// orders and legs keep the newest and trades the oldest, unless an id says where to begin.
// Source: reference exchange, sections 11.8, 11.9, 12.2 and 13.3.
import { INCOME_TYPES } from "../../domain/income.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { IncomeQuery, LegQuery, OrderQuery, TradeQuery } from "../../store/ports/trading.ts";
import type { Parameters } from "../parameters.ts";
import {
  type Descriptions,
  END_TIME,
  IGNORED,
  optional,
  START_TIME,
  SYMBOL_OF_ROWS,
  SYMBOL_OR_ALL,
} from "./descriptions.ts";
import { allOf, count, optionalInteger, optionalLongInteger, optionalText, text } from "./fields.ts";

const ROWS = { standard: 500, max: 1_000 } as const;
const INCOMES = { standard: 100, max: 1_000 } as const;
/** Pages of incomes, so that what is skipped stays countable. */
const PAGES = { standard: 1, max: 1_000_000 } as const;

/**
 * What the lists may be asked. Source: specification 4.2; reference exchange, sections 11.8, 11.9, 12.2 and
 * 13.3.
 */
const SPAN_PARAMETERS = {
  symbol: SYMBOL_OF_ROWS,
  startTime: START_TIME,
  endTime: {
    ...END_TIME,
    description: "Inclusive. Not before `startTime`, and at most seven days after it.",
  },
  limit: optional("count", "", { default: String(ROWS.standard), min: 1, max: ROWS.max }),
} satisfies Descriptions;
export const FUTURES_ORDER_LIST_PARAMETERS = {
  ...SPAN_PARAMETERS,
  orderId: optional("id", "The first order that is wanted."),
} satisfies Descriptions;
export const FUTURES_TRADE_LIST_PARAMETERS = {
  ...SPAN_PARAMETERS,
  orderId: optional("id", "The order whose fills are wanted."),
  fromId: optional("id", "The first fill that is wanted. Not with a time."),
} satisfies Descriptions;
export const LEG_LIST_PARAMETERS = {
  ...SPAN_PARAMETERS,
  algoId: optional("id", "The first leg that is wanted."),
  page: IGNORED,
} satisfies Descriptions;
export const INCOME_PARAMETERS = {
  symbol: { ...SYMBOL_OR_ALL, description: "A symbol; one that is unknown has no rows." },
  incomeType: optional("text", "A type of income; one that is unknown has no rows.", { default: "all" }),
  startTime: {
    ...START_TIME,
    description: "Inclusive. What is older than three months is not listed.",
    default: "seven days before the end",
  },
  endTime: { ...END_TIME, description: "Inclusive. Not before `startTime`.", default: "now" },
  page: optional("count", "", { default: String(PAGES.standard), min: 1, max: PAGES.max }),
  limit: optional("count", "", { default: String(INCOMES.standard), min: 1, max: INCOMES.max }),
} satisfies Descriptions;

type SpanName = keyof typeof SPAN_PARAMETERS;

const DAY_MS = 86_400_000;
const SPAN_DAYS = 7;
const SPAN_MS = SPAN_DAYS * DAY_MS;
/** How far back incomes are listed, ms: three months, however long. Source: reference exchange, 11.8. */
const INCOMES_LISTED_MS = 92 * DAY_MS;

/**
 * Reads the parameters of allOrders; `orderId` is the first id wanted. Refuses PARAMETER_MISSING without a
 * symbol, ILLEGAL_CHARACTERS, PARAMETER_INVALID, TIMES_REVERSED and DAYS_TOO_MANY.
 */
export function parseAllFuturesOrders(
  parameters: Parameters<keyof typeof FUTURES_ORDER_LIST_PARAMETERS>,
): OrderQuery | Refusal {
  const rows = rowsFrom(parameters, "orderId");
  if (isRefusal(rows)) return rows;
  const { fromId, ...query } = rows;
  return { ...query, fromOrderId: fromId };
}

/** The same of allAlgoOrders, from `algoId` on. */
export function parseAllLegs(parameters: Parameters<keyof typeof LEG_LIST_PARAMETERS>): LegQuery | Refusal {
  const rows = rowsFrom(parameters, "algoId");
  if (isRefusal(rows)) return rows;
  const { fromId, ...query } = rows;
  return { ...query, fromLegId: fromId };
}

/**
 * Reads the parameters of userTrades: `orderId` is the order whose trades are wanted, `fromId` the first
 * trade, which does not go with a time: PARAMETERS_EXCLUSIVE. Otherwise refuses what `parseAllFuturesOrders`
 * does.
 */
export function parseUserTrades(
  parameters: Parameters<keyof typeof FUTURES_TRADE_LIST_PARAMETERS>,
): TradeQuery | Refusal {
  const ids = allOf({
    symbol: text(parameters, "symbol"),
    orderId: optionalLongInteger(parameters, "orderId"),
    fromTradeId: optionalLongInteger(parameters, "fromId"),
  });
  if (isRefusal(ids)) return ids;
  const times = timesOf(parameters);
  if (isRefusal(times)) return times;
  const { fromTradeId } = ids;
  const isByTime = times.startTime !== undefined || times.endTime !== undefined;
  if (fromTradeId !== undefined && isByTime) return { refusal: "PARAMETERS_EXCLUSIVE" };
  const limit = count(parameters, "limit", ROWS);
  if (isRefusal(limit)) return limit;
  const keeps = fromTradeId !== undefined || times.startTime !== undefined ? "OLDEST" : "NEWEST";
  return { ...ids, ...spanOf(times), limit, keeps };
}

/**
 * Reads the parameters of income, for a symbol and of a type, or of all; null for a type that does not exist
 * here. Refuses ILLEGAL_CHARACTERS, PARAMETER_INVALID, TIMES_REVERSED.
 */
export function parseIncomes(
  parameters: Parameters<keyof typeof INCOME_PARAMETERS>,
): IncomeQuery | null | Refusal {
  const symbol = optionalText(parameters, "symbol") ?? undefined;
  const sentType = optionalText(parameters, "incomeType");
  const type = INCOME_TYPES.find((known) => known === sentType);
  const times = orderedTimes(parameters);
  if (isRefusal(times)) return times;
  const rows = allOf({ page: count(parameters, "page", PAGES), limit: count(parameters, "limit", INCOMES) });
  if (isRefusal(rows)) return rows;
  const { startTime, endTime } = times;
  const { page, limit } = rows;
  if (sentType !== null && type === undefined) return null;
  return {
    symbol,
    type,
    startTime: startTime ?? (endTime === undefined ? undefined : endTime - SPAN_MS),
    endTime,
    limit,
    offset: (page - 1) * limit,
  };
}

/** A query without a time and without an id asks for the last seven days; `now` is market time, Unix ms. */
export function sinceLastDays<Query extends Partial<Times & Ids>>(query: Query, now: number): Query {
  const { startTime, endTime, orderId, fromOrderId, fromTradeId, fromLegId } = query;
  const isNarrowed = [startTime, endTime, orderId, fromOrderId, fromTradeId, fromLegId].some(
    (each) => each !== undefined,
  );
  return isNarrowed ? query : { ...query, startTime: now - SPAN_MS };
}

/** The same of incomes, of which none older than three months are listed. */
export function incomesListed(query: IncomeQuery, now: number): IncomeQuery {
  const { startTime, ...others } = sinceLastDays(query, now);
  return { ...others, startTime: Math.max(startTime ?? 0, now - INCOMES_LISTED_MS) };
}

type Times = { readonly startTime: number | undefined; readonly endTime: number | undefined };
type Ids = { readonly [Name in "orderId" | "fromOrderId" | "fromTradeId" | "fromLegId"]: number | undefined };

function rowsFrom<IdName extends string>(parameters: Parameters<SpanName | IdName>, idName: IdName) {
  const rows = allOf({
    symbol: text(parameters, "symbol"),
    fromId: optionalLongInteger(parameters, idName),
    times: timesOf(parameters),
    limit: count(parameters, "limit", ROWS),
  });
  if (isRefusal(rows)) return rows;
  const { times, ...query } = rows;
  const keeps: "OLDEST" | "NEWEST" = query.fromId !== undefined ? "OLDEST" : "NEWEST";
  return { ...query, ...spanOf(times), keeps };
}

/** Times in Unix ms, inclusive, neither in the wrong order nor too far apart. */
function timesOf(parameters: Parameters<"startTime" | "endTime">): Times | Refusal {
  const times = orderedTimes(parameters);
  if (isRefusal(times)) return times;
  return lengthOf(times) > SPAN_MS ? { refusal: "DAYS_TOO_MANY", days: SPAN_DAYS } : times;
}

function orderedTimes(parameters: Parameters<"startTime" | "endTime">): Times | Refusal {
  const times = allOf({
    startTime: optionalInteger(parameters, "startTime"),
    endTime: optionalInteger(parameters, "endTime"),
  });
  return !isRefusal(times) && lengthOf(times) < 0 ? { refusal: "TIMES_REVERSED" } : times;
}

/** From the start to the end, ms; 0 if one of them is not given. */
function lengthOf({ startTime, endTime }: Times): number {
  return startTime === undefined || endTime === undefined ? 0 : endTime - startTime;
}

/** Both ends, or neither: see `sinceLastDays`. */
function spanOf({ startTime, endTime }: Times): Times {
  if (startTime === undefined && endTime === undefined) return { startTime, endTime };
  return {
    startTime: startTime ?? (endTime ?? 0) - SPAN_MS,
    endTime: endTime ?? (startTime ?? 0) + SPAN_MS,
  };
}
