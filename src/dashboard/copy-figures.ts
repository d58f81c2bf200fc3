// What traders and operators are told of all copies of a strategy, or of everybody: rates by reason, and paper against real. Logs are
// long, so that it is reckoned over the last days, and kept for a while.
import type { OrderScope, UnclosedCount } from "../store/copy-store.ts";
import type { Store } from "../store/store.ts";
import { copiesBehind } from "./copies-behind.ts";
import { Kept } from "./kept.ts";
import { presentCounts } from "./present/copying-entries.ts";
import { GAP_BOUNDS, presentGap } from "./present/copying-gap.ts";
import type { EntryCountsShape, GapShape } from "./shapes.ts";

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
  readonly #kept: Kept<CopyFigures>;
  readonly #unclosed: Kept<readonly UnclosedCount[]>;

  /** `wallNow` tells wall time, Unix ms. */
  constructor(parts: { readonly store: Pick<Store, "copying" | "people">; readonly wallNow: () => number }) {
    this.#store = parts.store;
    this.#wallNow = parts.wallNow;
    this.#kept = new Kept(parts, { keptMs: KEPT_MS, most: KEPT_MAX });
    this.#unclosed = new Kept(parts, { keptMs: KEPT_MS, most: 1 });
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
