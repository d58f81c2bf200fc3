// The records that every part of the store port speaks of: a commit with its journal entry, strategies, API keys.
import type { Account, StrategyStatus, StrategyType } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Income } from "../domain/income.ts";
import type { Leg } from "../domain/leg.ts";
import type { Order, Trade } from "../domain/order.ts";
import type { SettledSignal } from "../domain/signal.ts";

/** What one command did: the unit of the journal. */
export type JournalEntry = {
  /** The row's version after the entry: 1 for the first. */
  readonly version: number;
  /** The idempotency key, unique within the strategy; null for a command that needs none. */
  readonly key: string | null;
  /** Market time, Unix ms. */
  readonly at: number;
  readonly events: readonly DomainEvent[];
};

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
  /** The signals that the entry settles, which are recorded already. */
  readonly signals: readonly SettledSignal[];
};

export type Strategy = {
  readonly strategyId: string;
  readonly type: StrategyType;
  readonly status: StrategyStatus;
};

/** What is kept of an API key: never the secret, which `identity/` derives from the salt and the master key. */
export type ApiKeyRecord = {
  readonly keyId: string;
  readonly apiKey: string;
  readonly salt: string;
  readonly masterVersion: number;
  readonly label: string;
  /** The person whose key it is; null for one that was made by the command line for nobody. */
  readonly ownerId: string | null;
  /** The strategy that the key manages, or has managed until that was closed; null while it is bound to none. */
  readonly strategyId: string | null;
  /** Wall time, Unix ms. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
};

/** A key and the strategy it is bound to, as one look-up answers. */
export type BoundKey = { readonly key: ApiKeyRecord; readonly strategy: Strategy | null };

/** The end of a key: as it now stands, and whether it had ended before. */
export type Revocation = { readonly key: ApiKeyRecord; readonly wasRevoked: boolean };
