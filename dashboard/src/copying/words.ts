// What the names that the server has for copying are called for people.
import type {
  CopyJson,
  DriftRowJson,
  KillSwitchJson,
  MirrorEntryJson,
  SkipJson,
  UnclosedJson,
} from "../../../src/dashboard-api/schemas.ts";

type Names<Name extends string> = Readonly<Record<Name, string>>;

/** Short, for a list of reasons; the sentence with its figures comes from the server. */
export const SKIP_NAMES: Names<SkipJson["reason"]> = {
  BELOW_MIN_QUANTITY: "Below the smallest quantity",
  BELOW_MIN_NOTIONAL: "Below the smallest order value",
  ABOVE_MAXIMUM: "Above the largest size",
  ORDER_CAP: "Too many open orders",
  PRICE_UNFIT: "Price out of bounds",
  INSUFFICIENT_BALANCE: "Balance too small",
  INSUFFICIENT_MARGIN: "Margin too small",
  NOTHING_HELD: "Nothing to sell or close",
  NOT_MIRRORED: "Its order was not copied",
  ALREADY_OVER: "Its order had ended already",
  PAUSED: "The copy was paused",
  HALTED: "Halted by a kill switch",
  TOO_LATE: "Too late to open",
  NOT_LISTED: "Not traded at the exchange",
  OTHER_QUOTE_ASSET: "Not quoted in USDT",
  LEVERAGE_UNFIT: "Leverage not accepted",
  CREDENTIALS: "API key refused",
  OVERTAKEN: "Superseded by the strategy",
  UNCONFIRMED: "Not confirmed by the exchange",
  STOP_FIRST: "Lost, and the stop went first",
  PROTECTS: "Stop kept until the position is closed",
  SYMBOL_NOT_ALLOWED: "Symbol not among your settings",
  ABOVE_POSITION_MAX: "Above your limit for a position",
  ABOVE_EXPOSURE_MAX: "Above your limit for all positions",
  TOO_MANY_ORDERS: "Too many orders in a minute",
  SLIPPAGE: "Price too far from the strategy’s",
  LOSS_OF_DAY: "Your limit of loss per day reached",
  REFUSED: "Rejected by the exchange",
};

export const KIND_NAMES: Names<MirrorEntryJson["kind"]> = {
  PLACE: "Order",
  CANCEL: "Cancel",
  FILL: "Fill",
  PLACE_LEG: "Take profit / stop loss",
  CANCEL_LEG: "Cancel take profit / stop loss",
  FIRE_LEG: "Take profit / stop loss triggered",
  LIQUIDATE: "Liquidation",
  SET_LEVERAGE: "Leverage",
  CLOSE: "Strategy closed",
  FLATTEN: "Closing order",
  RECONCILE: "Brought back to target",
  STOP: "Closed at its stop",
  REPAIR: "Repair",
  WITHDRAW: "Orders withdrawn",
  WRITE_OFF: "Written off",
  PROFIT_SHARE: "Profit share",
};

/** What a line means that is about no order of the copy. */
export const KIND_MEANINGS: Partial<Names<MirrorEntryJson["kind"]>> = {
  WITHDRAW:
    "The copy was stopped without closing its holdings. Open orders that would open or increase something were canceled. Orders, take profits and stop losses that close the copy’s holdings were left at the exchange: the log shows each of them as “Left there”. Lyrebird no longer follows them.",
  STOP: "The exchange’s price had passed the strategy’s stop before the stop could be placed. The copy’s position was closed at the market instead, as the stop would have done.",
  WRITE_OFF:
    "A holding of the copy was closed, but not by an order of the copy. If the line names an order, it is the exchange’s own: a liquidation or an auto-deleveraging (ADL), with the exchange’s figures. If it names none, two checks in a row found that the account holds less than the copy, or the opposite side: somebody else traded there, and the missing amount counts as closed at the exchange’s price. The copy’s records now match the account.",
  PROFIT_SHARE:
    "The profit share of a week, or of the copy’s end, was computed. Nobody is charged. The copy’s overview lists the figures.",
};

/** In the order of the filter. */
export const ENTRY_STATUSES: Names<MirrorEntryJson["status"]> = {
  NEW: "Waiting",
  SENT: "Sent",
  UNCONFIRMED: "Unconfirmed",
  FILLED: "Filled",
  RESTING: "Resting",
  CANCELED: "Canceled",
  EXPIRED: "Expired",
  DONE: "Done",
  SKIPPED: "Skipped",
  FAILED: "Failed",
  LEFT: "Left there",
};

export const CAUSE_NAMES: Names<DriftRowJson["cause"]> = {
  IN_LINE: "In line",
  ROUNDING: "Rounding",
  BEGAN_LATER: "Held before you began",
  RESTING: "Order still open",
  SKIPPED: "An order was skipped",
  FAILED: "An order failed",
  OVERTAKEN: "Superseded",
  PAUSED: "Paused",
  CLOSED: "Closed for this copy",
  STOPPED: "Its stop or take profit was reached",
  OUTSIDE: "Traded outside the copy",
  LIQUIDATED: "Liquidated by the exchange",
  VENUE_CLOSED: "Closed by the exchange",
  PENDING: "In progress",
  LIMITED: "Your limits",
  PRICE_MOVED: "Balance ratio changed",
  UNEXPLAINED: "Unexplained",
  OLDER: "Older than the checked lines",
};

export const COPY_STATUSES: Names<CopyJson["status"]> = {
  FOLLOWING: "Following",
  PAUSED: "Paused",
  CLOSING: "Closing",
  STOPPED: "Stopped",
};

type Reason = { readonly short: string; readonly says: string; readonly action: string };

/** Why a copy does not follow, and what its owner can do about it. */
export const REASONS: Readonly<Record<NonNullable<CopyJson["reason"]>, Reason>> = {
  COPIER: {
    short: "by you",
    says: "You paused or stopped it.",
    action:
      "While it is paused it opens nothing, and still follows cancels, sales and closes of the strategy.",
  },
  CREDENTIALS: {
    short: "API key refused",
    says: "The exchange refused the API key.",
    action:
      "Nothing can be sent until the exchange accepts a key: replace the key of the exchange account, then resume.",
  },
  STOP_LOSS: {
    short: "stop loss hit",
    says: "The copy’s equity fell to its stop loss.",
    action:
      "What the copy held was sold. Check the log and the settings before you resume: its stop loss then counts from the copy’s value now.",
  },
  TAKE_PROFIT: {
    short: "take profit reached",
    says: "The copy’s equity rose to its take profit.",
    action:
      "What the copy held was sold. Check the log and the settings before you resume: its stop loss and take profit then count from the copy’s value now.",
  },
  STRATEGY_CLOSED: {
    short: "strategy closed",
    says: "The strategy was closed for good.",
    action: "What the copy held is sold and its orders are canceled. You can copy another strategy.",
  },
  ACCOUNT_UNFIT: {
    short: "account unfit",
    says: "The exchange account can’t be used as it is set up.",
    action: "Check the account: the points that fail say what to change at the exchange. Then resume.",
  },
  LOCKED: {
    short: "account locked",
    says: "An operator locked your account, which pauses your copies.",
    action: "The copy follows again when the account is unlocked.",
  },
  ACCOUNT_CLOSED: {
    short: "account closed",
    says: "The account was closed, which stops its copies.",
    action: "What the copy held stays at the exchange.",
  },
  RESTORED: {
    short: "server restored",
    says: "This server was restored from a backup that does not contain the orders sent for the copy after it was taken.",
    action:
      "Nothing more is sent for it, and its log may lack the last orders. Its holdings and open orders may still be in your exchange account: check them there. You can copy the strategy again; the new copy does not touch them.",
  },
};

/** Why the copies of a closed strategy have not ended yet, and which person can change that. */
export const UNCLOSED_REASONS: Names<UnclosedJson["why"]> = {
  NOT_ALLOWED: "the operator no longer allows their exchange.",
  HALTED: "a kill switch halts them. Nothing is sent until it is cleared.",
  NOBODY_AT_WORK: "no copier is running on this server.",
  KEY_REFUSED: "their exchange refuses the API key. Their owners were notified and have to replace it.",
  ACCOUNT_UNFIT: "their exchange account can’t be traded on as it is set up. Their owners were notified.",
  VENUE_AWAY: "their exchange does not answer, or accepts no orders at the moment.",
  UNDER_WAY: "closing.",
};

/** In the order of the choice. */
export const SWITCH_NAMES: Names<KillSwitchJson["kind"]> = {
  VENUE: "All copies at an exchange",
  STRATEGY: "All copies of a strategy",
  COPIER: "All copies of a person",
};

export const TYPE_NAMES: Names<CopyJson["family"]> = { SPOT: "Spot", FUTURES: "Futures" };

/** "https://api.example.com" is "api.example.com". */
export function hostOf(origin: string): string {
  return origin.replace(/^https?:\/\//, "");
}

/** "1 order", "2 orders". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}
