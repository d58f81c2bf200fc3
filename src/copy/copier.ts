// The copier: follows the journals of leads and mirrors their actions at the venues of their copiers. It
// composes its parts here and closes them in order: it starts no new work, waits for what is in flight, then
// releases the claims.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Copy, CopyAlarm, CopyReason } from "../domain/copying.ts";
import { type CopierReport, REPORT_AGE_MS_MAX, REPORT_MS } from "../domain/venue-report.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { CopiesStore } from "../store/ports/copies.ts";
import { type CopyStore, type Store, StoreFailure, StoreUnavailable } from "../store/store.ts";
import { Copies } from "./copies.ts";
import { Leads } from "./leads/leads.ts";
import { createVenues } from "./venue/venues.ts";

/** How often the copier reads the database's time, ms. */
const MEASURED_MS = 30_000;
/** A clock that differs by more than this is reported as wrong, ms. */
const OFFSET_MS_MAX = 2_000;

export type Copier = {
  /** A strategy has committed; null for a version that is not known. Soon enough it would be seen anyway. */
  wake(strategyId: string, version: number | null): void;
  /** Ends in order. The store must still be open. */
  close(): Promise<void>;
};

/** What a copier announces. */
export type CopierNews = {
  /** The strategies that it has claimed, whenever that changes. */
  claimed(strategyIds: readonly string[]): void;
  /** Copies have changed; it is durable. */
  copiesChanged(copyIds: readonly string[]): void;
  /** A copy has paused by itself or needs attention; its copier has to be notified. */
  paused(copy: Pick<Copy, "copyId" | "personId">, reason: CopyReason | CopyAlarm): void;
  /** The store has failed: the process must stop. */
  failed(failure: StoreFailure): void;
};

export type CopierParts = {
  readonly store: Store;
  readonly master: MasterKey;
  /** The name of this copier, which no other has or had. */
  readonly holder: string;
  /** Whether no other copier can be alive on the database: what others had claimed is taken over at once. */
  readonly isAlone: boolean;
  /**
   * The origins of the venues that it may send to. An account elsewhere is as if a kill switch were set on
   * its venue.
   */
  readonly allowedVenues: readonly string[];
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly timers: Timers;
  readonly news: CopierNews;
  readonly log: Logger;
};

/** Opens a copier; resolves when it has claimed what it can. */
export async function openCopier(parts: CopierParts): Promise<Copier> {
  const { store, timers, news } = parts;
  const clock = databaseClock(store.copying, parts);
  await clock.measurements.run();
  const allowed = new Set(parts.allowedVenues);
  /** Everything below goes by the database's time. */
  const shared = { ...parts, wallNow: clock.now, every: timers.every, onFailure: news.failed };
  // No keys: a venue's requests are given those of their account.
  const venues = createVenues({ wallNow: clock.now, after: timers.after, log: parts.log });
  const copies: Copies = new Copies({
    ...shared,
    venues,
    isAllowed: (origin) => allowed.has(origin),
    mayRun: () => leads.mayRun(),
    tell: news.paused,
    onRecorded: news.copiesChanged,
    onStoreFailure: news.failed,
  });
  const leads = new Leads({
    ...shared,
    store: store.copying,
    followers: copies,
    onClaimed: (strategyIds) => {
      watch(strategyIds);
      news.claimed(strategyIds);
    },
  });
  /** The watches of claimed leads. */
  const watches = new Map<string, () => void>();
  const watch = (strategyIds: readonly string[]) => {
    const claimed = new Set(strategyIds);
    for (const [strategyId, unwatch] of watches) {
      if (claimed.has(strategyId)) continue;
      unwatch();
      watches.delete(strategyId);
    }
    for (const id of claimed) if (!watches.has(id)) watches.set(id, store.watchStrategy(id));
  };
  const stopListening = await store.onCommittedElsewhere({
    committed(strategies) {
      for (const { strategyId } of strategies) leads.wake(strategyId, null);
    },
    // The next poll finds whatever a lost notification announced.
    lost() {},
    resumed() {},
  });
  await leads.claim();
  const reports = () => venues.reports();
  const reporting = openReporting({ ...shared, store: store.copying, copier: parts.holder, reports });
  return {
    wake: leads.wake,
    async close() {
      leads.stop();
      void clock.measurements.close();
      await stopListening();
      watch([]);
      await reporting.close();
      await copies.close();
      await leads.release();
      await venues.close();
    },
  };
}

/**
 * Time by the database's clock, which all processes share: a copier with a wrong clock of its own would find
 * every order too late, or none. While the database is away the last measurement holds.
 */
function databaseClock(
  store: Pick<CopyStore, "databaseNow">,
  { wallNow, timers, log }: Pick<CopierParts, "wallNow" | "log" | "timers">,
) {
  let offsetMs = 0;
  const measurements = new PeriodicTask({
    every: timers.every,
    intervalMs: MEASURED_MS,
    async task() {
      const before = wallNow();
      const there = await store.databaseNow();
      const wasOff = Math.abs(offsetMs) > OFFSET_MS_MAX;
      offsetMs = there === null ? 0 : Math.round(there - (before + wallNow()) / 2);
      if (wasOff || Math.abs(offsetMs) <= OFFSET_MS_MAX) return;
      log.warn({ offsetMs }, "this machine's clock differs from the database's, which copies go by");
    },
    onError(error) {
      if (!(error instanceof StoreUnavailable))
        log.error({ err: error }, "the database's time could not be asked");
    },
  });
  return { measurements, now: () => wallNow() + offsetMs };
}

// Writes into the store how the venues fare: at once, then periodically, so that a reader knows that the
// copier is running. A report that cannot be written is dropped; the next one replaces it.

export function openReporting(parts: {
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
  const { store, copier, reports, wallNow, every, onFailure, log } = parts;
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
