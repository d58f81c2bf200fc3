// A budget of the venue in its present window: what it has counted, by its headers, and what is under way besides. Windows are
// aligned to the venue's clock. Source: reference exchange, section 4.

/** Windows of `windowMs` in which the venue grants `limit`. */
export type BudgetTerms = { readonly windowMs: number; readonly limit: number };

export class Budget {
  #window = -1;
  #used = 0;
  #underWay = 0;

  /** Whether so much more fits into a share of what is granted in the present window. */
  allows(wanted: number, venueNow: number, { windowMs, limit }: BudgetTerms, share: number): boolean {
    this.#turnTo(Math.floor(venueNow / windowMs));
    return this.#used + this.#underWay + wanted <= Math.floor(limit * share);
  }

  /** How much more fits into a share of what is granted in the present window. */
  left(venueNow: number, { windowMs, limit }: BudgetTerms, share: number): number {
    this.#turnTo(Math.floor(venueNow / windowMs));
    return Math.max(0, Math.floor(limit * share) - this.#used - this.#underWay);
  }

  begin(cost: number): void {
    this.#underWay += cost;
  }

  /** It is over, and the venue has counted so much by then: LOST if it never answered, null if it does not say. */
  end(cost: number, counted: number | null | "LOST", venueNow: number, { windowMs }: BudgetTerms): void {
    this.#underWay -= cost;
    this.#turnTo(Math.floor(venueNow / windowMs));
    if (counted === "LOST") this.#used += cost;
    else if (counted !== null) this.#used = Math.max(this.#used, counted);
  }

  /** What of the limit is used in the present window: 0 to 1, or more. */
  shareUsed(venueNow: number, { windowMs, limit }: BudgetTerms): number {
    this.#turnTo(Math.floor(venueNow / windowMs));
    return this.#used / limit;
  }

  #turnTo(window: number): void {
    if (window <= this.#window) return;
    this.#window = window;
    this.#used = 0;
  }
}

/** When the window ends, the venue's time. */
export function windowEnd(venueNow: number, windowMs: number): number {
  return (Math.floor(venueNow / windowMs) + 1) * windowMs;
}
