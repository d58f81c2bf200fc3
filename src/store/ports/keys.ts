// The port of API keys, master keys, and what keys and addresses were charged.

import type { BoundKey, Revocation } from "../../domain/strategy.ts";

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

/** Charges of one server process that no earlier entry has, and bans that began. */
export type BudgetEntry = {
  /** The process, by a name of its own. */
  readonly process: string;
  /** Wall time, Unix ms. */
  readonly at: number;
  readonly charges: readonly BudgetCharge[];
  readonly bans: readonly Ban[];
};

/** A listen key opens the futures user data stream of the strategy that its API key manages. */
export type ListenKey = {
  readonly listenKey: string;
  readonly apiKey: string;
  /** Wall time, Unix ms. */
  readonly expiresAt: number;
};

export type KeyStore = {
  /**
   * Makes the given listen key the API key's, unless it has one that has not expired at `now`, and lets it
   * expire at `expiresAt` (both wall time, Unix ms). Answers the one that it now has.
   */
  openListenKey(key: ListenKey, now: number): Promise<string>;
  /** Extends the listen key of an API key; null if it has none that has not expired at `now`. */
  extendListenKey(apiKey: string, until: { now: number; expiresAt: number }): Promise<string | null>;
  /** Ends the listen key of an API key; false if it has none that has not expired at `now`. */
  closeListenKey(apiKey: string, now: number): Promise<boolean>;
  /** Those of these listen keys that there are, expired ones among them. */
  findListenKeys(listenKeys: readonly string[]): Promise<readonly ListenKey[]>;
  findKey(apiKey: string): Promise<BoundKey | null>;
  /** Every key there is, revoked ones too, oldest first. */
  listKeys(): Promise<readonly BoundKey[]>;
  /**
   * Ends a key for good; its strategy keeps everything. A key that had ended before is left as it was. Null
   * if there is no such key. `at` is wall time, Unix ms. It is audited in the same transaction, as done by
   * the command line.
   */
  revokeKey(apiKey: string, at: number): Promise<Revocation | null>;
  /**
   * The check value of a master key version, stored at its first use; a later call answers the stored one.
   */
  rememberMasterKey(version: number, checkValue: string): Promise<string>;
  /** The newest version of the master key that is remembered; 0 if none is. */
  newestMasterVersion(): Promise<number>;
  /**
   * Adds entries to the budget log and, in the same transaction, removes those that were written before a
   * time (wall time, Unix ms). Each is taken from the given ones and encoded in its own iteration of the
   * event loop. Resolves when all are durable, without writing anything if there are none; rejects if they
   * could not be stored, which concerns nothing else.
   */
  logBudgets(entries: Iterable<BudgetEntry>, options: { readonly forgetBefore: number }): Promise<void>;
  /**
   * The first entries of other processes after a position, in the order in which they became durable. The
   * first position is 1; an entry that appears later has a higher one.
   */
  listBudgets(query: {
    readonly after: number;
    readonly exceptOf: string;
    readonly limit: number;
  }): Promise<readonly { readonly position: number; readonly entry: BudgetEntry }[]>;
};
