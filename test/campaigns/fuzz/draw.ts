// What a run draws. Each request has a generator of its own that follows from the run's seed and the
// request's number, so that one request is drawn alike however the others were answered and however many were
// in flight.
import { seededRandom } from "../../support/random.ts";

/** Spreads neighbouring numbers over all of the generator's states: the golden ratio of 2^32, odd. */
const SPREAD = 0x9e3779b1;

export type Draw = ReturnType<typeof drawFor>;

/** The draws of one request. */
export function drawFor(seed: number, requestNumber: number) {
  const next = seededRandom(Math.imul(seed + Math.imul(requestNumber, SPREAD), SPREAD));
  const below = (count: number) => Math.floor(next() * count);
  return {
    /** A whole number from 0 up to, not including, `count`. */
    below,
    /** True with a probability from 0 to 1. */
    chance: (probability: number): boolean => next() < probability,
    pick<Value>(values: readonly Value[]): Value {
      const index = below(values.length);
      if (index >= values.length) throw new Error("there is something to pick from");
      return values[index] as Value;
    },
  };
}
