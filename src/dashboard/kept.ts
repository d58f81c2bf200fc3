// What was found out with some effort, kept for a while by name: whoever asks meanwhile gets the same, also while it is being found out.
// What failed is not kept. So many are kept at most; those that were found out first are forgotten first.

type Found<Value> = { readonly until: number; readonly value: Promise<Value> };

export class Kept<Value> {
  readonly #wallNow: () => number;
  readonly #keptMs: number;
  readonly #most: number;
  readonly #found = new Map<string, Found<Value>>();

  /** `wallNow` tells wall time, Unix ms. */
  constructor(
    { wallNow }: { readonly wallNow: () => number },
    { keptMs, most }: { readonly keptMs: number; readonly most: number },
  ) {
    this.#wallNow = wallNow;
    this.#keptMs = keptMs;
    this.#most = most;
  }

  /** What is kept under a name, or what `find` finds. Rejects as that does. */
  get(name: string, find: () => Promise<Value>): Promise<Value> {
    const known = this.#found.get(name);
    if (known !== undefined && this.#wallNow() < known.until) return known.value;
    const found = { until: this.#wallNow() + this.#keptMs, value: find() };
    this.#found.delete(name);
    this.#found.set(name, found);
    const tooMany = Math.max(0, this.#found.size - this.#most);
    for (const oldest of this.#found.keys().take(tooMany)) this.#found.delete(oldest);
    found.value.catch(() => {
      if (this.#found.get(name) === found) this.#found.delete(name);
    });
    return found.value;
  }
}
