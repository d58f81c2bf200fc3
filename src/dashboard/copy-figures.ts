// What traders and operators are told of all copies of a strategy, or of everybody: rates by reason, and paper against real. Logs are
// long, so that it is reckoned over the last days, and kept for a while.
import type { Store } from "../store/store.ts";
import { Kept } from "./kept.ts";
import { presentCounts } from "./present/copying-entries.ts";
import { GAP_ENTRIES_MAX, presentGap } from "./present/copying-gap.ts";
import type { EntryCountsShape, GapShape } from "./shapes.ts";

/** What the strategy did before is not counted. */
export const COUNTED_MS = 30 * 86_400_000;
const KEPT_MS = 5_000;
const KEPT_MAX = 200;
const EVERYBODY = "everybody";

export type CopyFigures = { readonly counts: EntryCountsShape; readonly gap: GapShape };

export class FiguresOfCopies {
  readonly #store: Pick<Store, "copying">;
  readonly #wallNow: () => number;
  readonly #kept: Kept<CopyFigures>;

  /** `wallNow` tells wall time, Unix ms. */
  constructor(parts: { readonly store: Pick<Store, "copying">; readonly wallNow: () => number }) {
    this.#store = parts.store;
    this.#wallNow = parts.wallNow;
    this.#kept = new Kept(parts, { keptMs: KEPT_MS, most: KEPT_MAX });
  }

  ofStrategy(strategyId: string): Promise<CopyFigures> {
    return this.#kept.get(`of ${strategyId}`, () => this.#reckon({ strategyId }));
  }

  ofEverybody(): Promise<CopyFigures> {
    return this.#kept.get(EVERYBODY, () => this.#reckon({ everybody: true }));
  }

  async #reckon(of: { readonly strategyId: string } | { readonly everybody: true }): Promise<CopyFigures> {
    const { copying } = this.#store;
    const counts = await copying.countEntries(of, this.#wallNow() - COUNTED_MS);
    return {
      counts: presentCounts(counts),
      gap: presentGap(await copying.listExecuted(of, GAP_ENTRIES_MAX)),
    };
  }
}
