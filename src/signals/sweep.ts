// Finishes what was received and not carried out: signals whose market was silent, and those of a process that died between
// recording and executing. Once a second it claims what is due, drives it, and goes on until nothing is due any more.
//
// Every process sweeps the same store; a claim keeps them from trying the same signal at once, and the desk's key keeps two
// that do all the same from executing it twice. Nothing rests with a process: what it has not driven is claimed again.
// Knowingly, an operator who sets the clock back has what is pending wait as much longer.
// Source: specification 3.1 and 8.2 (swept within about two minutes).
import type { Logger } from "pino";
import type { Signal } from "../domain/signal.ts";
import type { Store } from "../store/store.ts";
import { CLAIM_MS, type Signals } from "./signals.ts";

/** How often it is looked at what is due, ms. */
export const SWEEP_MS = 1_000;
/** Signals that are driven at a time. */
export const CLAIMED_MAX = 100;

export class SignalSweep {
  readonly #signals: Pick<Signals, "drive">;
  readonly #store: Pick<Store, "claimSignals">;
  readonly #wallNow: () => number;
  readonly #log: Pick<Logger, "error">;
  readonly #stop: () => void;
  #underWay: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: {
    signals: Pick<Signals, "drive">;
    store: Pick<Store, "claimSignals">;
    /** Wall time, Unix ms. */
    wallNow: () => number;
    /** Calls back again and again; answers how to stop that. */
    every: (intervalMs: number, callback: () => void) => () => void;
    log: Pick<Logger, "error">;
  }) {
    this.#signals = parts.signals;
    this.#store = parts.store;
    this.#wallNow = parts.wallNow;
    this.#log = parts.log;
    this.#stop = parts.every(SWEEP_MS, () => void this.turn());
  }

  /** Drives all that is due, unless that is still under way; resolves when it is done. Never rejects. */
  async turn(): Promise<void> {
    if (this.#isClosed) return;
    this.#underWay ??= this.#sweep().finally(() => {
      this.#underWay = null;
    });
    await this.#underWay;
  }

  /** Begins nothing any more, and resolves when what is under way is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#underWay;
  }

  async #sweep(): Promise<void> {
    try {
      for (let claimed = await this.#claim(); claimed.length > 0; claimed = await this.#claim()) {
        await Promise.all(claimed.map((signal) => this.#drive(signal)));
        if (this.#isClosed || claimed.length < CLAIMED_MAX) return;
      }
    } catch (error) {
      this.#log.error({ err: error }, "pending signals could not be claimed; it is tried again");
    }
  }

  async #claim(): Promise<readonly Signal[]> {
    const now = this.#wallNow();
    return await this.#store.claimSignals({ now, until: now + CLAIM_MS, limit: CLAIMED_MAX });
  }

  async #drive(signal: Signal): Promise<void> {
    try {
      // It was counted as a placement when it was submitted. If that is what failed, it counts as one of now.
      const isCounted =
        signal.state.status !== "FAILED" || signal.state.reason.refusal !== "ORDERS_EXHAUSTED";
      await this.#signals.drive(signal, isCounted ? undefined : this.#wallNow());
    } catch (error) {
      const { signalId, strategyId } = signal;
      this.#log.error(
        { err: error, signalId, strategyId },
        "a signal could not be driven; it is tried again",
      );
    }
  }
}
