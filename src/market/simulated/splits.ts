/** Dividing whole amounts exactly: the parts are integers and always add up to the whole. */

/** Parts in proportion to positive weights. */
export function splitByWeight(total: number, weights: readonly number[]): number[] {
  const scale = total / sum(weights);
  let weightSoFar = 0;
  let partsSoFar = 0;
  // Cuts the whole at rounded marks, which never go back, so that no part is negative however uneven the
  // weights.
  return weights.map((weight, index) => {
    weightSoFar += weight;
    const isLast = index === weights.length - 1;
    const mark = isLast ? total : Math.min(total, Math.round(weightSoFar * scale));
    const part = mark - partsSoFar;
    partsSoFar = mark;
    return part;
  });
}

/**
 * Parts in proportion to integer capacities, none above its capacity. `lean(index)` (about 1) pulls single
 * parts up or down. The total must not exceed the capacities' sum.
 */
export function splitWithin(
  total: number,
  capacities: readonly number[],
  lean: (index: number) => number = () => 1,
): number[] {
  let capacityLeft = sum(capacities);
  let left = total;
  return capacities.map((capacity, index) => {
    const share = capacityLeft > 0 ? Math.round(((left * capacity) / capacityLeft) * lean(index)) : 0;
    capacityLeft -= capacity;
    const part = Math.min(Math.max(share, left - capacityLeft, 0), capacity, left);
    left -= part;
    return part;
  });
}

/** A wish with its bounds, `low <= wish <= high`, all integers. */
export type Wish = { readonly low: number; readonly wish: number; readonly high: number };

/**
 * Parts near their wishes and inside their bounds that add up to the total. Where the bounds leave no room
 * for it the total wins: what is left over is spread over the parts in proportion to their wishes.
 */
export function settle(total: number, wishes: readonly Wish[]): number[] {
  const missing = total - sum(wishes.map((part) => part.wish));
  const sign = missing < 0 ? -1 : 1;
  const room = wishes.map((part) => (missing < 0 ? part.wish - part.low : part.high - part.wish));
  const moved = Math.min(Math.abs(missing), sum(room));
  const moves = splitWithin(moved, room);
  const rest = Math.abs(missing) - moved;
  const beyond =
    rest > 0
      ? splitByWeight(
          rest,
          wishes.map((part) => part.wish + 1),
        )
      : [];
  return wishes.map((part, index) => part.wish + sign * ((moves[index] ?? 0) + (beyond[index] ?? 0)));
}

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
