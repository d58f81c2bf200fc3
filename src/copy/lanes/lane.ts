// One copy, strictly serial. A turn is one action of the strategy, one request, one leg that waited, one look or one pass of
// the closing: it is carried out, recorded, and only then does the next begin. So orders keep their order, no cancel overtakes
// its order, and the book that sizes come from is complete.
//
// A turn that fails (the venue rejects the key, the claim is lost, the store is away, a bug) leaves no trace: the lane waits,
// and does it again from its cursor, asking the venue first. Another lane never notices.
import type { Logger } from "pino";
import type { Copy, CopyReason, CopyRequest, MirrorEntry } from "../../domain/copying.ts";
import type { CopyControl } from "../../store/copy-store.ts";
import { isReduction } from "../scaling/scale-order.ts";
import { skipOf } from "../scaling/skip.ts";
import type { Venue } from "../venue/venue.ts";
import { AccountDoor, type DoorParts } from "./account-door.ts";
import type { ActionLog } from "./action-log.ts";
import { Asked } from "./asked.ts";
import { carryOut } from "./carry-out.ts";
import { closeAll, passIdOf, recoverClosing } from "./closing.ts";
import { ClosingPace } from "./closing-pace.ts";
import { DealingsNow } from "./dealings-now.ts";
import { CredentialsRejected } from "./endings.ts";
import { Glances } from "./glances.ts";
import { endWait, readyLeg } from "./legs.ts";
import { findLine, leadLegsOf } from "./log-lines.ts";
import { restingSymbols } from "./look.ts";
import { LookDue } from "./look-due.ts";
import { MaySend } from "./may-send.ts";
import { nextTask, passOver } from "./next-task.ts";
import { NotFound } from "./not-found.ts";
import type { Pauses } from "./pauses.ts";
import type { ProgressWriter } from "./progress.ts";
import { answerRequest, type RequestStore } from "./requests.ts";
import { CLAIM_RETRY_MS, Setbacks } from "./setbacks.ts";
import { rebase } from "./snapshot.ts";
import type { Halt } from "./switches.ts";
import { Turn, takesEffect } from "./turn.ts";
import { type Task, Uncertain } from "./uncertain.ts";
import { giveUp } from "./withdraw.ts";
import { isWaitingLeg, type Work } from "./work.ts";
import { Missing } from "./write-off.ts";

/** Until a turn that could do nothing is tried again, ms. */
const NOTHING_DONE_MS = 250;

export type LaneParts = DoorParts & {
  readonly store: RequestStore;
  readonly log: ActionLog;
  readonly writer: ProgressWriter;
  readonly pauses: Pauses;
  /** Whether the claim is fresh enough to send. */
  readonly mayRun: () => boolean;
  /** Why nothing may be sent for a copy to a venue: a kill switch. Null if it may. */
  readonly halted: (of: { readonly personId: string; readonly venue: string }) => Halt | null;
  readonly tell: (copy: Copy, reason: CopyReason) => void;
  readonly journal: Pick<Logger, "error" | "warn">;
  /** When this process took the lane, wall time, Unix ms. */
  readonly takenAt: number;
};

export class Lane {
  readonly #parts: LaneParts;
  readonly #door: AccountDoor;
  readonly #maySend: MaySend;
  readonly #setbacks: Setbacks;
  readonly #missing: Missing;
  readonly #notFound = new NotFound();
  readonly #closingPace = new ClosingPace();
  readonly #lookDue: LookDue;
  readonly #glances: Glances;
  readonly #uncertain = new Uncertain();
  readonly #resting = new Map<number, MirrorEntry>();
  #copy: Copy;
  readonly #asked = new Asked();
  readonly #dealings: DealingsNow;
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
    const { halted, wallNow, pauses, journal } = parts;
    const mayRun = () => !this.#isEnded && parts.mayRun();
    const dealt = { copyId: copy.copyId, door: this.#door, pauses, mayRun, wallNow, journal };
    this.#dealings = new DealingsNow(dealt, parts.takenAt);
    this.#setbacks = new Setbacks({
      copyId: copy.copyId,
      pauses,
      journal,
      wallNow,
      rejected: (error) => this.#rejected(error),
      accountGone: () => this.#accountGone(),
    });
    this.#maySend = new MaySend({ door: this.#door, copy: () => this.#copy, halted, wallNow });
    this.#lookDue = new LookDue(this.lookedAt);
    this.#glances = new Glances({ due: this.#lookDue, maySend: this.#maySend, pauses });
    this.#missing = new Missing(this.lookedAt || copy.startedAt);
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
    return this.#copy.status === "STOPPED" && this.#running === null && this.#asked.open.length === 0;
  }

  /** When the venue was last asked, wall time; 0 if it never was. */
  get lookedAt(): number {
    return this.#copy.book.snapshot?.at ?? 0;
  }

  /** What people have changed; takes effect on the next send. Answers whether the copy's status is another by it. */
  control({ status, reason, settings }: Omit<CopyControl, "copyId">): boolean {
    const hasMoved = status !== this.#copy.status;
    if (hasMoved) this.#closingPace.hurry();
    this.#copy = { ...this.#copy, status, reason, settings };
    if (hasMoved) {
      this.#glances.interrupt();
      // What rests and would open something is taken back.
      if (status === "PAUSED") {
        this.#maySend.noteMissed();
        this.#lookDue.askFirst();
      }
      this.wake();
    }
    return hasMoved;
  }

  /** The requests that are not done, oldest first. `mayHaveSent`: they may have been begun before. */
  request(requests: readonly CopyRequest[], { mayHaveSent }: { readonly mayHaveSent: boolean }): void {
    this.#asked.set(requests);
    if (mayHaveSent) {
      for (const { requestId } of requests) this.#uncertain.add({ kind: "REQUEST", requestId });
    }
    if (this.#asked.open.length > 0) this.#glances.interrupt({ byRequest: true });
    this.wake();
  }

  /** The strategy has done something. */
  moved(): void {
    this.#glances.interrupt();
    this.wake();
  }

  /** Where its account is looked at; null while that is not known. */
  get lookPlace(): Venue | null {
    return this.#door.opened?.venue ?? null;
  }

  /** What a look takes of the venue's budget. */
  get lookWeight(): number {
    return this.#door.opened?.looker.lookWeight(restingSymbols(this.#resting.values())) ?? 0;
  }

  findPlace(): void {
    // Whatever is wrong with the account, its turns say.
    this.#door.open().catch(() => this.lookSoon());
  }

  /** Looks at its account when its turn comes. */
  lookSoon(): void {
    this.#lookDue.ask();
    this.wake();
  }

  /** How many of its orders and legs rest. */
  get resting(): number {
    return this.#resting.size;
  }

  /** Whether a kill switch or rejected credentials have kept something back. */
  get isBlocked(): boolean {
    return this.#maySend.isBlocked;
  }

  /** Credentials, or a kill switch, may have changed: what was blocked is tried anew. */
  async refresh(): Promise<void> {
    const wasBlocked = this.isBlocked;
    await this.#door.refresh();
    this.#maySend.unblock();
    this.#closingPace.hurry();
    // What was kept back is made up for before anything new is done.
    const mayMakeUp = wasBlocked && this.#hasSomethingToMakeUp;
    if (mayMakeUp && (await this.#maySend.isFree())) this.#lookDue.askFirst();
    this.wake();
  }

  get #hasSomethingToMakeUp(): boolean {
    const { family, book } = this.#copy;
    return this.#resting.size > 0 || (family === "FUTURES" && book.holdings.size > 0);
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
    // Without pauses a lane that may not run would never let go.
    while (!this.#isEnded && !this.#parts.pauses.isOver) {
      if (!this.#parts.mayRun()) await this.#parts.pauses.pause(CLAIM_RETRY_MS);
      else {
        try {
          return await this.#choose();
        } catch (error) {
          await this.#failed(error, null);
        }
      }
    }
    return null;
  }

  async #choose(): Promise<Task | null> {
    const { log } = this.#parts;
    const passed = await passOver(log, this.#copy, this.#uncertain);
    this.#copy = { ...this.#copy, doneSeq: passed.doneSeq };
    const now = this.#parts.wallNow();
    return await nextTask({
      seq: passed.nextSeq,
      turn: this.#newTurn(),
      uncertain: this.#uncertain,
      maySend: this.#maySend,
      requests: this.#asked.open,
      isClosingDue: this.#closingPace.isDue(now),
      isLookDue: this.#lookDue.isDue(now),
      isLookFirst: this.#lookDue.isFirst(now, this.#copy.settings) && (await this.#opens(passed.nextSeq)),
    });
  }

  /** Whether an action may open something. */
  async #opens(seq: number | null): Promise<boolean> {
    const action = seq === null ? null : await this.#parts.log.at(seq);
    return action?.kind === "PLACE" && !isReduction(this.#copy.family, action, action.lead);
  }

  /** Carries out one thing, and records it. Never rejects. */
  async #turn(task: Task): Promise<void> {
    const before = this.#dealings.sent;
    try {
      const turn = this.#newTurn();
      const work = await this.#workOn(turn, task);
      await this.#carryOut(task, work);
      // Of a copy that is stopped only what had been sent before is noted.
      if (this.#copy.status !== "STOPPED" || task.kind !== "ACTION" || turn.hasSent) await this.#record(turn);
      this.#uncertain.delete(task);
      this.#setbacks.forget();
      const isIdle = !turn.hasChanged && task.kind !== "LOOK" && !this.#glances.takeInterrupted();
      if (isIdle) await this.#parts.pauses.pause(NOTHING_DONE_MS);
    } catch (error) {
      if (task.kind === "LOOK") this.#maySend.noteMissed();
      if (this.#dealings.hasSentSince(before)) this.#uncertain.add(task);
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
        const request = this.#asked.find(task.requestId);
        if (request === undefined) return;
        const isBlind = await this.#maySend.isBlind();
        const isRejected = await this.#maySend.isRejected();
        const { status, doneSeq } = this.#copy;
        const isEarly = status === "CLOSING" || (await log.at(doneSeq + 1)) !== null;
        return await answerRequest(work, request, { store, log, isBlind, isRejected, isEarly });
      }
      case "LEG":
        return await endWait(work, task.entry);
      case "CLOSING":
        return await this.#close(work);
      case "LOOK": {
        // Its next action was there before.
        const isFirst = (await log.at(this.#copy.doneSeq + 1)) !== null;
        return await this.#glances.dueOne(work, { isFirst, wake: () => this.wake() });
      }
    }
  }

  /** One pass of the closing. */
  async #close(work: Work): Promise<void> {
    const { reason } = this.#copy;
    const kind = reason === "STRATEGY_CLOSED" ? "CLOSE" : "FLATTEN";
    const closing = { kind, request: null, passId: passIdOf(work) } as const;
    const recovered = work.mayHaveBeenSent ? await recoverClosing(work, closing) : new Set<string>();
    // What may have been sent beside it is looked for first. The next pass closes that as well.
    if (work.mayHaveBeenSent && this.#uncertain.size > 1) return;
    const left = await closeAll(work, closing, recovered);
    if (left !== null) {
      const retryMs = this.#closingPace.wait(work.now(), work.turn);
      void this.#parts.pauses.pause(retryMs).then(() => this.wake());
      return;
    }
    const request = this.#asked.open.find((each) => each.kind === "CLOSE");
    if (request !== undefined) work.turn.finishRequest(request.requestId, work.now(), null);
    if (reason === "STOP_LOSS") {
      await rebase(work);
      work.turn.move("PAUSED", reason, work.now());
    } else work.turn.move("STOPPED", reason ?? "COPIER", work.now());
  }

  #newTurn(): Turn {
    return new Turn(this.#copy, this.#resting);
  }

  async #workOn(turn: Turn, task: Task): Promise<Work> {
    const { store, log, wallNow, takenAt } = this.#parts;
    const { copyId } = this.#copy;
    const { venue } = (await this.#door.open()).account;
    // What is being closed sends nothing new for what only may have been sent.
    const isOnlyAsking =
      this.#copy.status === "CLOSING" && task.kind !== "CLOSING" && this.#uncertain.has(task);
    const isWithdrawal = task.kind === "REQUEST" && this.#asked.find(task.requestId)?.kind === "WITHDRAW";
    return {
      turn,
      dealings: await this.#dealings.open(),
      mayHaveBeenSent: this.#uncertain.has(task),
      takenAt,
      now: wallNow,
      mayHaveSent: (entry) => this.#uncertain.has({ kind: "LEG", entry }),
      stopped: () => {
        if (isWithdrawal) return this.#maySend.blockedNow(venue);
        return this.#maySend.stoppedNow(venue) ?? (isOnlyAsking ? skipOf("PAUSED") : null);
      },
      opensNot: (at) => this.#maySend.opensNot(at),
      glances: this.#glances,
      missing: readyLeg(turn) === null ? this.#missing : null,
      lookSoon: () => {
        this.#lookDue.ask();
      },
      noteMissed: () => this.#maySend.noteMissed(),
      notFound: this.#notFound,
      findLine: (symbol, holds) => findLine(store, turn, symbol, holds),
      leadLegsOf: (symbol) => leadLegsOf(store, this.#copy.strategyId, symbol),
      entriesOf: (collectiveId) => store.listEntriesOf(copyId, collectiveId),
      actionAt: (seq) => log.at(seq),
    };
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
    if (finishes !== null) this.#asked.finish(finishes.requestId);
    const moved = takesEffect(moves, this.#copy) ? moves : null;
    const { status, reason } = moved ?? this.#copy;
    this.#copy = { ...this.#copy, book, doneSeq, status, reason };
    if (moved !== null && moved.reason !== null && isTold(moved.status, moved.reason)) {
      this.#parts.tell(this.#copy, moved.reason);
    }
  }

  /** A turn came to nothing. */
  async #failed(error: unknown, task: Task | null): Promise<void> {
    if (this.#isEnded) return;
    if (error instanceof CredentialsRejected && task !== null && error.mayHaveExecuted) {
      this.#uncertain.add(task);
    }
    await this.#setbacks.meet(error, task);
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

  /** A live copy has an account. What is asked of one that is stopped cannot be done any more. */
  async #accountGone(): Promise<boolean> {
    if (this.#copy.status !== "STOPPED") return false;
    this.#uncertain.clear();
    const [request] = this.#asked.open;
    if (request === undefined) return true;
    const turn = this.#newTurn();
    giveUp(turn, request, { skip: skipOf("CREDENTIALS"), now: this.#parts.wallNow() });
    await this.#record(turn);
    return true;
  }
}

/** A copier is told when something happened to the copy that was not their own doing. */
function isTold(status: Copy["status"], reason: CopyReason): boolean {
  if (reason === "STOP_LOSS" || reason === "STRATEGY_CLOSED") return status === "CLOSING";
  return reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";
}
