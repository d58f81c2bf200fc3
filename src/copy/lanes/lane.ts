// One copy, strictly serial. A turn is one action of the strategy, one request, one leg that waited, one look or one pass of
// the closing: it is carried out, recorded, and only then does the next begin. So orders keep their order, no cancel overtakes
// its order, and the book that sizes come from is complete.
//
// What comes first: whatever may have been sent already; the closing; legs whose position has come; actions; requests; a look.
//
// A turn that fails (the venue rejects the key, the claim is lost, the store is away, a bug) leaves no trace: the lane waits,
// and does it again from its cursor, asking the venue first. Another lane never notices.
import type { Logger } from "pino";
import type { Copy, CopyReason, CopyRequest, MirrorEntry, Skip, SkipReason } from "../../domain/copying.ts";
import type { CopyControl } from "../../store/copy-store.ts";
import { skipOf } from "../scaling/skip.ts";
import { AccountDoor, type DoorParts } from "./account-door.ts";
import type { ActionLog } from "./action-log.ts";
import { carryOut } from "./carry-out.ts";
import { closeAll, passIdOf } from "./closing.ts";
import { Dealings } from "./dealings.ts";
import { ClaimLost, CredentialsRejected, MayNotRun } from "./endings.ts";
import { endWait, readyLeg } from "./legs.ts";
import { look } from "./look.ts";
import type { Pauses } from "./pauses.ts";
import type { ProgressWriter } from "./progress.ts";
import { answerRequest, type RequestStore } from "./requests.ts";
import { Turn } from "./turn.ts";
import { type Task, Uncertain } from "./uncertain.ts";
import { ENTRY_AGE_MAX_MS, isWaitingLeg, type Work } from "./work.ts";

/** Until a turn that failed is tried again, ms: doubled each time. */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** Until a lane that may not run looks whether it may, ms. */
const CLAIM_RETRY_MS = 500;
/** Until a turn that could do nothing is tried again, ms. */
const NOTHING_DONE_MS = 250;
/** Until a closing that could not close everything is tried again, ms. */
const CLOSING_RETRY_MS = 15_000;

export type LaneParts = DoorParts & {
  readonly store: RequestStore;
  readonly log: ActionLog;
  readonly writer: ProgressWriter;
  readonly pauses: Pauses;
  /** Whether the claim is fresh enough to send. */
  readonly mayRun: () => boolean;
  /** Why nothing may be sent for a copy to a venue: a kill switch. Null if it may. */
  readonly halted: (of: { readonly personId: string; readonly venue: string }) => "COPY" | "VENUE" | null;
  readonly tell: (copy: Copy, reason: CopyReason) => void;
  readonly journal: Pick<Logger, "error" | "warn">;
  /** When this process took the lane, wall time, Unix ms. */
  readonly takenAt: number;
};

export class Lane {
  readonly #parts: LaneParts;
  readonly #door: AccountDoor;
  readonly #uncertain = new Uncertain();
  readonly #resting = new Map<number, MirrorEntry>();
  #copy: Copy;
  #requests: readonly CopyRequest[] = [];
  /** Requests that are done: the store may have been read before that was written. */
  readonly #finished = new Set<string>();
  #dealings: { readonly of: unknown; readonly dealings: Dealings } | null = null;
  #sentBefore: number;
  #retryMs = RETRY_MS_MIN;
  #closeAgainAt = 0;
  #isLookDue = false;
  /** Whether orders may rest that the strategy has taken back while nothing could be sent. */
  #mayHaveMissed = true;
  #isMoving = false;
  #running: Promise<void> | null = null;
  #isWoken = false;
  #isEnded = false;

  constructor(
    parts: LaneParts,
    copy: Copy,
    taken: { resting: readonly MirrorEntry[]; mayHaveSent: boolean },
  ) {
    this.#parts = parts;
    this.#copy = copy;
    this.#door = new AccountDoor(parts, copy.accountId);
    this.#sentBefore = parts.takenAt;
    for (const entry of taken.resting) this.#resting.set(entry.entryId, entry);
    if (!taken.mayHaveSent) return;
    if (copy.doneSeq < parts.log.lastSeq) this.#uncertain.add({ kind: "ACTION", seq: copy.doneSeq + 1 });
    if (copy.status === "CLOSING") this.#uncertain.add({ kind: "CLOSING" });
    for (const entry of taken.resting) if (isWaitingLeg(entry)) this.#uncertain.add({ kind: "LEG", entry });
  }

  get copy(): Copy {
    return this.#copy;
  }

  /** Whether a turn is changing the copy's status at this moment: what the store says of it may be outdated. */
  get isMoving(): boolean {
    return this.#isMoving;
  }

  /** Nothing is left to be done for a copy that is stopped. */
  get isOver(): boolean {
    return this.#copy.status === "STOPPED" && this.#running === null && this.#requests.length === 0;
  }

  /** When the venue was last asked, wall time; 0 if it never was. */
  get lookedAt(): number {
    return this.#copy.book.snapshot?.at ?? 0;
  }

  /** What people have changed; takes effect on the next send. */
  control({ status, reason, settings }: Omit<CopyControl, "copyId">): void {
    this.#copy = { ...this.#copy, status, reason, settings };
  }

  /** The requests that are not done, oldest first. `mayHaveSent`: they may have been begun before. */
  request(requests: readonly CopyRequest[], { mayHaveSent }: { readonly mayHaveSent: boolean }): void {
    this.#requests = requests.filter(({ requestId }) => !this.#finished.has(requestId));
    if (!mayHaveSent) return;
    for (const { requestId } of requests) this.#uncertain.add({ kind: "REQUEST", requestId });
  }

  /** Looks at its account when its turn comes. */
  lookSoon(): void {
    this.#isLookDue = true;
    this.wake();
  }

  /** Credentials, or a kill switch, may have changed: what was blocked is tried anew. */
  async refresh(): Promise<void> {
    await this.#door.refresh();
    this.wake();
  }

  /** There may be something to do. */
  wake(): void {
    this.#isWoken = true;
    if (this.#running === null && !this.#isEnded) this.#running = this.#run();
  }

  /** Nothing more is sent or recorded. */
  end(): void {
    this.#isEnded = true;
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWoken && !this.#isEnded) {
      this.#isWoken = false;
      for (let task = await this.#next(); task !== null; task = await this.#next()) await this.#turn(task);
    }
    this.#running = null;
  }

  /** What is to be done now; null if nothing is. Never rejects: what cannot be found out is tried again. */
  async #next(): Promise<Task | null> {
    for (;;) {
      if (this.#isEnded) return null;
      if (!this.#parts.mayRun()) await this.#parts.pauses.pause(CLAIM_RETRY_MS);
      else {
        try {
          return await this.#choose();
        } catch (error) {
          await this.#failed(error, null);
        }
      }
    }
  }

  async #choose(): Promise<Task | null> {
    const { log } = this.#parts;
    const { fromVersion, status } = this.#copy;
    let action = await log.at(this.#copy.doneSeq + 1);
    while (action !== null && action.version <= fromVersion) {
      this.#copy = { ...this.#copy, doneSeq: action.seq };
      this.#uncertain.delete({ kind: "ACTION", seq: action.seq });
      action = await log.at(action.seq + 1);
    }
    const actionTask: Task | null = action && { kind: "ACTION", seq: action.seq };
    const closing: Task = { kind: "CLOSING" };
    // Of one lane one thing was under way: which, the venue tells.
    if (!this.#uncertain.isEmpty) {
      await this.#door.open();
      if (this.#door.isRejected === true) return null;
      if (status === "CLOSING" && this.#uncertain.has(closing)) return closing;
      if (actionTask !== null && this.#uncertain.has(actionTask)) return actionTask;
    }
    const [request] = this.#requests;
    const requestTask: Task | null =
      request === undefined ? null : { kind: "REQUEST", requestId: request.requestId };
    if (status === "STOPPED") return requestTask;
    if (status === "CLOSING" && this.#parts.wallNow() >= this.#closeAgainAt) return closing;
    const leg = readyLeg(this.#newTurn());
    if (leg !== null && (await this.#stopped()) === null) return { kind: "LEG", entry: leg };
    if (actionTask !== null) return actionTask;
    if (requestTask !== null) return requestTask;
    if (!this.#isLookDue || (await this.#isBlind())) return null;
    return { kind: "LOOK" };
  }

  /** Carries out one thing, and records it. Never rejects. */
  async #turn(task: Task): Promise<void> {
    const before = this.#dealings?.dealings.unrecorded ?? 0;
    try {
      const turn = this.#newTurn();
      const work = await this.#workOn(turn, this.#uncertain.has(task));
      await this.#carryOut(task, work);
      // Of a copy that is stopped only what had been sent before is noted.
      if (this.#copy.status !== "STOPPED" || task.kind !== "ACTION" || turn.hasSent) await this.#record(turn);
      this.#uncertain.delete(task);
      this.#retryMs = RETRY_MS_MIN;
      if (!turn.hasChanged) await this.#parts.pauses.pause(NOTHING_DONE_MS);
    } catch (error) {
      if ((this.#dealings?.dealings.unrecorded ?? 0) !== before) {
        this.#uncertain.add(task);
        this.#sentBefore = this.#parts.wallNow();
      }
      await this.#failed(error, task);
    }
  }

  async #carryOut(task: Task, work: Work): Promise<void> {
    const { log, store } = this.#parts;
    switch (task.kind) {
      case "ACTION": {
        const action = await log.at(task.seq);
        if (action === null) throw new Error(`actions of a strategy have no gaps: ${task.seq} is missing`);
        return await carryOut(work, action);
      }
      case "REQUEST": {
        const request = this.#requests.find(({ requestId }) => requestId === task.requestId);
        if (request === undefined) return;
        const isBlind = await this.#isBlind();
        return await answerRequest(work, request, { store, log, isBlind });
      }
      case "LEG":
        return await endWait(work, task.entry);
      case "CLOSING":
        return await this.#close(work);
      case "LOOK":
        this.#isLookDue = false;
        await look(work, { mayHaveMissed: this.#mayHaveMissed });
        this.#mayHaveMissed = work.stopped() !== null;
    }
  }

  /** One pass of the closing. */
  async #close(work: Work): Promise<void> {
    const { reason } = this.#copy;
    const kind = reason === "STRATEGY_CLOSED" ? "CLOSE" : "FLATTEN";
    const left = await closeAll(work, { kind, request: null, passId: passIdOf(work) });
    if (left !== null) {
      this.#closeAgainAt = this.#parts.wallNow() + CLOSING_RETRY_MS;
      void this.#parts.pauses.pause(CLOSING_RETRY_MS).then(() => this.wake());
      return;
    }
    const request = this.#requests.find((each) => each.kind === "CLOSE");
    if (request !== undefined) work.turn.finishRequest(request.requestId, work.now(), null);
    if (reason === "STOP_LOSS") work.turn.move("PAUSED", reason, work.now());
    else work.turn.move("STOPPED", reason ?? "COPIER", work.now());
  }

  #newTurn(): Turn {
    return new Turn(this.#copy, this.#resting);
  }

  async #workOn(turn: Turn, mayHaveBeenSent: boolean): Promise<Work> {
    const { store, log, wallNow, takenAt } = this.#parts;
    const { copyId } = this.#copy;
    const { account } = await this.#door.open();
    return {
      turn,
      dealings: await this.#dealingsNow(),
      mayHaveBeenSent,
      takenAt,
      now: wallNow,
      stopped: () => this.#stoppedAt(account.venue),
      opensNot: (at) => this.#opensNot(at),
      entriesOf: (collectiveId) => store.listEntriesOf(copyId, collectiveId),
      actionAt: (seq) => log.at(seq),
    };
  }

  async #dealingsNow(): Promise<Dealings> {
    const { pauses, mayRun, wallNow } = this.#parts;
    const { venue, client } = await this.#door.open();
    if (this.#dealings?.of !== client) {
      const dealings = new Dealings({
        venue,
        client,
        sentBefore: () => this.#sentBefore,
        mayRun: () => !this.#isEnded && mayRun(),
        wallNow,
        pause: (ms) => pauses.pause(ms),
      });
      this.#dealings = { of: client, dealings };
    }
    return this.#dealings.dealings;
  }

  async #stopped(): Promise<Skip | null> {
    return this.#stoppedAt((await this.#door.open()).account.venue);
  }

  #stoppedAt(venue: string): Skip | null {
    const { personId } = this.#copy;
    const skip =
      this.#parts.halted({ personId, venue }) !== null
        ? skipOf("HALTED")
        : this.#door.isRejected === true
          ? skipOf("CREDENTIALS")
          : this.#copy.status === "STOPPED"
            ? skipOf("PAUSED")
            : null;
    if (skip !== null) this.#mayHaveMissed = true;
    return skip;
  }

  #opensNot(at: number): SkipReason | null {
    if (this.#copy.status !== "FOLLOWING") return "PAUSED";
    return this.#parts.wallNow() - at > ENTRY_AGE_MAX_MS ? "TOO_LATE" : null;
  }

  /** Whether not even a question may be sent. */
  async #isBlind(): Promise<boolean> {
    const { account } = await this.#door.open();
    const { personId } = this.#copy;
    if (this.#door.isRejected === true) return true;
    return this.#parts.halted({ personId, venue: account.venue }) === "VENUE";
  }

  /** Makes durable what a turn did, and holds it for true from then on. */
  async #record(turn: Turn): Promise<void> {
    if (!turn.hasChanged) return;
    const progress = turn.progress();
    this.#isMoving = progress.moves !== null;
    try {
      await this.#parts.writer.record(progress);
    } finally {
      this.#isMoving = false;
    }
    for (const entry of progress.entries) {
      if (entry.status === "RESTING") this.#resting.set(entry.entryId, entry);
      else this.#resting.delete(entry.entryId);
    }
    const { book, doneSeq, moves, finishes } = progress;
    if (finishes !== null) {
      this.#finished.add(finishes.requestId);
      this.#requests = this.#requests.filter(({ requestId }) => requestId !== finishes.requestId);
    }
    const moved = moves !== null && this.#copy.status !== "STOPPED";
    const { status, reason } = moved ? moves : this.#copy;
    this.#copy = { ...this.#copy, book, doneSeq, status, reason };
    if (moved && moves.reason !== null && isTold(moves.status, moves.reason)) {
      this.#parts.tell(this.#copy, moves.reason);
    }
  }

  /** A turn came to nothing: waits as long as is fit for why. */
  async #failed(error: unknown, task: Task | null): Promise<void> {
    const { pauses, journal } = this.#parts;
    const { copyId } = this.#copy;
    if (this.#isEnded) return;
    if (error instanceof MayNotRun || error instanceof ClaimLost) return await pauses.pause(CLAIM_RETRY_MS);
    if (error instanceof CredentialsRejected) {
      if (task !== null && error.mayHaveExecuted) this.#uncertain.add(task);
      const isMended = await this.#rejected(error).catch((failure) => {
        journal.error({ err: failure, copyId }, "rejected credentials could not be noted; it is tried again");
        return false;
      });
      if (isMended) return;
    } else journal.error({ err: error, copyId, task }, "a turn of a copy failed; it is tried again");
    await pauses.pause(this.#retryMs);
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
  }

  /** True if there are other credentials by now. Otherwise the copy is paused, and its owner told. */
  async #rejected({ rejection }: CredentialsRejected): Promise<boolean> {
    const wasKnown = this.#door.isRejected;
    if (await this.#door.reject(rejection)) return true;
    const { code, message } = rejection;
    const { copyId, status } = this.#copy;
    this.#parts.journal.warn({ copyId, code, message }, "a venue does not accept a copier's credentials");
    if (status === "FOLLOWING") {
      const turn = this.#newTurn();
      turn.move("PAUSED", "CREDENTIALS", this.#parts.wallNow());
      await this.#record(turn);
    } else if (status !== "STOPPED" && wasKnown !== true) this.#parts.tell(this.#copy, "CREDENTIALS");
    return false;
  }
}

/** A copier is told when something happened to the copy that was not their own doing. */
function isTold(status: Copy["status"], reason: CopyReason): boolean {
  if (reason === "STOP_LOSS") return status === "CLOSING";
  return reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";
}
