// A clock and timers that move only when a test advances them.
import type { Clock, Timers } from "../time.ts";

type Due = { at: number; readonly callback: () => void; readonly intervalMs: number | null };

export type ManualTime = Clock & Timers & { advance(byMs: number): void; pending(): number };

/**
 * `advance` runs what falls due on the way, in the order of its time; what that starts may fall due as well.
 */
export function createManualTime(startAt = 1_700_000_000_000): ManualTime {
  let now = startAt;
  const waiting = new Set<Due>();

  function add(due: Due): () => void {
    waiting.add(due);
    return () => waiting.delete(due);
  }

  function firstUntil(until: number): Due | null {
    let first: Due | null = null;
    for (const due of waiting) if (due.at <= until && (first === null || due.at < first.at)) first = due;
    return first;
  }

  return {
    now: () => now,
    after: (delayMs, callback) => add({ at: now + delayMs, callback, intervalMs: null }),
    every: (intervalMs, callback) => add({ at: now + intervalMs, callback, intervalMs }),
    pending: () => waiting.size,
    advance(byMs) {
      const until = now + byMs;
      for (let due = firstUntil(until); due !== null; due = firstUntil(until)) {
        now = Math.max(now, due.at);
        if (due.intervalMs === null) waiting.delete(due);
        else due.at += due.intervalMs;
        due.callback();
      }
      now = until;
    },
  };
}
