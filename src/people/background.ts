// Work that nobody waits for. What depends on whether an e-mail address is known is done here, so that neither an answer nor the
// time that it takes tells which it was.
import type { Logger } from "pino";

/** Beyond it further work is refused: whoever asked is told that the service is busy. */
const WORK_UNDER_WAY_MAX = 200;

export class Background {
  readonly #log: Pick<Logger, "error">;
  readonly #underWay = new Set<Promise<void>>();

  constructor(log: Pick<Logger, "error">) {
    this.#log = log;
  }

  /** Whether the work was taken. A failure of it is logged as that of `what`, in words that name nobody. */
  run(what: string, work: () => Promise<void>): boolean {
    if (this.#underWay.size >= WORK_UNDER_WAY_MAX) return false;
    const running = work()
      .catch((error: unknown) => {
        this.#log.error({ reason: error instanceof Error ? error.message : "unknown" }, `${what} has failed`);
      })
      .finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
    return true;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
