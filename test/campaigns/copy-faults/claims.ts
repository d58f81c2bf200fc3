// When nothing could be sent for a strategy although a server ran: nobody had claimed it yet after a kill, or
// its claim was not renewed in time. Both are seen in samples of the claims in the leads' database. What two
// samples leave open counts as time with a claim. A gap is excused up to a bound: copying that does not come
// back is a fault.
import { CLAIM_MS, FRESH_MS } from "../../../src/copy/leads/leads.ts";
import type { Span } from "./stops.ts";

/** How often claims are read, ms: more often than they are renewed. */
export const SAMPLE_MS = 500;
/** How much of one gap is excused, ms. */
export const EXCUSED_MS_MAX = 30_000;

/** Who has claimed a strategy, and when that was last renewed, Unix ms. */
export type Claim = {
  readonly strategyId: string;
  readonly holder: string | null;
  readonly renewedAt: number;
};

/** A claim of a killed holder. `seenAt`: when it was last known that no other has the strategy. */
type Lost = { readonly from: number; readonly holder: string | null; seenAt: number };

export class ClaimGaps {
  readonly #last = new Map<string, Claim & { readonly at: number }>();
  readonly #lost = new Map<string, Lost>();
  /** By strategy: after kills, and while a claim was not renewed. */
  readonly #unclaimed = new Map<string, Span[]>();
  readonly #stale = new Map<string, Span[]>();

  /** From now on nobody copies what a holder, or anybody (null), has claimed, until another holder has it. */
  lose(holder: string | null, at: number): void {
    for (const [strategyId, last] of this.#last) {
      if (holder !== null && last.holder !== holder) continue;
      const before = this.#lost.get(strategyId);
      if (before !== undefined) add(this.#unclaimed, strategyId, { ...before, until: before.seenAt });
      this.#lost.set(strategyId, { from: at, holder: last.holder, seenAt: at });
    }
  }

  /** Takes the claims as they were at a time, Unix ms. */
  note(at: number, claims: readonly Claim[]): void {
    for (const claim of claims) {
      const { strategyId, holder, renewedAt } = claim;
      if (holder === null) {
        this.#last.delete(strategyId);
        this.#lost.delete(strategyId);
        continue;
      }
      const before = this.#last.get(strategyId);
      const lost = this.#lost.get(strategyId);
      this.#last.set(strategyId, { ...claim, at });
      if (lost !== undefined) {
        if (holder === lost.holder) lost.seenAt = Math.max(lost.seenAt, at);
        else {
          this.#lost.delete(strategyId);
          add(this.#unclaimed, strategyId, { from: lost.from, until: changedAt(lost.seenAt, at) });
        }
      } else if (before !== undefined) {
        const until = renewedAt === before.renewedAt ? at : changedAt(before.at, at);
        add(this.#stale, strategyId, { from: before.renewedAt + FRESH_MS, until });
      }
    }
  }

  /** The gaps of a strategy's claim. */
  of(strategyId: string): readonly Span[] {
    const lost = this.#lost.get(strategyId);
    const open = lost === undefined ? [] : [excused({ from: lost.from, until: lost.seenAt })];
    return [...(this.#unclaimed.get(strategyId) ?? []), ...(this.#stale.get(strategyId) ?? []), ...open];
  }

  /** How often the claim of a strategy was not renewed in time, and for how long at most, ms. */
  get stalls(): { readonly count: number; readonly msMax: number } {
    const all = [...this.#stale.values()].flat();
    return { count: all.length, msMax: Math.max(0, ...all.map(({ from, until }) => until - from)) };
  }
}

/**
 * When a change was made that one sample does not have and the next has. If these are so far apart that there
 * may have been others between them, it counts as made at once.
 */
function changedAt(before: number, after: number): number {
  return after - before < CLAIM_MS ? after : before;
}

/** Adds a gap; it takes the place of what was known of it before. */
function add(gaps: Map<string, Span[]>, strategyId: string, gap: Span): void {
  if (gap.until <= gap.from) return;
  const known = gaps.get(strategyId) ?? [];
  const others = known.at(-1)?.from === gap.from ? known.slice(0, -1) : known;
  gaps.set(strategyId, [...others, excused(gap)]);
}

function excused({ from, until }: Span): Span {
  return { from, until: Math.min(until, from + EXCUSED_MS_MAX) };
}
