// The lanes of one strategy's copies, as long as this process has its claim.
import { setImmediate } from "node:timers/promises";
import type { Copy, LeadAction, MirrorEntry } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/copy-store.ts";
import { ActionLog } from "./action-log.ts";
import { Lane } from "./lane.ts";
import type { LanesParts } from "./lanes.ts";
import type { Looks } from "./looks.ts";
import { Pauses } from "./pauses.ts";
import { ProgressWriter } from "./progress.ts";
import type { Switches } from "./switches.ts";

/** Copies that were stopped since this long before are still asked about what they had sent, ms. */
const STOPPED_SINCE_MS = 3_600_000;
/** Until what people may have changed is read again, where a lane was writing meanwhile, ms. */
const OUTDATED_MS = 250;

/** Copies whose lines are read at a time. */
const COPIES_AT_A_TIME = 50;

type StrategyParts = LanesParts & {
  readonly looks: Looks;
  readonly switches: Switches;
  /** Throws if more rests than can be worked at. */
  readonly demandRoom: () => void;
};

export class StrategyLanes {
  readonly #strategyId: string;
  readonly #parts: StrategyParts;
  readonly #copying: CopyStore;
  readonly #takenAt: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #pauses: Pauses;
  readonly #writer: ProgressWriter;
  #log: ActionLog;
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
    });
    this.#log = new ActionLog(copying, strategyId, 0);
  }

  /** Loads the live copies, and begins to work at them. */
  async open(): Promise<void> {
    const copying = this.#copying;
    const lead = await copying.findLead(this.#strategyId);
    this.#log = new ActionLog(copying, this.#strategyId, lead?.seq ?? 0);
    const copies = await copying.listCopiesOfStrategy(this.#strategyId, { isLive: true });
    for (let from = 0; from < copies.length; from += COPIES_AT_A_TIME) {
      const some = copies.slice(from, from + COPIES_AT_A_TIME);
      const resting = await Promise.all(some.map(({ copyId }) => copying.listRestingEntries({ copyId })));
      // Whatever else there is to do is done between.
      await setImmediate();
      if (this.#isEnded) return;
      for (const [index, copy] of some.entries()) {
        this.#lanes.set(
          copy.copyId,
          this.#laneOf(copy, { resting: resting[index] ?? [], mayHaveSent: true }),
        );
      }
      this.#parts.demandRoom();
    }
    await this.#addStopped();
    await this.#takeRequests({ mayHaveSent: true });
    if (this.#isEnded) return;
    this.#parts.looks.add([...this.#lanes.values()].filter(({ copy }) => copy.status !== "STOPPED"));
    for (const lane of this.#lanes.values()) lane.wake();
  }

  /** Lines of orders and legs that rest, of all its copies. */
  get resting(): number {
    let lines = 0;
    for (const lane of this.#lanes.values()) lines += lane.resting;
    return lines;
  }

  /** Actions were added, in order. */
  moved(actions: readonly LeadAction[]): void {
    this.#log.add(actions);
    let least = this.#log.lastSeq;
    for (const lane of this.#lanes.values()) {
      least = Math.min(least, lane.copy.doneSeq);
      lane.moved();
    }
    this.#log.forgetUpTo(least);
  }

  /** People have changed something: takes over what, one call after another. */
  changed(): Promise<void> {
    // A copy that began has one lane: two calls side by side would each make it one.
    const changing = this.#changing.then(() => (this.#isEnded ? undefined : this.#change()));
    this.#changing = changing.catch(() => {});
    return changing;
  }

  async #change(): Promise<void> {
    const moving = new Set([...this.#lanes.values()].filter((lane) => lane.isMoving));
    const before = new Map([...this.#lanes.values()].map((lane) => [lane, lane.copy.status]));
    const controls = await this.#copying.listControls(this.#strategyId, this.#takenAt);
    let isOutdated = false;
    const moved: Lane[] = [];
    for (const { copyId, ...control } of controls) {
      const lane = this.#lanes.get(copyId);
      if (lane === undefined) {
        if (control.status !== "STOPPED") await this.#add(copyId, { mayHaveSent: false });
      } else if (moving.has(lane) || lane.isMoving || lane.copy.status !== before.get(lane)) {
        // What was read may be older than what the lane itself has just written.
        isOutdated = true;
      } else if (lane.control(control)) moved.push(lane);
    }
    await this.#takeRequests({ mayHaveSent: false });
    if (this.#isEnded) return;
    // Whoever resumes a copy has given it other credentials before; of all others nobody waits for what their accounts say.
    for (const lane of moved) if (lane.isBlocked) await lane.refresh();
    void this.#refreshBlocked();
    this.#removeOver();
    if (isOutdated) void this.#changeAgain();
  }

  /** Tries anew what was blocked: with very many copies hardly any. Never rejects. */
  async #refreshBlocked(): Promise<void> {
    for (const lane of [...this.#lanes.values()]) {
      if (!lane.isBlocked || this.#isEnded) continue;
      try {
        await lane.refresh();
      } catch (error) {
        const { copyId } = lane.copy;
        this.#parts.log.warn(
          { err: error, copyId },
          "a copy's account could not be read; the next change has it read",
        );
      }
    }
  }

  /** Reads it once more, a little later, until that succeeds. Never rejects. */
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
    for (const lane of this.#lanes.values()) {
      lane.end();
      this.#parts.looks.remove(lane);
    }
    this.#pauses.end();
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.settled()));
  }

  /** Those that were stopped of late may have sent something before that nobody has noted. */
  async #addStopped(): Promise<void> {
    const since = this.#takenAt - STOPPED_SINCE_MS;
    for (const { copyId, status } of await this.#copying.listControls(this.#strategyId, since)) {
      if (status === "STOPPED") await this.#add(copyId, { mayHaveSent: true });
    }
  }

  /** `isAsked`: a request of it is pending. */
  async #add(
    copyId: string,
    { mayHaveSent, isAsked = false }: { readonly mayHaveSent: boolean; readonly isAsked?: boolean },
  ): Promise<void> {
    const copy = await this.#copying.findCopy(copyId);
    if (copy === null) return;
    if (copy.status === "STOPPED" && copy.doneSeq >= this.#log.lastSeq && !isAsked) return;
    const resting = await this.#copying.listRestingEntries({ copyId });
    if (this.#isEnded) return;
    const lane = this.#laneOf(copy, { resting, mayHaveSent });
    this.#lanes.set(copyId, lane);
    if (copy.status !== "STOPPED") this.#parts.looks.add([lane]);
  }

  #laneOf(copy: Copy, taken: { resting: readonly MirrorEntry[]; mayHaveSent: boolean }): Lane {
    const { store, venues, master, wallNow, mayRun, switches, tell, log: journal } = this.#parts;
    const strategyId = this.#strategyId;
    const halted = (of: { personId: string; venue: string }) => switches.halted({ strategyId, ...of });
    const parts = { store: store.copying, venues, master, wallNow, mayRun, tell, journal, halted };
    const { takenAt, writer, pauses, log } = {
      takenAt: this.#takenAt,
      writer: this.#writer,
      pauses: this.#pauses,
      log: this.#log,
    };
    return new Lane({ ...parts, takenAt, writer, pauses, log }, copy, taken);
  }

  async #takeRequests({ mayHaveSent }: { readonly mayHaveSent: boolean }): Promise<void> {
    const pending = await this.#copying.listPendingRequests(this.#strategyId);
    for (const [copyId, requests] of Map.groupBy(pending, (request) => request.copyId)) {
      // Of a copy that was stopped long ago something may still have to be done.
      if (!this.#lanes.has(copyId)) await this.#add(copyId, { mayHaveSent, isAsked: true });
      this.#lanes.get(copyId)?.request(requests, { mayHaveSent });
    }
  }

  #removeOver(): void {
    for (const [copyId, lane] of this.#lanes) {
      if (!lane.isOver) continue;
      this.#parts.looks.remove(lane);
      lane.end();
      this.#lanes.delete(copyId);
    }
  }
}
