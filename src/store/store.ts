// The store: everything the service persists, as ports by what they are about (`ports/`).

import type { CopiesStore } from "./ports/copies.ts";
import type { KeyStore } from "./ports/keys.ts";
import type { LeadStore } from "./ports/leads.ts";
import type { PeopleStore } from "./ports/people.ts";
import type { SignalStore } from "./ports/signals.ts";
import type { SlotStore } from "./ports/slots.ts";
import type { TradingStore } from "./ports/trading.ts";

/**
 * A commit could not be made durable, or a later step of a change could not be done: whether it took effect
 * is unknown, and nothing may be answered as if it had.
 */
export class StoreFailure extends Error {}

/** The database is out of reach at present. What was asked for was not read; a commit never ends so. */
export class StoreUnavailable extends Error {}

/** The ports of copying. */
export type CopyStore = LeadStore & CopiesStore;

/** All ports. A consumer names the one that it uses. */
export type Store = TradingStore &
  KeyStore &
  SignalStore & {
    /** Who people are, how they sign in, what they own, and what was done. */
    readonly people: PeopleStore;
    /** Copiers' accounts, and what was mirrored there. */
    readonly copying: CopyStore;
    /** Which server owns which strategies; null where one server owns all. */
    readonly slots: SlotStore | null;
    close(): Promise<void>;
  };
