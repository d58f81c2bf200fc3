// The store port: everything the service keeps, and the one way in which a strategy changes.
//
// A strategy's row carries a version. A commit names the version that it was decided on and is carried out only if the
// row still has it, so two processes can never both move the same account: the loser is told OUTDATED, loads again and
// decides again. All parts of a commit (state, journal entry with its key, orders, trades, legs, incomes) stand or fall
// together.
// A commit that cannot be made durable rejects; nothing may then be answered as if it had been.
import type { Account, StrategyType } from "../domain/account.ts";
import type { Income, IncomeType } from "../domain/income.ts";
import type { Leg } from "../domain/leg.ts";
import type { Order, Trade } from "../domain/order.ts";
import type { NewSignal, Rejection, Signal } from "../domain/signal.ts";
import type { CopyStore } from "./copy-store.ts";
import type { PeopleStore } from "./people-store.ts";
import type { ApiKeyRecord, BoundKey, Commit, JournalEntry, Revocation, Strategy } from "./records.ts";

export type { ApiKeyRecord, BoundKey, Commit, JournalEntry, Revocation, Strategy } from "./records.ts";

/** An account as committed, and the version of its row. */
export type LoadedAccount = { readonly account: Account; readonly version: number };

/**
 * OUTDATED: somebody else committed first: the strategy has moved, or the key was used before. BUSY: the database could not
 * take it now: another process kept it to itself for too long, or no connection could be had. Nothing of such a commit was
 * stored.
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
 * Between which rows a list lies, and which of them it keeps if there are more than `limit`. Without `keeps` those are the
 * oldest where there is a lower bound, else the newest.
 */
type Range = {
  /** Inclusive on both sides: of orders and legs the time of their placement. Market time, Unix ms. */
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly limit: number;
  readonly keeps?: "OLDEST" | "NEWEST" | undefined;
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

/** What is recorded under a signal's key, and whether it is the signal that was given. */
/** Where a stream handshake came from: the key that it named, and the holder of its address's budgets. */
export type HandshakeSource = { readonly apiKey: string; readonly address: string };

/** What is recorded under the key of a signal; null if its signature was accepted for another key, and it was not recorded. */
export type ReceivedSignal =
  | { readonly signal: Signal; readonly isNew: boolean }
  | { readonly signal: null; readonly isNew: false };

/** Until when a symbol's market has been looked at for the watch list of a family: market time, Unix ms. */
export type Heard = { readonly family: StrategyType; readonly symbol: string; readonly at: number };

/** What a holder of budgets (an API key, an address) was charged within ten seconds of the clock. */
export type BudgetCharge = {
  readonly holder: string;
  /** Which ten seconds, counted in tens of seconds from the epoch. */
  readonly tenSeconds: number;
  readonly weight: number;
  readonly orders: number;
  /** Reads of the bot family. */
  readonly reads: number;
  /** Failed authentications. */
  readonly failures: number;
  /** When it was answered 429: wall time, Unix ms. */
  readonly refusedAt: readonly number[];
};

/** A holder whose requests are refused until a time: wall time, Unix ms. */
export type Ban = { readonly holder: string; readonly until: number };

/** What one server process charged since its entry before, and the bans that began meanwhile. */
export type BudgetEntry = {
  /** The process, by a name of its own. */
  readonly process: string;
  /** Wall time, Unix ms. */
  readonly at: number;
  readonly charges: readonly BudgetCharge[];
  readonly bans: readonly Ban[];
};

/** A strategy that another process has committed to. */
export type CommittedElsewhere = Pick<Strategy, "strategyId" | "type">;

/** Is told what other processes commit to the same database. */
export type ElsewhereListener = {
  /** Other processes have committed to these strategies: open orders or legs, a position or a status have changed. */
  committed(strategies: readonly CommittedElsewhere[]): void;
  /** From now on, and for up to three seconds before, commits may not be told. */
  lost(): void;
  /** Commits are told again; those made meanwhile are not told any more. */
  resumed(): void;
};

/** A commit could not be made durable: whether it took effect is unknown, and nothing may be answered as if it had. */
export class StoreFailure extends Error {}

/** The database is out of reach at present. What was asked for was not read; a commit never ends so. */
export class StoreUnavailable extends Error {}

export type Store = {
  /** Who people are, how they sign in, what they own, and what was done. */
  readonly people: PeopleStore;
  /** Copiers' accounts, and what was mirrored there. */
  readonly copying: CopyStore;

  /** The account as last committed, or null if there is no such strategy. */
  loadAccount(strategyId: string): Promise<LoadedAccount | null>;
  /** The version of each of these strategies' rows, by strategy id; one that there is not is left out. */
  versionsOf(strategyIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The entry that a key stands for, or null if the key is new; a commit looks for itself. */
  findEntry(strategyId: string, key: string): Promise<JournalEntry | null>;
  /**
   * Commits a group in one transaction, at most one commit a strategy, and answers in the same order. Resolves when the
   * group is durable; rejects with StoreFailure if it is not.
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
  /** Orders of all symbols or of one, in descending id; only those that are open no more if `isDone` says so. */
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
   * Every account of a type that the market can still reach, or a settlement of funding what it held before, all as they
   * were at one moment, in the order of their ids: what is watched is rebuilt from them.
   */
  listExposedAccounts(type: StrategyType): Promise<readonly Account[]>;

  /**
   * Tells the listener what other processes commit, after they did, each strategy's in the order of its commits; resolves,
   * with how to end it, when every later commit will be told, or its loss has been. There may be several listeners. A
   * store whose database serves one process never tells any.
   */
  onCommittedElsewhere(listener: ElsewhereListener): Promise<() => Promise<void>>;

  /**
   * Notes until when symbols have been looked at; the last note stands, also with an earlier time. One that cannot be
   * written rejects, and the earlier one stands.
   */
  noteHeard(heard: readonly Heard[]): Promise<void>;
  /** When each symbol of a family was last heard of while somebody waited on it. */
  listHeard(family: StrategyType): Promise<readonly Heard[]>;
  /** Notes until when, market time in Unix ms, a contract's settlements have been applied to everybody; as above. */
  noteFunding(symbol: string, until: number): Promise<void>;
  /** The note of each contract that has one. */
  listFundingNoted(): Promise<readonly { readonly symbol: string; readonly until: number }[]>;
  /** The strategies that are being closed and are not closed yet. */
  listClosingStrategies(): Promise<readonly string[]>;

  /**
   * Records signals, each unless its strategy has one under its key already, and answers in the same order with what is
   * recorded under their keys. Resolves when all is durable. Nobody else claims a new one before `claimedUntil`. If it
   * rejects, with StoreUnavailable too, they may be recorded or not: a retry under their keys answers that. One that waits for
   * others to be written for longer than RECEIVE_WAIT_MS_MAX is refused with StoreUnavailable and never recorded. Times here
   * and below are wall time, Unix ms.
   *
   * The key is no part of what a request signs. So a signature is recorded in the same transaction, with its key, also that of a
   * signal that is known, and a signal under a signature that was accepted for another key is not recorded.
   */
  receiveSignals(
    signals: readonly NewSignal[],
    options: { readonly claimedUntil: number },
  ): Promise<readonly ReceivedSignal[]>;
  findSignal(
    strategyId: string,
    signal: { signalId: string } | { idempotencyKey: string },
  ): Promise<Signal | null>;
  /** The newest signals of a strategy, newest first. */
  listSignals(strategyId: string, options: { readonly limit: number }): Promise<readonly Signal[]>;
  /** Those before a signal, newest first; none before one that there is not. */
  listRecentSignals(
    strategyId: string,
    query: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<readonly Signal[]>;
  /**
   * Claims pending signals that nobody has a claim on any more, longest due first: nobody else is given them before `until`.
   * Signatures of signals that have expired are forgotten.
   * Several processes may ask at once, and none waits for another.
   */
  claimSignals(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly Signal[]>;
  /** Has a pending signal be FAILED, to be claimed again from `dueAt` on. One that is settled stays as it is. */
  postponeSignal(
    signalId: string,
    options: { readonly reason: Rejection; readonly dueAt: number },
  ): Promise<void>;

  /** How many signals are pending, and when the longest waiting one was received; null if none is. */
  countPendingSignals(): Promise<{ readonly count: number; readonly oldestReceivedAt: number | null }>;

  /** Notes that a stream handshake has failed, and forgets those that failed before `forgetBefore`. */
  noteFailedHandshake(
    source: HandshakeSource,
    at: number,
    options: { readonly forgetBefore: number },
  ): Promise<void>;
  /** When handshakes under a key failed that came from an address, ascending; those since a time. */
  listFailedHandshakes(source: HandshakeSource, since: number): Promise<readonly number[]>;
  /** How many failed under each key since a time, and when the last one did: most first. */
  countFailedHandshakes(
    since: number,
    limit: number,
  ): Promise<readonly { readonly apiKey: string; readonly count: number; readonly lastAt: number }[]>;

  /**
   * Creates strategies that already have their first entry (the seed), each with a key bound to it, at the time of its key's
   * creation. It is audited, as done by the command line.
   */
  createStrategies(created: readonly CreatedStrategy[]): Promise<void>;
  findKey(apiKey: string): Promise<BoundKey | null>;
  /** Every key there is, revoked ones too, oldest first. */
  listKeys(): Promise<readonly BoundKey[]>;
  /**
   * Ends a key for good; its strategy keeps everything. A key that had ended before is left as it was. Null if there is
   * no such key. `at` is wall time, Unix ms. It is audited in the same transaction, as done by the command line.
   */
  revokeKey(apiKey: string, at: number): Promise<Revocation | null>;
  /** How large the database is on its disk, bytes; of the embedded one with its write-ahead log. */
  sizeBytes(): Promise<number>;
  /** How many strategies there are. */
  countStrategies(): Promise<number>;

  /** The check value of a master key version, stored at its first use; a later call answers the stored one. */
  rememberMasterKey(version: number, checkValue: string): Promise<string>;
  /** The newest version of the master key that is remembered; 0 if none is. */
  newestMasterVersion(): Promise<number>;

  /**
   * Adds an entry to the budget log and, in the same transaction, removes those that were written before a time (wall
   * time, Unix ms). Resolves when it is durable; rejects if it could not be stored, which concerns nothing else.
   */
  logBudgets(entry: BudgetEntry, options: { readonly forgetBefore: number }): Promise<void>;
  /**
   * The entries of other processes after a position, in the order in which they became durable. The first position is 1;
   * an entry that appears later has a higher one.
   */
  listBudgets(query: {
    readonly after: number;
    readonly exceptOf: string;
  }): Promise<readonly { readonly position: number; readonly entry: BudgetEntry }[]>;

  close(): Promise<void>;
};
