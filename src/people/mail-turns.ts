// Whose turn it is to be sent: so many mails are sent at once, and of those that wait the kinds take turns, so that none waits for
// all of another kind to be sent.
import type { MailKind } from "./mail.ts";

export class MailTurns {
  /** How many more may be sent at once. */
  #free: number;
  /** Those that wait, by kind; the kind whose turn is the longest ago is the first. */
  readonly #waiting = new Map<MailKind, (() => void)[]>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Does the work of a mail of a kind when it has its turn. */
  async inTurn<Result>(kind: MailKind, work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#lineOf(kind).push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === null) this.#free += 1;
      else next();
    }
  }

  #lineOf(kind: MailKind): (() => void)[] {
    const line = this.#waiting.get(kind) ?? [];
    this.#waiting.set(kind, line);
    return line;
  }

  #next(): (() => void) | null {
    for (const [kind, line] of this.#waiting) {
      const first = line.shift();
      if (first === undefined) continue;
      // At the end.
      this.#waiting.delete(kind);
      this.#waiting.set(kind, line);
      return first;
    }
    return null;
  }
}
