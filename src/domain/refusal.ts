// Every way of saying no, by name. The engine gives the name; `http/refusals.ts` alone knows its status,
// number and text, and does not compile until every name has one.

import type { Amount } from "../money/decimal.ts";
import type { StrategyType } from "./account.ts";
import type { ClientOrderType } from "./order.ts";
import type { FilterName } from "./symbol.ts";

/** The fault of a price or a quantity; an exceeded count is TOO_HIGH. */
export type FilterFault = "ZERO" | "TOO_LOW" | "TOO_HIGH" | "OFF_STEP" | "TOO_PRECISE";
export type FilterFailure = { readonly filter: FilterName; readonly fault: FilterFault };

export type Refusal =
  // The request itself.
  | { readonly refusal: "PATH_UNKNOWN"; readonly method: string; readonly path: string }
  | { readonly refusal: "KEY_REFUSED" }
  | { readonly refusal: "LISTEN_KEY_UNKNOWN" }
  | { readonly refusal: "SPOT_LISTEN_KEYS_RETIRED" }
  | { readonly refusal: "PARAMETER_MISSING"; readonly parameter: string }
  | { readonly refusal: "PARAMETERS_MISSING"; readonly parameters: readonly [string, string] }
  | { readonly refusal: "PARAMETER_NOT_REQUIRED"; readonly parameter: string }
  | { readonly refusal: "PARAMETER_DUPLICATED" }
  | { readonly refusal: "PARAMETERS_UNREAD"; readonly readCount: number; readonly sentCount: number }
  | { readonly refusal: "PARAMETERS_EXCLUSIVE" }
  | { readonly refusal: "PARAMETER_INVALID"; readonly parameter: string }
  | { readonly refusal: "PARAMETERS_INVALID" }
  | { readonly refusal: "PARAMETER_TOO_PRECISE"; readonly parameter: string; readonly type: StrategyType }
  | { readonly refusal: "LIST_MALFORMED"; readonly parameter: string }
  | { readonly refusal: "SYMBOL_DUPLICATED" }
  | { readonly refusal: "ILLEGAL_CHARACTERS"; readonly parameter: string; readonly legalRange: string }
  | { readonly refusal: "BODY_TOO_LARGE" }
  | { readonly refusal: "BODY_NOT_A_FORM" }
  | { readonly refusal: "REQUEST_MALFORMED" }
  | { readonly refusal: "REQUEST_INCOMPLETE" }
  | { readonly refusal: "RECV_WINDOW_INVALID" }
  | { readonly refusal: "TIMESTAMP_TOO_OLD" }
  | { readonly refusal: "TIMESTAMP_AHEAD" }
  | { readonly refusal: "SPAN_TOO_LONG" }
  | { readonly refusal: "SYMBOL_UNKNOWN" }
  | { readonly refusal: "SYMBOL_STATUS_INVALID" }
  | { readonly refusal: "SYMBOL_STATUS_MISMATCH" }
  | { readonly refusal: "INTERVAL_INVALID" }
  | { readonly refusal: "TICKER_TYPE_INVALID" }
  | { readonly refusal: "CANCEL_RESTRICTIONS_INVALID" }
  | { readonly refusal: "SIDE_INVALID" }
  | { readonly refusal: "ORDER_TYPE_INVALID" }
  | { readonly refusal: "TIME_IN_FORCE_INVALID" }
  // The same of what only futures has.
  | { readonly refusal: "ORDER_TYPE_CONDITIONAL" }
  | { readonly refusal: "CLIENT_ID_TOO_LONG" }
  | { readonly refusal: "POSITION_SIDE_INVALID" }
  | { readonly refusal: "POSITION_SIDE_MISMATCH" }
  | { readonly refusal: "LEG_QUANTITY_SENT" }
  | { readonly refusal: "CLOSE_POSITION_MISSING" }
  | { readonly refusal: "CLOSE_POSITION_FALSE" }
  | { readonly refusal: "WORKING_TYPE_INVALID"; readonly workingType: string }
  | { readonly refusal: "SELF_TRADE_PREVENTION_INVALID"; readonly type: StrategyType }
  | { readonly refusal: "LEVERAGE_INVALID"; readonly leverage: number }
  | { readonly refusal: "MARGIN_TYPE_UNSUPPORTED" }
  | { readonly refusal: "POSITION_MODE_UNCHANGED" }
  | { readonly refusal: "POSITION_MODE_UNSUPPORTED" }
  | { readonly refusal: "ASSETS_MODE_UNCHANGED" }
  | { readonly refusal: "ASSETS_MODE_UNSUPPORTED" }
  | { readonly refusal: "DEPTH_LIMIT_INVALID"; readonly limit: string }
  | { readonly refusal: "PAIR_INVALID" }
  | { readonly refusal: "CONTRACT_TYPE_INVALID" }
  | { readonly refusal: "TIMES_REVERSED" }
  | { readonly refusal: "DAYS_TOO_MANY"; readonly days: number }
  // The same of what only sockets have.
  | { readonly refusal: "FRAME_MALFORMED" }
  | { readonly refusal: "PARAMS_MALFORMED" }
  | { readonly refusal: "SOCKET_PARAMETER_UNSUPPORTED"; readonly parameter: string; readonly only: string }
  | { readonly refusal: "METHOD_UNSUPPORTED" }
  | { readonly refusal: "SUBSCRIPTION_ACTIVE" }
  | { readonly refusal: "SUBSCRIPTION_INACTIVE" }
  | { readonly refusal: "SUBSCRIPTIONS_EXHAUSTED" }
  // Limits.
  | { readonly refusal: "WEIGHT_EXHAUSTED"; readonly limit: number }
  | { readonly refusal: "ORDERS_EXHAUSTED"; readonly limit: number; readonly interval: string }
  | { readonly refusal: "READS_EXHAUSTED"; readonly limit: number }
  | { readonly refusal: "BANNED"; readonly until: number }
  // The strategy.
  | { readonly refusal: "KEY_NOT_BOUND" }
  | { readonly refusal: "KEY_OF_OTHER_FAMILY" }
  | { readonly refusal: "STRATEGY_NOT_LIVE" }
  | { readonly refusal: "STRATEGY_CLOSED" }
  // The order.
  | { readonly refusal: "MARKET_CLOSED" }
  | { readonly refusal: "RECORDING_ENDED" }
  | { readonly refusal: "ORDER_TYPE_UNSUPPORTED"; readonly orderType: ClientOrderType }
  | { readonly refusal: "BOOK_EMPTY" }
  // Under `strict` only.
  | { readonly refusal: "LIQUIDITY_TOO_SMALL" }
  | { readonly refusal: "LIMIT_MAKER_WOULD_TAKE" }
  | { readonly refusal: "POST_ONLY_WOULD_TAKE" }
  | { readonly refusal: "FILL_OR_KILL_UNFILLED" }
  | { readonly refusal: "STOP_WOULD_TRIGGER" }
  | { readonly refusal: "FILTER_FAILED"; readonly filter: FilterName }
  | { readonly refusal: "INSUFFICIENT_BALANCE" }
  | { readonly refusal: "ORDER_UNKNOWN" }
  | { readonly refusal: "ORDER_NOT_OPEN" }
  | { readonly refusal: "CANCEL_RESTRICTED" }
  | { readonly refusal: "CLIENT_ORDER_ID_MISMATCH" }
  // The futures order, leg or leverage.
  | { readonly refusal: "CONTRACT_NOT_TRADING" }
  | { readonly refusal: "CONTRACT_RECORDING_ENDED" }
  | { readonly refusal: "MARK_PRICES_MISSING" }
  | ({ readonly refusal: "CONTRACT_FILTER_FAILED" } & FilterFailure)
  | { readonly refusal: "NOTIONAL_TOO_SMALL"; readonly minNotional: Amount }
  | { readonly refusal: "COUNTERPARTY_OUT_OF_BOUNDS" }
  | { readonly refusal: "REDUCE_ONLY_REJECTED" }
  | { readonly refusal: "POSITION_LIMIT_EXCEEDED" }
  | { readonly refusal: "MARGIN_INSUFFICIENT" }
  | { readonly refusal: "CLIENT_ID_TAKEN" }
  | { readonly refusal: "LEG_WOULD_TRIGGER" }
  | { readonly refusal: "LEG_EXISTS" }
  | { readonly refusal: "LEG_OF_REDUCTION"; readonly parameter: string }
  | { readonly refusal: "NO_POSITION_TO_CLOSE" }
  | { readonly refusal: "LEVERAGE_LOWERED_UNDER_POSITION" }
  | { readonly refusal: "LEVERAGE_MARGIN_INSUFFICIENT" }
  // Not the client's fault, and certainly not executed.
  | { readonly refusal: "MARKET_SILENT" }
  | { readonly refusal: "BUSY" }
  | { readonly refusal: "STORAGE_SHORT" }
  // A trigger that came too late: its order has ended. No client receives this refusal.
  | { readonly refusal: "NOTHING_TO_FILL" };

export type RefusalName = Refusal["refusal"];

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refusal" in value;
}
