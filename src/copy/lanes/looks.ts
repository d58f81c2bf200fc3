// When each copy's account is looked at: in turn, the one that was looked at longest ago first, each about every quarter of a
// minute. All looks together stay below a rate, so that with many copies the interval grows by itself; and at each venue they
// take no more of its budget than is for looks, so that it grows there too.
import type { Venue } from "../venue/venue.ts";

/** Between two looks at one copy, ms, as long as there are few. */
export const LOOK_INTERVAL_MS = 15_000;
/** Looks of all copies together. */
export const LOOKS_PER_SECOND_MAX = 20;
const TICK_MS = 250;
const LOOKS_PER_TICK = LOOKS_PER_SECOND_MAX / (1_000 / TICK_MS);
/** Of how many it is found out in a tick where they are looked at. */
const ASSIGNED_PER_TICK = 4 * LOOKS_PER_TICK;

/** Where something is looked at: lines of one family at one origin share a budget. */
export type LookPlace = Pick<Venue, "mayLook">;

/** Whatever is looked at. */
export type Looked = {
  readonly lookedAt: number;
  /** Null while that is not known. */
  readonly lookPlace: LookPlace | null;
  /** What a look at it takes of the budget there. */
  readonly lookWeight: number;
  lookSoon(): void;
  /** Finds out where it is looked at, so that it is known when its turn comes again. */
  findPlace(): void;
};

/** With when its turn was last; whose turn was longest ago comes first. */
type Line = Map<Looked, number>;
/** Those at one place. `first`: who had no turn here yet. */
type Lines = { readonly first: Line; readonly inTurn: Line };

export class Looks {
  readonly #wallNow: () => number;
  readonly #stop: () => void;
  /** Of whom it is not known yet where they are looked at. */
  readonly #new: Line = new Map();
  readonly #places = new Map<LookPlace, Lines>();

  constructor(parts: {
    /** Wall time, Unix ms. */
    wallNow: () => number;
    /** Calls back again and again; answers how to stop that. */
    every: (intervalMs: number, callback: () => void) => () => void;
  }) {
    this.#wallNow = parts.wallNow;
    this.#stop = parts.every(TICK_MS, () => this.#tick());
  }

  /** Puts copies in line, those that were looked at longest ago first. */
  add(looked: readonly Looked[]): void {
    const byAge = [...looked].sort((one, other) => one.lookedAt - other.lookedAt);
    for (const each of byAge) this.#new.set(each, each.lookedAt);
  }

  remove(looked: Looked): void {
    this.#new.delete(looked);
    for (const { first, inTurn } of this.#places.values()) {
      first.delete(looked);
      inTurn.delete(looked);
    }
  }

  close(): void {
    this.#stop();
    this.#new.clear();
    this.#places.clear();
  }

  #tick(): void {
    this.#assign();
    let left = LOOKS_PER_TICK;
    for (const [place, lines] of [...this.#places]) {
      const { first, inTurn } = lines;
      left -= this.#take(place, { from: first, to: inTurn, most: left });
      if (first.size === 0) left -= this.#take(place, { from: inTurn, to: inTurn, most: left });
      // A place that had its turns goes behind the others.
      this.#places.delete(place);
      if (first.size + inTurn.size > 0) this.#places.set(place, lines);
    }
  }

  /** Has as many of a line looked at as are due and may be; answers how many. */
  #take(place: LookPlace, { from, to, most }: { from: Line; to: Line; most: number }): number {
    const now = this.#wallNow();
    let taken = 0;
    for (const [looked, since] of from) {
      if (taken === most || now - since < LOOK_INTERVAL_MS || !place.mayLook(looked.lookWeight)) break;
      taken += 1;
      // Behind all others.
      from.delete(looked);
      to.set(looked, now);
      looked.lookSoon();
    }
    return taken;
  }

  /** Those that are due go where they belong, once that is known. */
  #assign(): void {
    const now = this.#wallNow();
    let left = ASSIGNED_PER_TICK;
    for (const [looked, since] of this.#new) {
      if (left === 0 || now - since < LOOK_INTERVAL_MS) return;
      left -= 1;
      const place = looked.lookPlace;
      this.#new.delete(looked);
      if (place === null) {
        this.#new.set(looked, since);
        looked.findPlace();
        continue;
      }
      const lines = this.#places.get(place) ?? { first: new Map(), inTurn: new Map() };
      this.#places.set(place, lines);
      lines.first.set(looked, since);
    }
  }
}
