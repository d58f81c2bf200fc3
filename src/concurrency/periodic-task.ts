// Tasks that never run twice at the same time: on demand, or at an interval until they are closed.
import type { Timers } from "./time.ts";

/**
 * A task of which at most one run is in flight: a caller that comes during a run gets the result of that run.
 */
export class SingleFlight<Result> {
  readonly #task: () => Promise<Result>;
  #current: Promise<Result> | null = null;

  constructor(task: () => Promise<Result>) {
    this.#task = task;
  }

  /** The run in flight; null if there is none. */
  get current(): Promise<Result> | null {
    return this.#current;
  }

  /** Starts a run unless one is in flight. Rejects as the task does. */
  run(): Promise<Result> {
    this.#current ??= this.#task().finally(() => {
      this.#current = null;
    });
    return this.#current;
  }
}

type PeriodicTaskParts = {
  readonly every: Timers["every"];
  readonly intervalMs: number;
  readonly task: () => Promise<void>;
  /** Receives the error of a run that failed; the task runs again after the interval. Must not throw. */
  readonly onError: (error: unknown) => void;
};

/** Runs a task at an interval. A run that takes longer than the interval delays the next one. */
export class PeriodicTask {
  readonly #flight: SingleFlight<void>;
  readonly #stop: () => void;
  #isClosed = false;

  constructor({ every, intervalMs, task, onError }: PeriodicTaskParts) {
    this.#flight = new SingleFlight(async () => {
      try {
        await task();
      } catch (error) {
        onError(error);
      }
    });
    this.#stop = every(intervalMs, () => void this.run());
  }

  /** A long task stops early when this is true. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Runs the task now unless a run is in flight; resolves when that run has ended. Does nothing once closed.
   * Never rejects.
   */
  run(): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#flight.run();
  }

  /** Starts no further run; resolves when the run in flight has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#flight.current;
  }
}
