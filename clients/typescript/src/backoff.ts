// How long to wait before the next attempt: doubling from a first delay up to a longest one, each spread over
// half of itself to either side, so that a thousand clients do not come back in one instant.

export type Backoff = { readonly firstMs: number; readonly longestMs: number };

/** A delay is spread over this share of itself to either side. Source: specification 8.3. */
const RANDOMIZATION = 0.5;

/** Delay in ms after failure number `failures`, of which 0 is the first. `random` is in [0, 1). */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random: number): number {
  const delayMs = Math.min(longestMs, firstMs * 2 ** failures);
  return Math.min(longestMs, Math.round(delayMs * (1 - RANDOMIZATION + 2 * RANDOMIZATION * random)));
}
