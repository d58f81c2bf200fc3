// Copying: a copier's account at a venue mirrors a strategy. An action of the strategy is an action of its
// lead; its outcome at the venue is an entry of the copy's mirror log: copied, or skipped with a reason.
// Source: specification, section 1 (copiers).
import { type Amount, decimal, type Price, type Quantity, type Rate, SCALE, ZERO } from "../money/decimal.ts";
import type { Account, StrategyType } from "./account.ts";
import type { LegType } from "./leg.ts";
import type { ClientOrderType, Side } from "./order.ts";
import type { Strategy } from "./strategy.ts";
import type { FilterName } from "./symbol.ts";

/** The asset that copies are reckoned in. Pairs with another quote asset are not copied. */
export const COPY_QUOTE_ASSET = "USDT";

/**
 * FAILED: the venue has refused its credentials. DISCONNECTED: they are destroyed, and only its history is
 * left.
 */
export const VENUE_ACCOUNT_STATUSES = ["CONNECTED", "FAILED", "DISCONNECTED"] as const;
export type VenueAccountStatus = (typeof VENUE_ACCOUNT_STATUSES)[number];

/** A copier's account at a venue. */
export type VenueAccount = {
  readonly accountId: string;
  readonly personId: string;
  readonly type: StrategyType;
  /** The venue's origin, such as `https://api.example.com`: one that the operator allows. */
  readonly venue: string;
  /** Its owner's name for it. */
  readonly label: string;
  /** The first characters of its key, for people. */
  readonly keyHint: string;
  /** Its credentials, sealed (`copy/credentials.ts`); null once they are destroyed. */
  readonly sealed: string | null;
  readonly status: VenueAccountStatus;
  /** The venue's message when it rejected the credentials; null unless FAILED. */
  readonly failure: string | null;
  /** Wall time, Unix ms; so are times below unless they are market time. */
  readonly createdAt: number;
  /** When the venue last accepted or refused the credentials. */
  readonly checkedAt: number;
  readonly disconnectedAt: number | null;
};

export type CopySettings = {
  /** The share of the account's balance that the copy works with: above 0, at most 1. */
  readonly share: Rate;
  /** The most that an order which opens something may be worth, in the quote asset; null sets no bound. */
  readonly maxPerOrder: Amount | null;
  /**
   * The loss, as a share of the equity that the copy began with, at which all is closed and the copy paused;
   * null: none.
   */
  readonly stopLoss: Rate | null;
  /** The gain, as a share like `stopLoss`, at which all is closed and the copy paused; null: none. */
  readonly takeProfit: Rate | null;
  /** The basis of an opening's size. Exits always follow the positions. */
  readonly size: CopySize;
  /** The most that the copy works with, in the quote asset; null: its share of the account alone decides. */
  readonly budget: Amount | null;
  /** The highest leverage at which the copy opens a contract; null: the strategy's. */
  readonly leverageMax: number | null;
  /**
   * The highest value of one position as a multiple of the copy's equity (2 is twice); null sets no bound.
   */
  readonly positionMax: Rate | null;
  /** The same of all positions and open entry orders together. */
  readonly exposureMax: Rate | null;
  /** Openings within any 60 seconds; null sets no bound. */
  readonly ordersPerMinuteMax: number | null;
  /**
   * The loss since 00:00 UTC, as a share of the equity then, after which nothing is opened until the next
   * day; null: none.
   */
  readonly lossPerDayMax: Rate | null;
  /** The only symbols in which the copy opens something; null: all. */
  readonly symbols: readonly string[] | null;
  /**
   * By how much the venue's price may be worse than the strategy's for an opening at the market; null sets no
   * bound.
   */
  readonly slippageMax: SlippageMax | null;
  /** Whether the copy opens what the strategy holds when the copy starts. */
  readonly copyExisting: boolean;
  /**
   * Seconds after the strategy's exit limit filled at which the copy's unfilled one is closed at the market;
   * null: never.
   */
  readonly closeAfterSeconds: number | null;
};

/**
 * RATIO: in the proportion of the copy's equity to the strategy's. FIXED_RATIO: the strategy's quantity times
 * the ratio. FIXED_AMOUNT: each opening is worth the amount, in the quote asset.
 */
export type CopySize =
  | { readonly by: "RATIO" }
  | { readonly by: "FIXED_RATIO"; readonly ratio: Rate }
  | { readonly by: "FIXED_AMOUNT"; readonly amount: Amount };

/** As shares of the strategy's price, for pairs and contracts of BTC and ETH, and for all others. */
export type SlippageMax = { readonly major: Rate; readonly other: Rate };

/** A copy of the whole account without limits of its own. Also the defaults for missing stored settings. */
export const EXACT_SETTINGS: CopySettings = {
  share: SCALE as Rate,
  maxPerOrder: null,
  stopLoss: null,
  takeProfit: null,
  size: { by: "RATIO" },
  budget: null,
  leverageMax: null,
  positionMax: null,
  exposureMax: null,
  ordersPerMinuteMax: null,
  lossPerDayMax: null,
  symbols: null,
  slippageMax: null,
  copyExisting: false,
  closeAfterSeconds: null,
};

/**
 * FOLLOWING ⇄ PAUSED. CLOSING, while its holdings are sold and its orders are canceled, ends in PAUSED (stop
 * loss) or STOPPED, which is final. A paused copy opens nothing, and still follows cancels, reductions and
 * legs.
 */
export const COPY_STATUSES = ["FOLLOWING", "PAUSED", "CLOSING", "STOPPED"] as const;
export type CopyStatus = (typeof COPY_STATUSES)[number];

/**
 * Why a copy is paused, closing or stopped. RESTORED: a backup was restored that may not know all that was
 * sent for it.
 */
export const COPY_REASONS = [
  "COPIER",
  "CREDENTIALS",
  "STOP_LOSS",
  "TAKE_PROFIT",
  "STRATEGY_CLOSED",
  "ACCOUNT_UNFIT",
  "RESTORED",
  "LOCKED",
  "ACCOUNT_CLOSED",
] as const;
export type CopyReason = (typeof COPY_REASONS)[number];

/** Kinds of mails about a copy that continues: see `copy/session/alarms.ts`. */
export const COPY_ALARMS = ["EXIT_FAILED", "CLOSED_BY_VENUE", "OFF_TARGET", "BEHIND"] as const;
export type CopyAlarm = (typeof COPY_ALARMS)[number];

/** A copy's holding of a symbol by its own orders. */
export type Holding = {
  /**
   * Base units: of a spot pair what was bought and not sold, after fees; of a contract the position, negative
   * for a short.
   */
  readonly quantity: Quantity;
  /** Paid (long) or received (short) for it. Never negative. */
  readonly cost: Amount;
  /**
   * The copy's target, signed like `quantity`: what its openings executed, less the parts that the strategy
   * has closed since. Absent: the whole holding (books that were stored before targets existed).
   */
  readonly target?: Quantity;
  /**
   * Of the target's size, what the strategy's orders are still to execute: an exit of the strategy takes
   * nothing of it. Absent: none.
   */
  readonly ahead?: Quantity;
};

/** The venue's report on the account. */
export type VenueSnapshot = {
  readonly at: number;
  /** In the quote asset: on spot free and locked, of futures the wallet balance. */
  readonly wallet: Amount;
  /** The part of it that can be used for orders. */
  readonly available: Amount;
  /**
   * In the quote asset, what the copy is worth at the venue's prices: what it began with, what it gained and
   * paid in fees since, and what its holdings gained. What its owner pays in or takes out changes nothing of
   * it.
   */
  readonly equity: Amount;
  /**
   * By symbol, in base units: on spot all that the account has of the pair's base asset; of contracts the
   * position.
   */
  readonly held: ReadonlyMap<string, Quantity>;
  /**
   * By symbol with unconfirmed orders, what the account had beyond the book before them: whatever it has more
   * or less since may be theirs. Absent: `held` less the book.
   */
  readonly foreign?: ReadonlyMap<string, Quantity>;
  /**
   * Contracts whose position has changed by unconfirmed orders, while it is not known by which of them: no
   * holding has the change yet.
   */
  readonly inDoubt?: readonly string[];
};

/** The state of a copy, which changes in the transaction of the entry that changed it. */
export type CopyBook = {
  /** By symbol. */
  readonly holdings: ReadonlyMap<string, Holding>;
  /** Realized profit (negative: loss), and fees, in the quote asset. */
  readonly realized: Amount;
  readonly fees: Amount;
  /** The starting value of the copy's share of the account; null before the first poll. */
  readonly startEquity: Amount | null;
  /**
   * The share that this is of; null with it, and of copies that began before it was noted: the present one is
   * taken for it.
   */
  readonly startShare: Rate | null;
  /**
   * The budget of the settings by which `startShare` was noted; null: there was none. Absent in books that
   * were stored before it was noted: the present one is taken for it.
   */
  readonly startBudget?: Amount | null;
  /**
   * The base of its stop loss since it has acted, or since another share or budget was set: the copy's value
   * after everything was closed; null before, when the starting value is the base.
   */
  readonly stopBase: Amount | null;
  readonly snapshot: VenueSnapshot | null;
  /** The number of the next entry of its log. */
  readonly nextEntryId: number;
  /**
   * The highest profit of all settlements of the profit share, zero at least, and the week of the last one.
   * Absent before the first.
   */
  readonly profitMark?: { readonly week: number; readonly mark: Amount };
  /** The copy's value at its first valuation on a day (UTC), which is numbered from the beginning of 1970. */
  readonly dayStart?: { readonly day: number; readonly equity: Amount };
  /**
   * The last action that has its row in the log, done or not. Absent in books of versions that had no outbox:
   * there it is `doneSeq` of the copy, and what answers the next action may have been sent already.
   */
  readonly takenSeq?: number;
};

export type Copy = {
  readonly copyId: string;
  /** The copier. */
  readonly personId: string;
  readonly strategyId: string;
  readonly accountId: string;
  readonly type: StrategyType;
  readonly settings: CopySettings;
  readonly status: CopyStatus;
  /** Null while it is FOLLOWING. */
  readonly reason: CopyReason | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** The version of the strategy when the copy began: what was committed later is mirrored. */
  readonly fromVersion: number;
  /** The last action that is dealt with; all before it are. */
  readonly doneSeq: number;
  readonly book: CopyBook;
  /** Grows with every change, so that a change can be seen from afar. */
  readonly revision: number;
};

/** A strategy as copies see it: how far its journal has been turned into actions. */
export type Lead = {
  readonly strategyId: string;
  readonly type: StrategyType;
  /** The account as of `version`, the last entry that was turned into actions; null before the first. */
  readonly account: Account | null;
  readonly version: number;
  /** The last action; 0 if there is none. */
  readonly seq: number;
};

/** The current state of a lead that a process has claimed. */
export type ClaimedLead = Strategy & {
  /** The strategy's last entry; higher than the lead's version if entries are not yet turned into actions. */
  readonly version: number;
  /** Grows whenever people change something: a copy, its settings, a request, a kill switch, an account. */
  readonly revision: number;
};

/** The strategy's state right before an action. */
export type LeadState = {
  /** The quote asset: free, locked and isolated. */
  readonly wallet: Amount;
  /** On spot by asset what is owned beside the quote asset; of futures by symbol the position. */
  readonly held: ReadonlyMap<string, Quantity>;
  /** By symbol, the price of the strategy's last trade: a fallback for its value. */
  readonly lastPrices: ReadonlyMap<string, Price>;
  /**
   * By symbol, base units of its open exit orders: on spot of SELLs, of futures of orders against the
   * position.
   */
  readonly promised: ReadonlyMap<string, Quantity>;
};

/** An action of the strategy that concerns copies. */
export type LeadAction = {
  /** 1 for the first of the strategy, without gaps. */
  readonly seq: number;
  /** The entry of the strategy's journal that it comes from. */
  readonly version: number;
  /** Market time, Unix ms. */
  readonly at: number;
  readonly lead: LeadState;
} & OrderIntent;

export type OrderIntent =
  | LeadPlacement
  | LeadCancel
  | LeadFill
  | LeadLeg
  | LeadLegCancel
  | LeadLegFired
  | LeadLiquidation
  | LeadLeverage
  | LeadClose;
export type OrderIntentKind = OrderIntent["kind"];

type OfOrder = { readonly symbol: string; readonly orderId: number; readonly collectiveId: string };
type OfLeg = {
  readonly symbol: string;
  readonly legId: number;
  /** The leg's own number: legs and orders share one sequence. */
  readonly collectiveId: string;
};

/** A client, or a signal, has placed an order. */
export type LeadPlacement = OfOrder & {
  readonly kind: "PLACE";
  readonly side: Side;
  readonly orderType: ClientOrderType;
  readonly quantity: Quantity;
  /** Zero where the type has none. */
  readonly price: Price;
  readonly stopPrice: Price;
  readonly reduceOnly: boolean;
  /** Of a contract: the strategy's leverage at the placement; null for a spot pair. */
  readonly leverage: number | null;
  /** Fills in the same entry; null if there are none. */
  readonly filled: LeadFilled | null;
};
export type LeadFilled = {
  readonly quantity: Quantity;
  /** The average, rounded down at the 8th decimal. */
  readonly price: Price;
};
/** The order has ended without having been filled in full. */
export type LeadCancel = OfOrder & {
  readonly kind: "CANCEL";
  readonly because: "CANCELED" | "EXPIRED";
  /** The order's quantity, and what of it was executed; absent in actions of earlier versions. */
  readonly quantity?: Quantity;
  readonly executed?: Quantity;
};
/** An order that rested was filled. `empties`: the strategy holds nothing of the symbol any more. */
export type LeadFill = OfOrder & {
  readonly kind: "FILL";
  readonly side: Side;
  readonly filled: LeadFilled;
  readonly empties: boolean;
};
export type LeadLeg = OfLeg & {
  readonly kind: "PLACE_LEG";
  readonly side: Side;
  readonly legType: LegType;
  readonly triggerPrice: Price;
};
/** The leg was taken back, or its position is gone. */
export type LeadLegCancel = OfLeg & { readonly kind: "CANCEL_LEG" };
/** The leg has closed the position. */
export type LeadLegFired = OfLeg & {
  readonly kind: "FIRE_LEG";
  readonly side: Side;
  readonly filled: LeadFilled;
};
/** The position was liquidated. */
export type LeadLiquidation = OfOrder & {
  readonly kind: "LIQUIDATE";
  readonly side: Side;
  readonly filled: LeadFilled;
};
export type LeadLeverage = {
  readonly kind: "SET_LEVERAGE";
  readonly symbol: string;
  readonly leverage: number;
};
/** The strategy is being closed permanently: every copy closes all its holdings. */
export type LeadClose = { readonly kind: "CLOSE" };

/**
 * Kinds of rows beside the lead's actions: FLATTEN closes a copy's holding of a symbol, RECONCILE reduces
 * what exceeds its target, STOP closes a position whose stop the venue's price has passed, REPAIR brings it
 * nearer to its target at its owner's request, WITHDRAW cancels the open orders of a stopped copy, WRITE_OFF
 * removes from its book what the account no longer has, PROFIT_SHARE is a settlement that is computed and
 * charged to nobody.
 */
export const MIRROR_KINDS = [
  "PLACE",
  "CANCEL",
  "FILL",
  "PLACE_LEG",
  "CANCEL_LEG",
  "FIRE_LEG",
  "LIQUIDATE",
  "SET_LEVERAGE",
  "CLOSE",
  "FLATTEN",
  "RECONCILE",
  "STOP",
  "REPAIR",
  "WITHDRAW",
  "WRITE_OFF",
  "PROFIT_SHARE",
] as const;
export type MirrorKind = (typeof MIRROR_KINDS)[number];

/**
 * NEW: in the outbox, not dealt with yet. SENT: written before it is sent; after a restart its outcome is
 * queried. UNCONFIRMED: the venue has not reported an outcome, or does not show an order any more that it
 * had acknowledged. It is not sent again; an execution that turns up later is recorded. RESTING: the order
 * is open at the venue. FILLED, CANCELED, EXPIRED: its end there; the executed quantity says how much was
 * filled. DONE: a row without an order was executed, or had nothing to do. SKIPPED: it was not sent, or the
 * venue rejected it, for a reason that the rules name. FAILED: rejected by the venue for any other reason.
 * LEFT: it was open at the venue when the copy ended, and is not queried any more.
 */
export const MIRROR_STATUSES = [
  "NEW",
  "SENT",
  "UNCONFIRMED",
  "RESTING",
  "FILLED",
  "CANCELED",
  "EXPIRED",
  "DONE",
  "SKIPPED",
  "FAILED",
  "LEFT",
] as const;
export type MirrorStatus = (typeof MIRROR_STATUSES)[number];

export const SKIP_REASONS = [
  /** The scaled size, snapped down, is below the venue's least quantity, or nothing. */
  "BELOW_MIN_QUANTITY",
  "BELOW_MIN_NOTIONAL",
  /** Above the venue's largest quantity or notional, or its largest position. */
  "ABOVE_MAXIMUM",
  /** The venue takes no more open orders on the symbol. */
  "ORDER_CAP",
  /** The price lies outside of what the venue takes. */
  "PRICE_UNFIT",
  "INSUFFICIENT_BALANCE",
  "INSUFFICIENT_MARGIN",
  /** There is nothing that could be sold, reduced or closed. */
  "NOTHING_HELD",
  /** The order or leg that it is about was not copied, or began before the copy did. */
  "NOT_MIRRORED",
  /** The order or leg that it is about was over already. */
  "ALREADY_OVER",
  "PAUSED",
  "HALTED",
  /** The opening could not be sent within `ENTRY_AGE_MAX_MS` of the commit. */
  "TOO_LATE",
  /** The venue does not trade the symbol. */
  "NOT_LISTED",
  /** The pair's quote asset is not the one that copies are reckoned in. */
  "OTHER_QUOTE_ASSET",
  /** The venue does not take the leverage or the margin mode. */
  "LEVERAGE_UNFIT",
  "CREDENTIALS",
  /** The lead's order was over before this one could be sent. */
  "OVERTAKEN",
  /** The venue has not confirmed it in time; it is not sent again. */
  "UNCONFIRMED",
  /** Its request was lost, and was not sent again since the position's stop waited behind it. */
  "STOP_FIRST",
  /** The leg is the last stop of a position that the copy still has. */
  "PROTECTS",
  /** The copier's own limits, from here to LOSS_OF_DAY. Not among the symbols that the copy may open. */
  "SYMBOL_NOT_ALLOWED",
  /** The position, or all positions together, would be worth more than the copier permits. */
  "ABOVE_POSITION_MAX",
  "ABOVE_EXPOSURE_MAX",
  /** More openings within a minute than the copier permits. */
  "TOO_MANY_ORDERS",
  /** The venue's price is too much worse than the strategy's. */
  "SLIPPAGE",
  /** The copy has lost as much since 00:00 UTC as the copier permits. */
  "LOSS_OF_DAY",
  /**
   * The venue refused it, in its own words: for a filter whose figures are not known (SKIPPED), or what none
   * of the others names (FAILED).
   */
  "REFUSED",
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Why something was not copied. */
export type Skip = {
  readonly reason: SkipReason;
  /** The filter that it failed, where it is one. */
  readonly filter: FilterName | null;
  /**
   * The needed and the available amount; their difference is the shortfall. In the unit that `unit` names; a
   * count if it is null.
   */
  readonly wanted: Amount | null;
  readonly had: Amount | null;
  readonly unit: "BASE" | "QUOTE" | null;
  /**
   * The copier's own bound: where the most per order has made it too small, that, in the quote asset; of
   * SLIPPAGE, ABOVE_POSITION_MAX, ABOVE_EXPOSURE_MAX and LOSS_OF_DAY the rate or multiple that was set.
   */
  readonly bound?: Amount | Rate;
  /** Of SYMBOL_NOT_ALLOWED: how many symbols the copier permits, and the first of them. */
  readonly permitted?: { readonly count: number; readonly symbols: readonly string[] };
  /** The venue's own code and message, if it rejected the order. */
  readonly venue: { readonly code: number; readonly message: string } | null;
};

/** A skip; what is not given is null. */
export function skipOf(reason: SkipReason, details: Partial<Omit<Skip, "reason">> = {}): Skip {
  return { reason, filter: null, wanted: null, had: null, unit: null, venue: null, ...details };
}

/**
 * What an order was scaled by: ours / theirs. UNPROMISED: by holdings less open exit orders. FIXED_RATIO and
 * FIXED_AMOUNT: by the copier's setting.
 */
export const SCALES = [
  "EQUITY",
  "COLLATERAL",
  "HOLDING",
  "POSITION",
  "UNPROMISED",
  "FIXED_RATIO",
  "FIXED_AMOUNT",
] as const;
export type Scale = {
  readonly by: (typeof SCALES)[number];
  readonly ours: bigint;
  readonly theirs: bigint;
};

/** A line of a copy's mirror log. */
export type MirrorEntry = {
  readonly copyId: string;
  /** Ascending within the copy. */
  readonly entryId: number;
  /** The action that it mirrors; null for a request or the closing of the copy. */
  readonly seq: number | null;
  readonly requestId: string | null;
  readonly collectiveId: string | null;
  readonly kind: MirrorKind;
  /** Null for what concerns no symbol. */
  readonly symbol: string | null;
  readonly status: MirrorStatus;
  readonly skip: Skip | null;
  readonly side: Side | null;
  readonly orderType: ClientOrderType | LegType | null;
  /** The strategy's own: its size, and what it was filled at (its limit while it is not, or null). */
  readonly leadQuantity: Quantity | null;
  readonly leadPrice: Price | null;
  readonly scale: Scale | null;
  /** Before and after snapping. */
  readonly scaledQuantity: Quantity | null;
  readonly quantity: Quantity | null;
  readonly price: Price | null;
  readonly stopPrice: Price | null;
  /** Of a contract's order: whether it is reduce-only at the venue. */
  readonly reduceOnly?: boolean;
  /** How the venue knows it; null if it was never sent. */
  readonly clientOrderId: string | null;
  readonly venueOrderId: string | null;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  /** In the quote asset. */
  readonly fee: Amount;
  /**
   * When the strategy did it (market time), when it was first sent, and when the venue had acknowledged it.
   */
  readonly leadAt: number;
  readonly sentAt: number | null;
  readonly acknowledgedAt: number | null;
  readonly updatedAt: number;
  /** Numbers of sends and of queries. */
  readonly sends: number;
  readonly queries: number;
  /**
   * Of an opening order in progress: the part of its executions that the strategy still holds; absent: all.
   * With `leadExecuted` it is the part of those only whose counterpart the strategy's order has executed.
   */
  readonly retained?: Rate;
  /**
   * Of an order that opens something, while the strategy's own is open: what that has executed, in the
   * strategy's units. What the strategy closes takes nothing of the rest. Absent in rows of earlier versions.
   */
  readonly leadExecuted?: Quantity;
  /** Its fees are not known yet. */
  readonly isFeeDue?: true;
  /** The part that the strategy's order has closed is deducted from the copy's target. */
  readonly isTargetSet?: true;
  /** The strategy's own is canceled, and this one could not be canceled yet. */
  readonly isCancelDue?: true;
  /**
   * Of an unconfirmed order that the venue had acknowledged and does not show any more: since when it may
   * have been executed, wall time, Unix ms.
   */
  readonly unseenSince?: number;
  /** Of PROFIT_SHARE. */
  readonly profitShare?: ProfitShare;
};

/** The initial values of a new row; also the nulls that a stored row leaves out. */
export const BLANK_ENTRY: Omit<MirrorEntry, "copyId" | "entryId" | "kind" | "leadAt" | "updatedAt"> = {
  seq: null,
  requestId: null,
  collectiveId: null,
  symbol: null,
  status: "DONE",
  skip: null,
  side: null,
  orderType: null,
  leadQuantity: null,
  leadPrice: null,
  scale: null,
  scaledQuantity: null,
  quantity: null,
  price: null,
  stopPrice: null,
  clientOrderId: null,
  venueOrderId: null,
  executedQuantity: ZERO,
  executedQuote: ZERO,
  fee: ZERO,
  sentAt: null,
  acknowledgedAt: null,
  sends: 0,
  queries: 0,
};

/** The part of new profit that a settlement of the profit share comes to. */
export const PROFIT_SHARE_RATE: Rate = decimal("0.1");
/** The collective id of all settlements of a copy: they are found by it. */
export const PROFIT_SHARES_ID = "profit-shares";
/**
 * A settlement: the copy's profit since it began, the highest of those before (zero at least), and the share
 * of what is above it.
 */
export type ProfitShare = { readonly profit: Amount; readonly mark: Amount; readonly share: Amount };

/** Why what is held is not what the strategy's holding scales to. */
export type DriftCause =
  | "IN_LINE"
  | "ROUNDING"
  | "BEGAN_LATER"
  | "RESTING"
  | "SKIPPED"
  | "FAILED"
  | "OVERTAKEN"
  | "PAUSED"
  | "CLOSED"
  | "STOPPED"
  | "OUTSIDE"
  | "LIQUIDATED"
  | "VENUE_CLOSED"
  | "PENDING"
  | "LIMITED"
  | "PRICE_MOVED"
  | "UNEXPLAINED";

/** Requests to a copy beside its lead's actions; each is executed once, in sequence with them. */
export const COPY_REQUEST_KINDS = ["REPAIR", "LOOK", "WITHDRAW"] as const;
/**
 * REPAIR: towards the target. LOOK: polls the account. WITHDRAW, of a copy that is STOPPED: cancels open
 * orders and does not close its holdings.
 */
export type CopyRequestKind = (typeof COPY_REQUEST_KINDS)[number];
export type CopyRequest = {
  readonly requestId: string;
  readonly copyId: string;
  readonly kind: CopyRequestKind;
  /** Of a repair: whether it may also open or increase. */
  readonly mayIncrease: boolean;
  readonly askedAt: number;
  readonly doneAt: number | null;
  /** Why it could not be executed, if so. */
  readonly failure: string | null;
};

/** What stops all sending. COPIER: by person id; STRATEGY: by strategy id; VENUE: by origin. */
export const SWITCH_KINDS = ["COPIER", "STRATEGY", "VENUE"] as const;
export type SwitchKind = (typeof SWITCH_KINDS)[number];
export type KillSwitch = {
  readonly kind: SwitchKind;
  readonly id: string;
  /** In the words of the person who set it. */
  readonly reason: string;
  /** The person's id. */
  readonly setBy: string;
  readonly setAt: number;
};

/** The book of a copy that has done nothing yet. */
export const EMPTY_BOOK: CopyBook = {
  holdings: new Map(),
  realized: 0n as Amount,
  fees: 0n as Amount,
  startEquity: null,
  startShare: null,
  stopBase: null,
  snapshot: null,
  nextEntryId: 1,
  takenSeq: 0,
};
