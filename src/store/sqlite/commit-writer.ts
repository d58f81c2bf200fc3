// A thread's end of the commit worker: what is to be written goes there ready, and the outcomes come back.
import { setTimeout as pause } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import { encodeBudgets } from "../budget-codec.ts";
import type { AdvanceColumns, ProgressColumns } from "../copying/claimed-columns.ts";
import type { LeadClaim } from "../copying/claims.ts";
import type { ClaimedLeadRow } from "../copying/leads.ts";
import type { FailedSignIn } from "../people/failed-sign-ins.ts";
import type { KeyUse } from "../people-store.ts";
import { groupColumns } from "../rows.ts";
import type { FoundRow, ReceivedRow, SignalRow } from "../signal-rows.ts";
import {
  type BudgetEntry,
  type Commit,
  type CommitOutcome,
  StoreFailure,
  StoreUnavailable,
} from "../store.ts";
import type { SymbolNote } from "../symbol-notes.ts";
import type { NotWritten, WriteKind, WriteReply, WriteRequest, Writes } from "./commit-worker.ts";
import type { NewVenueReport } from "./copy-writes.ts";
import { WHY_NOT_WRITTEN } from "./database.ts";
import type { FailedHandshake, SignalClaim, SignalDelay } from "./signal-writes.ts";
import type { WriterLine } from "./writer-line.ts";

type Answer<Kind extends WriteKind> = Writes[Kind]["answer"] | NotWritten;

/** How long a group of commits waits that a full disk did not take, ms: what the market brings is tried again at once. */
const FULL_PAUSE_MS = 200;

export class CommitWriter {
  readonly #line: WriterLine;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer<WriteKind>>>();
  readonly #onCommitted: () => void;
  #lastId = 0;
  #failure: StoreFailure | null = null;

  /** `onCommitted` is called before anybody is told that something was committed. */
  constructor(line: WriterLine, onCommitted: () => void) {
    this.#line = line;
    this.#onCommitted = onCommitted;
    line.listen({
      reply: (reply) => this.#settle(reply),
      ended: (reason) => this.#fail(new StoreFailure(reason)),
    });
  }

  /** For another thread of this process: to be handed over, and given to `openSqliteStore` there. */
  openPort(): MessagePort {
    return this.#line.openPort();
  }

  async commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const outcomes = await this.#write("group", groupColumns(group));
    if (outcomes === "FULL") await pause(FULL_PAUSE_MS);
    return isNotWritten(outcomes) ? group.map(() => "BUSY") : outcomes;
  }

  // Whatever is no commit rejects with StoreUnavailable, and was not written, if another process kept the database to itself
  // for too long or the disk is full.

  async logBudgets(entry: BudgetEntry, forgetBefore: number): Promise<void> {
    const { process, at } = entry;
    written(await this.#write("budgets", { process, at, body: encodeBudgets(entry), forgetBefore }));
  }

  async note(notes: readonly SymbolNote[]): Promise<void> {
    if (notes.length > 0) written(await this.#write("notes", notes));
  }

  async receiveSignals(rows: readonly ReceivedRow[]): Promise<readonly FoundRow[]> {
    return written(await this.#write("received", rows));
  }

  async claimSignals(claim: SignalClaim): Promise<readonly SignalRow[]> {
    return written(await this.#write("claim", claim));
  }

  async postponeSignal(delay: SignalDelay): Promise<void> {
    written(await this.#write("delay", delay));
  }

  async noteFailedHandshake(handshake: FailedHandshake): Promise<void> {
    written(await this.#write("handshake", handshake));
  }

  async noteFailedSignIn(failed: FailedSignIn): Promise<void> {
    written(await this.#write("failedSignIn", failed));
  }

  async noteKeyUses(uses: readonly KeyUse[]): Promise<void> {
    if (uses.length > 0) written(await this.#write("keyUses", uses));
  }

  /** Answers all that the holder now has. */
  async claimLeads(claim: LeadClaim): Promise<readonly ClaimedLeadRow[]> {
    return written(await this.#write("leadClaim", claim));
  }

  async releaseLeads(holder: string): Promise<void> {
    written(await this.#write("leadRelease", holder));
  }

  async advanceLead(advance: AdvanceColumns): Promise<boolean> {
    return written(await this.#write("advance", advance));
  }

  async recordProgress(progress: ProgressColumns): Promise<boolean> {
    return written(await this.#write("progress", progress));
  }

  async noteVenueReport(report: NewVenueReport): Promise<void> {
    written(await this.#write("venueReport", report));
  }

  /**
   * Empties the write-ahead log, where what was overwritten in the database stands still. Resolves when that is done, or when it has
   * turned out that somebody reads from the log, such as a backup: then it is done as soon as they have ended.
   */
  async emptyLog(): Promise<void> {
    await this.#write("emptyLog", null);
  }

  #write<Kind extends WriteKind>(kind: Kind, given: Writes[Kind]["given"]): Promise<Answer<Kind>> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<Answer<WriteKind>>();
    this.#waiting.set(id, waiting);
    this.#line.post({ id, kind, given } as WriteRequest);
    // The worker answers a request of a kind as that kind is answered.
    return waiting.promise as Promise<Answer<Kind>>;
  }

  /** Resolves when all that was asked for before has been answered. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#waiting.values()].map(({ promise }) => promise));
    await this.#line.close();
  }

  #settle(reply: WriteReply): void {
    this.#onCommitted();
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new StoreFailure(reply.error));
    else waiting?.resolve(reply.answer);
  }

  #fail(error: StoreFailure): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

function written<Answer>(answer: Answer | NotWritten): Answer {
  if (isNotWritten(answer)) throw new StoreUnavailable(WHY_NOT_WRITTEN[answer]);
  return answer;
}

function isNotWritten(answer: unknown): answer is NotWritten {
  return answer === "BUSY" || answer === "FULL";
}
