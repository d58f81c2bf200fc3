// User data events as the exchange sends them: what `spot.ts` and `futures.ts` make of journal entries.
import type { Account } from "../../domain/account.ts";
import type { JournalEntry } from "../../domain/strategy.ts";
import type { MarkedMarket } from "../../http/present/futures-positions.ts";

/** One event of a user data stream. */
export type UserEvent = {
  /** The value of its `e`, such as "executionReport". */
  readonly name: string;
  /** The event as JSON, without an envelope. */
  readonly text: string;
};

/** What a translation needs besides the account and the entry. */
export type TranslationContext = {
  /** The time that events are sent at, market time in Unix ms: their `E`, unless their `T` is later. */
  readonly now: number;
  /** The market of the account's type: digits of contracts, and mark prices. */
  readonly market: MarkedMarket;
};

/** A journal entry, as far as it changes the account. */
export type AppliedEntry = Pick<JournalEntry, "version" | "events">;

/**
 * Applies an entry to the account, in place, and returns the events that the exchange sends for it, in order.
 * The account must be the one before the entry. Throws where `apply` does.
 */
export type Translate = (
  account: Account,
  entry: AppliedEntry,
  context: TranslationContext,
) => readonly UserEvent[];

/** Encodes an event. Its first key is its name. */
export function userEvent<Body extends { readonly e: string }>(body: Body): UserEvent {
  return { name: body.e, text: JSON.stringify(body) };
}
