// A thread's connection to the commit worker: the owner's, which starts and stops the worker, or a writer
// client's. A writer client is another thread of the same process on the same file, so that one thread writes
// and none competes for the lock.
import { setTimeout as pause } from "node:timers/promises";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { CompiledQuery } from "kysely";
import { packGroup } from "../group-columns.ts";
import type { Commit, CommitOutcome } from "../ports/trading.ts";
import { groupRows } from "../rows.ts";
import { StoreFailure, StoreUnavailable } from "../store.ts";
import type { NotWritten, WriteKind, WriteReply, WriteRequest, Writes } from "./commit-worker.ts";
import { WHY_NOT_WRITTEN } from "./database.ts";

type Answer<Kind extends WriteKind> = Writes[Kind]["answer"] | NotWritten;

/**
 * How long a group of commits waits after the disk was full, ms: commits of the market are retried at once.
 */
const FULL_PAUSE_MS = 200;
const STOPPED = "the commit worker has stopped";

export class CommitWriter {
  readonly #channel: Worker | MessagePort;
  readonly #pending = new Map<number, PromiseWithResolvers<Answer<WriteKind>>>();
  readonly #onCommitted: () => void;
  readonly #ended = Promise.withResolvers<void>();
  #lastId = 0;
  #failure: StoreFailure | null = null;

  /**
   * Starts the worker of a file, or uses a port that its owner has opened. `onCommitted` is called before any
   * caller learns that something was committed.
   */
  constructor(file: string, port: MessagePort | null, onCommitted: () => void) {
    this.#onCommitted = onCommitted;
    const end = (reason: string) => {
      this.#fail(new StoreFailure(reason));
      this.#ended.resolve();
    };
    if (port === null) {
      const worker = new Worker(new URL("./commit-worker.ts", import.meta.url), { workerData: { file } });
      worker.on("message", (reply: WriteReply) => this.#settle(reply));
      worker.on("error", (error) => this.#fail(new StoreFailure((error as Error).message)));
      worker.once("exit", () => end(STOPPED));
      this.#channel = worker;
    } else {
      port.on("message", (reply: WriteReply) => this.#settle(reply));
      port.once("close", () => end(STOPPED));
      this.#channel = port;
    }
  }

  /** For another thread of this process: to be transferred to it, and given to `openSqliteStore` there. */
  openPort(): MessagePort {
    if (!(this.#channel instanceof Worker)) throw new Error("the owner of a writer opens its ports");
    const { port1, port2 } = new MessageChannel();
    this.#channel.postMessage({ kind: "client", port: port1 }, [port1]);
    return port2;
  }

  async commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const outcomes = await this.#write("group", packGroup(groupRows(group)));
    if (outcomes === "FULL") await pause(FULL_PAUSE_MS);
    return isNotWritten(outcomes) ? group.map(() => "BUSY") : outcomes;
  }

  /**
   * As `Execute` says. Rejects with StoreUnavailable if another process held the lock for too long or the
   * disk is full.
   */
  async execute(statements: readonly CompiledQuery<unknown>[]): Promise<readonly (readonly unknown[])[]> {
    const batch = statements.map(({ sql, parameters }) => ({ sql, parameters }));
    const answer = await this.#write("statements", batch as Writes["statements"]["given"]);
    if (isNotWritten(answer)) throw new StoreUnavailable(WHY_NOT_WRITTEN[answer]);
    return answer;
  }

  /**
   * Empties the write-ahead log, which still has what was overwritten in the database. Resolves when that is
   * done, or when a reader such as a backup prevents it: then it is done as soon as the reader has ended.
   */
  async emptyLog(): Promise<void> {
    await this.#write("emptyLog", null);
  }

  /** Resolves when all requests are answered and the owner's worker has stopped. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#pending.values()].map(({ promise }) => promise));
    if (!(this.#channel instanceof Worker)) return this.#channel.close();
    this.#channel.postMessage("stop");
    await this.#ended.promise;
  }

  #write<Kind extends WriteKind>(kind: Kind, given: Writes[Kind]["given"]): Promise<Answer<Kind>> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    const pending = Promise.withResolvers<Answer<WriteKind>>();
    this.#pending.set(id, pending);
    const request = { id, kind, given } as WriteRequest;
    if (this.#channel instanceof Worker) this.#channel.postMessage(request);
    else this.#channel.postMessage(request);
    // The worker answers a request of a kind as that kind is answered.
    return pending.promise as Promise<Answer<Kind>>;
  }

  #settle(reply: WriteReply): void {
    this.#onCommitted();
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ("error" in reply) pending?.reject(new StoreFailure(reply.error));
    else pending?.resolve(reply.answer);
  }

  #fail(error: StoreFailure): void {
    this.#failure ??= error;
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }
}

function isNotWritten(answer: unknown): answer is NotWritten {
  return answer === "BUSY" || answer === "FULL";
}
