// Says in the store how the venues fare, for whoever shows it: at once, and then again and again, so that whoever reads it knows that
// the copier is at work. A report that cannot be written is lost; the next one is another.
import type { Logger } from "pino";
import { type CopierReport, REPORT_AGE_MS_MAX, REPORT_MS } from "../domain/venue-report.ts";
import type { Timers } from "../market/client/time.ts";
import type { CopyStore } from "../store/copy-store.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";

export class Reporting {
  readonly #store: Pick<CopyStore, "noteVenueReport">;
  readonly #copier: string;
  readonly #reports: () => CopierReport["venues"];
  readonly #wallNow: () => number;
  readonly #onFailure: (failure: StoreFailure) => void;
  readonly #log: Pick<Logger, "error">;
  readonly #stop: () => void;
  #writing: Promise<void> | null = null;

  constructor(parts: {
    store: Pick<CopyStore, "noteVenueReport">;
    /** The name that this copier claims leads by. */
    copier: string;
    /** How the venues fare now. */
    reports: () => CopierReport["venues"];
    /** Wall time, Unix ms. */
    wallNow: () => number;
    every: Timers["every"];
    /** Told that the store has failed: the copier must end. */
    onFailure: (failure: StoreFailure) => void;
    log: Pick<Logger, "error">;
  }) {
    this.#store = parts.store;
    this.#copier = parts.copier;
    this.#reports = parts.reports;
    this.#wallNow = parts.wallNow;
    this.#onFailure = parts.onFailure;
    this.#log = parts.log;
    this.#stop = parts.every(REPORT_MS, () => this.#report());
    this.#report();
  }

  /** Resolves when nothing is written any more. */
  async close(): Promise<void> {
    this.#stop();
    await this.#writing;
  }

  #report(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
  }

  async #write(): Promise<void> {
    const at = this.#wallNow();
    const report = { copier: this.#copier, at, venues: this.#reports() };
    try {
      // What is as old is not believed by anybody.
      await this.#store.noteVenueReport(report, { forgetBefore: at - REPORT_AGE_MS_MAX });
    } catch (error) {
      if (error instanceof StoreFailure) this.#onFailure(error);
      // Whoever claims leads says that the store is out of reach.
      else if (!(error instanceof StoreUnavailable)) {
        this.#log.error({ err: error }, "how the venues fare could not be written");
      }
    }
  }
}
