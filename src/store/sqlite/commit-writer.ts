// The main thread's end of the commit worker: what is to be written goes there ready, and the outcomes come back.
import { Worker } from "node:worker_threads";
import { encodeBudgets } from "../budget-codec.ts";
import { groupColumns } from "../rows.ts";
import { type BudgetEntry, type Commit, type CommitOutcome, StoreFailure } from "../store.ts";
import type { SymbolNote } from "../symbol-notes.ts";
import type { WriteReply, WriteRequest } from "./commit-worker.ts";

export class CommitWriter {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly CommitOutcome[]>>();
  readonly #stopped: Promise<void>;
  readonly #onCommitted: () => void;
  #lastId = 0;
  #failure: StoreFailure | null = null;

  /** `onCommitted` is called before anybody is told that something was committed. */
  constructor(file: string, onCommitted: () => void) {
    this.#onCommitted = onCommitted;
    this.#worker = new Worker(new URL("./commit-worker.ts", import.meta.url), { workerData: { file } });
    this.#stopped = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker.on("message", (reply: WriteReply) => this.#settle(reply));
    this.#worker.on("error", ({ message }: Error) => this.#fail(new StoreFailure(message)));
    this.#worker.once("exit", () => this.#fail(new StoreFailure("the commit worker has stopped")));
  }

  commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#write((id) => ({ id, group: groupColumns(group) }));
  }

  async logBudgets(entry: BudgetEntry, forgetBefore: number): Promise<void> {
    const { process, at } = entry;
    const budgets = { process, at, body: encodeBudgets(entry), forgetBefore };
    throwIfBusy(await this.#write((id) => ({ id, budgets })));
  }

  async note(notes: readonly SymbolNote[]): Promise<void> {
    if (notes.length === 0) return;
    throwIfBusy(await this.#write((id) => ({ id, notes })));
  }

  #write(requestOf: (id: number) => WriteRequest): Promise<readonly CommitOutcome[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    const request = requestOf(id);
    const waiting = Promise.withResolvers<readonly CommitOutcome[]>();
    this.#waiting.set(id, waiting);
    this.#worker.postMessage(request);
    return waiting.promise;
  }

  async close(): Promise<void> {
    this.#worker.postMessage("stop");
    await this.#stopped;
  }

  #settle(reply: WriteReply): void {
    this.#onCommitted();
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new StoreFailure(reply.error));
    else waiting?.resolve(reply.outcomes);
  }

  #fail(error: StoreFailure): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

function throwIfBusy(outcomes: readonly CommitOutcome[]): void {
  if (outcomes.includes("BUSY")) throw new Error("another process kept the database to itself for too long");
}
