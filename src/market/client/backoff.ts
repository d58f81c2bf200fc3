// How long to wait before the next attempt to connect.

const firstRetryMs = 100;
const baseDelayMs = 1_000;
const delayMsMax = 30_000;
/** A delay is spread over ± this share of itself, so that a thousand clients do not come back in one instant. */
const randomisation = 0.5;

/**
 * Delay in ms before retry number `failures` (0 is the first one after a connection that had been good: quick, since
 * a single drop is usually nothing). Then doubling from 1,000 ms to 30,000 ms. `random` is in [0, 1).
 */
export function retryDelayMs(failures: number, random: number): number {
  const delayMs = failures === 0 ? firstRetryMs : Math.min(delayMsMax, baseDelayMs * 2 ** (failures - 1));
  return Math.min(delayMsMax, Math.round(delayMs * (1 - randomisation + 2 * randomisation * random)));
}
