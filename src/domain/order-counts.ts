// How many orders a strategy has placed in the present windows. The windows are aligned to the clock: the ten
// seconds' start at :00, :10, … and the minute's at :00. The gateway counts what comes in, the engine what it
// takes, both with these numbers, so that what two gateways let in beside each other is still held to one
// budget. Source: specification 8.1 (gateway and trading engine enforce the same budgets).

export const ORDERS_PER_10_SECONDS = 50;
export const ORDERS_PER_MINUTE = 1_200;
export const TEN_SECONDS_MS = 10_000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** Counts, each with the number of the window that it belongs to. */
export type OrderCounts = {
  readonly tenSeconds: number;
  readonly inTenSeconds: number;
  readonly minute: number;
  readonly inMinute: number;
};

export const NO_ORDERS: OrderCounts = { tenSeconds: 0, inTenSeconds: 0, minute: 0, inMinute: 0 };

/**
 * The counts with one more placement, admitted at a wall time in Unix ms. A placement older than the present
 * windows belongs to one that does not count any more.
 */
export function withPlacement(counts: OrderCounts, at: number): OrderCounts {
  const tenSeconds = Math.floor(at / TEN_SECONDS_MS);
  const minute = Math.floor(at / MINUTE_MS);
  if (tenSeconds < counts.tenSeconds) return counts;
  return {
    tenSeconds,
    inTenSeconds: tenSeconds === counts.tenSeconds ? counts.inTenSeconds + 1 : 1,
    minute,
    inMinute: minute === counts.minute ? counts.inMinute + 1 : 1,
  };
}

/** The budget that the counts go beyond, or null. */
export function exhaustedBy({ inTenSeconds, inMinute }: Pick<OrderCounts, "inTenSeconds" | "inMinute">): {
  readonly limit: number;
  readonly interval: string;
} | null {
  if (inTenSeconds > ORDERS_PER_10_SECONDS) return { limit: ORDERS_PER_10_SECONDS, interval: "10 SECOND" };
  if (inMinute > ORDERS_PER_MINUTE) return { limit: ORDERS_PER_MINUTE, interval: "1 MINUTE" };
  return null;
}
