// When requests are due that many clients send without knowing of each other.

/** Intervals of a Poisson process with this mean, the same ones at every run (mulberry32). */
export function exponentialGaps(mean: number): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const uniform = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return -mean * Math.log(1 - uniform);
  };
}
