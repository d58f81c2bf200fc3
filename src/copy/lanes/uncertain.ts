// What of a lane may have been sent without its being recorded: after a start or a takeover whatever comes next, and after a
// turn that failed the same thing once more. The venue is asked about it before anything of it is sent.
import type { MirrorEntry } from "../../domain/copying.ts";

/** What a turn is about: an action, a request, a leg that waited, or the closing of the copy. */
export type Task =
  | { readonly kind: "ACTION"; readonly seq: number }
  | { readonly kind: "REQUEST"; readonly requestId: string }
  | { readonly kind: "LEG"; readonly entry: MirrorEntry }
  | { readonly kind: "CLOSING" }
  | { readonly kind: "LOOK" };

export class Uncertain {
  readonly #names = new Set<string>();

  add(task: Task): void {
    this.#names.add(nameOf(task));
  }

  /** It is recorded, or known not to have been sent. */
  delete(task: Task): void {
    this.#names.delete(nameOf(task));
  }

  has(task: Task): boolean {
    return this.#names.size > 0 && this.#names.has(nameOf(task));
  }

  clear(): void {
    this.#names.clear();
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get size(): number {
    return this.#names.size;
  }
}

function nameOf(task: Task): string {
  switch (task.kind) {
    case "ACTION":
      return `action ${task.seq}`;
    case "REQUEST":
      return `request ${task.requestId}`;
    case "LEG":
      return `leg ${task.entry.entryId}`;
    default:
      return task.kind;
  }
}
