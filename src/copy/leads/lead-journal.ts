// The journal of one lead, turned into actions: read from the lead's version, replayed, and stored together
// with the account that they lead to. Memory equals the store or is empty: a lead that fails half-way reloads
// what is stored, and hands over stored actions that were not handed over before.
// Also the log of its actions, which all its copies read.
import { type Account, emptyAccount } from "../../domain/account.ts";
import type { Lead, LeadAction } from "../../domain/copying.ts";
import type { JournalEntry, Strategy } from "../../domain/strategy.ts";
import type { CopyStore } from "../../store/store.ts";
import { actionsOf } from "./actions.ts";

/** Entries that are replayed and stored at a time. */
export const ENTRIES_MAX = 500;
/**
 * After this many new actions those that no copy needs any more are dropped, except as many of the newest.
 */
export const PRUNED_EVERY = 1_000;

export type LeadStore = Pick<
  CopyStore,
  "findLead" | "listActions" | "listRecentActions" | "listEntriesAfter" | "advanceLead" | "pruneLead"
>;

/** How far the journal has been turned into actions. */
type Progress = { readonly account: Account; readonly version: number; readonly last: LeadAction | null };

/** The result of a step. LOST: another process has the lead, or has advanced it. */
export type Step =
  | {
      readonly kind: "ADVANCED";
      readonly actions: readonly LeadAction[];
      /** As of the last action. */
      readonly account: Account | null;
      readonly isAtEnd: boolean;
    }
  | { readonly kind: "LOST" };

type JournalParts = {
  readonly store: LeadStore;
  readonly strategy: Pick<Strategy, "strategyId" | "type">;
  /** In whose name the lead is claimed. */
  readonly holder: string;
};

export class LeadJournal {
  readonly #parts: JournalParts;
  /** Null while it is not known, or ahead of the store. */
  #progress: Progress | null = null;
  /** The last action that was handed over, or existed at the start; null before that is known. */
  #handedSeq: number | null = null;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /** The last entry known to have been turned into actions; 0 if none is. */
  get version(): number {
    return this.#progress?.version ?? 0;
  }

  /** Advances by at most `ENTRIES_MAX` entries; resolves when the actions are durable. One step at a time. */
  async step(): Promise<Step> {
    const { strategyId, type } = this.#parts.strategy;
    const from = this.#progress ?? (await this.#load());
    this.#progress = from;
    const lastSeq = from.last?.seq ?? 0;
    this.#handedSeq ??= lastSeq;
    if (this.#handedSeq < lastSeq) return await this.#handOver(this.#handedSeq);
    const entries = await this.#parts.store.listEntriesAfter(strategyId, from.version, ENTRIES_MAX);
    const isAtEnd = entries.length < ENTRIES_MAX;
    if (entries.length === 0) return { kind: "ADVANCED", actions: [], account: from.account, isAtEnd };
    // From here on the account in memory is ahead of the store, until the actions are stored.
    this.#progress = null;
    const { account } = from;
    const actions = replayed(from, entries);
    const version = from.version + entries.length;
    const last = actions.at(-1) ?? from.last;
    const isOurs = await this.#parts.store.advanceLead({
      strategyId,
      type,
      account,
      version,
      seq: last?.seq ?? 0,
      holder: this.#parts.holder,
      fromVersion: from.version,
      actions,
    });
    if (!isOurs) return { kind: "LOST" };
    this.#progress = { account, version, last };
    this.#handedSeq = last?.seq ?? 0;
    const isPruned = Math.floor(lastSeq / PRUNED_EVERY) < Math.floor(this.#handedSeq / PRUNED_EVERY);
    if (isPruned) await this.#parts.store.pruneLead(strategyId, { kept: PRUNED_EVERY });
    return { kind: "ADVANCED", actions, account, isAtEnd };
  }

  /** Actions stored by a step whose answer was lost. */
  async #handOver(afterSeq: number): Promise<Step> {
    const actions = await this.#parts.store.listActions(this.#parts.strategy.strategyId, {
      afterSeq,
      limit: ENTRIES_MAX,
    });
    const last = actions.at(-1);
    if (last === undefined) throw new Error(`actions have no gaps: there is one after ${afterSeq}`);
    this.#handedSeq = last.seq;
    const account = this.#progress?.account ?? null;
    return { kind: "ADVANCED", actions, account, isAtEnd: false };
  }

  async #load(): Promise<Progress> {
    const { strategyId, type } = this.#parts.strategy;
    const lead = await this.#parts.store.findLead(strategyId);
    if (lead === null) throw new Error(`what is claimed is a lead: ${strategyId}`);
    const [last = null] = await this.#parts.store.listRecentActions(strategyId, { limit: 1 });
    checkSame(lead, last);
    return { account: lead.account ?? emptyAccount(strategyId, type), version: lead.version, last };
  }
}

function replayed({ account, version, last }: Progress, entries: readonly JournalEntry[]): LeadAction[] {
  const actions: LeadAction[] = [];
  entries.forEach((entry, index) => {
    if (entry.version !== version + 1 + index)
      throw new Error(`a journal has no gaps: ${entry.version} follows ${version + index}`);
    actions.push(...actionsOf(account, actions.at(-1) ?? last, entry));
  });
  return actions;
}

function checkSame({ strategyId, seq }: Lead, last: LeadAction | null): void {
  const lastSeq = last?.seq ?? 0;
  if (lastSeq !== seq)
    throw new Error(`a lead and its actions move together: ${strategyId}, ${seq}, ${lastSeq}`);
}

/** Maximum of cached actions; the oldest are evicted, and loaded when a copy needs them. */
const HELD_MAX = 5_000;
/** Actions that are loaded at a time. */
const CHUNK_MAX = 500;

/**
 * The actions of one strategy, held once for all copies: from the first that some copy has yet to deal with
 * to the last. A copy that lags so far behind that its action was let go has it loaded again, in chunks.
 */
export class ActionLog {
  readonly #store: Pick<CopyStore, "listActions">;
  readonly #strategyId: string;
  /** By seq, ascending but for what was loaded again. */
  readonly #held = new Map<number, LeadAction>();
  #lastSeq: number;

  /** `lastSeq`: the last action known to be stored without having been handed over. */
  constructor(store: Pick<CopyStore, "listActions">, strategyId: string, lastSeq: number) {
    this.#store = store;
    this.#strategyId = strategyId;
    this.#lastSeq = lastSeq;
  }

  /** The last action; 0 if there is none. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Adds actions; repeated ones do no harm. */
  add(actions: readonly LeadAction[]): void {
    for (const action of actions) {
      this.#held.set(action.seq, action);
      if (action.seq > this.#lastSeq) this.#lastSeq = action.seq;
    }
    this.#bound();
  }

  /** Null if the strategy has done nothing of that number yet. */
  async at(seq: number): Promise<LeadAction | null> {
    if (seq > this.#lastSeq) return null;
    const held = this.#held.get(seq);
    if (held !== undefined) return held;
    const loaded = await this.#store.listActions(this.#strategyId, { afterSeq: seq - 1, limit: CHUNK_MAX });
    this.add(loaded);
    return loaded[0]?.seq === seq ? loaded[0] : null;
  }

  /** Drops actions that every copy has dealt with. */
  forgetUpTo(seq: number): void {
    for (const held of this.#held.keys()) {
      if (held <= seq) this.#held.delete(held);
    }
  }

  #bound(): void {
    for (const seq of this.#held.keys()) {
      if (this.#held.size <= HELD_MAX) return;
      this.#held.delete(seq);
    }
  }
}
