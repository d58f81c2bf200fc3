// The copier: follows the journals of leads, and mirrors what they did at the venues of those who copy them. Made here of its
// parts, and closed here: first nothing is begun any more, then nothing is under way, then the claims are given up.
import type { Logger } from "pino";
import type { Copy, CopyReason } from "../domain/copying.ts";
import type { MasterKey } from "../identity/master-key.ts";
import type { Timers } from "../market/client/time.ts";
import type { CopyStore } from "../store/copy-store.ts";
import { type Store, StoreFailure } from "../store/store.ts";
import { Lanes } from "./lanes/lanes.ts";
import { Leads } from "./leads/leads.ts";
import { Reporting } from "./reporting.ts";
import { createVenues } from "./venue/venues.ts";

export type Copier = {
  /** A strategy has committed; null for a version that is not known. Soon enough it would be seen anyway. */
  wake(strategyId: string, version: number | null): void;
  /** Ends in order. The store must still be open. */
  close(): Promise<void>;
};

/** What a copier tells. */
export type CopierNews = {
  /** Which strategies it works at, whenever that changes. */
  claimed(strategyIds: readonly string[]): void;
  /** Copies have changed; it is durable. */
  copiesChanged(copyIds: readonly string[]): void;
  /** A copy has paused by itself: its copier is to be told. */
  paused(copy: Pick<Copy, "copyId" | "personId">, reason: CopyReason): void;
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
  /** The origins of the venues that it may send to. An account elsewhere is as if a kill switch were set on its venue. */
  readonly allowedVenues: readonly string[];
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly timers: Timers;
  readonly news: CopierNews;
  readonly log: Logger;
};

/** Opens a copier; resolves when it has claimed what it can. */
export async function openCopier(parts: CopierParts): Promise<Copier> {
  const { master, holder, isAlone, wallNow, timers, news, log } = parts;
  const store: Store = { ...parts.store, copying: telling(parts.store.copying, news) };
  const venues = createVenues({ wallNow, after: timers.after, log });
  const allowed = new Set(parts.allowedVenues);
  const lanes: Lanes = new Lanes({
    store,
    venues,
    master,
    holder,
    isAllowed: (origin) => allowed.has(origin),
    wallNow,
    timers,
    mayRun: () => leads.mayRun(),
    tell: news.paused,
    log,
  });
  const leads = new Leads({
    store: store.copying,
    followers: lanes,
    holder,
    isAlone,
    wallNow,
    every: timers.every,
    onClaimed: news.claimed,
    onFailure: news.failed,
    log,
  });
  const stopListening = await store.onCommittedElsewhere({
    committed(strategies) {
      for (const { strategyId } of strategies) leads.wake(strategyId, null);
    },
    // What is not told is seen at the next look.
    lost() {},
    resumed() {},
  });
  await leads.claim();
  const reporting = new Reporting({
    store: store.copying,
    copier: holder,
    reports: () => venues.reports(),
    wallNow,
    every: timers.every,
    onFailure: news.failed,
    log,
  });
  return {
    wake: (strategyId, version) => leads.wake(strategyId, version),
    async close() {
      leads.stop();
      await stopListening();
      await reporting.close();
      await lanes.close();
      await leads.release();
      await venues.close();
    },
  };
}

/** The same store, which tells of every copy that was written, and of its own failure. */
function telling(copying: CopyStore, news: Pick<CopierNews, "copiesChanged" | "failed">): CopyStore {
  return {
    ...copying,
    async recordProgress(strategyId, holder, progress) {
      try {
        const isOurs = await copying.recordProgress(strategyId, holder, progress);
        if (isOurs) news.copiesChanged(progress.map(({ copyId }) => copyId));
        return isOurs;
      } catch (error) {
        if (error instanceof StoreFailure) news.failed(error);
        throw error;
      }
    },
  };
}
