// The parameters of the two history lists, allOrders and myTrades: which rows, from when until when, and how
// many.
//
// Both are inclusive at either end and always answer ascending, newest last. Without a lower bound (an id or
// a start) they answer the newest rows, with one the oldest from there. Source: specification 4.1; reference
// exchange, sections 2, 7.5 and 7.6.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { OrderQuery, TradeQuery } from "../../store/ports/trading.ts";
import type { Parameters } from "../parameters.ts";
import { type Descriptions, END_TIME, optional, START_TIME, SYMBOL_OF_ROWS } from "./descriptions.ts";
import { allOf, optionalInteger, optionalLongInteger, text } from "./fields.ts";

/** Default and maximum of rows in a list. Source: specification 4.1; reference exchange, section 7.5. */
const LIMIT_DEFAULT = 500;
const LIMIT_MAX = 1_000;

/** The parameters of the two lists. Source: specification 4.1; reference exchange, sections 7.5 and 7.6. */
export const ORDER_LIST_PARAMETERS = {
  symbol: SYMBOL_OF_ROWS,
  orderId: optional("id", "The first order that is wanted."),
  startTime: START_TIME,
  endTime: { ...END_TIME, description: "Inclusive. At most 24 hours after `startTime`." },
  limit: optional("count", `A higher limit than ${LIMIT_MAX} counts as ${LIMIT_MAX}.`, {
    default: String(LIMIT_DEFAULT),
    min: 1,
  }),
} satisfies Descriptions;
export const TRADE_LIST_PARAMETERS = {
  ...ORDER_LIST_PARAMETERS,
  orderId: optional("id", "The order whose fills are wanted. Not with a time."),
  fromId: optional("id", "The first fill that is wanted. Not with a time."),
} satisfies Descriptions;

/** Maximum span of a list when both its ends are given, ms: 24 hours, and not a millisecond more. */
const SPAN_MS_MAX = 86_400_000;

/**
 * Reads the parameters of allOrders: `orderId` is the first id wanted, and narrows a span of time that is
 * given with it. Refuses PARAMETER_MISSING without a symbol, ILLEGAL_CHARACTERS, PARAMETER_INVALID for a
 * limit of 0 and SPAN_TOO_LONG.
 */
export function parseAllOrders(
  parameters: Parameters<keyof typeof ORDER_LIST_PARAMETERS>,
): OrderQuery | Refusal {
  const ids = allOf({
    symbol: text(parameters, "symbol"),
    fromOrderId: optionalLongInteger(parameters, "orderId"),
  });
  if (isRefusal(ids)) return ids;
  const range = rangeOf(parameters);
  return isRefusal(range) ? range : { ...ids, ...range };
}

/**
 * Reads the parameters of myTrades: `orderId` is the order whose trades are wanted, `fromId` the first trade.
 * Neither goes with a time: PARAMETERS_EXCLUSIVE. Otherwise refuses what `parseAllOrders` does.
 */
export function parseMyTrades(
  parameters: Parameters<keyof typeof TRADE_LIST_PARAMETERS>,
): TradeQuery | Refusal {
  const ids = allOf({
    symbol: text(parameters, "symbol"),
    orderId: optionalLongInteger(parameters, "orderId"),
    fromTradeId: optionalLongInteger(parameters, "fromId"),
  });
  if (isRefusal(ids)) return ids;
  const range = rangeOf(parameters);
  if (isRefusal(range)) return range;
  const isById = ids.orderId !== undefined || ids.fromTradeId !== undefined;
  const isByTime = range.startTime !== undefined || range.endTime !== undefined;
  if (isById && isByTime) return { refusal: "PARAMETERS_EXCLUSIVE" };
  return { ...ids, ...range };
}

/**
 * Times in Unix ms, and the limit, clamped to the most there may be. A span that ends before it starts is not
 * refused: the reference documents no refusal for spot (its "Start time is greater than end time."
 * is the futures one), and such a span holds nothing, so the list is empty.
 */
function rangeOf(
  parameters: Parameters<"startTime" | "endTime" | "limit">,
): Pick<OrderQuery, "startTime" | "endTime" | "limit"> | Refusal {
  const range = allOf({
    startTime: optionalInteger(parameters, "startTime"),
    endTime: optionalInteger(parameters, "endTime"),
    limit: optionalInteger(parameters, "limit"),
  });
  if (isRefusal(range)) return range;
  const { startTime, endTime, limit } = range;
  if (limit === 0) return { refusal: "PARAMETER_INVALID", parameter: "limit" };
  if (startTime !== undefined && endTime !== undefined && endTime - startTime > SPAN_MS_MAX) {
    return { refusal: "SPAN_TOO_LONG" };
  }
  return { startTime, endTime, limit: Math.min(limit ?? LIMIT_DEFAULT, LIMIT_MAX) };
}
