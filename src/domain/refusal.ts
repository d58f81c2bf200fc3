// Every way of saying no, by name. The engine gives the name; `http/refusals.ts` alone knows its status, number and
// text, and does not compile until every name has one.

import type { OrderType } from "./order.ts";

/** The published filters that the service enforces. Source: reference exchange, section 6.3. */
export type FilterName =
  | "PRICE_FILTER"
  | "PERCENT_PRICE"
  | "PERCENT_PRICE_BY_SIDE"
  | "LOT_SIZE"
  | "MARKET_LOT_SIZE"
  | "NOTIONAL"
  | "MAX_POSITION"
  | "MAX_NUM_ORDERS"
  | "MAX_NUM_ALGO_ORDERS";

export type Refusal =
  // The request itself.
  | { readonly refusal: "PATH_UNKNOWN"; readonly method: string; readonly path: string }
  | { readonly refusal: "KEY_REFUSED" }
  | { readonly refusal: "PARAMETER_MISSING"; readonly parameter: string }
  | { readonly refusal: "PARAMETERS_MISSING"; readonly parameters: readonly [string, string] }
  | { readonly refusal: "PARAMETER_NOT_REQUIRED"; readonly parameter: string }
  | { readonly refusal: "PARAMETER_DUPLICATED" }
  | { readonly refusal: "PARAMETERS_EXCLUSIVE" }
  | { readonly refusal: "PARAMETER_INVALID"; readonly parameter: string }
  | { readonly refusal: "PARAMETERS_INVALID" }
  | { readonly refusal: "PARAMETER_TOO_PRECISE"; readonly parameter: string }
  | { readonly refusal: "LIST_MALFORMED"; readonly parameter: string }
  | { readonly refusal: "SYMBOL_DUPLICATED" }
  | { readonly refusal: "ILLEGAL_CHARACTERS"; readonly parameter: string; readonly legalRange: string }
  | { readonly refusal: "BODY_TOO_LARGE" }
  | { readonly refusal: "BODY_NOT_A_FORM" }
  | { readonly refusal: "REQUEST_MALFORMED" }
  | { readonly refusal: "RECV_WINDOW_INVALID" }
  | { readonly refusal: "TIMESTAMP_TOO_OLD" }
  | { readonly refusal: "TIMESTAMP_AHEAD" }
  | { readonly refusal: "SPAN_TOO_LONG" }
  | { readonly refusal: "SYMBOL_UNKNOWN" }
  | { readonly refusal: "SYMBOL_STATUS_INVALID" }
  | { readonly refusal: "SYMBOL_STATUS_MISMATCH" }
  | { readonly refusal: "INTERVAL_INVALID" }
  | { readonly refusal: "TICKER_TYPE_INVALID" }
  | { readonly refusal: "SIDE_INVALID" }
  | { readonly refusal: "ORDER_TYPE_INVALID" }
  | { readonly refusal: "TIME_IN_FORCE_INVALID" }
  // Limits.
  | { readonly refusal: "WEIGHT_EXHAUSTED"; readonly limit: number }
  | { readonly refusal: "ORDERS_EXHAUSTED"; readonly limit: number; readonly interval: string }
  | { readonly refusal: "BANNED"; readonly until: number }
  // The strategy.
  | { readonly refusal: "KEY_NOT_BOUND" }
  | { readonly refusal: "KEY_OF_OTHER_FAMILY" }
  | { readonly refusal: "STRATEGY_NOT_LIVE" }
  | { readonly refusal: "STRATEGY_CLOSED" }
  // The order.
  | { readonly refusal: "MARKET_CLOSED" }
  | { readonly refusal: "ORDER_TYPE_UNSUPPORTED"; readonly orderType: OrderType }
  | { readonly refusal: "BOOK_EMPTY" }
  | { readonly refusal: "STOP_WOULD_TRIGGER" }
  | { readonly refusal: "FILTER_FAILED"; readonly filter: FilterName }
  | { readonly refusal: "INSUFFICIENT_BALANCE" }
  | { readonly refusal: "ORDER_UNKNOWN" }
  | { readonly refusal: "ORDER_NOT_OPEN" }
  | { readonly refusal: "CLIENT_ORDER_ID_MISMATCH" }
  // Not the client's fault, and certainly not executed.
  | { readonly refusal: "MARKET_SILENT" }
  | { readonly refusal: "BUSY" }
  // A tick that came too late: its order is over. Nobody is told.
  | { readonly refusal: "NOTHING_TO_FILL" };

export type RefusalName = Refusal["refusal"];

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refusal" in value;
}
