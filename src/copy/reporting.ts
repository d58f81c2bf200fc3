// Writes into the store how the venues fare: at once, then periodically, so that a reader knows that the
// copier is running. A report that cannot be written is dropped; the next one replaces it.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import { type CopierReport, REPORT_AGE_MS_MAX, REPORT_MS } from "../domain/venue-report.ts";
import type { CopiesStore } from "../store/ports/copies.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";

export function openReporting({
  store,
  copier,
  reports,
  wallNow,
  every,
  onFailure,
  log,
}: {
  readonly store: Pick<CopiesStore, "noteVenueReport">;
  /** The name that this copier claims leads by. */
  readonly copier: string;
  /** How the venues fare now. */
  readonly reports: () => CopierReport["venues"];
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly every: Timers["every"];
  /** Called when the store has failed: the copier must end. */
  readonly onFailure: (failure: StoreFailure) => void;
  readonly log: Pick<Logger, "error">;
}): PeriodicTask {
  const reporting = new PeriodicTask({
    every,
    intervalMs: REPORT_MS,
    async task() {
      const at = wallNow();
      // Readers ignore reports of this age.
      const forgetBefore = at - REPORT_AGE_MS_MAX;
      await store.noteVenueReport({ copier, at, venues: reports() }, { forgetBefore });
    },
    onError(error) {
      if (error instanceof StoreFailure) onFailure(error);
      // The claiming of leads logs that the store is out of reach.
      else if (!(error instanceof StoreUnavailable)) {
        log.error({ err: error }, "how the venues fare could not be written");
      }
    },
  });
  void reporting.run();
  return reporting;
}
