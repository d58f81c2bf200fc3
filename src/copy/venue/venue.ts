// The port of a venue, where copiers' real accounts are. Its one implementation is the signed REST API of the
// reference exchange (spot and futures), which another Lyrebird speaks as well.
// Every answer is a value, never an exception: the venue took it, refused it, cannot be reached now, or the
// outcome is unknown.
import type { StrategyType } from "../../domain/account.ts";
import type { LegType } from "../../domain/leg.ts";
import type { ClientOrderType, Side } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import type { VenueHealth } from "../../domain/venue-report.ts";
import type { Amount, Price, Quantity } from "../../money/decimal.ts";

export type VenueCredentials = { readonly apiKey: string; readonly apiSecret: string };

/** The venue refused it, and nothing of it took effect: its code and its words. */
export type VenueRefusal = { readonly kind: "REFUSED"; readonly code: number; readonly message: string };
/**
 * Not available now. LIMITED: by the venue's budgets, or ours for it; nothing was sent, or the venue has
 * counted and refused it. UNREACHABLE: no connection could be made, so nothing was sent. REJECTED: the venue
 * has rejected the key once, and executed nothing; see `Rejections`. `until`: when to retry, wall time, Unix
 * ms.
 */
export type VenueDelay = {
  readonly kind: "DELAYED";
  readonly why: "LIMITED" | "UNREACHABLE" | "REJECTED";
  readonly until: number;
  readonly reason: string;
};
/**
 * It was sent, and its outcome is unknown: cut off, too slow, an answer of 5xx, or one that is not the
 * venue's own. `status`: that of a 4xx that was not the venue's.
 */
export type VenueSilence = { readonly kind: "UNKNOWN"; readonly reason: string; readonly status?: number };
/** The venue does not accept the key, the secret or the rights of the key. */
export type VenueRejection = { readonly kind: "REJECTED"; readonly code: number; readonly message: string };

export type VenueAnswer<Value> =
  | { readonly kind: "OK"; readonly value: Value }
  | VenueRefusal
  | VenueDelay
  | VenueSilence
  | VenueRejection;

/** An order for the venue. Sizes and prices are multiples of the symbol's steps already. */
export type VenueOrder = {
  readonly symbol: string;
  readonly side: Side;
  readonly type: ClientOrderType;
  readonly quantity: Quantity;
  /** Zero where the type has none. */
  readonly price: Price;
  readonly stopPrice: Price;
  /** Of a contract alone. */
  readonly reduceOnly: boolean;
  /**
   * OPEN: waits for what reduces, and leaves a part of the venue's budgets to it. REDUCE, or missing: goes
   * first and may use them whole.
   */
  readonly priority?: "REDUCE" | "OPEN";
  /** At most 36 characters of `[.A-Z:/a-z0-9_-]`. */
  readonly clientOrderId: string;
  readonly askedAt?: AskedAt;
};

/**
 * When the request was created, wall time, Unix ms: the venue may execute it for RECV_WINDOW_MS from then,
 * however long it is on its way. Defaults to now.
 */
export type AskedAt = number;

/** A conditional order that closes the whole position (`algoOrder`). */
export type VenueLeg = {
  readonly symbol: string;
  readonly side: Side;
  readonly type: LegType;
  readonly triggerPrice: Price;
  readonly clientOrderId: string;
  readonly askedAt?: AskedAt;
};

export type VenueOrderStatus = "RESTING" | "FILLED" | "CANCELED" | "EXPIRED" | "REJECTED";

/** An order, or a leg, as the venue has it. */
export type VenueOrderState = {
  readonly clientOrderId: string;
  readonly venueOrderId: string;
  readonly status: VenueOrderStatus;
  /** As it was placed; of a leg zero. */
  readonly quantity: Quantity;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  /** The venue's own time of its last change, Unix ms. */
  readonly updatedAt: number;
  /** Its fees, where the answer has all its fills. */
  readonly fills?: VenueFills;
};

/** The fees and the proceeds of an order, once it has executed something. */
export type VenueFills = {
  /** In the quote asset; a fee in the base asset is valued at its fill's price. */
  readonly fee: Amount;
  /** The part of the fees that was taken in the base asset: base units that did not arrive. */
  readonly feeInBase: Quantity;
};

export type FillsAsked = {
  readonly symbol: string;
  readonly venueOrderId: string;
  /** The executed quantity of the order; null: whatever is listed. */
  readonly executed: Quantity | null;
};

export type FillsSince = {
  readonly symbol: string;
  /** Before the first fill of these orders, wall time, Unix ms; at most six days ago. */
  readonly since: number;
  /** The executed quantity of each order, by the venue's ids. */
  readonly orders: ReadonlyMap<string, Quantity>;
};

/** An execution on a symbol, by one order at one price. */
export type VenueTrade = {
  readonly venueOrderId: string;
  /**
   * The origin of the order. KNOWN: the caller named the order. VENUE: the venue has closed a position by
   * itself (liquidation, ADL, settlement), with an order that has ended. OTHER: any other origin. UNKNOWN:
   * not determined yet; a later call determines it.
   */
  readonly by: "KNOWN" | "VENUE" | "OTHER" | "UNKNOWN";
  /** Null unless it is the venue's or another's, and on spot. */
  readonly clientOrderId: string | null;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly quote: Amount;
  /** The venue's own time, Unix ms. */
  readonly at: number;
};

export type VenueBalances = {
  /** Spot: free and locked of the quote asset. Futures: the wallet balance of the margin asset. */
  readonly wallet: Amount;
  readonly available: Amount;
  /** Spot: by base asset free and locked. Futures: by symbol the position. */
  readonly held: ReadonlyMap<string, Quantity>;
  /** Spot: by base asset what open sales lock of that. Futures: empty. */
  readonly locked: ReadonlyMap<string, Quantity>;
};

/**
 * What an account's user data stream says: a hint to query the venue, never booked itself. RESUMED: events
 * are received from now on; earlier ones may have been missed. ORDER: an order, or a leg, was placed,
 * executed or ended; `executed`: how much of it at least, if that is said.
 */
export type VenueEvent =
  | { readonly kind: "RESUMED" }
  | {
      readonly kind: "ORDER";
      readonly clientOrderId: string;
      readonly change: "PLACED" | "EXECUTED" | "ENDED";
      readonly executed: Quantity | null;
    };

/** The symbols on which an account may have open orders and legs. */
export type RestingSymbols = {
  readonly orders: ReadonlySet<string>;
  readonly legs: ReadonlySet<string>;
};

/** The result of the check of an account when it is connected. */
export type AccountCheck = {
  readonly balances: VenueBalances;
  readonly canTrade: boolean;
  /** Null where the venue does not say. */
  readonly canWithdraw: boolean | null;
  /** Of futures: whether positions have two sides; null on spot, or where the venue does not say. */
  readonly isHedgeMode: boolean | null;
};

/** The rights of a key; null where the venue does not report them. */
export type KeyRights = { readonly mayTrade: boolean | null; readonly mayWithdraw: boolean | null };

/** The part of a venue that all its accounts share. */
export type Venue = {
  readonly origin: string;
  readonly type: StrategyType;
  /**
   * The rules of a symbol as the venue publishes them; null if it does not list it. Refreshed once an hour.
   */
  rules(symbol: string): Promise<VenueAnswer<SymbolRules | null>>;
  /**
   * It has rejected something by its rules: they are fetched again at their next use, at most once in a few
   * seconds.
   */
  doubtRules(symbol: string): void;
  /**
   * By symbol, of spot pairs the last prices, of contracts the mark prices; at most `PRICES_AGE_MAX_MS` old,
   * or `PRICES_AGE_LIMITED_MS` while the limits permit no request.
   */
  prices(): Promise<VenueAnswer<ReadonlyMap<string, Price>>>;
  /** Its time by its measured clock, Unix ms; by ours before that is measured. */
  now(): number;
  /** How it has fared of late. */
  health(): VenueHealth;
  /** Whether the poll budget permits a poll of this weight now; if so, it counts. See `PollBudget`. */
  mayPoll(weight: number): boolean;
  /**
   * `priority`: of all its requests, whatever each has of its own. `isKeyCheck`: a person waits for the
   * answers, so a rejected key is reported at once.
   */
  account(
    accountId: string,
    credentials: VenueCredentials,
    options?: { readonly priority?: "DOUBT" | "POLL"; readonly isKeyCheck?: true },
  ): VenueClient;
};

/**
 * One account there. Each method is one attempt, except that a refused timestamp (-1021) is corrected and
 * sent again within it.
 */
export type VenueClient = {
  check(): Promise<VenueAnswer<AccountCheck>>;
  /** The key's rights for a type, which need not be the account's. */
  keyRights(type: StrategyType): Promise<VenueAnswer<KeyRights>>;
  balances(): Promise<VenueAnswer<VenueBalances>>;
  place(order: VenueOrder): Promise<VenueAnswer<VenueOrderState>>;
  placeLeg(leg: VenueLeg): Promise<VenueAnswer<VenueOrderState>>;
  /** Null if the venue knows no such order. */
  find(symbol: string, clientOrderId: string): Promise<VenueAnswer<VenueOrderState | null>>;
  findLeg(symbol: string, clientOrderId: string): Promise<VenueAnswer<VenueOrderState | null>>;
  /** The state it ended in; null if there was nothing open of that id: ask what has become of it. */
  cancel(symbol: string, clientOrderId: string): Promise<VenueAnswer<VenueOrderState | null>>;
  cancelLeg(symbol: string, clientOrderId: string): Promise<VenueAnswer<VenueOrderState | null>>;
  /**
   * Executed quantities of all open orders and legs, by client id; `of` says where there may be any, if that
   * is known.
   */
  openOrders(of?: RestingSymbols): Promise<VenueAnswer<ReadonlyMap<string, Quantity>>>;
  /** The weight of requesting balances and open orders. */
  pollWeight(of: RestingSymbols): number;
  /** Null while what it lists does not add up to what is executed. */
  fills(of: FillsAsked): Promise<VenueAnswer<VenueFills | null>>;
  /** The same of several orders of a symbol at once, without those of which what it lists does not add up. */
  fillsSince(of: FillsSince): Promise<VenueAnswer<ReadonlyMap<string, VenueFills>>>;
  /**
   * Executions on a symbol since this time (wall time, Unix ms; of a contract at most six days ago), oldest
   * first. `known`: orders by the venue's ids; on spot all others are OTHER. Null if there are more than can
   * be listed, or the venue does not list the symbol any more.
   */
  trades(
    symbol: string,
    of: { readonly since: number; readonly known: ReadonlySet<string> },
  ): Promise<VenueAnswer<readonly VenueTrade[] | null>>;
  /**
   * The insurance fund's part of liquidations on a contract between two times of the venue, Unix ms; none for
   * a spot pair.
   */
  clearance(
    symbol: string,
    between: { readonly from: number; readonly until: number },
  ): Promise<VenueAnswer<Amount>>;
  /**
   * Sets isolated margin and a leverage on a contract; OK if they are set already. OPEN: for something that
   * only opens; REDUCE, or missing: see `VenueOrder.priority`.
   */
  setLeverage(symbol: string, leverage: number, priority?: "OPEN" | "REDUCE"): Promise<VenueAnswer<null>>;
  /** Passes on the events of the account's user data stream until the returned function is called. */
  listen(onEvent: (event: VenueEvent) => void): () => void;
};
