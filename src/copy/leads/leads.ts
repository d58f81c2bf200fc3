// Claims leads for this process, follows their journals, and hands their actions to the followers.
// - claim, every two seconds: takes unclaimed leads and renews our claims
// - poll, every quarter of a second: finds grown journals and changes from the dashboard
// - wake, at once after a commit; it may be lost, since the poll finds the commit anyway
// Nothing is sent once the last renewal is FRESH_MS old, so the next holder finds every request executed or
// expired. A store out of reach is waited for, a failed one ends the copier. An error of one lead does not
// stop others.
import type { Logger } from "pino";
import { PeriodicTask } from "../../concurrency/periodic-task.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { Account } from "../../domain/account.ts";
import type { ClaimedLead, Lead, LeadAction } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/store.ts";
import { StoreFailure, StoreUnavailable } from "../../store/store.ts";
import { RECV_WINDOW_MS } from "../venue/signed-rest.ts";
import { LeadJournal, type LeadStore } from "./lead-journal.ts";

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
  take(lead: Pick<Lead, "strategyId" | "type">): Promise<void>;
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
  readonly lead: Pick<Lead, "strategyId" | "type">;
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

  /** Whether the claims are fresh enough for something to be sent under them. */
  mayRun(): boolean {
    if (this.#renewedAt === null) return false;
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
  wake(strategyId: string, version: number | null): void {
    const held = this.#held.get(strategyId);
    if (held === undefined || (version !== null && version <= held.journal.version)) return;
    held.isBehind = true;
    this.#goOn(held);
  }

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
    this.#backInReach();
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
    const lead = { strategyId, type };
    const held: Held = {
      strategyId,
      lead,
      journal: new LeadJournal({ store: this.#parts.store, strategy: lead, holder: this.#parts.holder }),
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
      await this.#parts.followers.take(held.lead);
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

  #backInReach(): void {
    if (!this.#isOutOfReach) return;
    this.#isOutOfReach = false;
    this.#parts.log.info("the store is back; copies go on");
  }
}

/** Records the store's current state of a lead. */
function note(held: Held, { version, revision }: ClaimedLead): void {
  if (version > held.journal.version) held.isBehind = true;
  held.revision = revision;
}
