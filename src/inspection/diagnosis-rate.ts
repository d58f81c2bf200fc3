// How many refused requests are looked into: a flood of them must not cost HMACs without end.

/** Refused requests of a key that are looked into within a second of the clock. */
export const DIAGNOSES_PER_SECOND = 2;
/** Those of all keys together. */
export const DIAGNOSES_PER_SECOND_OF_ALL = 20;

export class DiagnosisRate {
  readonly #counts = new Map<string, number>();
  #second = 0;
  #ofAll = 0;

  /** Whether one more of a key may be looked into now (wall time, Unix ms); if so, it counts. */
  admit(apiKey: string, now: number): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#ofAll = 0;
      this.#counts.clear();
    }
    const count = this.#counts.get(apiKey) ?? 0;
    if (count >= DIAGNOSES_PER_SECOND || this.#ofAll >= DIAGNOSES_PER_SECOND_OF_ALL) return false;
    this.#ofAll += 1;
    this.#counts.set(apiKey, count + 1);
    return true;
  }
}
