// Work in the background. Everything that depends on whether an e-mail address is known is done here, so that
// neither an answer nor the time that it takes reveals it.
import type { Logger } from "pino";

/** Beyond it a request is answered that the service is busy. */
const IN_FLIGHT_MAX = 200;

export class Background {
  readonly #log: Pick<Logger, "error">;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(log: Pick<Logger, "error">) {
    this.#log = log;
  }

  /** Whether the work is accepted. Its failure is logged as that of `what`, which names nobody. */
  run(what: string, work: () => Promise<void>): boolean {
    if (this.#inFlight.size >= IN_FLIGHT_MAX) return false;
    const running = work()
      .catch((error: unknown) => {
        this.#log.error({ reason: error instanceof Error ? error.message : "unknown" }, `${what} has failed`);
      })
      .finally(() => this.#inFlight.delete(running));
    this.#inFlight.add(running);
    return true;
  }

  /** Resolves when nothing is in flight. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }
}
