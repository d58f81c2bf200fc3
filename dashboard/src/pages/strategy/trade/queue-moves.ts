// How the queue in front of an order moved: the rows of the table, and the line of the chart.
import { compare, percentOf, subtract, trimZeros } from "../../../ui/figures/decimals.ts";
import type { Receipt } from "./receipt-words.ts";

type Queue = NonNullable<Receipt["queue"]>;
type Point = NonNullable<Queue["history"]>[number];

/** A move of the queue: what left the front since the row before. */
export type QueueMove = {
  /** The exchange's time, Unix ms. */
  readonly time: number;
  /** Null: unknown. */
  readonly ahead: string | null;
  /** Null of the first row, and where it was not known what was in front before. */
  readonly traded: string | null;
  readonly canceled: string | null;
};

/** The moves of a queue, the first row being where its history begins. */
export function queueMoves(history: readonly Point[]): readonly QueueMove[] {
  return history.map(({ time, ahead, canceledAhead }, index) => {
    const before = history[index - 1];
    if (before === undefined || before.ahead === null || ahead === null) {
      return { time, ahead, traded: null, canceled: null };
    }
    const canceled = subtract(canceledAhead, before.canceledAhead);
    const traded = subtract(subtract(before.ahead, ahead), canceled);
    return { time, ahead, traded: trimZeros(traded), canceled: trimZeros(canceled) };
  });
}

/**
 * Whether the history begins later than the placement: the server was restarted since then, or another took
 * over.
 */
export function beginsLater({ history, aheadAtPlacement }: Queue): boolean {
  const [first] = history ?? [];
  if (first === undefined) return false;
  const { ahead, canceledAhead } = first;
  const isSame =
    ahead === null || aheadAtPlacement === null
      ? ahead === aheadAtPlacement
      : compare(ahead, aheadAtPlacement) === 0;
  return !isSame || compare(canceledAhead, "0") !== 0;
}

/**
 * The corners of the queue as a line of steps, in a box of that size: a position lasts until the next one.
 * What is unknown is not drawn; null if less than two positions are known, or all at one time.
 */
export function queueSteps(
  history: readonly Point[],
  { width, height }: { readonly width: number; readonly height: number },
): string | null {
  const known = history.flatMap(({ time, ahead }) => (ahead === null ? [] : [{ time, ahead }]));
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined || last.time === first.time) return null;
  const from = history[0]?.time ?? first.time;
  const most = known.reduce((max, { ahead }) => (compare(ahead, max) > 0 ? ahead : max), "0");
  const x = (time: number) => rounded(((time - from) / (last.time - from)) * width);
  const y = (ahead: string) => rounded(height - (Number(percentOf(ahead, most) ?? "0") / 100) * height);
  const corners = known.flatMap(({ time, ahead }, index) => {
    const before = known[index - 1];
    const down = `${x(time)},${y(ahead)}`;
    return before === undefined ? [down] : [`${x(time)},${y(before.ahead)}`, down];
  });
  return corners.join(" ");
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
