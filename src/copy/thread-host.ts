// The server's end of the copier's thread. It starts the thread, wakes it when a claimed strategy has
// committed, hands on its messages, and restarts it after a pause when it ends by itself. The server goes on
// whatever happens to the thread; only a failed store stops the process, as anywhere. The messages of both
// ends are declared here; importing this file starts nothing.
import { type MessagePort, Worker } from "node:worker_threads";
import pino, { type Logger } from "pino";
import { BackOff } from "../concurrency/delays.ts";
import type { Timers } from "../concurrency/time.ts";
import type { CopyAlarm, CopyReason } from "../domain/copying.ts";
import { StoreFailure } from "../store/store.ts";
import type { CopierNews } from "./copier.ts";

/** The first pause before it is started again, ms; each further one is twice as long, up to the longest. */
export const RESTART_MS_MIN = 1_000;
export const RESTART_MS_MAX = 30_000;
/** A thread that has run this long restarts with the first pause again, ms. */
const PROVEN_MS = 60_000;
/**
 * How long its orderly end may take before it is terminated, ms. The next start queries what was sent then.
 */
const CLOSE_MS_MAX = 6_000;

/** Beyond this it ends by itself, and is started again: the server's own memory is not touched. */
const MEMORY = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 64 };

/**
 * Where the thread finds the data; on the embedded database it is given a new way to its writer at each
 * start.
 */
export type ThreadDatabase =
  | { readonly kind: "SQLITE"; readonly file: string; readonly openWriterPort: () => MessagePort }
  | { readonly kind: "POSTGRES"; readonly url: string };

export type ThreadHostParts = {
  readonly database: ThreadDatabase;
  readonly masterKeyFile: string;
  readonly allowedVenues: readonly string[];
  readonly news: Omit<CopierNews, "claimed">;
  readonly timers: Pick<Timers, "after">;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Logger;
  /** The thread's program, if not the copier's own. */
  readonly program?: URL;
};

/** The copier's thread. It starts at once, and logs when it is ready. */
export class CopierThread {
  readonly #parts: ThreadHostParts;
  #worker: Worker | null = null;
  #claimed: ReadonlySet<string> = new Set();
  #startedAt = 0;
  readonly #restarts = new BackOff({ minMs: RESTART_MS_MIN, maxMs: RESTART_MS_MAX });
  #cancelRestart: () => void = () => {};
  #isClosing = false;
  #onClosed: () => void = () => {};

  constructor(parts: ThreadHostParts) {
    this.#parts = parts;
    this.#start();
  }

  /** Wakes it, if it has claimed the strategy. */
  committed({ strategyId, version }: { readonly strategyId: string; readonly version: number }): void {
    if (this.#claimed.has(strategyId)) this.#say({ kind: "WAKE", strategyId, version });
  }

  /** Ends it in order. To be called while the store is open. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelRestart();
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      worker.once("exit", () => resolve());
    });
    this.#say({ kind: "CLOSE" });
    const cancel = this.#parts.timers.after(CLOSE_MS_MAX, () => {
      this.#parts.log.warn("the copier's thread took too long to end; it goes on at the next start");
      void worker.terminate();
    });
    await ended;
    cancel();
    void worker.terminate();
  }

  #start(): void {
    const { wallNow, log, program = new URL("./thread.ts", import.meta.url) } = this.#parts;
    const { workerData, transferList } = this.#beginning();
    const worker = new Worker(program, { workerData, transferList, resourceLimits: MEMORY });
    this.#worker = worker;
    this.#startedAt = wallNow();
    worker.on("message", (message: FromThread) => this.#hear(message));
    worker.on("error", (error) => log.error({ err: error }, "the copier's thread has failed"));
    worker.once("exit", () => this.#ended());
  }

  #beginning(): { readonly workerData: ThreadStart; readonly transferList: MessagePort[] } {
    const { database, masterKeyFile, allowedVenues, log } = this.#parts;
    const shared = { masterKeyFile, allowedVenues, logLevel: log.level };
    if (database.kind === "POSTGRES") return { workerData: { ...shared, database }, transferList: [] };
    const { kind, file, openWriterPort } = database;
    const writer = openWriterPort();
    return { workerData: { ...shared, database: { kind, file, writer } }, transferList: [writer] };
  }

  #ended(): void {
    const { timers, wallNow, log } = this.#parts;
    this.#worker = null;
    this.#claimed = new Set();
    if (this.#isClosing) return;
    if (wallNow() - this.#startedAt >= PROVEN_MS) this.#restarts.reset();
    const pauseMs = this.#restarts.next();
    log.error({ pauseMs }, "the copier's thread has ended; it is started again");
    this.#cancelRestart = timers.after(pauseMs, () => this.#start());
  }

  #hear(message: FromThread): void {
    const { news, log } = this.#parts;
    switch (message.kind) {
      case "READY":
        log.info("the copier is ready");
        return;
      case "CLAIMED":
        this.#claimed = new Set(message.strategyIds);
        return;
      case "COPIES_CHANGED":
        news.copiesChanged(message.copyIds);
        return;
      case "PAUSED":
        news.paused(message, message.reason);
        return;
      case "LOG":
        repeat(log, message.line);
        return;
      case "CLOSED":
        this.#onClosed();
        return;
      case "FAILED":
        news.failed(new StoreFailure(message.reason));
        return;
    }
  }

  #say(message: ToThread): void {
    this.#worker?.postMessage(message);
  }
}

/** Writes a line of the thread's log into the server's own. */
function repeat(log: Logger, line: string): void {
  const { level, time: _time, msg, ...fields } = JSON.parse(line);
  const name = pino.levels.labels[level] ?? "info";
  log[name as "info"]({ ...fields, of: "copier" }, msg);
}

/** The start parameters of the thread. */
export type ThreadStart = {
  readonly database:
    | {
        readonly kind: "SQLITE";
        readonly file: string;
        /** To the one thread that writes to the file. */
        readonly writer: MessagePort;
      }
    | { readonly kind: "POSTGRES"; readonly url: string };
  readonly masterKeyFile: string;
  readonly allowedVenues: readonly string[];
  readonly logLevel: string;
};

export type ToThread =
  | { readonly kind: "WAKE"; readonly strategyId: string; readonly version: number }
  | { readonly kind: "CLOSE" };

export type FromThread =
  /** It has claimed what it can. */
  | { readonly kind: "READY" }
  | { readonly kind: "CLAIMED"; readonly strategyIds: readonly string[] }
  | { readonly kind: "COPIES_CHANGED"; readonly copyIds: readonly string[] }
  | {
      readonly kind: "PAUSED";
      readonly copyId: string;
      readonly personId: string;
      readonly reason: CopyReason | CopyAlarm;
    }
  /** A line of its log, as its logger has written it. */
  | { readonly kind: "LOG"; readonly line: string }
  /** It has sent and written what it will, and has closed its store. */
  | { readonly kind: "CLOSED" }
  /** The store has failed. */
  | { readonly kind: "FAILED"; readonly reason: string };
