// Client addresses for tests that speak through a trusted proxy. A new address has its whole budget, so that
// the used weight in the headers is the weight of one request at any time of the clock.

let taken = 0;

/** An address that no test of this process has used, for the header that a trusted proxy sets. */
export function freshAddress(): string {
  taken += 1;
  return `10.${taken >> 16}.${(taken >> 8) & 255}.${taken & 255}`;
}
