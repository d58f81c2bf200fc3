// What traders and operators are told of all copies of a strategy, or of everybody: rates by reason, and paper against real. Logs are
// long, so that it is reckoned over the last days, and kept for a while.
import { AsyncCache } from "../../concurrency/bounded-map.ts";
import type { OrderScope, UnclosedCount } from "../../store/copy-store.ts";
import type { Store } from "../../store/store.ts";
import { presentCounts } from "../present/copying-entries.ts";
import { GAP_BOUNDS, presentGap } from "../present/copying-gap.ts";
import type { CopyShape, EntryCountsShape, GapShape } from "../shapes.ts";

/** What the strategy did before is not counted. */
export const COUNTED_MS = 30 * 86_400_000;
const KEPT_MS = 5_000;
const KEPT_MAX = 200;
const EVERYBODY = "everybody";

export type CopyFigures = {
  readonly counts: EntryCountsShape;
  readonly gap: GapShape;
  /** Copies that do not keep up. */
  readonly behind: number;
};

export class FiguresOfCopies {
  readonly #store: Pick<Store, "copying" | "people">;
  readonly #wallNow: () => number;
  readonly #kept: AsyncCache<CopyFigures>;
  readonly #unclosed: AsyncCache<readonly UnclosedCount[]>;

  /** `wallNow` tells wall time, Unix ms. */
  constructor(parts: { readonly store: Pick<Store, "copying" | "people">; readonly wallNow: () => number }) {
    this.#store = parts.store;
    this.#wallNow = parts.wallNow;
    this.#kept = new AsyncCache(parts, { ttlMs: KEPT_MS, sizeMax: KEPT_MAX });
    this.#unclosed = new AsyncCache(parts, { ttlMs: KEPT_MS, sizeMax: 1 });
  }

  ofStrategy(strategyId: string): Promise<CopyFigures> {
    return this.#kept.get(`of ${strategyId}`, () => this.#reckon({ strategyId }));
  }

  ofEverybody(): Promise<CopyFigures> {
    return this.#kept.get(EVERYBODY, () => this.#reckon({ everybody: true }));
  }

  /** Copies of closed strategies that are not closed yet. */
  unclosed(): Promise<readonly UnclosedCount[]> {
    return this.#unclosed.get(EVERYBODY, () => this.#store.copying.tallyUnclosed({ everybody: true }));
  }

  async #reckon(of: OrderScope): Promise<CopyFigures> {
    const { copying } = this.#store;
    const counts = await copying.countEntriesSince(of, this.#wallNow() - COUNTED_MS);
    return {
      counts: presentCounts(counts),
      gap: await this.#gapOf(of),
      behind: await copiesBehind(this.#store, of, this.#wallNow()),
    };
  }

  async #gapOf(of: OrderScope): Promise<GapShape> {
    const { copying, people } = this.#store;
    const entries = await copying.listExecuted(of, GAP_BOUNDS);
    const names = new Map<string, string>();
    for (const strategyId of new Set(entries.map((entry) => entry.strategyId))) {
      names.set(strategyId, (await people.findStrategy(strategyId))?.name ?? strategyId);
    }
    return presentGap(entries, (strategyId) => names.get(strategyId) ?? strategyId);
  }
}

// Copies that do not keep up with their strategy: what it did is not dealt with, whether sent, skipped or refused. Moments are no
// matter: the venue is on its way to answer.

/** Whoever is behind for less is at work. */
export const BEHIND_MS_MIN = 10_000;

type Stored = Pick<Store, "copying">;

/** How far a copy is behind; null if it keeps up. `now` is wall time, Unix ms. */
export async function behindOf(
  { copying }: Stored,
  copyId: string,
  now: number,
): Promise<CopyShape["behind"]> {
  const behind = await copying.findBehind(copyId);
  return behind !== null && behind.since < now - BEHIND_MS_MIN ? behind : null;
}

/** How many are. */
export function copiesBehind({ copying }: Stored, of: OrderScope, now: number): Promise<number> {
  return copying.countBehind(of, now - BEHIND_MS_MIN);
}
