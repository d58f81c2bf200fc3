// Copying as the browser gets it: venue accounts, strategies on offer, copies, their mirror logs and their drift; and what traders
// and operators see of it. Amounts are decimal texts with as many digits as they need; rates are shares of one.

import type { StrategyType } from "../../domain/account.ts";
import type {
  CopyReason,
  CopyRequestKind,
  CopyStatus,
  DriftCause,
  MirrorKind,
  MirrorStatus,
  Scale,
  SkipReason,
  SwitchKind,
  VenueAccountStatus,
} from "../../domain/copying.ts";

/** GET /copying/venues: `{ rows }`, empty while the operator allows none. */
export type VenueShape = { readonly origin: string };

export type VenueAccountShape = {
  readonly accountId: string;
  readonly family: StrategyType;
  readonly venue: string;
  readonly label: string;
  readonly keyHint: string;
  readonly status: VenueAccountStatus;
  readonly failure: string | null;
  readonly createdAt: number;
  readonly checkedAt: number;
  /** The live copy that uses it. */
  readonly copyId: string | null;
};

/** What a check has found, beside the account. */
export type AccountCheckShape = {
  readonly account: VenueAccountShape;
  readonly wallet: string;
  readonly available: string;
  readonly asset: string;
  /** True and false are good and bad; null where the venue does not tell. */
  readonly checks: readonly {
    readonly name: CheckName;
    readonly isGood: boolean | null;
    readonly words: string;
  }[];
};
export type CheckName = "KEY" | "BALANCE" | "TRADING" | "WITHDRAWAL" | "POSITION_MODE";

/** How large an account must be to copy this share of the strategy's orders of late. */
export type SmallestBalances = {
  /** How many of its orders were looked at. */
  readonly orders: number;
  readonly all: string;
  readonly most: string;
  readonly many: string;
};

/** A strategy that may be followed. `all`, `most` and `many` of its smallest balances are 100, 95 and 80 % of its orders. */
export type OfferShape = {
  readonly strategyId: string;
  readonly name: string;
  readonly type: StrategyType;
  readonly createdAt: number;
  /** Live copies of it. */
  readonly copiers: number;
  /** Null while there is too little of it to tell. */
  readonly performance: {
    readonly days: number;
    readonly returnRate: string;
    readonly maxDrawdown: string;
    readonly trades: number;
    readonly winRate: string | null;
  } | null;
  readonly smallestBalances: SmallestBalances | null;
  /** The caller's own live copy of it. */
  readonly copyId: string | null;
};
/** GET /copying/offers: a page, newest first, and how many there are on all pages. */
export type OffersShape = {
  readonly rows: readonly OfferShape[];
  readonly next: string | null;
  readonly total: number;
};
/** GET /copying/offers/:strategyId */
export type OfferDetailShape = OfferShape & {
  readonly equity: readonly { readonly at: number; readonly equity: string }[];
  readonly symbols: readonly string[];
  /** What the strategy holds now and a copy that starts now does not buy: assets on spot, symbols of futures. */
  readonly holds: readonly string[];
};

/** Null sets no bound. In requests all but the first three may be left out: they are then as before, or of a new copy unset. */
export type CopySettingsShape = {
  /** Above 0, at most 1. */
  readonly share: string;
  readonly maxPerOrder: string | null;
  /** Shares of the equity that the copy began with. */
  readonly stopLoss: string | null;
  readonly takeProfit: string | null;
  readonly size:
    | { readonly by: "RATIO" }
    | { readonly by: "FIXED_RATIO"; readonly ratio: string }
    | { readonly by: "FIXED_AMOUNT"; readonly amount: string };
  readonly budget: string | null;
  readonly leverageMax: number | null;
  /** Multiples of the copy's equity. */
  readonly positionMax: string | null;
  readonly exposureMax: string | null;
  readonly ordersPerMinuteMax: number | null;
  /** A share of the equity at 00:00 UTC. */
  readonly lossPerDayMax: string | null;
  readonly symbols: readonly string[] | null;
  /** Shares of the strategy's price, for BTC and ETH and for all others. */
  readonly slippageMax: { readonly major: string; readonly other: string } | null;
  readonly copyExisting: boolean;
  readonly closeAfterSeconds: number | null;
};

export type SkipShape = {
  readonly reason: SkipReason;
  /** A plain sentence with the figures. */
  readonly words: string;
  readonly filter: string | null;
  readonly wanted: string | null;
  readonly had: string | null;
  readonly shortfall: string | null;
  /** Of wanted, had and shortfall: an asset. */
  readonly asset: string | null;
};

/** One of the strategy's last orders, scaled to an account. */
export type PreviewRowShape = {
  readonly collectiveId: string;
  readonly at: number;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly orderType: string;
  readonly leadQuantity: string;
  readonly scaledQuantity: string;
  /** Null if it is skipped. */
  readonly quantity: string | null;
  readonly notional: string | null;
  /** Whether it only sells, reduces or closes: then it is copied only as far as the copy holds what it closes. */
  readonly isExit: boolean;
  readonly skip: SkipShape | null;
};
/** POST /copying/preview */
export type PreviewShape = {
  readonly rows: readonly PreviewRowShape[];
  readonly copied: number;
  readonly skipped: number;
  /**
   * What was reckoned with: the account's balance, what the copy that is there already has bought and still holds, and the part of
   * both that the copy would use.
   */
  readonly wallet: string;
  readonly held: string;
  readonly used: string;
  readonly asset: string;
  /** What the strategy holds now, and what of it the copy would open with `copyExisting`, by symbol. */
  readonly holds: readonly HeldNowShape[];
  /** What the settings permit at worst. */
  readonly worst: WorstCaseShape;
};
export type HeldNowShape = {
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  /** Null where nothing is opened: too little, not permitted by the settings, or held already. */
  readonly quantity: string | null;
  readonly notional: string | null;
};
export type WorstCaseShape = {
  /** Of the contract that is liquidated first; null on spot, or where no contract is known. `move` is a share of the price. */
  readonly liquidation: {
    readonly symbol: string;
    readonly leverage: number;
    readonly move: string;
    readonly loss: string;
  } | null;
  /** The highest value of all positions, as a multiple of what the copy uses; null where it is not known. */
  readonly exposure: { readonly multiple: string; readonly value: string } | null;
  /** The same in plain sentences. */
  readonly words: readonly string[];
};

export type EntryCountsShape = {
  /** Those that the venue took: filled, resting, or ended there without being filled. */
  readonly placed: number;
  readonly skipped: number;
  readonly failed: number;
  readonly byReason: readonly { readonly reason: SkipReason; readonly count: number }[];
};

export type CopyShape = {
  readonly copyId: string;
  readonly strategyId: string;
  readonly strategyName: string;
  readonly strategyStatus: "LIVE" | "CLOSING" | "CLOSED";
  readonly family: StrategyType;
  readonly account: Pick<VenueAccountShape, "accountId" | "label" | "venue" | "keyHint" | "status">;
  readonly status: CopyStatus;
  readonly reason: CopyReason | null;
  /** Why nothing at all is sent for it; null unless a kill switch is set. */
  readonly halted: { readonly kind: SwitchKind; readonly reason: string; readonly isOwn: boolean } | null;
  readonly settings: CopySettingsShape;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly asset: string;
  /** Null until the venue has been asked. */
  readonly equity: string | null;
  readonly startEquity: string | null;
  readonly resultRate: string | null;
  readonly realized: string;
  readonly fees: string;
  readonly seenAt: number | null;
  /** The equity that the stop loss counts from, and at which it acts; null if it does not. */
  readonly stopsFrom: string | null;
  readonly stopsAt: string | null;
  /** The equity at which the take profit acts; null if it does not. */
  readonly takesAt: string | null;
  readonly counts: EntryCountsShape;
  readonly restingOrders: number;
  /**
   * What the strategy did and the copy has not dealt with, and since when; null if it keeps up, or has been behind for moments.
   */
  readonly behind: { readonly actions: number; readonly since: number } | null;
  readonly pending: readonly CopyRequestKind[];
};

/** A line of the mirror log. */
export type MirrorEntryShape = {
  readonly entryId: number;
  readonly collectiveId: string | null;
  readonly kind: MirrorKind;
  readonly symbol: string | null;
  readonly status: MirrorStatus;
  readonly skip: SkipShape | null;
  readonly side: "BUY" | "SELL" | null;
  readonly orderType: string | null;
  readonly leadQuantity: string | null;
  readonly leadPrice: string | null;
  readonly scale: {
    readonly by: Scale["by"];
    readonly ours: string;
    readonly theirs: string;
    /** Of an order of more than the strategy's position: the part that the ratio is of. Null if it is of the whole order. */
    readonly part: "OPENING" | "CLOSING" | null;
  } | null;
  readonly scaledQuantity: string | null;
  readonly quantity: string | null;
  readonly price: string | null;
  readonly stopPrice: string | null;
  readonly clientOrderId: string | null;
  readonly venueOrderId: string | null;
  readonly executedQuantity: string;
  /** The average of what was executed. */
  readonly executedPrice: string | null;
  /** Null while it is not known yet. */
  readonly fee: string | null;
  /** Basis points against the strategy's own price: positive is worse for the copier. */
  readonly slippageBps: string | null;
  readonly leadAt: number;
  readonly sentAt: number | null;
  readonly acknowledgedAt: number | null;
  /** From the strategy's commit to the venue's acknowledgement. */
  readonly delayMs: number | null;
  readonly sends: number;
  readonly queries: number;
};

export type DriftRowShape = {
  readonly symbol: string;
  readonly asset: string;
  /** What the strategy holds, what that scales to, what the copy holds by its own orders, and what the account has. */
  readonly lead: string;
  readonly target: string;
  readonly own: string;
  readonly actual: string;
  /** own − target */
  readonly difference: string;
  /** In the quote asset; null without a price. */
  readonly value: string | null;
  /** OLDER: the lines that were looked at do not say why, and there are older ones. */
  readonly cause: DriftCause | "OLDER";
  readonly words: string;
  /** The entry that explains it best. */
  readonly entryId: number | null;
  /** The difference by causes: sizes without a sign that add up to it, and the entry that explains most of each. */
  readonly parts: readonly {
    readonly cause: DriftCause | "OLDER";
    readonly quantity: string;
    readonly entryId: number | null;
  }[];
  /** What a repair would send; null if nothing. */
  readonly repair: {
    readonly side: "BUY" | "SELL";
    readonly quantity: string;
    readonly increases: boolean;
  } | null;
};
/** GET /copies/:copyId/profit-shares: the settlements, newest first, and what they come to. Computed; nobody is charged. */
export type ProfitSharesShape = {
  /** A part of one, of profit above the mark. */
  readonly rate: string;
  readonly asset: string;
  readonly total: string;
  readonly rows: readonly {
    readonly at: number;
    /** Since the copy began, and the highest of the settlements before. */
    readonly profit: string;
    readonly mark: string;
    readonly share: string;
  }[];
};
/** GET /copies/:copyId/drift */
export type DriftShape = {
  readonly rows: readonly DriftRowShape[];
  /** Why no rows are shown, in plain sentences: the copy has ended. Null while they are. */
  readonly hiddenBecause: string | null;
  readonly seenAt: number | null;
  /** A repair or a look that is under way. */
  readonly pending: readonly CopyRequestKind[];
};

/** Strategy against exchange: what copies got at the venue beside what the strategy got here, in basis points, positive is worse. */
export type GapRowShape = {
  readonly symbol: string;
  /** Of copies. */
  readonly orders: number;
  readonly medianBps: string;
  readonly worstBps: string;
  readonly meanDelayMs: number;
};
export type GapShape = {
  readonly bySymbol: readonly GapRowShape[];
  /** Of notional in the quote asset: below 10, 100, 1,000, 10,000 and above. */
  readonly bySize: readonly (Omit<GapRowShape, "symbol"> & { readonly upTo: string | null })[];
  /** The strategies' newest that copies executed something of, each over the copies of it. */
  readonly orders: readonly GapOrderShape[];
  /** Of which times all this is, and how many orders of copies were looked at of each of the strategy's; null if there are none. */
  readonly range: { readonly from: number; readonly to: number; readonly copiesPerOrder: number } | null;
};
export type GapOrderShape = GapRowShape & {
  readonly strategyId: string;
  readonly strategyName: string;
  readonly collectiveId: string;
  /** Null of a leg. */
  readonly orderId: number | null;
  readonly at: number;
  readonly side: "BUY" | "SELL";
  /** The strategy's own: its size (null of a leg), and what it was filled at. Of single copies nothing is told. */
  readonly quantity: string | null;
  readonly paper: string;
  /** Copies that executed something of it, among those that were looked at. */
  readonly copies: number;
  /** There may be more copies of it than were looked at. */
  readonly isCut: boolean;
};

/** GET /strategies/:strategyId/copying */
export type StrategyCopyingShape = {
  readonly isOpen: boolean;
  /** Whether the operator allows any venue: without one it can't be opened, and nothing is copied. */
  readonly isOffered: boolean;
  readonly copiers: { readonly [S in CopyStatus]: number };
  readonly counts: EntryCountsShape;
  readonly gap: GapShape;
  readonly halted: { readonly kind: SwitchKind; readonly reason: string; readonly isOwn: boolean } | null;
  /** Copies that have not dealt with what the strategy did some while ago. */
  readonly behind: number;
  /** While the strategy is closed for its copiers: how many are done, and what the others wait for. */
  readonly closing: {
    readonly done: number;
    readonly total: number;
    readonly left: readonly UnclosedShape[];
  } | null;
};

/**
 * Why a copy of a closed strategy is not closed yet. NOT_ALLOWED: its venue, by the operator. NOBODY_AT_WORK: no copier reports.
 * UNDER_WAY: nothing is known to be in its way.
 */
export type WhyUnclosed =
  | "NOT_ALLOWED"
  | "HALTED"
  | "NOBODY_AT_WORK"
  | "KEY_REFUSED"
  | "ACCOUNT_UNFIT"
  | "VENUE_AWAY"
  | "UNDER_WAY";
export type UnclosedShape = { readonly why: WhyUnclosed; readonly count: number };

export type KillSwitchShape = {
  readonly kind: SwitchKind;
  readonly id: string;
  /** A person's e-mail address, a strategy's name, a venue's origin. */
  readonly name: string;
  readonly reason: string;
  readonly setBy: string;
  readonly setAt: number;
};
/** A copier that has reported, and when it has last. */
export type ReportingCopierShape = {
  readonly copier: string;
  readonly reportedAt: number;
  /** It has not been heard of for so long that it is not taken for being at work. */
  readonly isSilent: boolean;
};
/** How a venue fares in the eyes of one copier. */
export type VenueHealthShape = ReportingCopierShape & {
  readonly family: StrategyType;
  readonly isAnswering: boolean;
  /** Why its last request had no answer; null if it had one. */
  readonly failure: string | null;
  /** Null before the first. */
  readonly lastAnswerAt: number | null;
  /** When it may be sent to again, as it has demanded; null if it has not. */
  readonly pausedUntil: number | null;
  /** The highest share of one of its budgets that is used up in the present minute. */
  readonly budgetUsed: string;
};
/** GET /operator/copying */
export type OperatorCopyingShape = {
  readonly venues: readonly {
    readonly origin: string;
    readonly accounts: number;
    readonly failed: number;
    readonly isHalted: boolean;
    /** Of each copier, and each family that it works with there; empty where nothing is known. */
    readonly health: readonly VenueHealthShape[];
  }[];
  /** Those that are at work; if none is, whoever was last; empty if there never was one. */
  readonly copiers: readonly ReportingCopierShape[];
  readonly copies: { readonly [S in CopyStatus]: number };
  /** Of them, those that have not dealt with what their strategy did some while ago. */
  readonly behind: number;
  /** Copies of closed strategies that are not closed yet. */
  readonly unclosed: readonly UnclosedShape[];
  readonly counts: EntryCountsShape;
  readonly gap: GapShape;
  readonly switches: readonly KillSwitchShape[];
};
