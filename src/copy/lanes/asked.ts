// What people have asked of one copy and what is not done yet, oldest first. The store may have been read before the end of a
// request was written: what was done last is remembered.
import type { CopyRequest } from "../../domain/copying.ts";

/** Requests that were done last, and are remembered as that. */
const FINISHED_MAX = 100;

export class Asked {
  #open: readonly CopyRequest[] = [];
  readonly #finished = new Set<string>();

  /** The requests that are not done, as the store has them. */
  set(requests: readonly CopyRequest[]): void {
    this.#open = requests.filter(({ requestId }) => !this.#finished.has(requestId));
  }

  get open(): readonly CopyRequest[] {
    return this.#open;
  }

  find(asked: string): CopyRequest | undefined {
    return this.#open.find(({ requestId }) => requestId === asked);
  }

  finish(done: string): void {
    const [oldest] = this.#finished;
    if (this.#finished.size >= FINISHED_MAX && oldest !== undefined) this.#finished.delete(oldest);
    this.#finished.add(done);
    this.#open = this.#open.filter(({ requestId }) => requestId !== done);
  }
}
