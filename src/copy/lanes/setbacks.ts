// A turn of a lane that came to nothing: what is done about it, and how long the lane waits before it tries again. Whatever it was,
// another lane never notices.
import type { Logger } from "pino";
import type { Copy } from "../../domain/copying.ts";
import { AccountGone, ClaimLost, CredentialsRejected, MayNotRun } from "./endings.ts";
import type { Pauses } from "./pauses.ts";
import type { Task } from "./uncertain.ts";

/** Until a turn that failed is tried again, ms: doubled each time. */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** Failures of one lane are told once in so long, ms. */
const TOLD_AGAIN_MS = 60_000;
/** Until a lane that may not run looks whether it may, ms. */
export const CLAIM_RETRY_MS = 500;

export type SetbackParts = {
  readonly copyId: Copy["copyId"];
  readonly pauses: Pauses;
  readonly journal: Pick<Logger, "error">;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  /** The venue does not accept the credentials. True if there are others by now. */
  readonly rejected: (error: CredentialsRejected) => Promise<boolean>;
  /** The account is disconnected. True if the copy is stopped, and nothing is asked of it any more that needs one. */
  readonly accountGone: () => Promise<boolean>;
};

export class Setbacks {
  readonly #parts: SetbackParts;
  #retryMs = RETRY_MS_MIN;
  #toldAt: number | null = null;

  constructor(parts: SetbackParts) {
    this.#parts = parts;
  }

  /** A turn has succeeded. */
  forget(): void {
    this.#retryMs = RETRY_MS_MIN;
  }

  /** Waits as long as is fit for why. Never rejects. */
  async meet(error: unknown, task: Task | null): Promise<void> {
    const { pauses } = this.#parts;
    if (error instanceof MayNotRun || error instanceof ClaimLost) return await pauses.pause(CLAIM_RETRY_MS);
    if (await this.#isMended(error, task)) return;
    await pauses.pause(this.#retryMs);
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
  }

  async #isMended(error: unknown, task: Task | null): Promise<boolean> {
    const { copyId, journal, rejected, accountGone } = this.#parts;
    try {
      if (error instanceof CredentialsRejected) return await rejected(error);
      if (error instanceof AccountGone && (await accountGone())) return true;
      if (this.#isToTell()) {
        journal.error({ err: error, copyId, task }, "a turn of a copy failed; it is tried again");
      }
    } catch (failure) {
      if (this.#isToTell()) {
        journal.error(
          { err: failure, copyId },
          "why a turn of a copy failed could not be noted; it is tried again",
        );
      }
    }
    return false;
  }

  #isToTell(): boolean {
    const now = this.#parts.wallNow();
    if (this.#toldAt !== null && now - this.#toldAt < TOLD_AGAIN_MS) return false;
    this.#toldAt = now;
    return true;
  }
}
