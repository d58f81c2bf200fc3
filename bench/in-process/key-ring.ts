// Keys in rotation. A key is used by one request at a time and then waits until all the others were used, so
// that none exceeds its own limits and its orders stay in sequence.
import { createSecretKey, type KeyObject } from "node:crypto";

export type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/**
 * One order size to go in and one to come out with: what was bought, less the fee where that is paid in
 * coins.
 */
export type Trip = { readonly symbol: string; readonly buy: string; readonly sell: string };

export type Key = {
  readonly index: number;
  readonly apiKey: string;
  readonly signs: KeyObject;
  readonly trip: Trip;
};

export class KeyRing {
  readonly #keys: readonly Key[];
  /** Idle keys, as a ring of indexes. */
  readonly #idle: Int32Array;
  #first = 0;
  #idleCount: number;

  constructor(credentials: readonly Credentials[], trips: readonly Trip[]) {
    this.#keys = credentials.map(({ apiKey, apiSecret }, index) => {
      const trip = trips[index % trips.length];
      if (trip === undefined) throw new Error("there is a symbol to trade");
      return { index, apiKey, signs: createSecretKey(apiSecret, "utf8"), trip };
    });
    this.#idle = Int32Array.from(this.#keys, ({ index }) => index);
    this.#idleCount = this.#keys.length;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The key that was idle longest. */
  take(): Key {
    const key = this.#keys[this.#idle[this.#first] ?? -1];
    if (key === undefined || this.#idleCount === 0)
      throw new Error("there are more keys than requests under way");
    this.#first = (this.#first + 1) % this.#idle.length;
    this.#idleCount -= 1;
    return key;
  }

  putBack({ index }: Key): void {
    this.#idle[(this.#first + this.#idleCount) % this.#idle.length] = index;
    this.#idleCount += 1;
  }
}
