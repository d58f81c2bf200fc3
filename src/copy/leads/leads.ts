// Claims leads for this process, follows their journals, and passes their actions to the followers. It renews
// its claims and takes unclaimed leads every CLAIM_MS, polls for grown journals and changes from the
// dashboard every LOOK_MS, and is woken by commits; a lost wake costs one poll interval. Invariant: where
// another holder may exist, nothing is sent once the last renewal is FRESH_MS old, so the next one finds
// every request executed or expired. A store out of reach is waited for, a failed one ends the copier. An
// error of one lead does not stop others.
import type { Logger } from "pino";
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { PeriodicTask } from "../../concurrency/periodic-task.ts";
import type { Timers } from "../../concurrency/time.ts";
import { type Account, emptyAccount } from "../../domain/account.ts";
import type { ClaimedLead, LeadAction } from "../../domain/copying.ts";
import type { JournalEntry, Strategy } from "../../domain/strategy.ts";
import { type CopyStore, StoreFailure, StoreUnavailable } from "../../store/store.ts";
import { RECV_WINDOW_MS } from "../venue/signed-rest.ts";
import { actionsOf } from "./actions.ts";

/** How long a claim lasts, ms. */
export const LEASE_MS = 8_000;
/** How often it is renewed, ms. */
export const CLAIM_MS = 2_000;
/** How often it is looked what has changed, ms. */
export const LOOK_MS = 250;
/** How far the clocks of processes may be apart, ms. */
export const CLOCKS_APART_MS = 1_000;
/** How old the last renewal may be for anything to be sent, ms. */
export const FRESH_MS = LEASE_MS - RECV_WINDOW_MS - CLOCKS_APART_MS;
/** Number of polls that a failed lead is skipped for. */
const LOOKS_PASSED_OVER = 8;

/** Executes the copies of leads. */
export type Followers = {
  take(strategyId: string): Promise<void>;
  /** `account` is the strategy's as of the last action. */
  moved(strategyId: string, actions: readonly LeadAction[], account: Account | null): void;
  changed(strategyId: string): Promise<void>;
  drop(strategyId: string): void;
};

type ClaimStore = LeadStore &
  Pick<CopyStore, "claimLeads" | "listClaimed" | "revisionOfLead" | "releaseLeads">;

type LeadsParts = {
  readonly store: ClaimStore;
  readonly followers: Followers;
  /** The name of this process, which no other has or had. */
  readonly holder: string;
  /** Whether no other claim holder can be alive: their claims are taken over at once. */
  readonly isAlone: boolean;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly every: Timers["every"];
  /** Called with the claimed strategies whenever they change. */
  readonly onClaimed: (strategyIds: readonly string[]) => void;
  /** Called when the store has failed: the copier must end. */
  readonly onFailure: (failure: StoreFailure) => void;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
};

/** A lead that is claimed. */
type Held = {
  readonly strategyId: string;
  readonly journal: LeadJournal;
  /** The followers have taken it. */
  isTaken: boolean;
  /** There may be entries beyond those that were turned into actions. */
  isBehind: boolean;
  /** The current revision, and the one that the followers last received; null: notify them in any case. */
  revision: number;
  toldRevision: number | null;
  looksPassedOver: number;
  isDropped: boolean;
  following: Promise<void> | null;
  telling: Promise<void> | null;
};

export class Leads {
  readonly #parts: LeadsParts;
  readonly #held = new Map<string, Held>();
  /** Dropped leads with work still in flight; they are not taken again before it has ended. */
  readonly #leaving = new Set<string>();
  /** When the last renewal that succeeded was begun, wall time; null before the first. */
  #renewedAt: number | null = null;
  readonly #claiming: PeriodicTask;
  readonly #looking: PeriodicTask;
  #isOutOfReach = false;
  #isStopped = false;

  constructor(parts: LeadsParts) {
    this.#parts = parts;
    const { every } = parts;
    this.#claiming = new PeriodicTask({
      every,
      intervalMs: CLAIM_MS,
      task: () => this.#claim(),
      onError: (error) => this.#noteTrouble(error, "leads could not be claimed; it is tried again"),
    });
    this.#looking = new PeriodicTask({
      every,
      intervalMs: LOOK_MS,
      task: () => this.#look(),
      onError: (error) => this.#noteTrouble(error, "changes of leads could not be read; they are read again"),
    });
  }

  /** Whether something may be sent: the claims are fresh, or nobody else can take them. */
  mayRun(): boolean {
    if (this.#renewedAt === null) return false;
    if (this.#parts.isAlone) return true;
    const ageMs = this.#parts.wallNow() - this.#renewedAt;
    // A clock that was set back gives no age; the next renewal uses the new time.
    return ageMs >= 0 && ageMs < FRESH_MS;
  }

  /** Claims and renews, unless that is in progress. Never rejects. */
  claim(): Promise<void> {
    return this.#claiming.run();
  }

  /** Polls for changes, unless that is in progress. Never rejects. */
  look(): Promise<void> {
    return this.#looking.run();
  }

  /** A strategy has committed; null for a version that is not known. Nothing happens if it is not claimed. */
  readonly wake = (strategyId: string, version: number | null): void => {
    const held = this.#held.get(strategyId);
    if (held === undefined || (version !== null && version <= held.journal.version)) return;
    held.isBehind = true;
    this.#goOn(held);
  };

  /** Begins nothing any more. */
  stop(): void {
    this.#isStopped = true;
    void this.#claiming.close();
    void this.#looking.close();
  }

  /** Resolves when nothing is in flight and the claims are released; the caller sends nothing any more. */
  async release(): Promise<void> {
    const held = [...this.#held.values()];
    await Promise.all([
      this.#claiming.close(),
      this.#looking.close(),
      ...held.flatMap((each) => [each.following, each.telling]),
    ]);
    this.#held.clear();
    try {
      await this.#parts.store.releaseLeads(this.#parts.holder);
    } catch (error) {
      // They end by themselves.
      this.#parts.log.warn({ err: error }, "claims could not be given up");
    }
  }

  async #claim(): Promise<void> {
    const now = this.#parts.wallNow();
    const wasFresh = this.mayRun();
    const until = now + LEASE_MS;
    const claimed = await this.#parts.store.claimLeads({
      holder: this.#parts.holder,
      now,
      until,
      isAlone: this.#parts.isAlone,
    });
    if (this.#isStopped) return;
    if (this.#isOutOfReach) this.#parts.log.info("the store is back; copies go on");
    this.#isOutOfReach = false;
    if (this.#mayHaveBeenLost(now)) for (const held of [...this.#held.values()]) this.#drop(held);
    this.#renewedAt = now;
    this.#keep(claimed);
    // Work that waited for a fresh claim continues.
    if (!wasFresh) for (const held of this.#held.values()) held.toldRevision = null;
    for (const held of this.#held.values()) this.#goOn(held);
  }

  /** Whether the claims may have run out before a renewal that was begun at a time. */
  #mayHaveBeenLost(now: number): boolean {
    if (this.#parts.isAlone || this.#renewedAt === null) return false;
    const ageMs = now - this.#renewedAt;
    return ageMs < 0 || ageMs >= LEASE_MS - CLOCKS_APART_MS;
  }

  #keep(claimed: readonly ClaimedLead[]): void {
    const before = [...this.#held.keys()].join();
    const ids = new Set(claimed.map(({ strategyId }) => strategyId));
    for (const held of [...this.#held.values()]) if (!ids.has(held.strategyId)) this.#drop(held);
    for (const row of claimed) {
      if (this.#leaving.has(row.strategyId)) continue;
      const held = this.#held.get(row.strategyId) ?? this.#hold(row);
      note(held, row);
    }
    const now = [...this.#held.keys()];
    if (now.join() !== before) this.#parts.onClaimed(now);
  }

  #hold({ strategyId, type, revision }: ClaimedLead): Held {
    const { store, holder } = this.#parts;
    const held: Held = {
      strategyId,
      journal: new LeadJournal({ store, strategy: { strategyId, type }, holder }),
      isTaken: false,
      isBehind: true,
      revision,
      toldRevision: null,
      looksPassedOver: 0,
      isDropped: false,
      following: null,
      telling: null,
    };
    this.#held.set(strategyId, held);
    return held;
  }

  #drop(held: Held): void {
    const { strategyId } = held;
    held.isDropped = true;
    this.#held.delete(strategyId);
    this.#parts.followers.drop(strategyId);
    const underWay = [held.following, held.telling].filter((each) => each !== null);
    if (underWay.length === 0) return;
    this.#leaving.add(strategyId);
    void Promise.all(underWay).then(() => {
      // Work in flight may have ended only after the followers dropped the lead.
      this.#parts.followers.drop(strategyId);
      this.#leaving.delete(strategyId);
    });
  }

  async #look(): Promise<void> {
    if (this.#held.size === 0) return;
    for (const row of await this.#parts.store.listClaimed(this.#parts.holder)) {
      const held = this.#held.get(row.strategyId);
      if (held === undefined) continue;
      note(held, row);
      if (held.looksPassedOver > 0) held.looksPassedOver -= 1;
      this.#goOn(held);
    }
  }

  /** Follows the journal and notifies of changes, each unless it is in progress or has nothing to do. */
  #goOn(held: Held): void {
    if (held.looksPassedOver > 0 || held.isDropped || this.#isStopped) return;
    if (held.following === null && (held.isBehind || !held.isTaken)) {
      held.following = this.#attempt(held, () => this.#follow(held)).finally(() => {
        held.following = null;
        // Entries that arrived after the last step found `following` still set.
        this.#goOn(held);
      });
    }
    if (held.telling === null && held.isTaken && held.revision !== held.toldRevision) {
      held.telling = this.#attempt(held, () => this.#tell(held)).finally(() => {
        held.telling = null;
        this.#goOn(held);
      });
    }
  }

  async #follow(held: Held): Promise<void> {
    if (!held.isTaken) {
      const { revision } = held;
      await this.#parts.followers.take(held.strategyId);
      held.isTaken = true;
      held.toldRevision = revision;
    }
    while (held.isBehind && !held.isDropped && !this.#isStopped) {
      held.isBehind = false;
      const step = await held.journal.step();
      if (held.isDropped) return;
      if (step.kind === "LOST") {
        this.#drop(held);
        return;
      }
      if (!step.isAtEnd) held.isBehind = true;
      if (step.actions.length === 0) continue;
      await this.#tellBefore(held);
      this.#parts.followers.moved(held.strategyId, step.actions, step.account);
    }
  }

  /** Changes made before an action of the strategy apply to it, such as a pause that was answered. */
  async #tellBefore(held: Held): Promise<void> {
    await held.telling;
    held.revision = Math.max(held.revision, await this.#parts.store.revisionOfLead(held.strategyId));
    if (held.revision !== held.toldRevision) await this.#tell(held);
  }

  async #tell(held: Held): Promise<void> {
    const { revision } = held;
    await this.#parts.followers.changed(held.strategyId);
    held.toldRevision = revision;
  }

  /** Never rejects. */
  async #attempt(held: Held, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      held.isBehind = true;
      held.looksPassedOver = LOOKS_PASSED_OVER;
      this.#noteTrouble(error, "a lead could not be followed; it is tried again", held.strategyId);
    }
  }

  #noteTrouble(error: unknown, what: string, strategyId?: string): void {
    if (error instanceof StoreFailure) this.#parts.onFailure(error);
    else if (!(error instanceof StoreUnavailable)) this.#parts.log.error({ err: error, strategyId }, what);
    else if (!this.#isOutOfReach) {
      this.#isOutOfReach = true;
      this.#parts.log.warn(
        { reason: error.message },
        "the store is out of reach; copies wait until it is back",
      );
    }
  }
}

/** Records the store's current state of a lead. */
function note(held: Held, { version, revision }: ClaimedLead): void {
  if (version > held.journal.version) held.isBehind = true;
  held.revision = revision;
}

// The journal of one lead, turned into actions: read from the lead's version, replayed, and stored together
// with the account that they lead to. Memory equals the store or is empty: a lead that fails half-way reloads
// what is stored, and hands over stored actions that were not handed over before.
// Also the log of its actions, which all its copies read.

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
    const lastSeq = last?.seq ?? 0;
    if (lastSeq !== lead.seq)
      throw new Error(`a lead and its actions move together: ${strategyId}, ${lead.seq}, ${lastSeq}`);
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
  readonly #held = new BoundedMap<number, LeadAction>(HELD_MAX);
  /** The last action; 0 if there is none. */
  lastSeq: number;

  /** `lastSeq`: the last action known to be stored without having been handed over. */
  constructor(store: Pick<CopyStore, "listActions">, strategyId: string, lastSeq: number) {
    this.#store = store;
    this.#strategyId = strategyId;
    this.lastSeq = lastSeq;
  }

  /** Adds actions; repeated ones do no harm. */
  add(actions: readonly LeadAction[]): void {
    for (const action of actions) {
      this.#held.set(action.seq, action);
      if (action.seq > this.lastSeq) this.lastSeq = action.seq;
    }
  }

  /** Null if the strategy has done nothing of that number yet. */
  async at(seq: number): Promise<LeadAction | null> {
    if (seq > this.lastSeq) return null;
    const held = this.#held.get(seq);
    if (held !== undefined) return held;
    const loaded = await this.#store.listActions(this.#strategyId, { afterSeq: seq - 1, limit: CHUNK_MAX });
    this.add(loaded);
    return loaded[0]?.seq === seq ? loaded[0] : null;
  }

  /** Drops actions that every copy has dealt with. */
  forgetUpTo(seq: number): void {
    for (const held of this.#held.keys()) if (held <= seq) this.#held.delete(held);
  }
}
