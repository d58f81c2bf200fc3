// Finishes what was begun: a strategy that could not be closed at once, since a market it holds something of was silent,
// is closed as soon as that market is back, also after a restart.
import type { Logger } from "pino";
import type { Desk } from "../desk/desk.ts";
import { isRefusal } from "../domain/refusal.ts";
import type { Store } from "../store/store.ts";

/** How often the strategies that are being closed are tried again, ms. */
const INTERVAL_MS = 2_000;

export class ClosingSweep {
  readonly #desk: Desk;
  readonly #store: Pick<Store, "listClosingStrategies">;
  readonly #log: Pick<Logger, "error">;
  readonly #closing = new Set<string>();
  readonly #stops: readonly (() => void)[];
  #isSweeping = false;

  constructor(parts: {
    desk: Desk;
    store: Pick<Store, "listClosingStrategies">;
    every: (intervalMs: number, callback: () => void) => () => void;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = parts.desk;
    this.#store = parts.store;
    this.#log = parts.log;
    this.#stops = [
      this.#desk.onCommitted(({ strategyId, events }) => {
        if (events.some(({ type }) => type === "StrategyClosing")) this.#closing.add(strategyId);
        if (events.some(({ type }) => type === "StrategyClosed")) this.#closing.delete(strategyId);
      }),
      parts.every(INTERVAL_MS, () => void this.#sweep()),
    ];
  }

  /** Takes up the strategies that a former process left closing. */
  async rebuild(): Promise<void> {
    for (const strategyId of await this.#store.listClosingStrategies()) this.#closing.add(strategyId);
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      for (const strategyId of [...this.#closing]) await this.#tryToClose(strategyId);
    } finally {
      this.#isSweeping = false;
    }
  }

  async #tryToClose(strategyId: string): Promise<void> {
    try {
      const outcome = await this.#desk.execute(strategyId, { type: "CloseStrategy" });
      // Closed by another process, or the desk is shutting down: either way there is nothing to finish here.
      if (isRefusal(outcome) && outcome.refusal === "STRATEGY_CLOSED") this.#closing.delete(strategyId);
    } catch (error) {
      this.#log.error({ err: error, strategyId }, "a strategy could not be closed; it is tried again");
    }
  }
}
