// When upstream was away, by the soak's own doing, and how much of a silence lies outside of that.

type Outage = { readonly from: number; until: number };

/** After upstream is back the gateway subscribes again and hears the first messages, ms. */
export const SETTLING_MS = 2_000;

export class Outages {
  readonly #outages: Outage[] = [];

  /** Upstream goes away, at a time in ms. */
  begin(at: number): void {
    this.#outages.push({ from: at, until: Number.POSITIVE_INFINITY });
  }

  /** The gateway has its connection again. */
  end(at: number): void {
    const last = this.#outages.at(-1);
    if (last !== undefined) last.until = at + SETTLING_MS;
  }

  get count(): number {
    return this.#outages.length;
  }

  /** Whether upstream is, or was a moment ago, away. */
  isAway(at: number): boolean {
    return this.outsideMs(at, at + 1) < 1;
  }

  /** How much of a time, both ends in ms, lies outside of all outages. */
  outsideMs(from: number, to: number): number {
    let outside = to - from;
    // The search begins with the latest outage; outages do not overlap.
    for (let index = this.#outages.length - 1; index >= 0; index -= 1) {
      const outage = this.#outages[index];
      if (outage === undefined || outage.until <= from) break;
      outside -= Math.max(0, Math.min(to, outage.until) - Math.max(from, outage.from));
    }
    return outside;
  }
}
