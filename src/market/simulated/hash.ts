/**
 * Where the simulated market's chance comes from: integer hashing, nothing else.
 *
 * Every draw is a pure function of a text (seed, symbol, purpose) and of integers (level, index), so any
 * instant of any symbol can be computed by itself, in any order, on any machine.
 */

/** A 32-bit seed for a text. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return scramble(hash);
}

/** A seed further down: `value` is any integer below 2^53. */
export function derive(seed: number, value: number): number {
  const low = value | 0;
  const high = Math.floor(value / 0x1_0000_0000) | 0;
  return scramble(Math.imul(scramble(seed ^ low) + 0x2545f491, 0x9e3779b1) ^ Math.imul(high + 1, 0x85ebca77));
}

/** A seed read as a number in [0, 1). */
export function fractionOf(seed: number): number {
  return (seed >>> 0) / 0x1_0000_0000;
}

/** An endless row of numbers in [0, 1) that begins at a seed. */
export type Draw = () => number;

export function drawsFrom(seed: number): Draw {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    return (scramble(state) >>> 0) / 0x1_0000_0000;
  };
}

// Two rounds of xor-shift and multiply: every input bit reaches every output bit.
function scramble(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
