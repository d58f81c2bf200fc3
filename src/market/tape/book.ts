/**
 * The book of a tape at any of its instants, from the snapshot and the diffs (stitching rules: reference
 * section 17.3).
 *
 * Before the snapshot there is no book. Diffs older than the snapshot are dropped, the first one applied must
 * overlap it, each later one must follow on the one before. Where one does not, the book is unknown until the
 * next snapshot, which that diff may follow on. A snapshot that is older than the book is ignored. Time runs
 * forwards cheaply; a question about an earlier instant starts from a position kept on the way, a few hundred
 * steps behind it at most unless it is long ago.
 */
import { changeAcross } from "../exchange/book-change.ts";
import type { Book, BookChange, Level } from "../exchange/source.ts";
import type { TapeDiff, TapeLine, TapeSnapshot } from "./line.ts";
import { countUntil } from "./trades.ts";

// Changes of the book, in time order; `lost` is a diff that does not follow the last one.
export type BookStep =
  | { readonly kind: "load"; readonly at: number; readonly snapshot: TapeSnapshot }
  | { readonly kind: "change"; readonly at: number; readonly diff: TapeDiff }
  | { readonly kind: "lost"; readonly at: number };

// The book after the first `next` steps.
type Position = {
  readonly next: number;
  readonly updateId: number | undefined;
  readonly changedAt: number;
  readonly bids: Side;
  readonly asks: Side;
};

const stepsBetweenKept = 256;
const positionsKeptMax = 32;

/** Of the lines of one type. */
export function createTapeBook(lines: readonly TapeLine[]) {
  const steps = stitch(lines);
  const kept: Position[] = [];
  let next = 0;
  let at = -Infinity;
  let updateId: number | undefined;
  let changedAt = 0;
  let bids = createSide(-1);
  let asks = createSide(1);

  return {
    /** The book at a market time, at most `levels` a side; undefined while it is unknown. */
    bookAt,
    /** The change with `from < time <= until`; undefined without one, or while the book is unknown. */
    changeBetween(from: number, until: number): BookChange | undefined {
      const between = steps.slice(countUntil(steps, from), countUntil(steps, until));
      if (between.length === 0) return undefined;
      const isPlain = between.every(({ kind }) => kind === "change");
      const before = bookAt(from, isPlain ? 0 : Infinity);
      const after = bookAt(until, isPlain ? 0 : Infinity);
      if (!before || !after) return undefined;
      // A snapshot on the way replaced all levels.
      if (!isPlain) return changeAcross([before, after]);
      const diffs = between.flatMap((step) => (step.kind === "change" ? [step.diff] : []));
      return {
        previousUpdateId: before.updateId,
        updateId: after.updateId,
        at: after.at,
        bids: [...new Map(diffs.flatMap(({ bids }) => bids))],
        asks: [...new Map(diffs.flatMap(({ asks }) => asks))],
      };
    },
  };

  function bookAt(time: number, levels: number): Book | undefined {
    if (time < at) rewind(time);
    at = time;
    for (let step = steps[next]; step && step.at <= time; step = steps[next]) {
      take(step);
      next += 1;
      if (next % stepsBetweenKept === 0) keep();
    }
    if (updateId === undefined) return undefined;
    return { updateId, at: changedAt, bids: bids.top(levels), asks: asks.top(levels) };
  }

  function keep(): void {
    if (next <= (kept.at(-1)?.next ?? 0)) return;
    if (kept.length === positionsKeptMax) kept.shift();
    kept.push({ next, updateId, changedAt, bids: bids.copy(), asks: asks.copy() });
  }

  function rewind(time: number): void {
    const position = kept.findLast((candidate) => candidate.changedAt <= time);
    next = position?.next ?? 0;
    updateId = position?.updateId;
    changedAt = position?.changedAt ?? 0;
    bids = position?.bids.copy() ?? createSide(-1);
    asks = position?.asks.copy() ?? createSide(1);
  }

  function take(step: BookStep): void {
    changedAt = step.at;
    switch (step.kind) {
      case "load":
        bids = createSide(-1);
        asks = createSide(1);
        change(step.snapshot);
        break;
      case "change":
        change(step.diff);
        break;
      case "lost":
        updateId = undefined;
        break;
    }
  }

  function change(levels: TapeSnapshot): void {
    for (const level of levels.bids) bids.put(level);
    for (const level of levels.asks) asks.put(level);
    updateId = levels.lastUpdateId;
  }
}

/** The changes of a book from its first snapshot on. */
export function stitch(lines: readonly TapeLine[]): readonly BookStep[] {
  const steps: BookStep[] = [];
  const waiting: TapeDiff[] = [];
  let held: number | undefined;
  for (const line of lines) {
    if (line.kind === "snapshot" && line.lastUpdateId >= (held ?? 0)) {
      steps.push({ kind: "load", at: line.at, snapshot: line });
      held = line.lastUpdateId;
      // Diffs that arrived while the snapshot was in flight apply on top of it.
      for (const diff of waiting.splice(0)) follow(diff, line.at);
    } else if (line.kind === "diff") {
      follow(line, line.at);
    }
  }
  return steps;

  function follow(diff: TapeDiff, at: number): void {
    if (held !== undefined && diff.lastUpdateId <= held) return;
    if (held === undefined || diff.previousUpdateId > held) {
      if (held !== undefined) steps.push({ kind: "lost", at });
      held = undefined;
      waiting.push(diff);
      return;
    }
    steps.push({ kind: "change", at, diff });
    held = diff.lastUpdateId;
  }
}

type Side = {
  put(level: Level): void;
  top(count: number): readonly Level[];
  copy(): Side;
};

// One side, best first: `direction` 1 for asks, -1 for bids.
function createSide(direction: 1 | -1, keys: number[] = [], levels: Level[] = []): Side {
  return {
    put(level) {
      const key = Number(level[0]) * direction;
      const index = firstNotBelow(keys, key);
      const isHeld = keys[index] === key;
      const isEmpty = Number(level[1]) === 0;
      if (isHeld && isEmpty) {
        keys.splice(index, 1);
        levels.splice(index, 1);
      } else if (isHeld) {
        levels[index] = level;
      } else if (!isEmpty) {
        keys.splice(index, 0, key);
        levels.splice(index, 0, level);
      }
    },
    top: (count) => levels.slice(0, count),
    copy: () => createSide(direction, [...keys], [...levels]),
  };
}

/** Index of the first of the ascending values that is not below the bound. */
function firstNotBelow(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? Infinity) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
