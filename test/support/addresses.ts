// Client addresses for tests that speak through a trusted proxy: whoever has asked nothing yet has a whole budget, so that
// what the headers say is used is what one request has cost, whatever the clock says.

let taken = 0;

/** An address that no test of this process has used, for the header that a trusted proxy sets. */
export function freshAddress(): string {
  taken += 1;
  return `10.${taken >> 16}.${(taken >> 8) & 255}.${taken & 255}`;
}
