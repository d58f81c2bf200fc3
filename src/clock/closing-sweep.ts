// Finishes what was begun: a strategy that could not be closed at once, since a market it holds something of was silent,
// is closed as soon as that market is back, also after a restart.
//
// The store is asked which strategies those are, each time: they may be another server's, which may be gone. Several
// servers that try the same one do no harm: one of them closes it, and the others are refused.
import type { Logger } from "pino";
import type { Desk } from "../desk/desk.ts";
import type { Store } from "../store/store.ts";

/** How often the strategies that are being closed are tried again, ms. */
const INTERVAL_MS = 2_000;

export class ClosingSweep {
  readonly #desk: Pick<Desk, "execute">;
  readonly #store: Pick<Store, "listClosingStrategies">;
  readonly #log: Pick<Logger, "error">;
  readonly #stop: () => void;
  #isSweeping = false;
  #isClosed = false;

  constructor(parts: {
    desk: Pick<Desk, "execute">;
    store: Pick<Store, "listClosingStrategies">;
    every: (intervalMs: number, callback: () => void) => () => void;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = parts.desk;
    this.#store = parts.store;
    this.#log = parts.log;
    this.#stop = parts.every(INTERVAL_MS, () => void this.#sweep());
  }

  /** Takes up at once, and not only after the interval, what a former process left closing. */
  rebuild(): void {
    void this.#sweep();
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      for (const strategyId of await this.#store.listClosingStrategies()) {
        if (!this.#isClosed) await this.#tryToClose(strategyId);
      }
    } catch (error) {
      this.#log.error(
        { err: error },
        "strategies that are being closed could not be listed; it is tried again",
      );
    } finally {
      this.#isSweeping = false;
    }
  }

  async #tryToClose(strategyId: string): Promise<void> {
    try {
      await this.#desk.execute(strategyId, { type: "CloseStrategy" });
    } catch (error) {
      this.#log.error({ err: error, strategyId }, "a strategy could not be closed; it is tried again");
    }
  }
}
