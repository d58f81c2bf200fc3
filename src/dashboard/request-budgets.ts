// How many requests of the dashboard a browser may make in a minute of the clock: by its address, whoever it is, and by its
// session. Counted in the memory of this process; what protects accounts from guessing is in `people/lockout.ts`.

const MINUTE_MS = 60_000;
/** Of one address: several people may sit behind it. */
export const REQUESTS_PER_ADDRESS_MAX = 1_200;
/** Of those the ones that change something: signing in costs a hundred times what reading does. */
export const CHANGES_PER_ADDRESS_MAX = 120;
export const REQUESTS_PER_SESSION_MAX = 600;
/** What only stops something is counted by itself: whatever else was asked, also by others of the address, there is room for it. */
export const STOPS_PER_ADDRESS_MAX = 600;
export const STOPS_PER_SESSION_MAX = 60;
/** So many holders are told apart within a minute; all beyond them share one count. */
export const HOLDERS_MAX = 50_000;
const OTHERS = "others";

export class RequestBudgets {
  #minute = 0;
  readonly #counts = new Map<string, number>();

  /**
   * Counts a request of a holder. Null if it is within so many a minute, else how long to wait, s. `now` is wall time, Unix ms.
   */
  charge(holder: string, most: number, now: number): number | null {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#counts.clear();
    }
    const known = this.#counts.has(holder) || this.#counts.size < HOLDERS_MAX ? holder : OTHERS;
    const count = (this.#counts.get(known) ?? 0) + 1;
    this.#counts.set(known, count);
    return count <= most ? null : Math.ceil(((minute + 1) * MINUTE_MS - now) / 1_000);
  }
}
