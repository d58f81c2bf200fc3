// The refusal table: what each refusal is on the wire. The exchange-style families answer `{ code, msg }`;
// the texts are the reference exchange's own where it has one, since clients match them. Source:
// specification 7.1; reference exchange, section 16.
import type { ClientOrderType } from "../domain/order.ts";
import type { FilterFailure, FilterFault, Refusal, RefusalName } from "../domain/refusal.ts";
import type { FilterName } from "../domain/symbol.ts";
import { formatBriefly } from "../money/decimal.ts";

export type WireError = { readonly status: number; readonly code: number; readonly msg: string };

type Of<Name extends RefusalName> = Extract<Refusal, { refusal: Name }>;
type Row<Name extends RefusalName> = WireError | ((refusal: Of<Name>) => WireError);

const ORDER_TYPE_NAMES: { readonly [T in ClientOrderType]: string } = {
  MARKET: "Market",
  LIMIT: "Limit",
  LIMIT_MAKER: "Limit maker",
  STOP_LOSS: "Stop loss",
  STOP_LOSS_LIMIT: "Stop loss limit",
};

const PRECISION_OVER = bad(-1111, "Precision is over the maximum defined for this asset.");
const LOT_FAULTS: { readonly [F in FilterFault]: WireError } = {
  ZERO: bad(-4003, "Quantity less than zero."),
  TOO_LOW: bad(-4004, "Quantity less than min quantity."),
  TOO_HIGH: bad(-4005, "Quantity greater than max quantity."),
  OFF_STEP: bad(-4023, "Qty not increased by step size."),
  TOO_PRECISE: PRECISION_OVER,
};
/** The futures routes' answers to a broken filter, by fault. Source: reference exchange, section 10.2. */
export const CONTRACT_FILTERS: {
  readonly [Name in FilterName]?: { readonly [Fault in FilterFault]?: WireError };
} = {
  PRICE_FILTER: {
    ZERO: bad(-4001, "Price less than 0."),
    TOO_LOW: bad(-4013, "Price less than min price."),
    TOO_HIGH: bad(-4002, "Price greater than max price."),
    OFF_STEP: bad(-4014, "Price not increased by tick size."),
    TOO_PRECISE: PRECISION_OVER,
  },
  LOT_SIZE: LOT_FAULTS,
  MARKET_LOT_SIZE: LOT_FAULTS,
  PERCENT_PRICE: {
    TOO_HIGH: bad(-4016, "Price is higher than mark price multiplier cap."),
    TOO_LOW: bad(-4024, "Price is lower than mark price multiplier floor."),
  },
  MAX_NUM_ORDERS: { TOO_HIGH: bad(-2025, "Reach max open order limit.") },
  MAX_NUM_ALGO_ORDERS: { TOO_HIGH: bad(-4045, "Reach max stop order limit.") },
};

/** What to send instead of a leg for a part of the position. */
const LEGS_CLOSE_ALL =
  "A leg closes the whole position: send closePosition=true, without quantity and reduceOnly.";

export const REFUSALS: { readonly [Name in RefusalName]: Row<Name> } = {
  PATH_UNKNOWN: ({ method, path }) => failed(404, -5000, `Path ${path}, Method ${method} is invalid`),
  KEY_REFUSED: failed(401, -2015, "Invalid API-key, IP, or permissions for action."),
  LISTEN_KEY_UNKNOWN: bad(-1125, "This listenKey does not exist."),
  SPOT_LISTEN_KEYS_RETIRED: failed(
    410,
    -1020,
    "This operation is not supported: subscribe with userDataStream.subscribe.signature on /ws-api/v3.",
  ),
  PARAMETER_MISSING: ({ parameter }) =>
    bad(-1102, `Mandatory parameter '${parameter}' was not sent, was empty/null, or malformed.`),
  PARAMETERS_MISSING: ({ parameters: [one, other] }) =>
    bad(-1102, `Param '${one}' or '${other}' must be sent, but both were empty/null!`),
  PARAMETER_NOT_REQUIRED: ({ parameter }) => bad(-1106, `Parameter '${parameter}' sent when not required.`),
  PARAMETER_DUPLICATED: bad(-1101, "Duplicate values for a parameter detected."),
  PARAMETERS_UNREAD: ({ readCount, sentCount }) =>
    bad(
      -1104,
      `Not all sent parameters were read; read '${readCount}' parameter(s) but was sent '${sentCount}'.`,
    ),
  PARAMETERS_EXCLUSIVE: bad(-1128, "Combination of optional parameters invalid."),
  PARAMETER_INVALID: ({ parameter }) => bad(-1130, `Data sent for parameter '${parameter}' is not valid.`),
  PARAMETERS_INVALID: bad(-1130, "Invalid data sent for a parameter."),
  PARAMETER_TOO_PRECISE: ({ parameter, type }) =>
    type === "FUTURES" ? PRECISION_OVER : bad(-1111, `Parameter '${parameter}' has too much precision.`),
  LIST_MALFORMED: ({ parameter }) => bad(-1135, `JSON sent for parameter '${parameter}' is not valid`),
  SYMBOL_DUPLICATED: bad(-1151, "Symbol is present multiple times in the list."),
  ILLEGAL_CHARACTERS: ({ parameter, legalRange }) =>
    bad(-1100, `Illegal characters found in parameter '${parameter}'; legal range is '${legalRange}'.`),
  BODY_TOO_LARGE: failed(413, -1101, "Too many parameters sent for this endpoint."),
  BODY_NOT_A_FORM: bad(
    -1102,
    "Mandatory parameters were not sent: the body must be application/x-www-form-urlencoded, not JSON.",
  ),
  REQUEST_MALFORMED: bad(-1100, "Illegal characters found in a parameter."),
  REQUEST_INCOMPLETE: failed(408, -1102, "The request was not complete in time."),
  RECV_WINDOW_INVALID: bad(-1131, "recvWindow must be greater than 0 and no greater than 30000."),
  TIMESTAMP_TOO_OLD: bad(-1021, "Timestamp for this request is outside of the recvWindow."),
  TIMESTAMP_AHEAD: bad(-1021, "Timestamp for this request was 1000ms ahead of the server's time."),
  SPAN_TOO_LONG: bad(-1127, "More than 24 hours between startTime and endTime."),
  SYMBOL_UNKNOWN: bad(-1121, "Invalid symbol."),
  SYMBOL_STATUS_INVALID: bad(-1122, "Invalid symbolStatus."),
  SYMBOL_STATUS_MISMATCH: bad(-1220, "The symbol's status does not match the requested symbolStatus."),
  INTERVAL_INVALID: bad(-1120, "Invalid interval."),
  TICKER_TYPE_INVALID: bad(-1139, "Invalid ticker type."),
  CANCEL_RESTRICTIONS_INVALID: bad(-1145, "Invalid cancelRestrictions."),
  SIDE_INVALID: bad(-1117, "Invalid side."),
  ORDER_TYPE_INVALID: bad(-1116, "Invalid orderType."),
  TIME_IN_FORCE_INVALID: bad(-1115, "Invalid timeInForce."),

  ORDER_TYPE_CONDITIONAL: bad(
    -4120,
    "Order type not supported for this endpoint. Please use the Algo Order API endpoints instead.",
  ),
  CLIENT_ID_TOO_LONG: bad(-4015, "Client order id length should not be more than 36 chars"),
  POSITION_SIDE_INVALID: bad(-4060, "Invalid position side."),
  POSITION_SIDE_MISMATCH: bad(-4061, "Order's position side does not match user's setting."),
  CLOSE_POSITION_MISSING: bad(
    -1102,
    `Mandatory parameter 'closePosition' was not sent, was empty/null, or malformed. ${LEGS_CLOSE_ALL}`,
  ),
  CLOSE_POSITION_FALSE: bad(-1130, `Data sent for parameter 'closePosition' is not valid. ${LEGS_CLOSE_ALL}`),
  LEG_QUANTITY_SENT: bad(-4137, "Quantity must be zero with closePosition equals true"),
  SELF_TRADE_PREVENTION_INVALID: ({ type }) =>
    type === "FUTURES"
      ? bad(-5039, "Invalid self trade prevention mode")
      : bad(-1013, "This symbol does not allow the specified self-trade prevention mode."),
  WORKING_TYPE_INVALID: ({ workingType }) => bad(-4031, `Invalid parameter working type: ${workingType}`),
  LEVERAGE_INVALID: ({ leverage }) => bad(-4028, `Leverage ${leverage} is not valid`),
  MARGIN_TYPE_UNSUPPORTED: bad(-2010, "Only isolated margin is supported."),
  POSITION_MODE_UNCHANGED: bad(-4059, "No need to change position side."),
  POSITION_MODE_UNSUPPORTED: bad(-2010, "Only one-way positions are supported."),
  ASSETS_MODE_UNCHANGED: bad(
    -4171,
    "Adjusted asset mode is currently set and does not need to be adjusted repeatedly.",
  ),
  ASSETS_MODE_UNSUPPORTED: bad(-2010, "Only single-asset margin is supported."),
  DEPTH_LIMIT_INVALID: ({ limit }) => bad(-4021, `${limit} is not valid depth limit`),
  PAIR_INVALID: bad(-4144, "Invalid pair"),
  CONTRACT_TYPE_INVALID: bad(-4104, "Invalid contract type"),
  TIMES_REVERSED: bad(-1023, "Start time is greater than end time."),
  DAYS_TOO_MANY: ({ days }) => bad(-4165, `Maximum time interval is ${days} days`),

  FRAME_MALFORMED: bad(-1135, "Invalid JSON request; expected an object with 'id' and 'method'."),
  PARAMS_MALFORMED: bad(-1135, "Invalid 'params' in JSON request; expected an object."),
  SOCKET_PARAMETER_UNSUPPORTED: ({ parameter, only }) =>
    bad(-1130, `Data sent for parameter '${parameter}' is not valid: only ${only} is supported.`),
  METHOD_UNSUPPORTED: bad(-1020, "This operation is not supported."),
  SUBSCRIPTION_ACTIVE: bad(-2035, "User Data Stream subscription already active."),
  SUBSCRIPTION_INACTIVE: bad(-2036, "User Data Stream subscription not active."),
  SUBSCRIPTIONS_EXHAUSTED: bad(
    -1034,
    "Too many concurrent connections: this key has all the user data streams that it may have.",
  ),

  WEIGHT_EXHAUSTED: ({ limit }) =>
    failed(
      429,
      -1003,
      `Too much request weight used; current limit is ${limit} request weight per 1 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API.`,
    ),
  ORDERS_EXHAUSTED: ({ limit, interval }) =>
    failed(429, -1015, `Too many new orders; current limit is ${limit} orders per ${interval}.`),
  READS_EXHAUSTED: ({ limit }) =>
    failed(429, -1003, `Too many reads; current limit is ${limit} requests per 10 SECOND.`),
  BANNED: ({ until }) =>
    failed(
      418,
      -1003,
      `Way too much request weight used; IP banned until ${until}. Please use WebSocket Streams for live updates to avoid bans.`,
    ),

  KEY_NOT_BOUND: bad(-2010, "This API key is bound to no strategy."),
  KEY_OF_OTHER_FAMILY: bad(-2010, "This API key manages a strategy of the other family."),
  STRATEGY_NOT_LIVE: bad(-2010, "Strategy not live"),
  STRATEGY_CLOSED: bad(-2010, "Strategy already closed"),

  MARKET_CLOSED: bad(-1013, "Market is closed."),
  RECORDING_ENDED: bad(-1013, "Market is closed: the recording that serves as the market has ended."),
  ORDER_TYPE_UNSUPPORTED: ({ orderType }) =>
    bad(-2010, `${ORDER_TYPE_NAMES[orderType]} orders are not supported for this symbol.`),
  BOOK_EMPTY: bad(-1112, "No orders on book for symbol."),
  LIQUIDITY_TOO_SMALL: bad(-2010, "Order book liquidity is less than `LOT_SIZE` filter minimum quantity."),
  LIMIT_MAKER_WOULD_TAKE: bad(-2010, "Order would immediately match and take."),
  POST_ONLY_WOULD_TAKE: bad(
    -5022,
    "Due to the order could not be executed as maker, the Post Only order will be rejected.",
  ),
  FILL_OR_KILL_UNFILLED: bad(
    -5021,
    "Due to the order could not be filled immediately, the FOK order has been rejected.",
  ),
  STOP_WOULD_TRIGGER: bad(-2010, "Stop price would trigger immediately."),
  FILTER_FAILED: ({ filter }) => bad(-1013, `Filter failure: ${filter}`),
  INSUFFICIENT_BALANCE: bad(-2010, "Account has insufficient balance for requested action."),
  ORDER_UNKNOWN: bad(-2013, "Order does not exist."),
  ORDER_NOT_OPEN: bad(-2011, "Unknown order sent."),
  CANCEL_RESTRICTED: bad(-2011, "Order was not canceled due to cancel restrictions."),
  CLIENT_ORDER_ID_MISMATCH: bad(-2039, "Client order ID is not correct for this order ID."),

  CONTRACT_NOT_TRADING: bad(-4140, "Invalid symbol status for opening position"),
  CONTRACT_RECORDING_ENDED: bad(
    -4141,
    "Symbol is closed: the recording that serves as the market has ended.",
  ),
  MARK_PRICES_MISSING: bad(
    -4140,
    "Invalid symbol status for opening position: the recording that serves as the market has no mark prices.",
  ),
  CONTRACT_FILTER_FAILED: contractFilter,
  NOTIONAL_TOO_SMALL: ({ minNotional }) =>
    bad(
      -4164,
      `Order's notional must be no smaller than ${formatBriefly(minNotional)} (unless you choose reduce only).`,
    ),
  COUNTERPARTY_OUT_OF_BOUNDS: bad(
    -4131,
    "The counterparty's best price does not meet the PERCENT_PRICE filter limit",
  ),
  REDUCE_ONLY_REJECTED: bad(-2022, "ReduceOnly Order is rejected."),
  POSITION_LIMIT_EXCEEDED: bad(-2027, "Exceeded the maximum allowable position at current leverage."),
  MARGIN_INSUFFICIENT: bad(-2019, "Margin is insufficient."),
  CLIENT_ID_TAKEN: bad(-4116, "ClientOrderId is duplicated."),
  LEG_WOULD_TRIGGER: bad(-2021, "Order would immediately trigger."),
  LEG_EXISTS: bad(
    -4130,
    "An open stop or take profit order with GTE and closePosition in the direction is existing.",
  ),
  LEG_OF_REDUCTION: ({ parameter }) =>
    bad(
      -1106,
      `Parameter '${parameter}' sent when not required: the order only reduces a position, so no leg could close what it opens.`,
    ),
  NO_POSITION_TO_CLOSE: bad(
    -4509,
    "Time in Force (TIF) GTE can only be used with open positions. Please ensure that positions are available.",
  ),
  LEVERAGE_LOWERED_UNDER_POSITION: bad(
    -4161,
    "Leverage reduction is not supported in Isolated Margin Mode with open positions",
  ),
  LEVERAGE_MARGIN_INSUFFICIENT: bad(
    -2028,
    "Leverage is smaller than permitted: insufficient margin balance.",
  ),

  MARKET_SILENT: failed(
    503,
    -1008,
    "The market data of this symbol is silent, late or not confirmed by trades, so the request was not executed. Please try again in a few seconds.",
  ),
  BUSY: failed(
    503,
    -1008,
    "Server is currently overloaded with other requests. Please try again in a few minutes.",
  ),
  STORAGE_SHORT: failed(
    503,
    -1008,
    "The server is short of disk space, so the request was not executed. Please try again later; cancels and closes are taken.",
  ),
  NOTHING_TO_FILL: bad(-2011, "Unknown order sent."),
};

/** A refusal on the wire. */
export function wireError(refusal: Refusal): WireError {
  const row = REFUSALS[refusal.refusal] as Row<RefusalName>;
  return typeof row === "function" ? row(refusal as never) : row;
}

/** A filter that contracts do not publish cannot fail on them; the words of spot serve for it. */
function contractFilter({ filter, fault }: FilterFailure): WireError {
  return CONTRACT_FILTERS[filter]?.[fault] ?? bad(-1013, `Filter failure: ${filter}`);
}

/** The refusal of a request that is wrong in itself or not possible now. */
function bad(code: number, msg: string): WireError {
  return failed(400, code, msg);
}

function failed(status: number, code: number, msg: string): WireError {
  return { status, code, msg };
}
