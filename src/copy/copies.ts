// The copies that this process works at, by strategy. The holder of the claims on strategies says which they
// are, hands over their actions, and reports what people changed.
//
// Copies run side by side, as many as there are; how many requests are in flight at a venue is the venue's to
// bound. What they have to record is written together, strategy by strategy.
import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import { Batcher } from "../concurrency/batcher.ts";
import { Pauses } from "../concurrency/delays.ts";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import { type Timers, waitAtMost } from "../concurrency/time.ts";
import type { Account } from "../domain/account.ts";
import type { Copy, CopyAlarm, CopyReason, LeadAction, MirrorEntry } from "../domain/copying.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { CopiesStore, CopyProgress } from "../store/ports/copies.ts";
import { type CopyStore, type Store, StoreFailure, StoreUnavailable } from "../store/store.ts";
import { CopyExecutor } from "./copy-executor.ts";
import { ActionLog } from "./leads/leads.ts";
import { PollSchedule } from "./reconcile/poll.ts";
import { ClaimLost } from "./session/failures.ts";
import { Switches } from "./session/venue-session.ts";
import type { VenuePrices } from "./sizing/proportion.ts";
import type { Venue } from "./venue/venue.ts";
import type { Venues } from "./venue/venues.ts";

/** Between two rounds of the reconciler, ms. */
const TICK_MS = 1_000;
/** How long closing waits for work in flight, ms. */
const CLOSE_MS_MAX = 2_500;

/**
 * Rows of all copies of which something is still to be done: each takes about a kilobyte of the thread's
 * memory.
 */
const OPEN_ROWS_MAX = 500_000;

export class Copies {
  readonly #parts: CopiesParts;
  readonly #schedule: PollSchedule;
  readonly #switches: Switches;
  readonly #ticks: PeriodicTask;
  readonly #strategies = new Map<string, StrategyCopies>();
  /** Dropped copies that still have work in flight. */
  readonly #ending = new Set<Promise<void>>();

  constructor(parts: CopiesParts) {
    this.#parts = parts;
    this.#schedule = new PollSchedule({ wallNow: parts.wallNow, every: parts.timers.every });
    this.#switches = new Switches(parts.isAllowed);
    this.#ticks = new PeriodicTask({
      every: parts.timers.every,
      intervalMs: TICK_MS,
      task: async () => {
        for (const copies of this.#strategies.values()) copies.tick();
      },
      onError: (error) =>
        parts.log.error({ err: error }, "copies could not be reconciled; it is tried again"),
    });
  }

  /**
   * Begins to work at the copies of a strategy, from their cursors; what was not recorded may have been sent.
   */
  async take(strategyId: string): Promise<void> {
    this.drop(strategyId);
    const copies = new StrategyCopies(strategyId, {
      ...this.#parts,
      schedule: this.#schedule,
      switches: this.#switches,
      demandRoom: () => this.#demandRoom(strategyId),
    });
    this.#strategies.set(strategyId, copies);
    try {
      await this.#readSwitches();
      await copies.open();
    } catch (error) {
      this.drop(strategyId);
      throw error;
    }
  }

  /** Actions were added, in order, and are durable; `account` is the strategy's as of the last one. */
  moved(strategyId: string, actions: readonly LeadAction[], account: Account | null): void {
    this.#strategies.get(strategyId)?.moved(actions, account);
  }

  /** Reads copies, settings, requests and switches again after a change in the dashboard. */
  async changed(strategyId: string): Promise<void> {
    await this.#readSwitches();
    await this.#strategies.get(strategyId)?.changed();
  }

  /** The claim has ended: nothing more is sent or written. */
  drop(strategyId: string): void {
    const copies = this.#strategies.get(strategyId);
    if (copies === undefined) return;
    this.#strategies.delete(strategyId);
    copies.end();
    const ending = copies.settled().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Sends nothing more. Resolves when nothing is in flight, or when that takes too long. */
  async close(): Promise<void> {
    this.#schedule.close();
    void this.#ticks.close();
    for (const strategyId of [...this.#strategies.keys()]) this.drop(strategyId);
    if (this.#ending.size === 0) return;
    const ended = Promise.all(this.#ending).then(() => {});
    await waitAtMost(this.#parts.timers, CLOSE_MS_MAX, ended);
  }

  /** One strategy too many is left alone, rather than all of them ended for want of memory. */
  #demandRoom(strategyId: string): void {
    const { openRowsMax = OPEN_ROWS_MAX } = this.#parts;
    let rows = 0;
    for (const copies of this.#strategies.values()) rows += copies.openRows;
    if (rows <= openRowsMax) return;
    throw new Error(
      `the copies of strategy ${strategyId} are not worked at: more than ${openRowsMax} orders and legs rest at venues, which is as much as one copier holds in its memory`,
    );
  }

  async #readSwitches(): Promise<void> {
    this.#switches.replace(await this.#parts.store.copying.listSwitches());
  }
}

export type CopiesParts = {
  readonly store: Pick<Store, "copying">;
  readonly venues: Pick<Venues, "venue">;
  readonly master: MasterKey;
  /** Whose claims they are. */
  readonly holder: string;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly timers: Timers;
  /** Whether the claims are fresh enough to send. */
  readonly mayRun: () => boolean;
  /** Whether the operator allows a venue; one that is not allowed is halted. */
  readonly isAllowed: (origin: string) => boolean;
  /** Notifies the owner of a copy that was paused or is being closed by someone else. */
  readonly tell: (copy: Copy, reason: CopyReason | CopyAlarm) => void;
  /** Called when what became of copies is durable. */
  readonly onRecorded: (copyIds: readonly string[]) => void;
  /** Called when the store has failed. */
  readonly onStoreFailure: (failure: StoreFailure) => void;
  readonly log: Pick<Logger, "error" | "warn">;
  /** Instead of `OPEN_ROWS_MAX`. */
  readonly openRowsMax?: number;
};

/** Copies that were stopped since this long before are still asked about what they had sent, ms. */
const STOPPED_SINCE_MS = 3_600_000;
/** Delay before changes from the dashboard are read again, if a copy was writing at the same time, ms. */
const OUTDATED_MS = 250;
/** Until a copy whose progress could not be written is loaded again, ms. */
const RELOAD_MS = 500;
/** Copies whose rows are read at a time. */
const COPIES_AT_A_TIME = 50;

type StrategyParts = CopiesParts & {
  readonly schedule: PollSchedule;
  readonly switches: Switches;
  /** Throws if there are more open rows than can be worked at. */
  readonly demandRoom: () => void;
};

export class StrategyCopies {
  readonly #strategyId: string;
  readonly #parts: StrategyParts;
  readonly #copying: CopyStore;
  readonly #takenAt: number;
  readonly #executors = new Map<string, CopyExecutor>();
  readonly #pauses: Pauses;
  readonly #writer: ProgressWriter;
  /** Venues that are asked for prices. */
  readonly #pricing = new Set<Venue>();
  #actions: ActionLog;
  #account: Account | null = null;
  #changing: Promise<void> = Promise.resolve();
  #isEnded = false;

  constructor(strategyId: string, parts: StrategyParts) {
    this.#strategyId = strategyId;
    this.#parts = parts;
    this.#takenAt = parts.wallNow();
    this.#pauses = new Pauses(parts.timers.after);
    const copying = parts.store.copying;
    this.#copying = copying;
    this.#writer = new ProgressWriter({
      store: copying,
      strategyId,
      holder: parts.holder,
      mayRun: () => !this.#isEnded,
      pause: (ms) => this.#pauses.pause(ms),
      onRecorded: parts.onRecorded,
      onStoreFailure: parts.onStoreFailure,
    });
    this.#actions = new ActionLog(copying, strategyId, 0);
  }

  /** Loads the live copies, and begins to work at them. */
  async open(): Promise<void> {
    const copying = this.#copying;
    const lead = await copying.findLead(this.#strategyId);
    this.#account = lead?.account ?? null;
    this.#actions = new ActionLog(copying, this.#strategyId, lead?.seq ?? 0);
    const copies = await copying.listCopiesOfStrategy(this.#strategyId, { isLive: true });
    for (let from = 0; from < copies.length; from += COPIES_AT_A_TIME) {
      const some = copies.slice(from, from + COPIES_AT_A_TIME);
      const open = await Promise.all(some.map(({ copyId }) => copying.listOpenEntries({ copyId })));
      // Whatever else there is to do is done between.
      await setImmediate();
      if (this.#isEnded) return;
      for (const [index, copy] of some.entries()) {
        this.#executors.set(copy.copyId, this.#executorOf(copy, open[index] ?? []));
      }
      this.#parts.demandRoom();
    }
    // Those that were stopped of late may have sent something before that is not recorded.
    for (const { copyId, status } of await copying.listControls(
      this.#strategyId,
      this.#takenAt - STOPPED_SINCE_MS,
    )) {
      if (status === "STOPPED") await this.#add(copyId);
    }
    await this.#takeRequests();
    if (this.#isEnded) return;
    this.#parts.schedule.add([...this.#executors.values()].filter(({ copy }) => copy.status !== "STOPPED"));
    for (const executor of this.#executors.values()) executor.wake();
  }

  /** Rows of which something is still to be done, of all its copies. */
  get openRows(): number {
    let rows = 0;
    for (const executor of this.#executors.values()) rows += executor.openRows;
    return rows;
  }

  /** Actions were added, in order; `account` is the strategy's as of the last one. */
  moved(actions: readonly LeadAction[], account: Account | null): void {
    this.#account = account ?? this.#account;
    this.#actions.add(actions);
    let least = this.#actions.lastSeq;
    for (const executor of this.#executors.values()) {
      least = Math.min(least, executor.copy.doneSeq);
      executor.wake();
    }
    this.#actions.forgetUpTo(least);
  }

  /** Once a second, however long a venue takes to say its prices. */
  tick(): void {
    const places = new Map<Venue, CopyExecutor[]>();
    for (const executor of this.#executors.values()) {
      const place = executor.pollPlace;
      if (place === null) executor.findPlace();
      else places.set(place, [...(places.get(place) ?? []), executor]);
    }
    for (const [venue, executors] of places) {
      this.#tickAt(venue, executors).catch((error) =>
        this.#parts.log.error(
          { err: error, strategyId: this.#strategyId },
          "copies could not be reconciled; it is tried again",
        ),
      );
    }
  }

  async #tickAt(venue: Venue, executors: readonly CopyExecutor[]): Promise<void> {
    let prices: VenuePrices = new Map();
    // Those that it was asked for before have not come yet.
    if (!this.#pricing.has(venue)) {
      this.#pricing.add(venue);
      const answer = await venue.prices().finally(() => this.#pricing.delete(venue));
      if (this.#isEnded) return;
      if (answer.kind === "OK") prices = answer.value;
    }
    for (const executor of executors) executor.tick(prices);
  }

  /** Takes over changes from the dashboard, one call after another. */
  changed(): Promise<void> {
    return this.#afterOthers(() => this.#change());
  }

  /** A copy has one executor: whatever may create one runs after whatever else may. */
  #afterOthers(work: () => Promise<void>): Promise<void> {
    const changing = this.#changing.then(() => (this.#isEnded ? undefined : work()));
    this.#changing = changing.catch(() => {});
    return changing;
  }

  async #change(): Promise<void> {
    const moving = new Set([...this.#executors.values()].filter((executor) => executor.isMoving));
    const before = new Map([...this.#executors.values()].map((executor) => [executor, executor.copy.status]));
    const controls = await this.#copying.listControls(this.#strategyId, this.#takenAt);
    let isOutdated = false;
    const moved: CopyExecutor[] = [];
    for (const { copyId, ...control } of controls) {
      const executor = this.#executors.get(copyId);
      if (executor === undefined) {
        if (control.status !== "STOPPED") await this.#add(copyId);
      } else if (moving.has(executor) || executor.isMoving || executor.copy.status !== before.get(executor)) {
        // The rows that were read may be older than the copy's own last write.
        isOutdated = true;
      } else if (executor.control(control)) moved.push(executor);
    }
    await this.#takeRequests();
    if (this.#isEnded) return;
    // A blocked copy that is resumed was given new credentials before, and refreshes first. The others
    // refresh in the background.
    for (const executor of moved) if (executor.isBlocked) await executor.refresh();
    void this.#refreshAll();
    this.#removeOver();
    if (isOutdated) void this.#changeAgain();
  }

  /** Kill switches and credentials may have changed. Never rejects. */
  async #refreshAll(): Promise<void> {
    for (const executor of [...this.#executors.values()]) {
      if (this.#isEnded) return;
      executor.wake();
      if (!executor.wasBlocked) continue;
      try {
        await executor.refresh();
      } catch (error) {
        const { copyId } = executor.copy;
        this.#parts.log.warn(
          { err: error, copyId },
          "a copy's account could not be read; it is read again with the next change",
        );
      }
    }
  }

  /** Reads the changes again after a pause, until that succeeds. Never rejects. */
  async #changeAgain(): Promise<void> {
    await this.#pauses.pause(OUTDATED_MS);
    if (this.#isEnded) return;
    try {
      await this.changed();
    } catch (error) {
      this.#parts.log.error(
        { err: error, strategyId: this.#strategyId },
        "what people changed could not be read",
      );
      void this.#changeAgain();
    }
  }

  /** Nothing more is sent or written. */
  end(): void {
    this.#isEnded = true;
    for (const executor of this.#executors.values()) {
      executor.end();
      this.#parts.schedule.remove(executor);
    }
    this.#pauses.end();
  }

  /** Resolves when nothing is in flight. */
  async settled(): Promise<void> {
    await Promise.all([...this.#executors.values()].map((executor) => executor.settled()));
  }

  /** `isAsked`: a request of it is pending. */
  async #add(copyId: string, { isAsked = false }: { readonly isAsked?: boolean } = {}): Promise<void> {
    const copy = await this.#copying.findCopy(copyId);
    if (copy === null) return;
    const open = await this.#copying.listOpenEntries({ copyId });
    const isOver = copy.status === "STOPPED" && open.length === 0 && !isAsked;
    if (isOver || this.#isEnded) return;
    const executor = this.#executorOf(copy, open);
    this.#executors.set(copyId, executor);
    if (copy.status === "STOPPED") return;
    this.#parts.schedule.add([executor]);
    // The first order does not have to wait for balances.
    executor.pollSoon();
    executor.wake();
  }

  /** An executor's memory is ahead of the store: it is created again from the stored state. */
  async #reload(copyId: string): Promise<void> {
    const broken = this.#executors.get(copyId);
    if (broken === undefined) return;
    this.#parts.schedule.remove(broken);
    await broken.settled();
    await this.#pauses.pause(RELOAD_MS);
    try {
      await this.#afterOthers(async () => {
        if (this.#executors.get(copyId) !== broken) return;
        await this.#add(copyId, { isAsked: true });
        if (this.#executors.get(copyId) === broken) this.#executors.delete(copyId);
        await this.#takeRequests();
        this.#executors.get(copyId)?.wake();
      });
    } catch (error) {
      this.#parts.log.error({ err: error, copyId }, "a copy could not be loaded again; it is tried again");
      if (this.#executors.get(copyId) === broken) void this.#reload(copyId);
      else void this.#changeAgain();
    }
  }

  #executorOf(
    copy: NonNullable<Awaited<ReturnType<CopyStore["findCopy"]>>>,
    open: readonly MirrorEntry[],
  ): CopyExecutor {
    const { mayRun, switches } = this.#parts;
    const strategyId = this.#strategyId;
    return new CopyExecutor(
      {
        ...this.#parts,
        store: this.#copying,
        mayRun: () => !this.#isEnded && mayRun(),
        halted: (of) => switches.halted({ strategyId, ...of }),
        leadAccount: () => this.#account,
        takenAt: this.#takenAt,
        record: (progress) => this.#writer.record(progress),
        pauses: this.#pauses,
        actions: this.#actions,
        repeatPoll: (executor) => this.#parts.schedule.repeat(executor),
        onBroken: (copyId) => void this.#reload(copyId),
      },
      copy,
      open,
    );
  }

  async #takeRequests(): Promise<void> {
    const pending = await this.#copying.listPendingRequests(this.#strategyId);
    for (const [copyId, requests] of Map.groupBy(pending, (request) => request.copyId)) {
      // A copy that was stopped long ago may still have unfinished work.
      if (!this.#executors.has(copyId)) await this.#add(copyId, { isAsked: true });
      this.#executors.get(copyId)?.request(requests);
    }
  }

  #removeOver(): void {
    for (const [copyId, executor] of this.#executors) {
      if (!executor.isOver) continue;
      this.#parts.schedule.remove(executor);
      executor.end();
      this.#executors.delete(copyId);
    }
  }
}

/** Copies that are written in one transaction: a trader's commit may have to wait for one. */
export const GROUP_MAX = 50;
/** Until a store that was out of reach is tried again, ms. */
const RETRY_MS = 500;

type WriterParts = Pick<CopiesParts, "onRecorded" | "onStoreFailure"> & {
  readonly store: Pick<CopiesStore, "recordProgress">;
  readonly strategyId: string;
  readonly holder: string;
  readonly mayRun: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
};

export class ProgressWriter {
  readonly #parts: WriterParts;
  readonly #batcher = new Batcher((batch: readonly CopyProgress[]) => this.#write(batch), {
    sizeMax: GROUP_MAX,
  });

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the progress is durable. Rejects with ClaimLost if another process has the claim, and with
   * the store's error if it could not be written. An executor records one at a time, so no copy is in a group
   * twice.
   */
  async record(progress: CopyProgress): Promise<void> {
    await this.#batcher.add(progress);
  }

  /** Answers true for each. */
  async #write(batch: readonly CopyProgress[]): Promise<readonly true[]> {
    const { store, strategyId, holder, mayRun, pause, onRecorded, onStoreFailure } = this.#parts;
    for (;;) {
      try {
        const isOurs = await store.recordProgress(strategyId, holder, batch);
        if (!isOurs) throw new ClaimLost();
        onRecorded(batch.map(({ copyId }) => copyId));
        return batch.map(() => true);
      } catch (error) {
        if (error instanceof StoreFailure) onStoreFailure(error);
        if (!(error instanceof StoreUnavailable && mayRun())) throw error;
        // It is unknown whether it was written; writing it again changes nothing.
        await pause(RETRY_MS);
      }
    }
  }
}
