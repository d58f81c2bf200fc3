// The port of strategies: commits, accounts and history. A commit is the only way in which a strategy
// changes. Invariants: a commit takes effect only if the strategy's row has the version that it was decided
// on, so two processes never both move the same account: the loser gets OUTDATED, loads again and decides
// again. All parts of a commit (state, journal entry with its key, orders, trades, legs, incomes) are written
// together or not at all. A commit that cannot be made durable rejects; nothing may then be answered as if it
// had been.
import type { Account, StrategyType } from "../../domain/account.ts";
import type { Counterfactual, CounterfactualSums } from "../../domain/counterfactual.ts";
import type { Income, IncomeType } from "../../domain/income.ts";
import type { Leg } from "../../domain/leg.ts";
import type { Order, Trade } from "../../domain/order.ts";
import type { SettledSignal } from "../../domain/signal.ts";
import type { ApiKeyRecord, JournalEntry, Strategy } from "../../domain/strategy.ts";
import type { Quantity } from "../../money/decimal.ts";

/** An account as committed, and the version of its row. */
export type LoadedAccount = { readonly account: Account; readonly version: number };

export type Commit = {
  /** The account after the entry. */
  readonly account: Account;
  readonly entry: JournalEntry;
  /** The orders that the entry touched, as they now stand. */
  readonly orders: readonly Order[];
  /** The legs that the entry touched, as they now stand. */
  readonly legs: readonly Leg[];
  /** Trades and incomes are only ever added. */
  readonly trades: readonly Trade[];
  readonly incomes: readonly Income[];
  /** The signals that the entry settles; at most one of them is recorded by this commit. */
  readonly signals: readonly SettledSignal[];
};

/**
 * OUTDATED: somebody else committed first: the strategy has moved, the key was used before, or a signal to
 * be recorded has its key or its signature in the database already. BUSY: the database could not take it
 * now: another process held its lock for too long, or no connection could be had. Nothing of such a commit
 * was stored, but perhaps a signature with its key.
 */
export type CommitOutcome = "COMMITTED" | "OUTDATED" | "BUSY";

/** A strategy that is created for somebody, with the key that manages it. */
export type CreatedStrategy = {
  readonly first: Commit;
  readonly key: ApiKeyRecord;
  /** Null for one that belongs to nobody. */
  readonly ownerId: string | null;
  readonly name: string;
};

/**
 * Between which rows a list lies, and which of them it keeps if there are more than `limit`. Without `keeps`
 * those are the oldest where there is a lower bound, else the newest.
 */
type Range = {
  /** Inclusive on both sides: of orders and legs the time of their placement. Market time, Unix ms. */
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly limit: number;
  readonly keeps?: "OLDEST" | "NEWEST" | undefined;
};

/** The position of an open order in the queue at its limit, as it was at a time. */
export type QueueNote = {
  readonly strategyId: string;
  readonly orderId: number;
  readonly symbol: string;
  /** What others display in front of it; null if it is not known. */
  readonly ahead: Quantity | null;
  /** Traded at the price, and canceled in front of the order, since its placement. */
  readonly tradedAtPrice: Quantity;
  readonly canceledAhead: Quantity;
  /** The last trade of the symbol that it contains; null for none. */
  readonly tradeId: number | null;
  /** When that was made, or since when trades may be missing in it, market time in Unix ms. */
  readonly at: number;
};

export type OrderQuery = Range & {
  readonly symbol: string;
  /** Only this order id and later ones. */
  readonly fromOrderId?: number | undefined;
};

export type TradeQuery = Range & {
  readonly symbol: string;
  readonly orderId?: number | undefined;
  readonly fromTradeId?: number | undefined;
};

export type LegQuery = Range & {
  readonly symbol: string;
  readonly fromLegId?: number | undefined;
};

export type IncomeQuery = {
  readonly symbol?: string | undefined;
  readonly type?: IncomeType | undefined;
  /** Inclusive on both sides. Market time, Unix ms. */
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  /** How many of the oldest are passed over. */
  readonly offset: number;
  readonly limit: number;
};

/** A page of what is newest: what is older than a number, all of it if there is none, newest first. */
export type RecentQuery = {
  readonly symbol?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

/** Until when the market data of a symbol is covered, for strategies of a type: market time, Unix ms. */
export type Heard = { readonly type: StrategyType; readonly symbol: string; readonly at: number };

/** A strategy that another process has committed to. */
export type CommittedElsewhere = Pick<Strategy, "strategyId" | "type">;

/** Notified of what other processes commit to the same database. */
export type ElsewhereListener = {
  /**
   * Other processes have committed to these strategies: in own slots, where open orders or legs, a position
   * or a status have changed; or whatever it was, if they are watched.
   */
  committed(strategies: readonly CommittedElsewhere[]): void;
  /** Notifications are interrupted. Commits of the last three seconds may be missing as well. */
  lost(): void;
  /** Notifications continue; commits made during the interruption are not notified. */
  resumed(): void;
};

/**
 * How long a commit of a server that died before it notified the owner may be unknown to it, ms. If the owner
 * dies as well, its watermarks are too late by as much.
 */
export const UNKNOWN_MS_MAX = 15_000;

export type TradingStore = {
  /** The account as last committed, or null if there is no such strategy. */
  loadAccount(strategyId: string): Promise<LoadedAccount | null>;
  /** The version of each of these strategies' rows, by strategy id; one that there is not is left out. */
  versionsOf(strategyIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The entry with this key, or null if the key is new. A commit checks the key itself. */
  findEntry(strategyId: string, key: string): Promise<JournalEntry | null>;
  /**
   * Commits a group in one transaction, at most one commit a strategy, and answers in the same order.
   * Resolves when the group is durable; rejects with StoreFailure if it is not.
   */
  commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]>;
  /** An order by its id, with its symbol where that is known, or by its client id. */
  findOrder(
    strategyId: string,
    order: { orderId: number; symbol?: string } | { clientOrderId: string },
  ): Promise<Order | null>;
  /** Open orders, oldest first; of one symbol or of all. */
  listOpenOrders(strategyId: string, symbol: string | null): Promise<readonly Order[]>;
  /** Orders in ascending id, open or not. */
  listOrders(strategyId: string, query: OrderQuery): Promise<readonly Order[]>;
  /** Trades in ascending id. */
  listTrades(strategyId: string, query: TradeQuery): Promise<readonly Trade[]>;
  /** The symbols of which a strategy has trades, in the order of the alphabet. */
  listTradedSymbols(strategyId: string): Promise<readonly string[]>;
  /** A leg by its id or by its client id. */
  findLeg(strategyId: string, leg: { legId: number } | { clientLegId: string }): Promise<Leg | null>;
  /** Legs in ascending id, open or not. */
  listLegs(strategyId: string, query: LegQuery): Promise<readonly Leg[]>;
  /** Incomes in the order of time, of one time in that of their ids. */
  listIncomes(strategyId: string, query: IncomeQuery): Promise<readonly Income[]>;
  /** The journal of a strategy, oldest first. */
  listEntries(strategyId: string): Promise<readonly JournalEntry[]>;
  /**
   * The position of the newest entry of all journals; 0 if there is none. Positions of a strategy's entries
   * ascend. A commit in flight may have a lower position than this, so only a position that was read half a
   * minute ago is behind every later entry.
   */
  newestPosition(): Promise<number>;
  /**
   * The entries of a strategy's journal after a version, oldest first. With `behind` only entries behind that
   * position are read, which are few if it is recent; without it all entries of the strategy are.
   */
  listJournalAfter(
    strategyId: string,
    version: number,
    query: { readonly behind?: number | undefined; readonly limit: number },
  ): Promise<readonly JournalEntry[]>;
  /**
   * Orders of all symbols or of one, in descending id; only those that are open no more if `isDone` says so.
   */
  listRecentOrders(
    strategyId: string,
    query: RecentQuery & { readonly isDone?: boolean },
  ): Promise<readonly Order[]>;
  /** Trades likewise. */
  listRecentTrades(strategyId: string, query: RecentQuery): Promise<readonly Trade[]>;
  /** Legs likewise. */
  listRecentLegs(strategyId: string, query: RecentQuery): Promise<readonly Leg[]>;
  /** Incomes from the newest on, of one time in descending id. */
  listRecentIncomes(
    strategyId: string,
    query: { readonly before?: Pick<Income, "at" | "incomeId"> | undefined; readonly limit: number },
  ): Promise<readonly Income[]>;
  /** When a strategy got its seed, market time in Unix ms; null if there is no such strategy. */
  findOpeningTime(strategyId: string): Promise<number | null>;
  /**
   * All accounts of a type that the market can still reach, or whose earlier positions a funding settlement
   * can. It is one snapshot, in order of id. The trigger index is rebuilt from it. With `slots` only those of
   * strategies in these slots.
   */
  listExposedAccounts(type: StrategyType, slots?: ReadonlySet<number>): Promise<readonly Account[]>;
  /**
   * Notifies the listener after commits of another process to strategies in slots of this one, and to those
   * that it watches. Resolves with the unsubscribe function when every later commit will be notified, or the
   * listener was notified of the interruption. There may be several listeners. A store whose database serves
   * one process never notifies. A process that dies may leave commits that nobody is notified of.
   */
  onCommittedElsewhere(listener: ElsewhereListener): Promise<() => Promise<void>>;
  /**
   * Watches a strategy until the returned function is called: listeners are notified of every commit of
   * another process to it. That begins soon after; until then, and as a fallback, its version is polled.
   */
  watchStrategy(strategyId: string): () => void;
  /**
   * Records until when the market data of symbols is covered. The last write wins, also with an earlier time.
   * Rejects if it cannot be written; the recorded times then stay.
   */
  noteHeard(heard: readonly Heard[]): Promise<void>;
  /** Removes the recorded times of symbols, for which nobody waits any more. */
  forgetHeard(type: StrategyType, symbols: readonly string[]): Promise<void>;
  /** The recorded times of all symbols of a strategy type. */
  listHeard(type: StrategyType): Promise<readonly Heard[]>;
  /**
   * Records the positions of open orders in their queues. The note of a later time is kept, whatever is
   * written last. Rejects if they cannot be written.
   */
  noteQueues(notes: readonly QueueNote[]): Promise<void>;
  /** Removes the notes of these orders, as far as they are not open any more. */
  forgetQueues(orders: readonly Pick<QueueNote, "strategyId" | "orderId">[]): Promise<void>;
  /** The notes of strategies' orders. */
  listQueueNotes(strategyIds: readonly string[]): Promise<readonly QueueNote[]>;
  /** Stores what orders would have done on other terms. One that is stored already stays as it is. */
  storeCounterfactuals(counterfactuals: readonly Counterfactual[]): Promise<void>;
  /** What an order would have done on other terms; null if that is not stored. */
  findCounterfactual(strategyId: string, orderId: number): Promise<Counterfactual | null>;
  /**
   * The sums of what is stored of a strategy that was complete at a market time (Unix ms) or later, for each
   * quote asset in the order of the alphabet.
   */
  sumCounterfactuals(strategyId: string, since: number): Promise<readonly CounterfactualSums[]>;
  /** Records until when (market time, Unix ms) a contract's funding is settled for all accounts; as above. */
  noteFunding(symbol: string, until: number): Promise<void>;
  /** The recorded time of each contract that has one. */
  listFundingNoted(): Promise<readonly { readonly symbol: string; readonly until: number }[]>;
  /** The strategies that are being closed and are not closed yet. */
  listClosingStrategies(): Promise<readonly string[]>;
  /**
   * Creates strategies that already have their first entry (the seed), each with a key bound to it, at the
   * time of its key's creation. It is audited, as done by the command line.
   */
  createStrategies(created: readonly CreatedStrategy[]): Promise<void>;
  /** How many strategies there are. */
  countStrategies(): Promise<number>;
  /** How large the database is on its disk, bytes; of the embedded one with its write-ahead log. */
  sizeBytes(): Promise<number>;
  /**
   * Whether commits wait for a standby, so that a failover to it loses none that was acknowledged; null for
   * the embedded database, which has none. A service that copies its disk by itself does not count.
   */
  waitsForStandby(): Promise<boolean | null>;
};
