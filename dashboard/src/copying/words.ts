// What the names that the server has for copying are called for people.
import type {
  CopyShape,
  DriftRowShape,
  KillSwitchShape,
  MirrorEntryShape,
  SkipShape,
  UnclosedShape,
} from "../../../src/dashboard/shapes.ts";

type Names<Name extends string> = Readonly<Record<Name, string>>;

/** Short, for a list of reasons; the sentence with its figures comes from the server. */
export const SKIP_NAMES: Names<SkipShape["reason"]> = {
  BELOW_MIN_QUANTITY: "Below the smallest quantity",
  BELOW_MIN_NOTIONAL: "Below the smallest order value",
  ABOVE_MAXIMUM: "Above the largest size",
  ORDER_CAP: "Too many open orders",
  PRICE_UNFIT: "Price out of bounds",
  INSUFFICIENT_BALANCE: "Balance too small",
  INSUFFICIENT_MARGIN: "Margin too small",
  NOTHING_HELD: "Nothing held to sell or close",
  NOT_MIRRORED: "Its order was not copied",
  ALREADY_OVER: "Its order was over already",
  PAUSED: "The copy was paused",
  HALTED: "Halted by a kill switch",
  TOO_LATE: "Too late to open",
  NOT_LISTED: "Not traded at the exchange",
  OTHER_QUOTE_ASSET: "Not quoted in USDT",
  LEVERAGE_UNFIT: "Leverage not accepted",
  CREDENTIALS: "API key refused",
  OVERTAKEN: "Overtaken by the strategy",
  REFUSED: "Refused by the exchange",
};

export const KIND_NAMES: Names<MirrorEntryShape["kind"]> = {
  PLACE: "Order",
  CANCEL: "Cancel",
  FILL: "Fill",
  PLACE_LEG: "Take profit / stop loss",
  CANCEL_LEG: "Cancel take profit / stop loss",
  FIRE_LEG: "Take profit / stop loss fired",
  LIQUIDATE: "Liquidation",
  SET_LEVERAGE: "Leverage",
  CLOSE: "Strategy closed",
  FLATTEN: "Closing order",
  REPAIR: "Repair",
  WITHDRAW: "Orders withdrawn",
  WRITE_OFF: "Written off",
};

/** What a line means that is about no order of the copy. */
export const KIND_MEANINGS: Partial<Names<MirrorEntryShape["kind"]>> = {
  WITHDRAW:
    "The copy was stopped without being closed. What rested and would have opened something was cancelled. Orders, take profits and stop losses that close what the copy held were left at the exchange, as far as the holding goes: the log shows each of them as “Left there”. Nobody looks at them any more.",
  WRITE_OFF:
    "What the copy held was closed by another order than its own. If the line names one, it is the exchange’s: it has liquidated the position, or reduced it for the sake of others, and the figures are the exchange’s. If it names none, the account had less than the copy holds, or the other side of it, at two looks in a row: somebody else has traded there, and what is missing counts as closed at the exchange’s price. The copy’s book now says what is there.",
};

/** In the order of the filter. */
export const ENTRY_STATUSES: Names<MirrorEntryShape["status"]> = {
  FILLED: "Filled",
  RESTING: "Resting",
  CANCELED: "Cancelled",
  EXPIRED: "Expired",
  DONE: "Done",
  SKIPPED: "Skipped",
  FAILED: "Failed",
  LEFT: "Left there",
};

export const CAUSE_NAMES: Names<DriftRowShape["cause"]> = {
  IN_LINE: "In line",
  ROUNDING: "Rounding",
  BEGAN_LATER: "Held before you began",
  RESTING: "Order still resting",
  SKIPPED: "An order was skipped",
  FAILED: "An order failed",
  OVERTAKEN: "Overtaken",
  PAUSED: "Paused",
  CLOSED: "Closed for this copy",
  OUTSIDE: "Traded outside of the copy",
  PENDING: "Being worked on",
  PRICE_MOVED: "Balances moved apart",
  OLDER: "Older than the lines looked at",
};

export const COPY_STATUSES: Names<CopyShape["status"]> = {
  FOLLOWING: "Following",
  PAUSED: "Paused",
  CLOSING: "Closing",
  STOPPED: "Stopped",
};

type Reason = { readonly short: string; readonly says: string; readonly action: string };

/** Why a copy does not follow, and what its owner can do about it. */
export const REASONS: Readonly<Record<NonNullable<CopyShape["reason"]>, Reason>> = {
  COPIER: {
    short: "by you",
    says: "You asked for it.",
    action:
      "While it is paused it opens nothing, and still follows cancels, sales and closes of the strategy.",
  },
  CREDENTIALS: {
    short: "API key refused",
    says: "The exchange refused the API key.",
    action:
      "Nothing can be sent until it takes a key again: replace the key of the exchange account, then resume.",
  },
  STOP_LOSS: {
    short: "stop loss hit",
    says: "The copy’s equity fell to its stop loss.",
    action:
      "What the copy held was sold. Look at the log and the settings before you resume: its stop loss then counts from what it is worth now.",
  },
  STRATEGY_CLOSED: {
    short: "strategy closed",
    says: "The strategy was closed for good.",
    action: "What the copy held is sold and its orders are cancelled. You can follow another strategy.",
  },
  ACCOUNT_UNFIT: {
    short: "account unfit",
    says: "The exchange account can’t be used as it is set up.",
    action: "Check the account: the points that fail say what to change at the exchange. Then resume.",
  },
  RESTORED: {
    short: "server restored",
    says: "This server was restored from a backup, which does not know what was sent for the copy since it was taken.",
    action:
      "Nothing is sent for it any more, and its log may lack the last orders. What it held is still in your exchange account, and its orders may rest there: look at them there. You can copy the strategy again; the new copy leaves all that alone.",
  },
};

/** What a copy of a closed strategy waits for, and for whom. */
export const UNCLOSED_REASONS: Names<UnclosedShape["why"]> = {
  NOT_ALLOWED: "the operator does not allow their exchange any more.",
  HALTED: "a kill switch is set over them. Nothing is sent until it is cleared.",
  NOBODY_AT_WORK: "no copier is at work on this server.",
  KEY_REFUSED: "their exchange refuses the API key. Their owners have been told, and have to give another.",
  ACCOUNT_UNFIT: "their exchange account can’t be traded on as it is set up. Their owners have been told.",
  VENUE_AWAY: "their exchange does not answer, or takes nothing at the moment.",
  UNDER_WAY: "being closed.",
};

/** In the order of the choice. */
export const SWITCH_NAMES: Names<KillSwitchShape["kind"]> = {
  VENUE: "All copies at an exchange",
  STRATEGY: "All copies of a strategy",
  COPIER: "All copies of a person",
};

export const FAMILY_NAMES: Names<CopyShape["family"]> = { SPOT: "Spot", FUTURES: "Futures" };

/** "https://api.example.com" is "api.example.com". */
export function hostOf(origin: string): string {
  return origin.replace(/^https?:\/\//, "");
}

/** "1 order", "2 orders". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}
