// How a lane looks at its account: what it asks has no effect, so nobody waits for an answer once there is something else to do. A
// look that came to nothing is due again a little later; one that was asked for is tried for a while.
import type { CopyRequest } from "../../domain/copying.ts";
import type { NotAnswered } from "./endings.ts";
import { look } from "./look.ts";
import type { LookDue } from "./look-due.ts";
import type { MaySend } from "./may-send.ts";
import type { Pauses } from "./pauses.ts";
import type { Work } from "./work.ts";

/** A look that something waits for is waited for no longer than this, ms. */
const FIRST_MS_MAX = 2_000;
/** A look that was asked for is tried for so long, ms. */
const ASKED_MS_MAX = 10_000;

type Present = { readonly isAskedFor: boolean; end(): void };

export class Glances {
  readonly #due: LookDue;
  readonly #maySend: MaySend;
  readonly #pauses: Pauses;
  #present: Present | null = null;
  #wasInterrupted = false;

  constructor(parts: { readonly due: LookDue; readonly maySend: MaySend; readonly pauses: Pauses }) {
    this.#due = parts.due;
    this.#maySend = parts.maySend;
    this.#pauses = parts.pauses;
  }

  /** Something else is to be done; a request does not end a look that was asked for itself. */
  interrupt({ byRequest }: { readonly byRequest: boolean } = { byRequest: false }): void {
    if (this.#present === null || (byRequest && this.#present.isAskedFor)) return;
    this.#wasInterrupted = true;
    this.#present.end();
  }

  /** Whether a look was interrupted since this was asked before. */
  takeInterrupted(): boolean {
    const wasInterrupted = this.#wasInterrupted;
    this.#wasInterrupted = false;
    return wasInterrupted;
  }

  /** The look that is due; `wake` is called when it is due again after all. `isFirst`: something waits for it. */
  async dueOne(work: Work, { isFirst, wake }: { isFirst: boolean; wake: () => void }): Promise<void> {
    this.#due.begin(work.now());
    const mayHaveMissed = this.#maySend.takeMissed();
    const ended = isFirst ? this.#pauses.pause(FIRST_MS_MAX) : this.#begin({ isAskedFor: false });
    const failure = await this.#look(work, { until: 0, ended, mayHaveMissed });
    if (failure === null) this.#due.succeeded();
    else if (!isFirst && this.#wasInterrupted) this.#due.interrupted();
    else void this.#pauses.pause(this.#due.failed(work.now(), failure.until)).then(wake);
  }

  /** The look of a request. AWAY: the venue could not be asked; INTERRUPTED: the request is to be begun anew. */
  async askedFor(
    work: Work,
    { askedAt }: Pick<CopyRequest, "askedAt">,
    { mayHaveMissed }: { readonly mayHaveMissed: boolean },
  ): Promise<"DONE" | "AWAY" | "INTERRUPTED"> {
    const until = Math.max(askedAt, work.takenAt) + ASKED_MS_MAX;
    const ended = this.#begin({ isAskedFor: true });
    const failure = await this.#look(work, { until, ended, mayHaveMissed });
    if (failure === null) return "DONE";
    return this.#wasInterrupted ? "INTERRUPTED" : "AWAY";
  }

  #begin({ isAskedFor }: Pick<Present, "isAskedFor">): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wasInterrupted = false;
    this.#present = { isAskedFor, end: resolve };
    return promise;
  }

  async #look(
    work: Work,
    how: { readonly until: number; readonly ended: Promise<void>; readonly mayHaveMissed: boolean },
  ): Promise<NotAnswered | null> {
    try {
      return await look({ ...work, dealings: work.dealings.looking(how) }, how);
    } finally {
      this.#present = null;
    }
  }
}
