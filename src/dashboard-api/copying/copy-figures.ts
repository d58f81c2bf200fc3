// Figures of all copies of a strategy, or of everybody, for traders and operators: counts by reason, and
// slippage. Logs are long, so the figures cover the last days, and are cached for seconds. Single copies are
// not shown: the strategy's own size beside a copy's fill would disclose the balance of its owner.
import type { z } from "zod";
import { AsyncCache } from "../../concurrency/bounded-map.ts";
import { gapOf } from "../../copy/sizing/gap.ts";
import { orderIdOf } from "../../domain/collective-id.ts";
import type { EntryCount, OrderScope, UnclosedCount } from "../../store/ports/copies.ts";
import type { Store } from "../../store/store.ts";
import type { CopyJson } from "../schemas/copies.ts";
import type { EntryCountsJson, gapsSchema } from "../schemas/copying.ts";

/** Earlier actions of the strategy are not counted. */
export const COUNTED_MS = 30 * 86_400_000;
const KEPT_MS = 5_000;
const KEPT_MAX = 200;
const EVERYBODY = "everybody";
/** Of a strategy's orders the newest that copies executed something of, and of each so many of their own. */
const GAP_BOUNDS = { orders: 40, perOrder: 50 } as const;

type GapAnswer = z.output<typeof gapsSchema>;

export type CopyFigures = {
  readonly counts: EntryCountsJson;
  readonly gap: GapAnswer;
  /** Copies that are behind. */
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
    return this.#kept.get(`of ${strategyId}`, () => this.#compute({ strategyId }));
  }

  ofEverybody(): Promise<CopyFigures> {
    return this.#kept.get(EVERYBODY, () => this.#compute({ everybody: true }));
  }

  /** Copies of closed strategies that are not closed yet. */
  unclosed(): Promise<readonly UnclosedCount[]> {
    return this.#unclosed.get(EVERYBODY, () => this.#store.copying.tallyUnclosed({ everybody: true }));
  }

  async #compute(of: OrderScope): Promise<CopyFigures> {
    const { copying } = this.#store;
    const counts = await copying.countEntriesSince(of, this.#wallNow() - COUNTED_MS);
    return {
      counts: countsOf(counts),
      gap: await this.#gapOf(of),
      behind: await copiesBehind(this.#store, of, this.#wallNow()),
    };
  }

  async #gapOf(of: OrderScope): Promise<GapAnswer> {
    const { copying, people } = this.#store;
    const entries = await copying.listExecuted(of, GAP_BOUNDS);
    const names = new Map<string, string>();
    for (const strategyId of new Set(entries.map((entry) => entry.strategyId))) {
      names.set(strategyId, (await people.findStrategy(strategyId))?.name ?? strategyId);
    }
    const { bySymbol, bySize, byOrder } = gapOf(entries);
    const times = byOrder.map(({ at }) => at);
    return {
      bySymbol,
      bySize,
      orders: byOrder.map((order) => ({
        ...order,
        strategyName: names.get(order.strategyId) ?? order.strategyId,
        orderId: order.isLeg ? null : orderIdOf(order.collectiveId),
        quantity: order.leadQuantity,
        paper: order.leadPrice,
        isCut: order.orders >= GAP_BOUNDS.perOrder,
      })),
      range:
        byOrder.length === 0
          ? null
          : { from: Math.min(...times), to: Math.max(...times), copiesPerOrder: GAP_BOUNDS.perOrder },
    };
  }
}

/** Counts of placed, skipped and failed entries, and the reasons of the last two, most frequent first. */
export function countsOf(counts: readonly EntryCount[]): EntryCountsJson {
  const sum = (rows: readonly EntryCount[]) => rows.reduce((total, { count }) => total + count, 0);
  const skipped = counts.filter(({ status }) => status === "SKIPPED");
  const failed = counts.filter(({ status }) => status === "FAILED");
  return {
    placed: sum(counts) - sum(skipped) - sum(failed),
    skipped: sum(skipped),
    failed: sum(failed),
    byReason: [...skipped, ...failed]
      .flatMap(({ skipReason, count }) => (skipReason === null ? [] : [{ reason: skipReason, count }]))
      .sort((one, other) => other.count - one.count),
  };
}

// A copy is behind while an action of its strategy is neither sent, skipped nor rejected. Being behind for
// moments is normal: the venue's answer is in flight.

/** A copy that is behind for less is not shown as behind. */
export const BEHIND_MS_MIN = 10_000;

type Stored = Pick<Store, "copying">;

/** How far a copy is behind; null if it is not. `now` is wall time, Unix ms. */
export async function behindOf(
  { copying }: Stored,
  copyId: string,
  now: number,
): Promise<CopyJson["behind"]> {
  const behind = await copying.findBehind(copyId);
  return behind !== null && behind.since < now - BEHIND_MS_MIN ? behind : null;
}

/** How many copies are behind. */
export function copiesBehind({ copying }: Stored, of: OrderScope, now: number): Promise<number> {
  return copying.countBehind(of, now - BEHIND_MS_MIN);
}
