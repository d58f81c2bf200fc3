// Strategies, their slots and journals, and the keys that manage them.
import { hash } from "node:crypto";
import type { StrategyStatus, StrategyType } from "./account.ts";
import type { DomainEvent } from "./event.ts";

/**
 * The number of slots of strategies: the values of one byte. On a database with several servers each slot has
 * one owner, which keeps the triggers of its strategies.
 */
export const SLOTS = 256;

/** The slot of a strategy, or of a person, by the id: the first byte of its SHA-256. It never changes. */
export function slotOf(id: string): number {
  return Number.parseInt(hash("sha256", id).slice(0, 2), 16);
}

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

export type Strategy = {
  readonly strategyId: string;
  readonly type: StrategyType;
  readonly status: StrategyStatus;
};

/** What is kept of an API key: never the secret, which `keys/` derives from the salt and the master key. */
export type ApiKeyRecord = {
  readonly keyId: string;
  readonly apiKey: string;
  readonly salt: string;
  readonly masterVersion: number;
  readonly label: string;
  /** The person whose key it is; null for one that was made by the command line for nobody. */
  readonly ownerId: string | null;
  /**
   * The strategy that the key manages, or has managed until that was closed; null while it is bound to none.
   */
  readonly strategyId: string | null;
  /** Wall time, Unix ms. */
  readonly createdAt: number;
  readonly revokedAt: number | null;
};

/** A key and the strategy that it is bound to, from one look-up. */
export type BoundKey = { readonly key: ApiKeyRecord; readonly strategy: Strategy | null };

/** The result of a revocation: the key's current record, and whether it was revoked before. */
export type Revocation = { readonly key: ApiKeyRecord; readonly wasRevoked: boolean };
