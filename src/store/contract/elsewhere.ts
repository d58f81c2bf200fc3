// A store in a thread of its own, on the same database: two that race in one thread would only take turns,
// and one that waits for the other's lock would keep it from ever going on.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { PeopleStore } from "../ports/people.ts";
import type { CopyStore } from "../store.ts";
import type { CallElsewhere, ReplyFromElsewhere } from "./elsewhere-worker.ts";

type Calls<Part> = { readonly [K in keyof Part]: Part[K] extends Callable ? Part[K] : never };
// biome-ignore lint/suspicious/noExplicitAny: whatever a method takes and answers.
type Callable = (...given: any[]) => Promise<any>;

export class Elsewhere {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", ({ id, answer, error }: ReplyFromElsewhere) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(error));
    });
  }

  /** `place` is a SQLite file or the URL of a PostgreSQL database. */
  static async open(place: string): Promise<Elsewhere> {
    const worker = new Worker(new URL("./elsewhere-worker.ts", import.meta.url), { workerData: { place } });
    await once(worker, "message");
    return new Elsewhere(worker);
  }

  /** Calls a method of the other store's people. */
  call<K extends keyof PeopleStore & string>(
    method: K,
    ...given: Parameters<Calls<PeopleStore>[K]>
  ): Promise<Awaited<ReturnType<Calls<PeopleStore>[K]>>> {
    return this.#call({ part: "people", method, given });
  }

  /** Calls a method of what the other store keeps of copying. */
  callCopying<K extends keyof CopyStore & string>(
    method: K,
    ...given: Parameters<Calls<CopyStore>[K]>
  ): Promise<Awaited<ReturnType<Calls<CopyStore>[K]>>> {
    return this.#call({ part: "copying", method, given });
  }

  #call<Answer>(call: Omit<CallElsewhere, "id">): Promise<Answer> {
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#worker.postMessage({ id, ...call } satisfies CallElsewhere);
    return waiting.promise as Promise<Answer>;
  }

  async close(): Promise<void> {
    this.#worker.postMessage("close");
    await once(this.#worker, "exit");
  }
}
