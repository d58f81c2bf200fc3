/** Looking up rows that ascend in time. */

/** How many of the rows lie at or before a time. */
export function countUntil(rows: readonly { readonly at: number }[], at: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.at ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last row at or before a time. */
export function lastUntil<Row extends { readonly at: number }>(
  rows: readonly Row[],
  at: number,
): Row | undefined {
  return rows[countUntil(rows, at) - 1];
}
